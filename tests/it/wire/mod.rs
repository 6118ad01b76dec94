//! Sessions of the protocol: lines and answers, begin and end, load.

mod protocol;
mod session;
mod load;
