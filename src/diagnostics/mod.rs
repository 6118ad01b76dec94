//! The log, and the only writer to stderr.
//!
//! A slow reader of the log must never make a caller wait: stderr may be a pipe that is not drained. So a line is written
//! only when the kernel reports that it fits now; otherwise it is dropped, and the next line that fits is preceded by the
//! number of dropped ones. A log record is one line, whatever text from outside is in it. And no line goes to a stream on
//! which a client speaks: it would break the protocol.
//!
//! | file | holds |
//! |---|---|
//! | `escape` | text from outside, made safe to look at |
//! | `line` | a line of bounded length, and the wait until it fits |
//! | `stderr` | standard error, the client's or the journal's; reports to the operator who starts the program |
//! | `log` | the log: levels, format, and dropping instead of waiting |

mod escape;
mod line;
mod stderr;
mod log;

pub use self::{
    escape::escape,
    log::{Target, init, open_file},
    stderr::{expect_journal, is_clients, is_stdin, keep_stdout_for_mcp, report_fatal},
};
