//! The statements that stay prepared on a connection.

use std::sync::Arc;

use postgres::Statement;

use super::columns::Plan;

/// Statements kept on one connection; a server holds some 100 KB for each.
const MAX_STATEMENTS: usize = 128;

/// The statements of a connection by name, the most recently used at the end: few enough to be searched in turn.
#[derive(Default)]
pub(super) struct StatementCache(Vec<(String, Arc<CachedStatement>)>);

impl StatementCache {
    /// Removes one.
    pub(super) fn take(&mut self, name: &str) -> Option<Arc<CachedStatement>> {
        let index = self.0.iter().position(|(cached, _)| cached == name)?;
        Some(self.0.remove(index).1)
    }

    /// Adds one. A full cache drops the one that was used least recently.
    pub(super) fn put(&mut self, name: &str, cached: Arc<CachedStatement>) {
        if self.0.len() >= MAX_STATEMENTS {
            self.0.remove(0);
        }
        self.0.push((name.to_owned(), cached));
    }

    /// Looks one up, and marks it as the most recently used.
    pub(super) fn get(&mut self, name: &str) -> Option<Arc<CachedStatement>> {
        let cached = self.take(name)?;
        self.put(name, Arc::clone(&cached));
        Some(cached)
    }
}

/// A statement in its wrapper, prepared.
pub(super) struct CachedStatement {
    pub(super) wrapper: Statement,
    pub(super) plan: Plan,
}
