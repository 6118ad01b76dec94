//! Connection strings: the place of the database and the login there, in libpq's two ways of writing, read by us.
//!
//! The driver refuses half of libpq's parameters and reads some in other units, so it never sees the text. A parameter
//! that is not supported is refused by name. A password never leaves this module but into the driver: not in `Debug`, not
//! in `Display`, not in an error, which is why errors quote nothing but parameter names that libpq knows.
//!
//! | file | holds |
//! |---|---|
//! | `text.rs` | both ways of writing, to one list of parameters |
//! | `environment.rs`, `passfile.rs` | values from outside of the text |
//! | `server.rs`, `encryption.rs` | groups of parameters that belong together |
//! | `connection_string.rs` | [`Dsn`]: all of it, checked and loaded |
//! | `anchor.rs` | the text with absolute paths |
//! | `error.rs` | the reasons to refuse it |
//!
//! <https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING>

mod error;
mod environment;
mod text;
mod server;
mod passfile;
mod encryption;
mod anchor;
mod connection_string;
#[cfg(any(test, fuzzing))]
pub mod fuzz;

pub use anchor::anchored;
pub use connection_string::Dsn;
pub(super) use encryption::SslMode;
pub use environment::{DsnEnvironment, Password};
pub use error::DsnError;
pub(super) use server::{Host, Server, SessionTarget};
