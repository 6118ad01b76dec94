//! The role is the boundary: what a connection's role may do beyond reading, found when the connection opens.
//!
//! A READ ONLY transaction does not hold a superuser, and nothing holds a role that may read the server's files. Checked on
//! **every** new connection, in the round trip that also asks what the session is like; a connection whose role is refused
//! is closed and never pooled, so that nothing runs on it and a role that was mended is noticed by the next call.
//! A right that is granted while a connection lives is noticed when it is replaced.

/// Something about the role that an operator should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleFinding {
    /// Whether it breaks the read-only promise. Otherwise it is merely more than reading needs.
    pub dangerous: bool,
    /// What is wrong.
    pub text: String,
    /// The SQL or the setting that mends it.
    pub cure: String,
}

/// What to do with a role that may more than read (`MCP_SQL_UNSAFE_ROLE`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnsafeRole {
    /// Dangerous privileges refuse every call.
    #[default]
    Refuse,
    /// They are logged; for a laptop.
    Warn,
    /// Any privilege beyond the need refuses every call.
    Strict,
}

impl UnsafeRole {
    /// The findings that forbid a call.
    pub(super) fn refuses(self, finding: &RoleFinding) -> bool {
        match self {
            Self::Refuse => finding.dangerous,
            Self::Warn => false,
            Self::Strict => true,
        }
    }
}

/// One row for every role that we are or may become and that is more than a plain one, and for every predefined role.
/// Runs with `search_path = pg_catalog` inside a read-only transaction.
pub(super) const ROLES: &str = "SELECT r.rolname, r.rolsuper, r.rolreplication, r.rolbypassrls, r.rolcreaterole, r.rolcreatedb \
     FROM pg_roles r \
     WHERE (r.rolname LIKE 'pg\\_%' OR r.rolsuper OR r.rolreplication OR r.rolbypassrls OR r.rolcreaterole OR r.rolcreatedb) \
       AND (pg_has_role(SESSION_USER, r.oid, 'MEMBER') OR pg_has_role(CURRENT_USER, r.oid, 'MEMBER')) \
     ORDER BY r.rolname";

/// What else the role may do than read; too dear for every connection. Runs like [`ROLES`].
pub(super) const WRITES: &str = "SELECT \
     (SELECT count(*) FROM pg_class c WHERE c.relkind IN ('r','p','v','m','f') \
        AND c.relnamespace NOT IN (SELECT oid FROM pg_namespace WHERE nspname LIKE 'pg\\_%' OR nspname = 'information_schema') \
        AND has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')), \
     (SELECT count(*) FROM pg_class c WHERE pg_has_role(c.relowner, 'USAGE')), \
     (SELECT count(*) FROM pg_namespace n WHERE n.nspname NOT LIKE 'pg\\_%' AND has_schema_privilege(n.oid, 'CREATE')), \
     has_database_privilege(current_database(), 'CREATE')";

/// What a role's attributes let it do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Power {
    /// `SUPERUSER`.
    Everything,
    /// `REPLICATION`.
    Replicate,
    /// `BYPASSRLS`.
    BypassRowSecurity,
    /// `CREATEROLE`.
    CreateRoles,
    /// `CREATEDB`.
    CreateDatabases,
}

impl Power {
    /// All, in the order of the columns of [`ROLES`].
    pub(super) const ALL: [Self; 5] = [
        Self::Everything,
        Self::Replicate,
        Self::BypassRowSecurity,
        Self::CreateRoles,
        Self::CreateDatabases,
    ];

    /// Whether it breaks the read-only promise, what it is, and the attribute that takes it away.
    fn told(self) -> (bool, &'static str, &'static str) {
        match self {
            Self::Everything => (true, "is a superuser", "NOSUPERUSER"),
            Self::Replicate => (true, "may replicate (REPLICATION)", "NOREPLICATION"),
            Self::BypassRowSecurity => (true, "bypasses row security (BYPASSRLS)", "NOBYPASSRLS"),
            Self::CreateRoles => (false, "may create roles (CREATEROLE)", "NOCREATEROLE"),
            Self::CreateDatabases => (false, "may create databases (CREATEDB)", "NOCREATEDB"),
        }
    }
}

/// A row of [`ROLES`].
#[derive(Clone, Debug, Default)]
pub(super) struct RoleRow {
    /// The role that we are or may become.
    pub(super) name: String,
    /// What its attributes let it do.
    pub(super) powers: Vec<Power>,
}

/// Predefined roles that cannot break the read-only promise. Every other one counts as dangerous, also those of versions
/// to come.
const HARMLESS_PREDEFINED: [&str; 6] = [
    "pg_read_all_data",
    "pg_database_owner",
    "pg_checkpoint",
    "pg_use_reserved_connections",
    "pg_maintain",
    "pg_create_subscription",
];

/// What the rows of [`ROLES`] mean for `user`.
pub(super) fn judge(user: &str, rows: &[RoleRow]) -> Vec<RoleFinding> {
    let mut findings = Vec::new();
    let mut find = |dangerous: bool, text: String, cure: String| {
        findings.push(RoleFinding { dangerous, text, cure });
    };
    // A superuser is a member of everything: one finding tells it all.
    if let Some(row) = rows.iter().find(|row| row.powers.contains(&Power::Everything)) {
        let cure =
            "connect as a role made for this purpose (see the README's least-privilege role)".to_owned();
        find(true, membership(user, &row.name, Power::Everything.told().1), cure);
        return findings;
    }
    for row in rows {
        for power in &row.powers {
            let (dangerous, text, attribute) = power.told();
            let cure = format!("ALTER ROLE {} {attribute}", quoted(&row.name));
            find(dangerous, membership(user, &row.name, text), cure);
        }
        if row.name.starts_with("pg_") {
            let dangerous = !HARMLESS_PREDEFINED.contains(&row.name.as_str());
            let text = format!("the role {} is a member of {}", quoted(user), row.name);
            find(dangerous, text, format!("REVOKE {} FROM {}", row.name, quoted(user)));
        }
    }
    findings
}

/// What the row of [`WRITES`] means.
pub(super) fn judge_writes(
    user: &str,
    tables: u64,
    owned: u64,
    schemas: u64,
    database: bool,
) -> Vec<RoleFinding> {
    let user = quoted(user);
    let mut findings = Vec::new();
    let mut find = |present: bool, text: String, cure: String| {
        if present {
            findings.push(RoleFinding { dangerous: false, text, cure });
        }
    };
    find(
        tables > 0,
        format!("the role {user} may write {tables} tables"),
        format!("REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON ALL TABLES IN SCHEMA … FROM {user}"),
    );
    find(
        owned > 0,
        format!("the role {user} owns {owned} relations, which it may change and drop"),
        format!("REASSIGN OWNED BY {user} TO … (or connect as another role)"),
    );
    find(
        schemas > 0,
        format!("the role {user} may create objects in {schemas} schemas"),
        format!("REVOKE CREATE ON SCHEMA … FROM PUBLIC, {user}"),
    );
    find(
        database,
        format!("the role {user} may create schemas in the database"),
        format!("REVOKE CREATE ON DATABASE … FROM {user}"),
    );
    findings
}

fn membership(user: &str, role: &str, what: &str) -> String {
    if user == role {
        format!("the role {} {what}", quoted(user))
    } else {
        format!("the role {} can become {}, which {what}", quoted(user), quoted(role))
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rows: &[RoleRow], expected: &[(bool, &str)]) {
        let findings = judge("me", rows);
        let told: Vec<_> =
            findings.iter().map(|finding| (finding.dangerous, finding.text.as_str())).collect();
        assert_eq!(told, expected);
    }

    fn row(name: &str, powers: &[Power]) -> RoleRow {
        RoleRow { name: name.to_owned(), powers: powers.to_vec() }
    }

    #[test]
    fn every_power_beyond_reading_is_found() {
        check(&[], &[]);
        check(
            &[row("pg_monitor", &[]), row("me", &[Power::Everything])],
            &[(true, r#"the role "me" is a superuser"#)],
        );
        check(
            &[row("boss", &[Power::BypassRowSecurity])],
            &[(true, r#"the role "me" can become "boss", which bypasses row security (BYPASSRLS)"#)],
        );
        check(
            &[row("me", &[Power::Replicate, Power::CreateRoles, Power::CreateDatabases])],
            &[
                (true, r#"the role "me" may replicate (REPLICATION)"#),
                (false, r#"the role "me" may create roles (CREATEROLE)"#),
                (false, r#"the role "me" may create databases (CREATEDB)"#),
            ],
        );
        check(
            &[row("pg_read_all_data", &[])],
            &[(false, r#"the role "me" is a member of pg_read_all_data"#)],
        );
        for name in ["pg_read_server_files", "pg_execute_server_program", "pg_monitor", "pg_of_version_30"] {
            check(&[row(name, &[])], &[(true, &format!(r#"the role "me" is a member of {name}"#))]);
        }
    }

    #[test]
    fn each_mode_refuses_what_it_says() {
        let finding = |dangerous| RoleFinding { dangerous, text: String::new(), cure: String::new() };
        for (mode, dangerous, beyond) in [
            (UnsafeRole::Refuse, true, false),
            (UnsafeRole::Warn, false, false),
            (UnsafeRole::Strict, true, true),
        ] {
            assert_eq!(mode.refuses(&finding(true)), dangerous, "{mode:?}");
            assert_eq!(mode.refuses(&finding(false)), beyond, "{mode:?}");
        }
    }
}
