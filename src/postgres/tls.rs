//! TLS to PostgreSQL: rustls with ring, and libpq's verdicts on certificates.
//!
//! Without the feature `tls` a [`Connector`] cannot exist: every mode that could encrypt is refused when the DSN is read.

use std::path::PathBuf;

/// Whose certificates are believed.
#[derive(Debug)]
#[cfg_attr(not(feature = "tls"), expect(dead_code, reason = "without TLS nobody's certificate is looked at"))]
pub(crate) enum Trust {
    /// Anybody's: encryption against listeners, not against impostors.
    Anybody,
    /// Those signed by an authority of this PEM file.
    File {
        /// The PEM file.
        file: PathBuf,
        /// Whether the certificate must be made out to the host's name.
        check_name: bool,
    },
    /// Those signed by an authority of the operating system's bundle, made out to the host's name.
    System,
}

#[cfg(feature = "tls")]
pub(crate) use with_rustls::Connector;
#[cfg(not(feature = "tls"))]
pub(crate) use without::Connector;

#[cfg(not(feature = "tls"))]
mod without {
    use std::path::PathBuf;

    use super::{
        super::{dsn::DsnError, stream::Negotiation},
        Trust,
    };

    /// Cannot exist in this build.
    #[derive(Clone, Debug)]
    pub(crate) enum Connector {}

    impl Connector {
        /// Refuses.
        pub(crate) fn build(
            _: &Trust,
            _: Option<&(PathBuf, PathBuf)>,
            _: Negotiation,
        ) -> Result<Self, DsnError> {
            Err(DsnError::Conflict("this binary was built without TLS: only sslmode=disable is possible"))
        }
    }
}

#[cfg(feature = "tls")]
mod with_rustls {
    use std::{
        os::unix::fs::MetadataExt as _,
        path::{Path, PathBuf},
        sync::Arc,
    };

    use rustls::{
        CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
        client::{
            WebPkiServerVerifier,
            danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        },
        crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature},
    };
    use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime, pem::PemObject as _};
    use tokio_postgres_rustls::MakeRustlsConnect;

    use super::{
        super::{
            dsn::{DsnError, read_file},
            stream::{Encrypted, Negotiation, Watch},
        },
        Trust,
    };

    /// Where Linux distributions and Homebrew keep the operating system's authorities.
    const SYSTEM_BUNDLES: [&str; 6] = [
        "/etc/ssl/certs/ca-certificates.crt",
        "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/ssl/ca-bundle.pem",
        "/etc/ssl/cert.pem",
        "/opt/homebrew/etc/ca-certificates/cert.pem",
        "/usr/local/etc/ca-certificates/cert.pem",
    ];

    /// Opens TLS on a connection.
    #[derive(Clone)]
    pub(crate) struct Connector {
        tls: MakeRustlsConnect,
        negotiation: Negotiation,
    }

    impl Connector {
        /// Loads everything the DSN names.
        pub(crate) fn build(
            trust: &Trust,
            identity: Option<&(PathBuf, PathBuf)>,
            negotiation: Negotiation,
        ) -> Result<Self, DsnError> {
            let provider = Arc::new(rustls::crypto::ring::default_provider());
            let verifier: Arc<dyn ServerCertVerifier> = match trust {
                Trust::Anybody => Arc::new(AnyCertificate { provider: Arc::clone(&provider) }),
                Trust::File { file, check_name: true } => authorities(file, &provider)?,
                Trust::File { file, check_name: false } => {
                    Arc::new(AnyName { authorities: authorities(file, &provider)? })
                }
                Trust::System => {
                    let bundle = SYSTEM_BUNDLES.iter().map(Path::new).find(|bundle| bundle.is_file()).ok_or(
                        DsnError::Conflict(
                            "sslrootcert=system: the system's certificate bundle was not found",
                        ),
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
                        .map_err(|error| unusable("sslcert", certificate, &error))?
                }
            };
            // PostgreSQL 17's direct negotiation demands this name; older servers never see it.
            config.alpn_protocols = vec![b"postgresql".to_vec()];
            Ok(Self { tls: MakeRustlsConnect::new(config), negotiation })
        }

        /// For the driver.
        pub(crate) fn watched(&self, watch: Watch) -> Encrypted<MakeRustlsConnect> {
            Encrypted { tls: self.tls.clone(), negotiation: self.negotiation, watch }
        }
    }

    impl std::fmt::Debug for Connector {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("Connector")
        }
    }

    fn unusable(key: &'static str, path: &Path, error: &dyn std::fmt::Display) -> DsnError {
        DsnError::File { key, path: path.to_owned(), reason: error.to_string() }
    }

    fn certificates(key: &'static str, path: &Path) -> Result<Vec<CertificateDer<'static>>, DsnError> {
        let pem = read_file(key, path)?;
        let certificates: Vec<_> = CertificateDer::pem_slice_iter(&pem)
            .collect::<Result<_, _>>()
            .map_err(|error| unusable(key, path, &error))?;
        if certificates.is_empty() {
            return Err(unusable(key, path, &"it holds no certificate in PEM form"));
        }
        Ok(certificates)
    }

    /// A key that nobody else may read: libpq's rule, which lets a group read what is root's.
    fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, DsnError> {
        let failed = |reason: &dyn std::fmt::Display| unusable("sslkey", path, reason);
        let file = std::fs::metadata(path).map_err(|error| failed(&error))?;
        if !file.is_file() {
            return Err(failed(&"it is no regular file"));
        }
        let too_much = if file.uid() == 0 { 0o037 } else { 0o077 };
        if file.mode() & too_much != 0 {
            return Err(failed(&"others may read it; chmod it to 0600 (or 0640 when root owns it)"));
        }
        PrivateKeyDer::from_pem_slice(&read_file("sslkey", path)?).map_err(|error| failed(&error))
    }

    fn authorities(
        path: &Path,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Arc<WebPkiServerVerifier>, DsnError> {
        let mut store = RootCertStore::empty();
        let (added, _) = store.add_parsable_certificates(certificates("sslrootcert", path)?);
        if added == 0 {
            return Err(unusable("sslrootcert", path, &"none of its certificates is X.509 version 3"));
        }
        WebPkiServerVerifier::builder_with_provider(Arc::new(store), Arc::clone(provider))
            .build()
            .map_err(|error| unusable("sslrootcert", path, &error))
    }

    /// Without an authority at hand: the server proves that it holds its key, not who it is.
    #[derive(Debug)]
    struct AnyCertificate {
        provider: Arc<CryptoProvider>,
    }

    impl ServerCertVerifier for AnyCertificate {
        fn verify_server_cert(
            &self,
            _: &CertificateDer<'_>,
            _: &[CertificateDer<'_>],
            _: &ServerName<'_>,
            _: &[u8],
            _: UnixTime,
        ) -> Result<ServerCertVerified, Error> {
            Ok(ServerCertVerified::assertion())
        }

        fn verify_tls12_signature(
            &self,
            message: &[u8],
            certificate: &CertificateDer<'_>,
            signature: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            let algorithms = &self.provider.signature_verification_algorithms;
            verify_tls12_signature(message, certificate, signature, algorithms)
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            certificate: &CertificateDer<'_>,
            signature: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            let algorithms = &self.provider.signature_verification_algorithms;
            verify_tls13_signature(message, certificate, signature, algorithms)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            self.provider.signature_verification_algorithms.supported_schemes()
        }
    }

    /// `verify-ca`: signed by a trusted authority, for whatever name.
    #[derive(Debug)]
    struct AnyName {
        authorities: Arc<WebPkiServerVerifier>,
    }

    impl ServerCertVerifier for AnyName {
        fn verify_server_cert(
            &self,
            certificate: &CertificateDer<'_>,
            intermediates: &[CertificateDer<'_>],
            name: &ServerName<'_>,
            ocsp_response: &[u8],
            now: UnixTime,
        ) -> Result<ServerCertVerified, Error> {
            // INVARIANT: rustls checks the name last (webpki/verify.rs: the chain, then the name), so that these two
            // errors mean a chain that was found good.
            match self.authorities.verify_server_cert(certificate, intermediates, name, ocsp_response, now) {
                Err(Error::InvalidCertificate(
                    CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
                )) => Ok(ServerCertVerified::assertion()),
                verdict => verdict,
            }
        }

        fn verify_tls12_signature(
            &self,
            message: &[u8],
            certificate: &CertificateDer<'_>,
            signature: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            self.authorities.verify_tls12_signature(message, certificate, signature)
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            certificate: &CertificateDer<'_>,
            signature: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            self.authorities.verify_tls13_signature(message, certificate, signature)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            self.authorities.supported_verify_schemes()
        }
    }
}
