//! A connection that is not encrypted, as the driver's "TLS" that changes nothing.

use std::future::{Ready, ready};
use std::io;

use postgres::Socket;
use postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect};

use super::deadline::{Deadline, DeadlineStream};

/// Puts a deadline on a connection that is not encrypted.
#[derive(Clone, Debug)]
pub(crate) struct Plain(pub(crate) Deadline);

impl MakeTlsConnect<Socket> for Plain {
    type Stream = DeadlineStream<Socket>;
    type TlsConnect = Self;
    type Error = io::Error;

    fn make_tls_connect(&mut self, _: &str) -> io::Result<Self> {
        Ok(self.clone())
    }
}

impl TlsConnect<Socket> for Plain {
    type Stream = DeadlineStream<Socket>;
    type Error = io::Error;
    type Future = Ready<io::Result<DeadlineStream<Socket>>>;

    fn connect(self, socket: Socket) -> Self::Future {
        ready(Ok(self.0.over(socket, |_| ChannelBinding::none())))
    }
}
