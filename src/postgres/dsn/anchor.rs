//! A connection string's text, with the relative paths of its files made absolute.

use super::error::DsnError;
use super::text::{behind_scheme, pair_value, percent_decoded};

/// The parameters that name a file.
const FILES: [&str; 4] = ["passfile", "sslrootcert", "sslcert", "sslkey"];

/// The text of a connection string, in which relative paths of files are made to start at `directory`. Every other byte
/// stays as it is.
///
/// # Errors
/// It cannot be read.
pub fn anchored(text: &str, directory: &str) -> Result<String, DsnError> {
    match behind_scheme(text.trim_start()) {
        Some(_) => anchored_url(text, directory),
        None => anchored_pairs(text, directory),
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
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(anchored(text, "/o\'d %/ü").unwrap(), expected, "{text}");
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
        assert_eq!(anchored("sslkey=k", "/").unwrap(), "sslkey='/k'");
        assert!(anchored("sslkey='k", "/").is_err());
    }
}
