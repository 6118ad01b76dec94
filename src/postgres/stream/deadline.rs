//! A stream with a deadline: none waits for a server longer than that, whatever the driver does.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use postgres::tls::{ChannelBinding, TlsStream};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep_until};

use super::filter::Filter;

/// The bytes that are read at a time.
const READ: usize = 16_384;

/// The deadline of a connection, and the longest row it may bring. Clones are the same deadline.
#[derive(Clone, Debug)]
pub(crate) struct Deadline {
    at: Arc<Mutex<Instant>>,
    has_expired: Arc<AtomicBool>,
    max_row: usize,
}

impl Deadline {
    /// Rows are at most `max_row` bytes long.
    pub(crate) fn new(patience: Duration, max_row: usize) -> Self {
        let deadline =
            Self { at: Arc::new(Mutex::new(Instant::now())), has_expired: Arc::default(), max_row };
        deadline.wait_at_most(patience);
        deadline
    }

    /// Sets the deadline: from now on a wait for the server ends after `patience` at the latest.
    pub(crate) fn wait_at_most(&self, patience: Duration) {
        let now = Instant::now();
        *self.at.lock().unwrap_or_else(PoisonError::into_inner) = now.checked_add(patience).unwrap_or(now);
    }

    /// Returns whether a wait has ended at the deadline. The stream itself goes on: messages that the server sends later can still be read.
    pub(crate) fn has_expired(&self) -> bool {
        self.has_expired.load(Ordering::Relaxed)
    }

    pub(super) fn at(&self) -> tokio::time::Instant {
        (*self.at.lock().unwrap_or_else(PoisonError::into_inner)).into()
    }

    /// Puts the deadline on a stream.
    pub(super) fn over<S>(self, inner: S, binding: fn(&S) -> ChannelBinding) -> DeadlineStream<S> {
        DeadlineStream {
            inner,
            binding,
            filter: Filter::new(self.max_row),
            raw: vec![0; READ].into_boxed_slice(),
            passed: Vec::new(),
            taken: 0,
            sleep: Box::pin(sleep_until(self.at())),
            deadline: self,
        }
    }
}

/// A stream whose every wait ends at the deadline.
pub(crate) struct DeadlineStream<S> {
    inner: S,
    binding: fn(&S) -> ChannelBinding,
    filter: Filter,
    raw: Box<[u8]>,
    /// The bytes that have passed the filter, of which so many are taken.
    passed: Vec<u8>,
    taken: usize,
    sleep: Pin<Box<Sleep>>,
    deadline: Deadline,
}

impl<S> DeadlineStream<S> {
    /// Hands out bytes that have passed.
    fn give(&mut self, to: &mut ReadBuf<'_>) {
        let rest = self.passed.get(self.taken..).unwrap_or_default();
        let part = rest.get(..to.remaining()).unwrap_or(rest);
        to.put_slice(part);
        self.taken += part.len();
    }

    fn poll_deadline(&mut self, context: &mut Context<'_>) -> Poll<io::Error> {
        let deadline = self.deadline.at();
        // The runtime looks at its clock only when it pauses, which a server that never does keeps it from.
        if tokio::time::Instant::now() < deadline {
            if self.sleep.deadline() != deadline {
                self.sleep.as_mut().reset(deadline);
            }
            ready!(self.sleep.as_mut().poll(context));
        }
        self.deadline.has_expired.store(true, Ordering::Relaxed);
        Poll::Ready(io::Error::new(io::ErrorKind::TimedOut, "the server did not answer in time"))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for DeadlineStream<S> {
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

impl<S: AsyncWrite + Unpin> AsyncWrite for DeadlineStream<S> {
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

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for DeadlineStream<S> {
    fn channel_binding(&self) -> ChannelBinding {
        (self.binding)(&self.inner)
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use tokio::io::AsyncReadExt as _;

    use super::*;

    const LONG: Duration = Duration::from_secs(60);
    const SHORT: Duration = Duration::from_millis(50);

    /// Lets `work` read from `peer` with a deadline; rows are at most 100 bytes long.
    fn with_deadline<P, T>(
        peer: P,
        patience: Duration,
        work: impl AsyncFnOnce(&mut DeadlineStream<P>, Deadline) -> T,
    ) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let deadline = Deadline::new(patience, 100);
            work(&mut deadline.clone().over(peer, |_| ChannelBinding::none()), deadline).await
        })
    }

    #[test]
    fn bytes_that_pass_are_handed_out_once_and_whole_for_any_size_of_read() {
        let sent = [&b"T\0\0\x04\0"[..], &[7; 1020], b"D\0\0\0\x68", &[8; 100], b"Z\0\0\0\x05I"].concat();
        for size in [1, 3, 5, 4096] {
            // It comes in two.
            let (first, second) = sent.split_at(700);
            let heard = with_deadline(first.chain(second), LONG, async |stream, _| heard(stream, size).await);
            assert!(heard == sent, "{size} at a time");
        }
    }

    /// Everything, by so many bytes at a time.
    async fn heard<P: AsyncRead + Unpin>(stream: &mut DeadlineStream<P>, size: usize) -> Vec<u8> {
        let (mut heard, mut some) = (Vec::new(), vec![0; size]);
        loop {
            // A read of no bytes takes none away.
            assert_eq!(stream.read(&mut []).await.unwrap(), 0);
            match stream.read(&mut some).await.unwrap() {
                0 => return heard,
                read => heard.extend_from_slice(&some[..read]),
            }
        }
    }

    #[test]
    fn each_call_has_its_own_deadline() {
        let (peer, mut server) = tokio::io::duplex(64);
        with_deadline(peer, Duration::ZERO, async |stream, deadline| {
            let mut heard = [0; 6];
            for _ in 0..3 {
                let late = stream.read_exact(&mut heard).await.unwrap_err();
                assert_eq!(late.kind(), io::ErrorKind::TimedOut);
            }
            deadline.wait_at_most(LONG);
            // The read waits, and returns the bytes that come.
            let waits = poll_fn(|context| {
                Poll::Ready(
                    Pin::new(&mut *stream).poll_read(context, &mut ReadBuf::new(&mut [0])).is_pending(),
                )
            });
            assert!(waits.await);
            tokio::io::AsyncWriteExt::write_all(&mut server, b"Z\0\0\0\x05I").await.unwrap();
            stream.read_exact(&mut heard).await.unwrap();
            // A wait that has begun obeys a nearer deadline.
            deadline.wait_at_most(SHORT);
            assert_eq!(stream.read(&mut heard).await.unwrap_err().kind(), io::ErrorKind::TimedOut);
            // No clock reaches so far: such a wait ends at once, not never.
            deadline.wait_at_most(Duration::MAX);
            assert_eq!(stream.read(&mut heard).await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        });
    }

    #[test]
    fn a_server_that_never_pauses_still_hits_the_deadline() {
        // A row, an error and a setting without an end.
        for header in [b"D\x7f\xff\xff\xff", b"E\x7f\xff\xff\xff"] {
            let peer = (&header[..]).chain(tokio::io::repeat(b'x'));
            // No machine takes in 2 GiB within it.
            let soon = Duration::from_millis(1);
            let outcome =
                with_deadline(peer, soon, async |stream, _| stream.read_to_end(&mut Vec::new()).await);
            assert_eq!(outcome.unwrap_err().kind(), io::ErrorKind::TimedOut);
        }
        let peer = (&b"S\0\x10\0\x05"[..]).chain(tokio::io::repeat(0));
        let outcome = with_deadline(peer, LONG, async |stream, _| stream.read_to_end(&mut Vec::new()).await);
        assert_eq!(outcome.unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
