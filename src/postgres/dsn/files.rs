//! The paths of a connection string: what was read for it, where its sockets are, and its text with absolute ones.

use std::path::{Path, PathBuf};

use super::{
    super::connect::default_socket,
    Dsn, DsnError, Host,
    text::{behind_scheme, pair_value, percent_decoded},
};

/// The parameters that name a file.
const FILES: [&str; 4] = ["passfile", "sslrootcert", "sslcert", "sslkey"];

impl Dsn {
    /// The files that were read, each by its parameter, also where the usual place or `PGPASSFILE` named it.
    pub fn files(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        self.files.iter().map(|(key, path)| (*key, path.as_path()))
    }

    /// The socket of each server that is reached without a network.
    pub fn sockets(&self) -> impl Iterator<Item = PathBuf> {
        self.servers.iter().filter_map(|server| {
            let directory = match &server.host {
                Host::Socket(directory) => directory,
                Host::DefaultSocket => default_socket(server.port),
                Host::Tcp { .. } => return None,
            };
            Some(directory.join(format!(".s.PGSQL.{}", server.port)))
        })
    }

    /// The text of a connection string, in which relative paths of files are made to start at `directory`. Every other
    /// byte stays as it is.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn anchored(text: &str, directory: &str) -> Result<String, DsnError> {
        match behind_scheme(text.trim_start()) {
            Some(_) => anchored_url(text, directory),
            None => anchored_pairs(text, directory),
        }
    }
}

fn anchored_url(text: &str, directory: &str) -> Result<String, DsnError> {
    let (url, blanks) = text.split_at(text.trim_end().len());
    let Some((front, query)) = url.split_once('?') else { return Ok(text.to_owned()) };
    let pairs = query.split('&').map(|pair| {
        let Some((key, value)) = pair.split_once('=') else { return Ok(pair.to_owned()) };
        let path = anchored_path(&percent_decoded(key)?, &percent_decoded(value)?, directory);
        Ok(path.map_or_else(|| pair.to_owned(), |path| format!("{key}={}", percent_encoded(&path))))
    });
    let pairs: Result<Vec<String>, DsnError> = pairs.collect();
    Ok(format!("{front}?{}{blanks}", pairs?.join("&")))
}

fn anchored_pairs(text: &str, directory: &str) -> Result<String, DsnError> {
    let mut written = String::new();
    let mut rest = text;
    while let Some((key, behind)) = rest.split_once('=') {
        let raw = behind.trim_start();
        let blanks = behind.strip_suffix(raw).unwrap_or_default();
        let (value, after) = pair_value(raw)?;
        match anchored_path(key.trim(), &value, directory) {
            Some(path) => {
                let path = path.replace('\\', r"\\").replace('\'', r"\'");
                written.extend([key, "=", blanks, "'", &path, "'"]);
            }
            None => written.push_str(rest.strip_suffix(after).unwrap_or(rest)),
        }
        rest = after;
    }
    Ok(written + rest)
}

/// The absolute path, when the parameter names a file by a relative one.
fn anchored_path(key: &str, value: &str, directory: &str) -> Option<String> {
    let is_word = value.is_empty() || (key, value) == ("sslrootcert", "system");
    let is_relative = FILES.contains(&key) && !is_word && !value.starts_with('/');
    is_relative.then(|| format!("{}/{}", directory.trim_end_matches('/'), value.trim_start_matches("./")))
}

fn percent_encoded(path: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    let encoded = path.bytes().map(|byte| match byte {
        byte if is_plain(byte) => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    });
    encoded.collect()
}

#[cfg(test)]
mod tests {
    use super::{super::DsnEnvironment, *};
    use std::os::unix::fs::PermissionsExt as _;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(Dsn::anchored(text, "/o\'d %/ü").unwrap(), expected, "{text}");
    }

    #[test]
    fn relative_files_become_absolute_and_nothing_else_changes() {
        check(
            "postgres://r@h/d?sslrootcert=ca.pem&sslmode=verify-full",
            "postgres://r@h/d?sslrootcert=/o%27d%20%25/%C3%BC/ca.pem&sslmode=verify-full",
        );
        check(
            " postgresql://r:p%3f@h,[::1]:7/d?&ssl%6bey=./a%20b&passfile=../p&application_name=x \n",
            " postgresql://r:p%3f@h,[::1]:7/d?&ssl%6bey=/o%27d%20%25/%C3%BC/a%20b&passfile=/o%27d%20%25/%C3%BC/../p\
             &application_name=x \n",
        );
        check(
            "host = h  sslcert=a\\ b\tsslkey = 'it\\'s' user=r ",
            "host = h  sslcert='/o\\'d %/ü/a b'\tsslkey = '/o\\'d %/ü/it\\'s' user=r ",
        );
        for kept in [
            "",
            "postgres://",
            "postgres:///ca.pem?host=/run/pg&sslrootcert=system&passfile=/p%61ss&sslcert=",
            "host=h password='sslkey=x ' sslrootcert=system passfile=''application_name=sslcert sslkey=/k\\ ",
        ] {
            check(kept, kept);
        }
        assert_eq!(Dsn::anchored("sslkey=k", "/").unwrap(), "sslkey='/k'");
        assert!(Dsn::anchored("sslkey='k", "/").is_err());
    }

    #[test]
    fn what_was_read_and_where_the_sockets_are_is_told() {
        let home = tempfile::tempdir().unwrap();
        let passfile = home.path().join(".pgpass");
        std::fs::write(&passfile, "").unwrap();
        std::fs::set_permissions(&passfile, std::fs::Permissions::from_mode(0o600)).unwrap();
        let environment = DsnEnvironment { home: Some(home.path().to_owned()), ..DsnEnvironment::default() };
        let dsn = Dsn::parse("user=r host=/run/pg,h port=7,8", &environment).unwrap();
        assert_eq!(dsn.files().collect::<Vec<_>>(), [("passfile", passfile.as_path())]);
        assert_eq!(dsn.sockets().collect::<Vec<_>>(), [Path::new("/run/pg/.s.PGSQL.7")]);
        let dsn = Dsn::parse("user=r password=p host=h", &environment).unwrap();
        assert_eq!((dsn.files().count(), dsn.sockets().count()), (0, 0));
    }

    #[cfg(feature = "tls")]
    #[test]
    fn certificates_and_keys_are_among_what_was_read() {
        let tls = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/tls");
        let directory = tempfile::tempdir().unwrap();
        let key = directory.path().join("client.key");
        std::fs::copy(tls.join("client.key"), &key).unwrap();
        std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
        let expected =
            [("sslrootcert", tls.join("ca.pem")), ("sslcert", tls.join("client.pem")), ("sslkey", key)];
        let given: String =
            expected.iter().map(|(key, path)| format!("{key}='{}' ", path.display())).collect();
        let told = |text: String| {
            let dsn = Dsn::parse(&text, &DsnEnvironment::default()).unwrap();
            dsn.files().map(|(key, path)| (key, path.to_owned())).collect::<Vec<_>>()
        };
        assert_eq!(told(format!("{given} user=r host=h sslmode=verify-full")), expected);
        assert_eq!(told(format!("{given} user=r host=/run/pg sslmode=verify-full")), []);
    }
}
