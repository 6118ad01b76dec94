//! The role's attributes, and those of the roles that it is a member of, directly or not,
//! inheriting from them or only by SET ROLE.

use super::finding::{RoleFinding, quoted};

/// One row for every role that we are or may become and that is more than a plain one, and for every predefined role.
/// Runs with `search_path = pg_catalog` inside a read-only transaction.
pub(crate) const ROLES: &str = "SELECT r.rolname, r.rolsuper, r.rolreplication, r.rolbypassrls, r.rolcreaterole, r.rolcreatedb, \
       (SELECT string_agg(format('REVOKE %I FROM %I', g.rolname, u.rolname), '; ') \
        FROM pg_auth_members a JOIN pg_roles g ON g.oid = a.roleid JOIN pg_roles u ON u.oid = a.member \
        WHERE u.rolname IN (CURRENT_USER, SESSION_USER) AND pg_has_role(a.roleid, r.oid, 'MEMBER')) \
     FROM pg_roles r \
     WHERE (r.rolname LIKE 'pg\\_%' OR r.rolsuper OR r.rolreplication OR r.rolbypassrls OR r.rolcreaterole OR r.rolcreatedb) \
       AND (pg_has_role(SESSION_USER, r.oid, 'MEMBER') OR pg_has_role(CURRENT_USER, r.oid, 'MEMBER')) \
     ORDER BY r.rolname";

/// A right that an attribute gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Power {
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
    pub(crate) const ALL: [Self; 5] = [
        Self::Everything,
        Self::Replicate,
        Self::BypassRowSecurity,
        Self::CreateRoles,
        Self::CreateDatabases,
    ];

    /// Returns whether it breaks the read-only promise, its text, and the attribute that takes it away.
    fn described(self) -> (bool, &'static str, &'static str) {
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
pub(crate) struct RoleRow {
    /// The role that we are or may become.
    pub(crate) name: String,
    /// The rights that its attributes give.
    pub(crate) powers: Vec<Power>,
    /// SQL that takes us out of it: the first steps of every way there, which may be long. There is none for our own role,
    /// nor for the role of the database's owner.
    pub(crate) leave: Option<String>,
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

/// Returns whether the role may do everything, by itself or as a role that it can become: nothing else has to be asked.
pub(crate) fn is_superuser(rows: &[RoleRow]) -> bool {
    rows.iter().any(|row| row.powers.contains(&Power::Everything))
}

/// The findings about `user` in the rows of [`ROLES`].
pub(crate) fn judge(user: &str, rows: &[RoleRow]) -> Vec<RoleFinding> {
    // A superuser is a member of everything, also of other superusers: one finding covers it all.
    let mut superusers = rows.iter().filter(|row| row.powers.contains(&Power::Everything));
    let own = superusers.clone().find(|row| row.name == user);
    if let Some(row) = own.or_else(|| superusers.next()) {
        return vec![power(user, row, Power::Everything)];
    }
    let powers = rows.iter().flat_map(|row| row.powers.iter().map(|held| power(user, row, *held)));
    powers.chain(rows.iter().filter_map(|row| predefined(user, row))).collect()
}

fn power(user: &str, row: &RoleRow, power: Power) -> RoleFinding {
    let (dangerous, what, attribute) = power.described();
    let (user, name) = (quoted(user), quoted(&row.name));
    let text = if user == name {
        format!("the role {user} {what}")
    } else {
        format!("the role {user} can become {name}, which {what}")
    };
    let cure = match &row.leave {
        Some(leave) => leave.clone(),
        None if power == Power::Everything => {
            "log in as a role that `mcp-server-suite deploy role --schema NAME` makes".to_owned()
        }
        None => format!("ALTER ROLE {name} {attribute}"),
    };
    RoleFinding { dangerous, text, cure }
}

/// Being the owner of the database makes one a member of pg_database_owner, which no role can leave: it is reported as ownership.
fn predefined(user: &str, row: &RoleRow) -> Option<RoleFinding> {
    let leave = row.leave.as_ref().filter(|_| row.name.starts_with("pg_"))?;
    Some(RoleFinding {
        dangerous: !HARMLESS_PREDEFINED.contains(&row.name.as_str()),
        text: format!("the role {} is a member of {}", quoted(user), row.name),
        cure: leave.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rows: &[RoleRow], expected: &[(bool, &str)]) {
        let findings = judge("me", rows);
        let found: Vec<_> =
            findings.iter().map(|finding| (finding.dangerous, finding.text.as_str())).collect();
        assert_eq!(found, expected);
    }

    fn row(name: &str, powers: &[Power]) -> RoleRow {
        let leave = (name != "me").then(|| format!("REVOKE {name} FROM me"));
        RoleRow { name: name.to_owned(), powers: powers.to_vec(), leave }
    }

    #[test]
    fn every_power_beyond_reading_is_found() {
        check(&[], &[]);
        check(
            &[row("boss", &[Power::Everything]), row("pg_monitor", &[]), row("me", &[Power::Everything])],
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
}
