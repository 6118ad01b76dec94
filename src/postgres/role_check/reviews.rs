//! Findings that are kept between connections.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::finding::RoleFinding;

/// The age up to which findings about privileges hold for further connections.
const REVIEW_AGE: Duration = Duration::from_secs(60);

/// The findings of earlier connections, so that they are neither asked nor logged each time.
#[derive(Debug, Default)]
pub(crate) struct Reviews {
    /// The time of the question about privileges, and its findings.
    privileges: Mutex<Option<(Instant, Vec<RoleFinding>)>>,
    /// The findings that were logged last.
    reported: Mutex<Vec<RoleFinding>>,
}

impl Reviews {
    /// The findings about privileges, unless they are too old.
    pub(crate) fn recent(&self) -> Option<Vec<RoleFinding>> {
        let kept = self.privileges.lock().unwrap_or_else(PoisonError::into_inner);
        kept.as_ref().filter(|(asked, _)| asked.elapsed() < REVIEW_AGE).map(|(_, findings)| findings.clone())
    }

    /// Keeps the findings about privileges; `None` has them asked again on the next connection.
    pub(crate) fn keep(&self, privileges: Option<Vec<RoleFinding>>) {
        let kept = privileges.map(|privileges| (Instant::now(), privileges));
        *self.privileges.lock().unwrap_or_else(PoisonError::into_inner) = kept;
    }

    /// Logs findings that are tolerated, unless they are those that were logged last.
    pub(crate) fn report(&self, tolerated: Vec<RoleFinding>) {
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        if *reported != tolerated {
            tolerated.iter().for_each(|RoleFinding { text, cure, .. }| log::warn!("{text}: {cure}"));
            *reported = tolerated;
        }
    }
}
