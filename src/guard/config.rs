//! The operator's additions to the guard's lists (`MCP_SQL_ALLOW_FUNCTIONS`).

use super::functions::matches_any;
use super::functions_sets::{self, Set};
use super::{functions, functions_denied};
use crate::problem::echo;

/// Functions and types that are allowed beyond the built-in lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GuardConfig {
    /// Names, or prefixes that end in `*`; and their schemas, if any.
    added: Vec<(Option<String>, String)>,
    sets: Vec<&'static Set>,
}

/// An entry of the setting, as written, is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GuardConfigError {
    /// The entry begins with `@` and does not name a set.
    #[error("{} is not a named set; there are {}", echo(.0), set_names())]
    UnknownSet(String),
    /// The entry is not a name that a function can have.
    #[error(
        "{} is not a function; allowed are name, schema.name, prefix_* (lower case) and named sets such as @catalog",
        echo(.0)
    )]
    NotAFunction(String),
    /// The function is dangerous; with its effect, a verb phrase.
    #[error("{} can never be allowed: a function of this name {}", echo(.0), .1)]
    Dangerous(String, &'static str),
}

fn set_names() -> String {
    functions_sets::SETS.iter().map(|set| set.name).collect::<Vec<_>>().join(", ")
}

impl GuardConfig {
    /// Reads `MCP_SQL_ALLOW_FUNCTIONS`, a comma list.
    ///
    /// # Errors
    /// The first entry that is wrong.
    pub fn parse(list: &str) -> Result<Self, GuardConfigError> {
        let mut config = Self::default();
        for entry in list.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
            config.add(entry)?;
        }
        Ok(config)
    }

    fn add(&mut self, entry: &str) -> Result<(), GuardConfigError> {
        if entry.starts_with('@') {
            let set = functions_sets::named(entry);
            self.sets.push(set.ok_or_else(|| GuardConfigError::UnknownSet(entry.to_owned()))?);
            return Ok(());
        }
        // A function of pg_catalog is the one that its plain name means.
        let plain_entry = entry.strip_prefix("pg_catalog.").unwrap_or(entry);
        let (schema, pattern) =
            plain_entry.split_once('.').map_or((None, plain_entry), |(schema, name)| (Some(schema), name));
        let name = pattern.strip_suffix('*').unwrap_or(pattern);
        let plain = |part: &str| {
            !part.is_empty()
                && !part.starts_with(|c: char| c.is_ascii_digit())
                && part.chars().all(|c| c == '_' || c.is_ascii_lowercase() || c.is_ascii_digit())
        };
        if !schema.is_none_or(plain) || !plain(name) || (name != pattern && !name.ends_with('_')) {
            return Err(GuardConfigError::NotAFunction(entry.to_owned()));
        }
        if let Some(does) = functions_denied::danger(name) {
            return Err(GuardConfigError::Dangerous(entry.to_owned(), does));
        }
        self.added.push((schema.map(str::to_owned), pattern.to_owned()));
        Ok(())
    }

    /// Returns whether the function may be called. A schema other than `pg_catalog` must be named in the setting.
    pub(crate) fn allows_function(&self, schema: Option<&str>, name: &str) -> bool {
        let schema = schema.filter(|schema| *schema != "pg_catalog");
        let listed = schema.is_none() && (functions::is_built_in(name) || self.has_in_set(name));
        functions_denied::danger(name).is_none() && (listed || self.names(schema, name))
    }

    /// Returns whether the setting adds a function of this name, in any schema.
    pub(crate) fn adds_function(&self, name: &str) -> bool {
        self.has_in_set(name) || self.added.iter().any(|(_, pattern)| matches_any(&[pattern], name))
    }

    /// Returns whether a function that the guard's lists do not mean may be called, also behind a dot or by an operator or
    /// a cast.
    ///
    /// Only the setting can allow it; a set means its extension's functions, not others of the same name.
    pub(crate) fn allows_user_defined(&self, schema: &str, name: &str) -> bool {
        let named = self.names(None, name) || self.names(Some(schema), name);
        functions_denied::danger(name).is_none() && (named || schema == "pg_catalog" && self.has_in_set(name))
    }

    /// Returns whether relations that show other sessions, roles and the server may be read.
    pub(crate) fn allows_revealing_relations(&self) -> bool {
        self.sets.iter().any(|set| set.name == "@catalog")
    }

    /// Returns whether the setting allows casts to the type. A prefix allows functions only.
    pub(crate) fn allows_type(&self, schema: Option<&str>, name: &str) -> bool {
        let is_type = |(of, added): &(Option<String>, String)| of.as_deref() == schema && added == name;
        schema.is_none() && self.sets.iter().any(|set| set.types.contains(&name))
            || !name.ends_with('*') && self.added.iter().any(is_type)
    }

    fn has_in_set(&self, name: &str) -> bool {
        self.sets.iter().any(|set| set.has_function(name))
    }

    fn names(&self, schema: Option<&str>, name: &str) -> bool {
        self.added.iter().any(|(of, pattern)| of.as_deref() == schema && matches_any(&[pattern], name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::corpus::verdict_alone;

    #[track_caller]
    fn check(config: &GuardConfig, accepted: bool, statements: &[&str]) {
        for sql in statements {
            assert_eq!(verdict_alone(sql, config).is_ok(), accepted, "{sql}");
        }
    }

    #[test]
    fn the_setting_adds_names_prefixes_and_sets() {
        let config = GuardConfig::parse(" my_f , s.g, h_*,s.p_*, @unaccent ,,").unwrap();
        check(&config, true, &["SELECT my_f(1)", "SELECT s.g(1)", "SELECT h_x(1)", "SELECT s.p_y(1)"]);
        check(&config, true, &["SELECT unaccent('x')", "SELECT 1::my_f"]);
        check(&config, false, &["SELECT h_evil.f(1)", "SELECT \"s.g\"(1)", "SELECT x.p_y(1)"]);
        check(&config, false, &["SELECT p_y(1)", "SELECT 1::\"s.g\"", "SELECT g(1)", "SELECT s.my_f(1)"]);
        check(&config, false, &["SELECT x.g(1)", "SELECT h(1)", "SELECT pg_sleep(1)"]);
    }

    #[test]
    fn a_wrong_entry_is_named_with_what_is_allowed() {
        for (list, part) in [
            ("@nope", "@postgis"),
            ("pg_read_file", "never be allowed"),
            ("pg_catalog.pg_read_file", "never be allowed"),
            ("dblink_*", "never be allowed"),
            ("*", "schema.name"),
            ("a b", "schema.name"),
            ("F", "schema.name"),
            ("a.b.c", "schema.name"),
            ("lo*", "schema.name"),
        ] {
            let error = GuardConfig::parse(list).unwrap_err().to_string();
            assert!(error.contains(part), "{list}: {error}");
        }
    }

    #[test]
    fn a_set_holds_nothing_that_runs_sql_or_reads_files() {
        let config = GuardConfig::parse("@postgis, @pg_trgm").unwrap();
        let refused = [
            "SELECT st_mapalgebra(r, 1, NULL, 'pg_sleep(1)::text::float8') FROM t",
            "SELECT st_mapalgebraexpr(r, 1, NULL, '1') FROM t",
            "SELECT st_rastfromhexwkb('00')",
            "SELECT st_setbandpath(r, 1, '/etc/passwd', 1) FROM t",
            "SELECT word_similarity(repeat('a b ', 50000), repeat('b c ', 50000))",
            "SELECT repeat('a b ', 50000) <<<-> repeat('b c ', 50000)",
        ];
        check(&config, false, &refused);
    }
}
