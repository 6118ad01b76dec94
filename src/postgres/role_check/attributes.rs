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
pub(crate) struct Power {
    /// True if it breaks the read-only promise.
    dangerous: bool,
    text: &'static str,
    /// The attribute that takes it away.
    cure: &'static str,
}

const SUPERUSER: Power = Power { dangerous: true, text: "is a superuser", cure: "NOSUPERUSER" };

/// All, in the order of the columns of [`ROLES`].
#[rustfmt::skip]
pub(crate) const POWERS: [Power; 5] = [
    SUPERUSER,
    Power { dangerous: true, text: "may replicate (REPLICATION)", cure: "NOREPLICATION" },
    Power { dangerous: true, text: "bypasses row security (BYPASSRLS)", cure: "NOBYPASSRLS" },
    Power { dangerous: false, text: "may create roles (CREATEROLE)", cure: "NOCREATEROLE" },
    Power { dangerous: false, text: "may create databases (CREATEDB)", cure: "NOCREATEDB" },
];

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
#[rustfmt::skip]
const HARMLESS_PREDEFINED: [&str; 10] = [
    "pg_read_all_data", "pg_database_owner", "pg_checkpoint",
    "pg_use_reserved_connections", "pg_maintain", "pg_create_subscription",
    "pg_monitor", "pg_read_all_settings", "pg_read_all_stats", "pg_stat_scan_tables",
];

/// Returns whether the role may do everything, by itself or as a role that it can become: nothing else has to be asked.
pub(crate) fn is_superuser(rows: &[RoleRow]) -> bool {
    rows.iter().any(|row| row.powers.contains(&SUPERUSER))
}

/// The findings about `user` in the rows of [`ROLES`].
pub(crate) fn judge(user: &str, rows: &[RoleRow]) -> Vec<RoleFinding> {
    // A superuser is a member of everything, also of other superusers: one finding covers it all.
    let mut superusers = rows.iter().filter(|row| row.powers.contains(&SUPERUSER));
    let own = superusers.clone().find(|row| row.name == user);
    if let Some(row) = own.or_else(|| superusers.next()) {
        return vec![power(user, row, SUPERUSER)];
    }
    let powers = rows.iter().flat_map(|row| row.powers.iter().map(|held| power(user, row, *held)));
    powers.chain(rows.iter().filter_map(|row| predefined(user, row))).collect()
}

fn power(user: &str, row: &RoleRow, power: Power) -> RoleFinding {
    let Power { dangerous, text: what, cure } = power;
    let (user, name) = (quoted(user), quoted(&row.name));
    let text = if user == name {
        format!("the role {user} {what}")
    } else {
        format!("the role {user} can become {name}, which {what}")
    };
    let cure = match &row.leave {
        Some(leave) => leave.clone(),
        None if power == SUPERUSER => {
            "log in as a role that `mcp-server-suite deploy role --schema NAME` makes".to_owned()
        }
        None => format!("ALTER ROLE {name} {cure}"),
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
        let [superuser, replicate, bypass_row_security, create_roles, create_databases] = POWERS;
        check(&[], &[]);
        check(
            &[row("boss", &[superuser]), row("pg_monitor", &[]), row("me", &[superuser])],
            &[(true, r#"the role "me" is a superuser"#)],
        );
        check(
            &[row("boss", &[bypass_row_security])],
            &[(true, r#"the role "me" can become "boss", which bypasses row security (BYPASSRLS)"#)],
        );
        check(
            &[row("me", &[replicate, create_roles, create_databases])],
            &[
                (true, r#"the role "me" may replicate (REPLICATION)"#),
                (false, r#"the role "me" may create roles (CREATEROLE)"#),
                (false, r#"the role "me" may create databases (CREATEDB)"#),
            ],
        );
        for name in ["pg_read_all_data", "pg_monitor", "pg_read_all_settings", "pg_read_all_stats"] {
            check(&[row(name, &[])], &[(false, &format!(r#"the role "me" is a member of {name}"#))]);
        }
        for name in ["pg_read_server_files", "pg_execute_server_program", "pg_of_version_30"] {
            check(&[row(name, &[])], &[(true, &format!(r#"the role "me" is a member of {name}"#))]);
        }
    }
}
