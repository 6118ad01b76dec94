//! Connection strings and password files. Nothing that they name is opened.

use super::passfile::password_of;
use super::server;
use super::text::{Parameters, SUPPORTED};

/// A connection string is read alike in every way of writing.
pub fn strings(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Some(given) = read(&text) else { return };
    let [mut quoted, mut plain] = [String::new(), String::new()];
    let mut url = "postgres:///?".to_owned();
    for (key, value) in &given {
        let in_quotes = value.replace('\\', "\\\\").replace('\'', "\\'");
        let escaped: String = value.chars().flat_map(|c| ['\\', c]).collect();
        let encoded: String = value.bytes().map(|byte| format!("%{byte:02x}")).collect();
        quoted.push_str(&format!("{key} = '{in_quotes}'"));
        plain.push_str(&format!("{key}={escaped} "));
        url.push_str(&format!("{key}={encoded}&"));
    }
    for written in [&quoted, &plain, url.trim_end_matches(['?', '&'])] {
        assert_eq!(read(written).as_ref(), Some(&given), "{written:?}");
    }
    if let Ok(servers) = Parameters::read(&text).and_then(|mut parameters| server::read(&mut parameters)) {
        assert!(!servers.is_empty() && servers.iter().all(|server| server.port > 0));
    }
}

/// Every parameter that is given and not empty.
fn read(text: &str) -> Option<Vec<(&'static str, String)>> {
    let mut parameters = Parameters::read(text).ok()?;
    let given = SUPPORTED.into_iter().filter_map(|key| Some((key, parameters.take(key)?))).collect();
    assert!(parameters.end().is_ok(), "a parameter that is not on the list");
    Some(given)
}

/// Lines of a password file: host, port, database and user, then the password, here without escapes and a line each.
pub fn passwords(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut lines = text.lines();
    let wanted: [&str; 4] = std::array::from_fn(|_| lines.next().unwrap_or_default());
    let password = lines.next().unwrap_or_default();
    let escaped = |field: &str| field.replace('\\', r"\\").replace(':', r"\:");
    let fields = wanted.iter().copied().chain([password]).map(escaped).collect::<Vec<_>>();
    let line = fields.join(":");
    let expected = (!password.is_empty() && !line.starts_with('#')).then_some(password);
    assert_eq!(password_of(&line, &wanted).as_deref(), expected, "{line:?}");
    for line in text.lines() {
        if let Some(password) = password_of(line, &wanted) {
            assert!(!password.is_empty() && password.len() < line.len());
        }
    }
}
