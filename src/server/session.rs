//! A session: its threads, from the first to the last.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::{io, thread};

use super::config::Config;
use super::dispatch::Dispatcher;
use super::ending::Ending;
use super::in_flight::InFlight;
use super::notices::Notices;
use super::outbox::Outbox;
use super::shared::Shared;
use super::writer::start_writer;
use crate::call::WaitGroup;
use crate::governance::Governor;
use crate::tools::Toolbox;
use crate::wire::frame::FrameReader;
use crate::wire::stream::{Input, Output, Wake};

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
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
        signal_hook::low_level::pipe::register(signal, signal_waker.try_clone_fd()?)?;
    }
    let (main_waker, main_wake) = Wake::pair()?;
    let (reader_waker, reader_wake) = Wake::pair()?;
    let shared = Arc::new(Shared {
        in_flight: InFlight::new(config, toolbox.lanes()),
        toolbox,
        governor,
        outbox: Outbox::default(),
        wait_group: WaitGroup::default(),
        notices: Notices::new(main_waker),
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
        shared.notices.ended(&shared.notices.reader_ended);
    };
    thread::Builder::new().name("reader".to_owned()).spawn(read).map(drop)
}
