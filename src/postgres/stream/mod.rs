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
pub(crate) use encrypted::Encrypted;
use filter::Filter;
pub(crate) use filter::{MAX_OTHER, ROW_TOO_LONG};

/// How much is read at a time, in bytes.
const READ: usize = 16_384;

/// What a connection is held to.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    deadline: Arc<Mutex<Instant>>,
    max_row: usize,
}

impl Watch {
    /// Rows are at most `max_row` bytes long.
    pub(crate) fn new(patience: Duration, max_row: usize) -> Self {
        let watch = Self { deadline: Arc::new(Mutex::new(Instant::now())), max_row };
        watch.wait_at_most(patience);
        watch
    }

    /// Whoever waits for the server from now on waits so long at most.
    pub(crate) fn wait_at_most(&self, patience: Duration) {
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
pub(crate) struct Watched<S> {
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
    /// Gives out what has passed.
    fn give(&mut self, to: &mut ReadBuf<'_>) {
        let rest = self.passed.get(self.taken..).unwrap_or_default();
        let part = rest.get(..to.remaining()).unwrap_or(rest);
        to.put_slice(part);
        self.taken += part.len();
    }

    fn poll_deadline(&mut self, context: &mut Context<'_>) -> Poll<io::Error> {
        let deadline = self.watch.deadline();
        // The runtime looks at its clock only when it pauses, which a server that never does keeps it from.
        if tokio::time::Instant::now() < deadline {
            if self.sleep.deadline() != deadline {
                self.sleep.as_mut().reset(deadline);
            }
            ready_or_return!(self.sleep.as_mut().poll(context));
        }
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
        while this.taken >= this.passed.len() {
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
        this.give(to);
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
pub(crate) struct Plain(pub(super) Watch);

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
pub(crate) enum Negotiation {
    /// The server is asked whether it wants TLS, as every version understands.
    Postgres,
    /// Nobody: TLS it is.
    Direct,
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use tokio::io::AsyncReadExt as _;

    use super::*;

    const LONG: Duration = Duration::from_secs(60);
    const SHORT: Duration = Duration::from_millis(50);

    /// Lets `work` read from `peer`, watched; rows are at most 100 bytes long.
    fn watched<P, T>(peer: P, patience: Duration, work: impl AsyncFnOnce(&mut Watched<P>, Watch) -> T) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let watch = Watch::new(patience, 100);
            work(&mut watch.clone().over(peer, |_| ChannelBinding::none()), watch).await
        })
    }

    #[test]
    fn what_passes_is_given_out_once_and_whole_whatever_is_asked_for() {
        let said = [&b"T\0\0\x04\0"[..], &[7; 1020], b"D\0\0\0\x68", &[8; 100], b"Z\0\0\0\x05I"].concat();
        for size in [1, 3, 5, 4096] {
            // It comes in two.
            let (first, second) = said.split_at(700);
            let heard = watched(first.chain(second), LONG, async |stream, _| heard(stream, size).await);
            assert!(heard == said, "{size} at a time");
        }
    }

    /// Everything, by so many bytes at a time.
    async fn heard<P: AsyncRead + Unpin>(stream: &mut Watched<P>, size: usize) -> Vec<u8> {
        let (mut heard, mut some) = (Vec::new(), vec![0; size]);
        loop {
            // Who asks for nothing gets nothing, and takes nothing away.
            assert_eq!(stream.read(&mut []).await.unwrap(), 0);
            match stream.read(&mut some).await.unwrap() {
                0 => return heard,
                read => heard.extend_from_slice(&some[..read]),
            }
        }
    }

    #[test]
    fn a_deadline_is_its_own_calls() {
        let (peer, mut server) = tokio::io::duplex(64);
        watched(peer, Duration::ZERO, async |stream, watch| {
            let mut heard = [0; 6];
            for _ in 0..3 {
                let late = stream.read_exact(&mut heard).await.unwrap_err();
                assert_eq!(late.kind(), io::ErrorKind::TimedOut);
            }
            watch.wait_at_most(LONG);
            // It waits, and has what comes.
            let waits = poll_fn(|context| {
                Poll::Ready(
                    Pin::new(&mut *stream).poll_read(context, &mut ReadBuf::new(&mut [0])).is_pending(),
                )
            });
            assert!(waits.await);
            tokio::io::AsyncWriteExt::write_all(&mut server, b"Z\0\0\0\x05I").await.unwrap();
            stream.read_exact(&mut heard).await.unwrap();
            // What waits already is not held up by a deadline that was far away.
            watch.wait_at_most(SHORT);
            assert_eq!(stream.read(&mut heard).await.unwrap_err().kind(), io::ErrorKind::TimedOut);
            // No clock reaches so far: not for ever, then, but not at all.
            watch.wait_at_most(Duration::MAX);
            assert_eq!(stream.read(&mut heard).await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        });
    }

    #[test]
    fn who_never_pauses_is_late_all_the_same() {
        // A row, an error and a setting without an end.
        for header in [b"D\x7f\xff\xff\xff", b"E\x7f\xff\xff\xff"] {
            let peer = (&header[..]).chain(tokio::io::repeat(b'x'));
            // No machine takes in 2 GiB within it.
            let soon = Duration::from_millis(1);
            let outcome = watched(peer, soon, async |stream, _| stream.read_to_end(&mut Vec::new()).await);
            assert_eq!(outcome.unwrap_err().kind(), io::ErrorKind::TimedOut);
        }
        let peer = (&b"S\0\x10\0\x05"[..]).chain(tokio::io::repeat(0));
        let outcome = watched(peer, LONG, async |stream, _| stream.read_to_end(&mut Vec::new()).await);
        assert_eq!(outcome.unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
