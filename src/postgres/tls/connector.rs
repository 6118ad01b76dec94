//! The TLS connector: rustls with ring, and everything that a connection string names for it.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use postgres::config::SslNegotiation;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::CryptoProvider;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::super::dsn::DsnError;
use super::super::named_file::read;
use super::super::stream::{Deadline, Encrypted};
use super::trust::Trust;
use super::verifier::AnyName;

/// The files of the operating system's authorities on Linux distributions and with Homebrew.
#[rustfmt::skip]
const SYSTEM_BUNDLES: [&str; 6] = [
    "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem", "/opt/homebrew/etc/ca-certificates/cert.pem", "/usr/local/etc/ca-certificates/cert.pem",
];

/// Opens TLS on a connection.
#[derive(Clone)]
pub(crate) struct Connector {
    tls: MakeRustlsConnect,
    negotiation: SslNegotiation,
}

impl Connector {
    /// Loads every file that the DSN names.
    pub(crate) fn build(
        trust: &Trust,
        identity: Option<&(PathBuf, PathBuf)>,
        negotiation: SslNegotiation,
    ) -> Result<Self, DsnError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let algorithms = provider.signature_verification_algorithms;
        let any_name = |authorities| Arc::new(AnyName { algorithms, authorities });
        let verifier: Arc<dyn ServerCertVerifier> = match trust {
            Trust::AnyAuthority => any_name(None),
            Trust::File { file, check_name: true } => authorities(file, &provider)?,
            Trust::File { file, check_name: false } => any_name(Some(authorities(file, &provider)?)),
            Trust::System => {
                let bundle = SYSTEM_BUNDLES.iter().map(Path::new).find(|bundle| bundle.is_file()).ok_or(
                    DsnError::Conflict("sslrootcert=system: the system's certificate bundle was not found"),
                )?;
                authorities(bundle, &provider)?
            }
        };
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|_| DsnError::Conflict("no TLS version is available"))?
            .dangerous()
            .with_custom_certificate_verifier(verifier);
        let mut config = match identity {
            None => builder.with_no_client_auth(),
            Some((certificate, key)) => {
                let chain = certificates("sslcert", certificate)?;
                builder
                    .with_client_auth_cert(chain, private_key(key)?)
                    .map_err(|error| DsnError::file("sslcert", certificate, &error))?
            }
        };
        // PostgreSQL 17's direct negotiation demands this name; older servers never see it.
        config.alpn_protocols = vec![b"postgresql".to_vec()];
        Ok(Self { tls: MakeRustlsConnect::new(config), negotiation })
    }

    /// The driver's connector, on a stream with this deadline.
    pub(crate) fn with_deadline(&self, deadline: Deadline) -> Encrypted<MakeRustlsConnect> {
        Encrypted { tls: self.tls.clone(), negotiation: self.negotiation, deadline }
    }
}

fn certificates(key: &'static str, path: &Path) -> Result<Vec<CertificateDer<'static>>, DsnError> {
    let pem = read(key, path)?;
    let certificates: Vec<_> = CertificateDer::pem_slice_iter(&pem)
        .collect::<Result<_, _>>()
        .map_err(|error| DsnError::file(key, path, &error))?;
    if certificates.is_empty() {
        return Err(DsnError::file(key, path, &"it holds no certificate in PEM form"));
    }
    Ok(certificates)
}

/// Reads a key that no other user may read: libpq's rule, which lets a group read what root owns.
fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, DsnError> {
    let failed = |reason: &dyn std::fmt::Display| DsnError::file("sslkey", path, reason);
    let file = std::fs::metadata(path).map_err(|error| failed(&error))?;
    if !file.is_file() {
        return Err(failed(&"it is no regular file"));
    }
    let too_much = if file.uid() == 0 { 0o037 } else { 0o077 };
    if file.mode() & too_much != 0 {
        return Err(failed(&"others may read it; chmod it to 0600 (or 0640 when root owns it)"));
    }
    PrivateKeyDer::from_pem_slice(&read("sslkey", path)?).map_err(|error| failed(&error))
}

fn authorities(path: &Path, provider: &Arc<CryptoProvider>) -> Result<Arc<WebPkiServerVerifier>, DsnError> {
    let mut store = RootCertStore::empty();
    let (added, _) = store.add_parsable_certificates(certificates("sslrootcert", path)?);
    if added == 0 {
        return Err(DsnError::file("sslrootcert", path, &"none of its certificates is X.509 version 3"));
    }
    WebPkiServerVerifier::builder_with_provider(Arc::new(store), Arc::clone(provider))
        .build()
        .map_err(|error| DsnError::file("sslrootcert", path, &error))
}
