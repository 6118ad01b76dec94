//! One read-only transaction of one call: begun, stoppable, ended after the answer.

use super::connect_error::ConnectError;
use super::database::Database;
use super::pool::{Lease, SLOT_WAIT};
use super::session::Session;
use super::sqlstate::{RETRY_AFTER, chain, failure, io_kind};
use crate::call::{Call, Failure, StopGuard, Unavailable};
use crate::problem::{Code, Problem};

/// A transaction that was begun. Dropped, it takes its connection with it.
pub(crate) struct Transaction {
    lease: Lease,
    stop: Option<StopGuard>,
}

/// The state in which a transaction left its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Nothing is under way on it.
    Idle,
    /// The statement still runs, or its rows are not read.
    Busy,
}

impl Transaction {
    /// Begins one on a pooled or a new connection. A pooled connection that turns out to be dead is replaced: nothing but
    /// the `BEGIN` was sent on it.
    pub(crate) fn begin(database: &Database, call: &Call) -> Result<Self, Failure> {
        let Some(mut lease) = database.pool().lend(call) else {
            call.interrupt().check()?;
            log::error!("a call is refused: every connection is held by a statement that does not stop");
            let detail = "Every database connection is taken by work that hangs. Try again later.";
            return Err(Problem::new(Code::ConcurrencyLimit, detail).retry_after(SLOT_WAIT).into());
        };
        let begin = |session: &mut Session| {
            let remaining = call.remaining();
            session.begin(database.config().statement_timeout.min(remaining), remaining)
        };
        match lease.session.as_mut().map(begin) {
            Some(Ok(())) => return Self::under_way(lease, call),
            Some(Err(error)) if was_dead(&error) && !call.remaining().is_zero() => {
                log::info!("a pooled connection was dead ({}): it is replaced", chain(&error));
            }
            Some(Err(error)) => return Err(unless_stopped(call, failure(&error, None))),
            None => {}
        }
        lease.replace(None);
        call.interrupt().check()?;
        let mut session = match database.connect(call.remaining()) {
            Ok(session) => session,
            // The server takes no more of us: one of those that it took may come back.
            Err(error) if error.is_crowded() => {
                lease.idle.wait(SLOT_WAIT.min(call.remaining())).ok_or_else(|| refused(&error))?
            }
            Err(error) => return Err(refused(&error)),
        };
        let begun = begin(&mut session);
        // Whatever comes now, the lease closes the connection where that may block.
        lease.replace(Some(session));
        begun.map_err(|error| failure(&error, None))?;
        Self::under_way(lease, call)
    }

    fn under_way(mut lease: Lease, call: &Call) -> Result<Self, Failure> {
        lease.wait_guard = call.wait_guard();
        let stop = lease.session.as_ref().and_then(Session::canceller).map(|canceller| {
            let wait_guard = call.wait_guard();
            call.interrupt().on_stop(Box::new(move || canceller.send(wait_guard)))
        });
        Ok(Self { stop: stop.transpose()?, lease })
    }

    /// The connection. `None` cannot happen between begin and end.
    pub(crate) fn session(&mut self) -> Result<&mut Session, Failure> {
        self.lease
            .session
            .as_mut()
            .ok_or_else(|| Failure::Internal("a transaction without a connection".to_owned()))
    }

    /// The work that is left when the answer is on its way: the ROLLBACK. The connection is pooled again only when no
    /// CancelRequest was sent for it, which might arrive late and hit the next statement, and when the server has
    /// confirmed that nothing is left behind.
    pub(crate) fn end(self, end: End) -> Box<dyn FnOnce() + Send> {
        let Self { mut lease, stop } = self;
        // Without a canceller no request can have been sent.
        let is_uncancelled = stop.is_none_or(StopGuard::disarm);
        Box::new(move || match (end, lease.session.as_mut()) {
            (End::Idle, Some(session)) if is_uncancelled => match session.clean() {
                Ok(true) => lease.give_back(),
                Ok(false) => {}
                Err(error) => log::info!("a connection is closed: {}", chain(&error)),
            },
            (End::Idle, Some(session)) => session.is_busy = false,
            // The lease tells it to stop.
            (End::Busy, Some(_)) => {}
            (End::Idle | End::Busy, None) => {}
        })
    }
}

/// Returns whether the connection had died before the `BEGIN`: the server had ended it, or it is broken.
fn was_dead(error: &postgres::Error) -> bool {
    match error.code() {
        // admin_shutdown, crash_shutdown, cannot_connect_now, database_dropped, idle_session_timeout,
        // idle_in_transaction_session_timeout.
        Some(code) => matches!(code.code(), "57P01" | "57P02" | "57P03" | "57P04" | "57P05" | "25P03"),
        None => error.is_closed() || io_kind(error).is_some(),
    }
}

/// The answer to a call when there is no connection.
fn refused(error: &ConnectError) -> Failure {
    if error.is_unsafe_role() {
        log::error!("the database role is refused: {error}");
        let detail = "The database role this server logs in with may do more than read, so no SQL is run. An operator must \
                      give it a least-privilege role.";
        return Problem::new(Code::AccessDenied, detail).into();
    }
    let retry_after = error.may_pass().then_some(RETRY_AFTER);
    Failure::Unavailable(
        Unavailable::Database { retry_after },
        format!("no connection to PostgreSQL: {error}"),
    )
}

/// Turns the failure of a call that was stopped into the stop itself.
pub(crate) fn unless_stopped(call: &Call, failure: Failure) -> Failure {
    call.interrupt().check().map_or_else(Failure::Interrupted, |()| failure)
}
