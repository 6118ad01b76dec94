//! Findings that are kept between connections.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::finding::RoleFinding;

/// The age up to which findings about privileges hold for further connections.
const REVIEW_AGE: Duration = Duration::from_secs(60);

/// The findings of earlier connections, so that they are neither asked nor logged each time.
#[derive(Debug, Default)]
pub(crate) struct Reviews(Mutex<Review>);

#[derive(Debug, Default)]
struct Review {
    /// The time of the question, and its findings.
    privileges: Option<(Instant, Vec<RoleFinding>)>,
    /// The findings that were logged last.
    reported: Vec<RoleFinding>,
}

impl Reviews {
    /// The findings about privileges, unless they are too old.
    pub(crate) fn recent(&self) -> Option<Vec<RoleFinding>> {
        let review = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (asked, privileges) = review.privileges.as_ref()?;
        (asked.elapsed() < REVIEW_AGE).then(|| privileges.clone())
    }

    /// Keeps the findings about privileges.
    pub(crate) fn keep(&self, privileges: Vec<RoleFinding>) -> Vec<RoleFinding> {
        let mut review = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        review.privileges = Some((Instant::now(), privileges.clone()));
        privileges
    }

    /// Has the privileges asked again on the next connection.
    pub(crate) fn forget(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).privileges = None;
    }

    /// Logs findings that are tolerated, unless they are those that were logged last.
    pub(crate) fn report(&self, tolerated: Vec<RoleFinding>) {
        let mut review = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if review.reported == tolerated {
            return;
        }
        for RoleFinding { dangerous: _, text, cure } in &tolerated {
            log::warn!("{text}: {cure}");
        }
        review.reported = tolerated;
    }
}
