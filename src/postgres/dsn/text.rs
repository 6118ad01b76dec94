//! The two ways to write a connection string, to one list of parameters. Knows names, not meanings.

use super::error::DsnError;

/// The parameters that are understood.
#[rustfmt::skip]
pub(super) const SUPPORTED: [&str; 26] = [
    "host", "hostaddr", "port", "dbname", "user", "password", "passfile", "sslmode", "sslrootcert", "sslcert",
    "sslkey", "sslnegotiation", "channel_binding", "target_session_attrs", "load_balance_hosts",
    "connect_timeout", "keepalives", "keepalives_idle", "keepalives_interval", "keepalives_count",
    "tcp_user_timeout", "application_name", "fallback_application_name", "options", "client_encoding",
    "gssencmode",
];

/// The other parameters of libpq 18: what it would do with them is not done here, so they are refused by name.
#[rustfmt::skip]
const REFUSED: [&str; 29] = [
    "gssdelegation", "gsslib", "krbsrvname", "max_protocol_version", "min_protocol_version",
    "oauth_client_id", "oauth_client_secret", "oauth_issuer", "oauth_scope", "replication", "require_auth",
    "requirepeer", "requiressl", "scram_client_key", "scram_server_key", "service", "servicefile", "ssl",
    "ssl_max_protocol_version", "ssl_min_protocol_version", "sslcertmode", "sslcompression", "sslcrl",
    "sslcrldir", "sslkeylogfile", "sslpassword", "sslsni", "authtype", "tty",
];

/// Parameters of drivers and object mappers, named also where an unknown name may be a piece of a password.
#[rustfmt::skip]
const OF_DRIVERS: [&str; 24] = [
    "Database", "Host", "Password", "Port", "Server", "User", "UserId", "Username", "application", "connection_limit",
    "currentSchema", "database", "db", "pgbouncer", "pool_size", "pool_timeout", "pwd", "schema", "search_path", "server",
    "socket", "sslMode", "statement_timeout", "username",
];

/// Parameters that were read and not taken yet.
pub(super) struct Parameters(Vec<(&'static str, String)>);

impl Parameters {
    /// Reads a connection string, a URL or pairs.
    pub(super) fn read(text: &str) -> Result<Self, DsnError> {
        let text = text.trim_start();
        if let Some(sentence) = wrapping(text) {
            return Err(DsnError::Syntax(sentence));
        }
        let mut parameters = Self(Vec::new());
        match behind_scheme(text) {
            Some(rest) => parameters.read_url(rest.trim_end())?,
            None if has_scheme(text) => {
                return Err(DsnError::Syntax("a URL begins with postgres:// or postgresql://"));
            }
            None => parameters.read_pairs(text)?,
        }
        Ok(parameters)
    }

    fn add(&mut self, key: &str, value: String) -> Result<(), DsnError> {
        let Some(known) = SUPPORTED.into_iter().find(|known| *known == key) else {
            return Err(match REFUSED.into_iter().find(|known| *known == key) {
                Some(key) => DsnError::Unsupported { key },
                None if OF_DRIVERS.contains(&key) => DsnError::Foreign { key: key.to_owned() },
                None => DsnError::Unknown { ordinal: self.0.len() + 1 },
            });
        };
        if self.0.iter().any(|(key, _)| *key == known) {
            return Err(DsnError::Twice { key: known });
        }
        self.0.push((known, value));
        Ok(())
    }

    /// Takes a parameter's value; an empty one counts as not given, as with libpq.
    pub(super) fn take(&mut self, key: &str) -> Option<String> {
        let index = self.0.iter().position(|(known, _)| *known == key)?;
        Some(self.0.swap_remove(index).1).filter(|value| !value.is_empty())
    }

    /// Takes a parameter whose value is one of a few words.
    pub(super) fn choice<T: Copy>(
        &mut self,
        key: &'static str,
        words: &[(&'static str, T)],
    ) -> Result<Option<T>, DsnError> {
        let Some(value) = self.take(key) else { return Ok(None) };
        let meaning = words.iter().find(|(word, _)| *word == value).map(|(_, meaning)| *meaning);
        meaning.map(Some).ok_or_else(|| {
            let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let words = words.join(", ");
            DsnError::value(
                key,
                &words.rsplit_once(", ").map_or(words.clone(), |(front, last)| format!("{front} or {last}")),
            )
        })
    }

    /// Takes a parameter whose value is a whole number.
    pub(super) fn number(&mut self, key: &'static str) -> Result<Option<u32>, DsnError> {
        let number = self.take(key).map(|value| value.trim().parse());
        number.transpose().map_err(|_| DsnError::value(key, "a whole number, 0 or more"))
    }

    /// Takes a parameter whose value is a whole number, of which 0 stands for the default.
    pub(super) fn positive(&mut self, key: &'static str) -> Result<Option<u32>, DsnError> {
        Ok(self.number(key)?.filter(|number| *number > 0))
    }

    /// Refuses parameters that are left: they were read and never asked for, a bug of ours that must not pass silently.
    pub(super) fn end(self) -> Result<(), DsnError> {
        self.0.first().map_or(Ok(()), |(key, _)| Err(DsnError::Unsupported { key }))
    }

    /// `user:password@host:port,host:port/dbname?key=value&…`, everything percent-encoded.
    fn read_url(&mut self, rest: &str) -> Result<(), DsnError> {
        let (front, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = front.split_once('/').unwrap_or((front, ""));
        let (login, hosts) = match authority.split_once('@') {
            Some((_, hosts)) if hosts.contains('@') => return Err(DsnError::Encoding),
            Some((login, hosts)) => (Some(login), hosts),
            None => (None, authority),
        };
        // An '@' further on while the authority has none: what looks like a host is the beginning of a login.
        let torn = login.is_none()
            && (path.contains('@') || query.split('=').next().is_some_and(|key| key.contains('@')));
        if torn {
            return Err(DsnError::Encoding);
        }
        if let Some(login) = login {
            let (user, password) = login.split_once(':').unwrap_or((login, ""));
            self.add_decoded("user", user)?;
            self.add_decoded("password", password)?;
        }
        self.read_hosts(hosts)?;
        self.add_decoded("dbname", path)?;
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) =
                pair.split_once('=').ok_or(DsnError::Syntax("a parameter behind '?' has no '='"))?;
            match (percent_decoded(key)?.as_str(), percent_decoded(value)?) {
                // A parameter of JDBC's URLs that libpq understands.
                ("ssl", value) if value == "true" => self.add("sslmode", "require".to_owned())?,
                (key, _) if is_foreign(key, query) => {
                    return Err(DsnError::Foreign { key: key.to_owned() });
                }
                (key, value) => self.add(key, value)?,
            }
        }
        Ok(())
    }

    fn add_decoded(&mut self, key: &'static str, value: &str) -> Result<(), DsnError> {
        if value.is_empty() { Ok(()) } else { self.add(key, percent_decoded(value)?) }
    }

    fn read_hosts(&mut self, hosts: &str) -> Result<(), DsnError> {
        if hosts.is_empty() {
            return Ok(());
        }
        let mut names = Vec::new();
        let mut ports = Vec::new();
        for host in hosts.split(',') {
            let (name, port) = match host.strip_prefix('[').map(|host| host.split_once(']')) {
                Some(Some((address, port))) => (address, port.strip_prefix(':').unwrap_or(port)),
                Some(None) => return Err(DsnError::Syntax("an IPv6 address lacks its ']'")),
                None => host.split_once(':').unwrap_or((host, "")),
            };
            if !port.bytes().all(|byte| byte.is_ascii_digit()) {
                // Either a port that is none, or a password whose '@' was lost: nothing of it is quoted.
                return Err(DsnError::Encoding);
            }
            let name = percent_decoded(name)?;
            if name.contains(',') {
                return Err(DsnError::Syntax("a host name holds a comma"));
            }
            names.push(name);
            ports.push(port.to_owned());
        }
        if names.iter().any(|name| !name.is_empty()) {
            self.add("host", names.join(","))?;
        }
        if ports.iter().any(|port| !port.is_empty()) {
            self.add("port", ports.join(","))?;
        }
        Ok(())
    }

    /// `key = value key='a value'`, with `\` as the escape inside and outside of quotes.
    fn read_pairs(&mut self, text: &str) -> Result<(), DsnError> {
        let mut rest = text;
        while !rest.is_empty() {
            let (key, behind) = rest
                .split_once('=')
                .ok_or(DsnError::Syntax("a parameter has no '='; a value with spaces needs quotes"))?;
            let key = key.trim_end();
            let (value, behind) = pair_value(behind.trim_start())?;
            self.add(key, value)?;
            rest = behind.trim_start();
        }
        Ok(())
    }
}

/// Finds what stands around or in place of a connection string when it was copied from elsewhere.
fn wrapping(text: &str) -> Option<&'static str> {
    let is_variable = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
            && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
    };
    let is_unexpanded = || {
        text.split("${").skip(1).filter_map(|rest| rest.split_once('}')).any(|(name, _)| is_variable(name))
    };
    let is_assignment = |(name, value): (&str, &str)| {
        let value = value.trim_start().trim_start_matches(['"', '\'']);
        is_variable(name.trim_start_matches("export ").trim_end())
            && (behind_scheme(value).is_some() || value.contains('='))
    };
    if text.contains('\0') {
        Some("it holds a NUL byte")
    } else if text.starts_with('\u{feff}') {
        Some("it begins with a byte order mark (U+FEFF); save it as UTF-8 without one")
    } else if text.starts_with(['"', '\'', '`', '\u{2018}', '\u{201c}']) {
        Some("quotes stand around the whole value; leave them out")
    } else if text.starts_with("jdbc:") {
        Some("a URL of JDBC is read by Java only; leave out jdbc:, and write user:password@ before the host")
    } else if is_unexpanded() {
        Some(
            "a variable in ${…} was not replaced by its value; write the value, or let a shell start the server",
        )
    } else if text.split_once('=').is_some_and(is_assignment) {
        Some("it begins with the name of a variable; write the value alone")
    } else {
        None
    }
}

/// Returns whether a URL's parameter is one of another driver. An '@' behind the '?' may be that of a torn login, and the name a
/// piece of its password.
fn is_foreign(key: &str, query: &str) -> bool {
    let is_word = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_word && !query.contains('@') && !SUPPORTED.contains(&key) && !REFUSED.contains(&key)
}

/// The text behind the scheme of a URL.
pub(super) fn behind_scheme(text: &str) -> Option<&str> {
    ["postgres://", "postgresql://"].iter().find_map(|scheme| text.strip_prefix(scheme))
}

/// Returns whether the text begins like a URL of any kind (RFC 3986 section 3.1). A pair's value may hold `://`.
fn has_scheme(text: &str) -> bool {
    let is_in_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    text.split_once("://").is_some_and(|(scheme, _)| scheme.chars().all(is_in_scheme))
}

/// Reads one value of a pair; returns the text behind it, too.
pub(super) fn pair_value(text: &str) -> Result<(String, &str), DsnError> {
    let (quoted, text) = match text.strip_prefix('\'') {
        Some(text) => (true, text),
        None => (false, text),
    };
    let mut value = String::new();
    let mut characters = text.chars();
    loop {
        let rest = characters.as_str();
        match characters.next() {
            None if quoted => return Err(DsnError::Syntax("a quoted value does not end")),
            None => return Ok((value, "")),
            Some('\\') => value.extend(characters.next()),
            Some('\'') if quoted => return Ok((value, characters.as_str())),
            Some(character) if !quoted && character.is_whitespace() => return Ok((value, rest)),
            Some(character) => value.push(character),
        }
    }
}

pub(super) fn percent_decoded(text: &str) -> Result<String, DsnError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|digit| char::from(digit).to_digit(16));
        let (Some(high), Some(low)) = (digit(), digit()) else { return Err(DsnError::Encoding) };
        bytes.extend(u8::try_from(high * 16 + low));
    }
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(text),
        Ok(_) | Err(_) => Err(DsnError::Encoding),
    }
}
