//! The bytes under a connection: none waits for a server longer than its deadline, none holds more than its bound.
//!
//! The driver bounds neither how long it waits nor how much it takes in. It does take a stream of ours in place of its own
//! where it expects TLS, so a plain connection is one whose "TLS" changes nothing (with `Direct`, nothing is negotiated, and
//! not a byte differs). A Unix socket has no host name, without which the driver wants no TLS: there its own stream remains,
//! a frozen server holds whoever waits for it, and a message is as long as it is.

mod filter;
#[cfg(feature = "tls")]
mod encrypted;

use std::{
    future::{Future, Ready, ready},
    io,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, ready as ready_or_return},
    time::{Duration, Instant},
};

use postgres::{
    Socket,
    tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Sleep, sleep_until},
};

#[cfg(feature = "tls")]
pub(super) use encrypted::Encrypted;
use filter::Filter;
pub(super) use filter::ROW_TOO_LONG;

/// How much is read at a time, in bytes.
const READ: usize = 16_384;

/// What a connection is held to.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    deadline: Arc<Mutex<Instant>>,
    max_row: usize,
}

impl Watch {
    /// Rows are at most `max_row` bytes long.
    pub(super) fn new(patience: Duration, max_row: usize) -> Self {
        let watch = Self { deadline: Arc::new(Mutex::new(Instant::now())), max_row };
        watch.wait_at_most(patience);
        watch
    }

    /// Whoever waits for the server from now on waits so long at most.
    pub(super) fn wait_at_most(&self, patience: Duration) {
        let now = Instant::now();
        *self.deadline.lock().unwrap_or_else(PoisonError::into_inner) =
            now.checked_add(patience).unwrap_or(now);
    }

    fn deadline(&self) -> tokio::time::Instant {
        (*self.deadline.lock().unwrap_or_else(PoisonError::into_inner)).into()
    }

    fn over<S>(self, inner: S, binding: fn(&S) -> ChannelBinding) -> Watched<S> {
        Watched {
            inner,
            binding,
            filter: Filter::new(self.max_row),
            raw: vec![0; READ].into_boxed_slice(),
            passed: Vec::new(),
            taken: 0,
            sleep: Box::pin(sleep_until(self.deadline())),
            watch: self,
        }
    }
}

/// A stream that is watched.
pub(super) struct Watched<S> {
    inner: S,
    binding: fn(&S) -> ChannelBinding,
    filter: Filter,
    raw: Box<[u8]>,
    /// What has passed the filter, of which so much is taken.
    passed: Vec<u8>,
    taken: usize,
    sleep: Pin<Box<Sleep>>,
    watch: Watch,
}

impl<S> Watched<S> {
    /// Gives out what has passed; tells whether there was anything.
    fn give(&mut self, to: &mut ReadBuf<'_>) -> bool {
        let rest = self.passed.get(self.taken..).unwrap_or_default();
        let part = rest.get(..to.remaining()).unwrap_or(rest);
        to.put_slice(part);
        self.taken += part.len();
        !part.is_empty()
    }

    fn poll_deadline(&mut self, context: &mut Context<'_>) -> Poll<io::Error> {
        let deadline = self.watch.deadline();
        if self.sleep.deadline() != deadline {
            self.sleep.as_mut().reset(deadline);
        }
        ready_or_return!(self.sleep.as_mut().poll(context));
        Poll::Ready(io::Error::new(io::ErrorKind::TimedOut, "the server did not answer in time"))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        to: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        while !this.give(to) {
            let mut raw = ReadBuf::new(&mut this.raw);
            match Pin::new(&mut this.inner).poll_read(context, &mut raw) {
                Poll::Pending => return this.poll_deadline(context).map(Err),
                Poll::Ready(outcome) => outcome?,
            }
            if raw.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
            this.passed.clear();
            this.taken = 0;
            let filtered = this.filter.take(raw.filled(), &mut this.passed);
            filtered.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
            // A server that never pauses is still late.
            if let Poll::Ready(late) = this.poll_deadline(context) {
                return Poll::Ready(Err(late));
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        from: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(context, from)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Watched<S> {
    fn channel_binding(&self) -> ChannelBinding {
        (self.binding)(&self.inner)
    }
}

/// Watches a connection that is not encrypted.
#[derive(Clone, Debug)]
pub(super) struct Plain(pub(super) Watch);

impl MakeTlsConnect<Socket> for Plain {
    type Stream = Watched<Socket>;
    type TlsConnect = Self;
    type Error = io::Error;

    fn make_tls_connect(&mut self, _: &str) -> io::Result<Self> {
        Ok(self.clone())
    }
}

impl TlsConnect<Socket> for Plain {
    type Stream = Watched<Socket>;
    type Error = io::Error;
    type Future = Ready<io::Result<Watched<Socket>>>;

    fn connect(self, socket: Socket) -> Self::Future {
        ready(Ok(self.0.over(socket, |_| ChannelBinding::none())))
    }
}

/// Who speaks first of TLS (libpq's `sslnegotiation`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Negotiation {
    /// The server is asked whether it wants TLS, as every version understands.
    Postgres,
    /// Nobody: TLS it is.
    Direct,
}
