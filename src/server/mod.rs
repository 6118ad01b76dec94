//! The threads that carry a call through the layers, and the order in which they begin and end.
//!
//! | thread | owns | ends |
//! |---|---|---|
//! | *reader* | stdin, the handshake | at EOF, or woken by main |
//! | *worker-N* | nothing | when the pool closes, or replaced after it hung |
//! | *watchdog* | nothing | when the table closes |
//! | *stopper* | what may block while stopping work | when its sender is dropped |
//! | *writer* | stdout | when the outbox is closed and empty, or the client is gone |
//! | *main* | signals, the order of the end | last |
//!
//! Workers, watchdog and stopper begin with the first call. On the way out nothing is joined that may block: what calls
//! have left behind, such as CancelRequests, has a moment ([`crate::call::LooseEnds`]); then returning from `main` ends the
//! process, and PostgreSQL sees its connections close.

mod execute;
mod dispatch;
pub mod in_flight;
mod table;
mod slots;
mod timers;
mod pool;
mod watchdog;
mod stopper;
mod outbox;
mod ending;
#[cfg(test)]
mod tests;

use std::{
    io,
    os::fd::OwnedFd,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use nix::errno::Errno;

use crate::{
    call::{LooseEnds, Outcome},
    governance::Governor,
    problem::{Code, Problem},
    tools::Toolbox,
    wire::{
        frame::FrameReader,
        stream::{Input, Output, Wake, Waker},
    },
};

use self::{
    dispatch::Dispatcher,
    ending::Ending,
    in_flight::InFlight,
    outbox::Outbox,
    pool::Pool,
    stopper::Stopper,
    table::{Limits, Taken},
};

/// The numbers a session runs by; [`crate::settings`] says what each may be.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// The longest line of input in bytes.
    pub max_frame_bytes: usize,
    /// Workers, and also how many stuck ones are replaced.
    pub max_concurrency: usize,
    /// How long a call waits for a slot.
    pub queue_wait: Duration,
    /// How many calls wait for a slot.
    pub queue_capacity: usize,
    /// How long a run takes before it is answered for.
    pub call_timeout: Duration,
    /// How long the end waits for calls that still run.
    pub shutdown_grace: Duration,
    /// How many workers SQL calls may take at a time.
    pub sql_lane: usize,
}

impl Config {
    /// The most descriptors that a session holds at once, connections to a database aside: the standard three and our copies
    /// of them, three pipes, and for every worker, also the stuck ones, what a walk through a directory takes.
    pub fn descriptors(&self) -> u64 {
        const SESSION: usize = 32;
        const A_WORKER: usize = 4;
        let workers = self.max_concurrency.saturating_mul(2);
        u64::try_from(workers.saturating_mul(A_WORKER).saturating_add(SESSION)).unwrap_or(u64::MAX)
    }
}

/// What every thread of the session sees.
#[derive(Debug)]
struct Shared {
    toolbox: Toolbox,
    governor: Governor,
    in_flight: InFlight,
    outbox: Outbox,
    pool: Pool,
    stopper: Stopper,
    loose_ends: LooseEnds,
    notices: Notices,
}

/// What the threads tell main.
#[derive(Debug)]
struct Notices {
    reader_ended: AtomicBool,
    writer_ended: AtomicBool,
    /// Why stdin or stdout cannot be used any more, when it is not that the client left.
    failure: Mutex<Option<io::Error>>,
    /// Main waits for the last answer.
    draining: AtomicBool,
    main: Waker,
}

impl Notices {
    fn tell(&self, what: &AtomicBool) {
        what.store(true, Ordering::Release);
        self.main.wake();
    }

    /// Keeps the first failure, for the exit code.
    fn fail(&self, error: io::Error) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}

impl Shared {
    /// Gives the answer that `taken` owes, or none to a cancelled call, once the record of it is written.
    fn settle(&self, taken: Taken, outcome: Option<&Outcome>) {
        let Taken { serial, reply, record, decision, stop, debt } = taken;
        record.close(decision, outcome, Instant::now());
        if let Some(outcome) = outcome {
            self.outbox.push(match outcome {
                Outcome::Answer(body) => reply.result(body),
                Outcome::Problem(problem) => reply.problem(problem),
                Outcome::Internal => reply.internal(),
                Outcome::ShuttingDown => reply.shutting_down(),
            });
        }
        if let Some(serial) = serial {
            self.outbox.release(serial);
        }
        if let Some(stop) = stop {
            self.stopper.run(stop);
        }
        // INVARIANT: only now may main find nothing owed and close the outbox.
        drop(debt);
        if self.notices.draining.load(Ordering::Acquire) && self.in_flight.with(|table| table.is_idle()) {
            self.notices.main.wake();
        }
    }
}

/// How soon a call that found no slot may try again.
const RETRY_AFTER: Duration = Duration::from_secs(1);

fn no_slot() -> Outcome {
    let detail = "All slots are taken. Wait for running calls to end, or cancel one, and call again.";
    Outcome::Problem(Problem::new(Code::ConcurrencyLimit, detail).retry_after(RETRY_AFTER))
}

/// Serves one session on these descriptors until EOF, a signal, or until the client is gone.
///
/// # Errors
/// When a thread or a pipe cannot be made at the start, or stdin or stdout fails. A client that leaves is no error.
pub fn run(
    config: Config,
    toolbox: Toolbox,
    governor: Governor,
    stdin: OwnedFd,
    stdout: OwnedFd,
) -> io::Result<()> {
    let (signal_waker, signals) = Wake::pair()?;
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::low_level::pipe::register(signal, signal_waker.try_clone_fd()?)?;
    }
    let (main_waker, main_wake) = Wake::pair()?;
    let (reader_waker, reader_wake) = Wake::pair()?;
    let shared = Arc::new(Shared {
        toolbox,
        governor,
        in_flight: InFlight::new(Limits {
            workers: config.max_concurrency,
            sql_lane: config.sql_lane.min(config.max_concurrency),
            queue_capacity: config.queue_capacity,
            queue_wait: config.queue_wait,
            call_timeout: config.call_timeout,
        }),
        outbox: Outbox::default(),
        pool: Pool::new(config.max_concurrency),
        stopper: Stopper::default(),
        loose_ends: LooseEnds::default(),
        notices: Notices {
            reader_ended: AtomicBool::new(false),
            writer_ended: AtomicBool::new(false),
            failure: Mutex::new(None),
            draining: AtomicBool::new(false),
            main: main_waker,
        },
    });
    start_writer(Arc::clone(&shared), Output::new(stdout))?;
    start_reader(
        Arc::clone(&shared),
        FrameReader::new(Input::new(stdin, reader_wake), config.max_frame_bytes),
    )?;
    Ending {
        shared: &shared,
        signals,
        unheeded: 0,
        notices: main_wake,
        reader: reader_waker,
        grace: config.shutdown_grace,
    }
    .run()
}

/// The reader owns stdin and the handshake. It ends at the end of the stream, or when main wakes it.
fn start_reader(shared: Arc<Shared>, frames: FrameReader<Input>) -> io::Result<()> {
    let read = move || {
        Dispatcher::new(Arc::clone(&shared)).read_all(frames);
        shared.notices.tell(&shared.notices.reader_ended);
    };
    thread::Builder::new().name("reader".to_owned()).spawn(read).map(drop)
}

/// The writer owns stdout. It ends when the outbox is closed and empty, or when the client is gone.
fn start_writer(shared: Arc<Shared>, output: Output) -> io::Result<()> {
    let write = move || {
        match outbox::write_lines(&shared.outbox, output) {
            Ok(()) => {}
            Err(error) if is_departure(&error) => {
                log::info!(target: "session", "the client is gone: {error}")
            }
            Err(error) => {
                log::error!(target: "session", "stdout cannot be written: {error}");
                shared.notices.fail(error);
            }
        }
        shared.notices.tell(&shared.notices.writer_ended);
    };
    thread::Builder::new().name("writer".to_owned()).spawn(write).map(drop)
}

/// Whether a failed write means that nobody is there to read: a pipe or socket without a peer, a terminal that hung up.
fn is_departure(error: &io::Error) -> bool {
    let hung_up = error.raw_os_error() == Some(Errno::EIO as i32);
    hung_up || matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
}
