//! A connection over TLS with a deadline from its first byte, the handshake included.

use std::future::Future;
use std::pin::Pin;

use postgres::Socket;
use postgres::config::SslNegotiation;
use postgres::tls::{MakeTlsConnect, TlsConnect, TlsStream};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout_at;

use super::deadline::{Deadline, DeadlineStream};

/// The request for TLS, which comes before any other message.
const TLS_REQUEST: [u8; 8] = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];

/// Puts a deadline on a connection that `tls` encrypts. The handshake is ours: the driver would wait for the server's first
/// byte without a limit.
#[derive(Clone)]
pub(crate) struct Encrypted<T> {
    pub(crate) tls: T,
    pub(crate) negotiation: SslNegotiation,
    pub(crate) deadline: Deadline,
}

type AnyError = Box<dyn std::error::Error + Send + Sync>;
type Handshake<S> = Pin<Box<dyn Future<Output = Result<DeadlineStream<S>, AnyError>> + Send>>;

impl<T> MakeTlsConnect<Socket> for Encrypted<T>
where
    T: MakeTlsConnect<Socket>,
    T::Stream: 'static,
    T::TlsConnect: Send + 'static,
    <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
{
    type Stream = DeadlineStream<T::Stream>;
    type TlsConnect = Encrypted<T::TlsConnect>;
    type Error = T::Error;

    fn make_tls_connect(&mut self, host: &str) -> Result<Self::TlsConnect, T::Error> {
        let tls = self.tls.make_tls_connect(host)?;
        Ok(Encrypted { tls, negotiation: self.negotiation, deadline: self.deadline.clone() })
    }
}

impl<T> TlsConnect<Socket> for Encrypted<T>
where
    T: TlsConnect<Socket> + Send + 'static,
    T::Stream: 'static,
    T::Future: Send,
{
    type Stream = DeadlineStream<T::Stream>;
    type Error = AnyError;
    type Future = Handshake<T::Stream>;

    fn connect(self, socket: Socket) -> Self::Future {
        let Self { tls, negotiation, deadline } = self;
        Box::pin(async move {
            let stream = timeout_at(deadline.at(), shake_hands(tls, negotiation, socket)).await??;
            Ok(deadline.over(stream, TlsStream::channel_binding))
        })
    }
}

async fn shake_hands<T: TlsConnect<Socket>>(
    tls: T,
    negotiation: SslNegotiation,
    mut socket: Socket,
) -> Result<T::Stream, AnyError> {
    if negotiation == SslNegotiation::Direct {
        let hint = "sslnegotiation=direct needs PostgreSQL 17 or newer";
        return tls.connect(socket).await.map_err(|error| format!("{} ({hint})", error.into()).into());
    }
    socket.write_all(&TLS_REQUEST).await?;
    // INVARIANT: not a byte more is read, so that no plain text can pass for encrypted.
    if socket.read_u8().await? != b'S' {
        return Err("the server does not support TLS".into());
    }
    tls.connect(socket).await.map_err(Into::into)
}
