//! A watched connection over TLS, from its first byte: what is said before the handshake is waited for no longer, either.

use std::{fmt, future::Future, pin::Pin};

use postgres::{
    Socket,
    tls::{MakeTlsConnect, TlsConnect, TlsStream},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    time::timeout_at,
};

use super::{Negotiation, Watch, Watched};

/// Asks for TLS before anything else is said.
const TLS_REQUEST: [u8; 8] = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];

/// Watches a connection that `tls` encrypts, from the first byte. What the driver would ask a server first, it would wait for
/// as long as that is silent.
#[derive(Clone)]
pub(crate) struct Encrypted<T> {
    pub(crate) tls: T,
    pub(crate) negotiation: Negotiation,
    pub(crate) watch: Watch,
}

impl<T> fmt::Debug for Encrypted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encrypted").field("watch", &self.watch).finish_non_exhaustive()
    }
}

type AnyError = Box<dyn std::error::Error + Send + Sync>;
type Handshake<S> = Pin<Box<dyn Future<Output = Result<Watched<S>, AnyError>> + Send>>;

impl<T> MakeTlsConnect<Socket> for Encrypted<T>
where
    T: MakeTlsConnect<Socket>,
    T::Stream: 'static,
    T::TlsConnect: Send + 'static,
    <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
{
    type Stream = Watched<T::Stream>;
    type TlsConnect = Encrypted<T::TlsConnect>;
    type Error = T::Error;

    fn make_tls_connect(&mut self, host: &str) -> Result<Self::TlsConnect, T::Error> {
        let tls = self.tls.make_tls_connect(host)?;
        Ok(Encrypted { tls, negotiation: self.negotiation, watch: self.watch.clone() })
    }
}

impl<T> TlsConnect<Socket> for Encrypted<T>
where
    T: TlsConnect<Socket> + Send + 'static,
    T::Stream: 'static,
    T::Future: Send,
{
    type Stream = Watched<T::Stream>;
    type Error = AnyError;
    type Future = Handshake<T::Stream>;

    fn connect(self, socket: Socket) -> Self::Future {
        let Self { tls, negotiation, watch } = self;
        let deadline = watch.deadline();
        Box::pin(async move {
            let stream = timeout_at(deadline, shake_hands(tls, negotiation, socket)).await??;
            Ok(watch.over(stream, TlsStream::channel_binding))
        })
    }
}

async fn shake_hands<T: TlsConnect<Socket>>(
    tls: T,
    negotiation: Negotiation,
    mut socket: Socket,
) -> Result<T::Stream, AnyError> {
    if negotiation == Negotiation::Direct {
        let hint = "sslnegotiation=direct needs PostgreSQL 17 or newer";
        return tls.connect(socket).await.map_err(|error| format!("{} ({hint})", error.into()).into());
    }
    socket.write_all(&TLS_REQUEST).await?;
    // INVARIANT: not a byte more is read, so that nobody can slip in what would pass for encrypted.
    if socket.read_u8().await? != b'S' {
        return Err("the server does not support TLS".into());
    }
    tls.connect(socket).await.map_err(Into::into)
}
