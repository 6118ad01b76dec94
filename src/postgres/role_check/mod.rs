//! The role is the boundary: what a connection's role may do beyond reading what is needed, found when it connects.
//!
//! A READ ONLY transaction does not hold a superuser, and nothing holds a role that may read the server's files. Attributes
//! and memberships are asked on **every** new connection, in the round trip that also asks what the session is like; what
//! the role may do object by object is dearer and asked on the first connection, and then on a new one at most once in
//! `REVIEW_AGE`. A connection whose role is refused is closed and never pooled, so that nothing runs on it, and nothing is
//! remembered of it, so that a role that was mended is noticed by the next call. A right that is granted while a connection
//! lives is noticed when it is replaced. The servers of one DSN are taken for copies of one.

mod attributes;
mod privileges;

pub(super) use attributes::{Power, ROLES, RoleRow, is_superuser, judge as powers};
pub(super) use privileges::ask as privileges;

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use crate::guard::sensitive::SensitiveWords;

/// How long the privileges that were found are believed of further connections.
const REVIEW_AGE: Duration = Duration::from_secs(60);

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

/// What the role is for.
#[derive(Clone, Debug, Default)]
pub struct Need {
    /// Every table that it has to read, as SQL names it: those of the catalog, if there are no
    /// ad-hoc queries. `None`: whatever it was granted.
    pub tables: Option<Vec<String>>,
    /// Names of columns that it does not have to read.
    pub words: SensitiveWords,
    /// Columns that it has to read although `words` speaks against them.
    pub waived: Vec<String>,
}

/// What was found on earlier connections.
#[derive(Debug, Default)]
pub(super) struct Reviews(Mutex<Review>);

#[derive(Debug, Default)]
struct Review {
    /// When the privileges were asked, and what came of it.
    privileges: Option<(Instant, Vec<RoleFinding>)>,
    /// What was logged last.
    told: Vec<RoleFinding>,
}

impl Reviews {
    /// What the privileges were, unless that is too long ago.
    pub(super) fn recent(&self) -> Option<Vec<RoleFinding>> {
        let review = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (asked, privileges) = review.privileges.as_ref()?;
        (asked.elapsed() < REVIEW_AGE).then(|| privileges.clone())
    }

    /// Remembers what the privileges are.
    pub(super) fn keep(&self, privileges: Vec<RoleFinding>) -> Vec<RoleFinding> {
        let mut review = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        review.privileges = Some((Instant::now(), privileges.clone()));
        privileges
    }

    /// Has the privileges asked again on the next connection.
    pub(super) fn forget(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).privileges = None;
    }

    /// Logs what is tolerated, unless that is what was logged last.
    pub(super) fn tell(&self, tolerated: Vec<RoleFinding>) {
        let mut review = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if review.told == tolerated {
            return;
        }
        for RoleFinding { dangerous: _, text, cure } in &tolerated {
            log::warn!("{text}: {cure}");
        }
        review.told = tolerated;
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

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
