//! Whatever answers in PostgreSQL's place: a script plays it, byte for byte, and the login is refused in time.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use mcp_server_suite::postgres::Database;

use crate::sql::run::config;
use crate::support::took;

/// The peer's conduct after its last message.
#[derive(Clone, Copy)]
enum Then {
    HangUp,
    /// Says nothing more, and stays.
    Silence,
    /// Says this over and over.
    Repeat(&'static [u8]),
}

/// Says each when it has heard something.
fn play(mut stream: TcpStream, messages: &[&[u8]], then: Then) {
    let mut heard = [0; 4096];
    for message in messages {
        if stream.read(&mut heard).is_err() || stream.write_all(message).is_err() {
            return;
        }
    }
    match then {
        Then::HangUp => {}
        // Until the other side hangs up.
        Then::Silence => while stream.read(&mut heard).is_ok_and(|read| read > 0) {},
        Then::Repeat(again) => while stream.write_all(again).is_ok() {},
    }
}

/// The login to this peer is refused, in time and for this reason.
#[track_caller]
fn check(options: &str, messages: &[&'static [u8]], then: Then, expected: &str) {
    let peer = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = peer.local_addr().unwrap().port();
    let script = messages.to_vec();
    thread::Builder::new()
        .spawn(move || peer.incoming().flatten().for_each(|stream| play(stream, &script, then)))
        .unwrap();
    let mut settings = config(&format!("host=127.0.0.1 port={port} user=reader dbname=seed {options}"));
    settings.connect_timeout = Duration::from_secs(1);
    let begun = Instant::now();
    let shown = Database::new(settings).probe().unwrap_err().to_string();
    took(begun, 0, 10_000);
    let messages: Vec<_> = messages.iter().map(|message| String::from_utf8_lossy(message)).collect();
    assert!(shown.contains(expected), "{messages:?}: {shown}");
}

const PLAIN: &str = "sslmode=disable";
/// The way in, and the messages of a server before it waits for a statement.
const IN: &[u8] = b"R\0\0\0\x08\0\0\0\0K\0\0\0\x0c\0\0\0\x01\0\0\0\x02Z\0\0\0\x05I";

#[test]
fn peers_that_do_not_speak_as_postgresql_does_are_refused_in_time() {
    let no_message = "what is no message of PostgreSQL's";
    let late = "no answer within 1000 ms";
    let zeros: &[u8] = &[0; 16_384];
    for (say, then, expected) in [
        (&b""[..], Then::HangUp, "hung up"),
        (b"", Then::Silence, late),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", Then::HangUp, no_message),
        (b"SSH-2.0-OpenSSH_9.2p1\r\n", Then::Silence, no_message),
        (b"R\0\0\0\x03", Then::Silence, no_message),
        (b"R\xff\xff\xff\xff", Then::Silence, no_message),
        (b"D\xff\xff\xff\xff", Then::Silence, no_message),
        (b"E\x80\0\0\0", Then::Silence, no_message),
        (b"", Then::Repeat(zeros), no_message),
        // Half a header, half a message.
        (b"R\0\0", Then::Silence, late),
        (b"R\0\0\0\x08\0\0", Then::HangUp, "hung up"),
        // Old servers that cannot fork say so without a length.
        (b"Ecould not fork\n\0", Then::HangUp, "hung up"),
        // Messages without an end, and without end messages.
        (b"E\x3f\xff\xff\xffSERROR\0M", Then::Repeat(b"x"), late),
        (b"R\0\0\0\x08\0\0\0\0", Then::Repeat(b"N\0\0\0\x1bSNOTICE\0C00000\0Mhello\0\0"), late),
        (b"R\0\0\0\x08\0\0\0\0", Then::Repeat(b"S\0\0\0\x0aname\0\0"), late),
    ] {
        check(PLAIN, &[say], then, expected);
    }
}

#[test]
fn an_answer_to_the_question_for_tls_is_one_byte_and_nothing_slips_in_behind_it() {
    let none = "the server does not support TLS";
    for (mode, say, then, expected) in [
        ("require", &b"N"[..], Then::Silence, none),
        ("require", b"E\0\0\0\x10SFATAL\0\0", Then::Silence, none),
        ("require", b"X", Then::Silence, none),
        ("require", b"", Then::HangUp, "hung up"),
        ("require", b"", Then::Silence, "no answer within 1000 ms"),
        ("require", b"S", Then::Silence, "no answer within 1000 ms"),
        ("require", b"S", Then::HangUp, "TLS"),
        // What a man in the middle would have taken for encrypted.
        ("require", b"SR\0\0\0\x08\0\0\0\0", Then::Silence, "TLS"),
        // The other way is no better.
        ("prefer", b"N", Then::HangUp, "hung up"),
    ] {
        if cfg!(feature = "tls") {
            check(&format!("sslmode={mode}"), &[say], then, expected);
        }
    }
}

#[test]
fn an_endless_row_in_the_first_answer_ends_the_login_in_time() {
    let late = "no answer within 1000 ms";
    check(PLAIN, &[IN, b"T\0\0\0\x06\0\0D\x3f\xff\xff\xff"], Then::Repeat(b"\0"), late);
    check(PLAIN, &[IN], Then::Silence, late);
}
