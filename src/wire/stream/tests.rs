use super::*;
use nix::fcntl::OFlag;
use nix::pty::openpty;
use nix::sys::termios::{SetArg, cfmakeraw, tcgetattr, tcsetattr};
use nix::unistd::pipe2;
use std::fs::File;
use std::os::unix::net::UnixStream;
use std::thread;

/// More than any pipe or socket holds, so that writers must wait for readers.
const MUCH: usize = 3_000_000;

fn set_nonblocking(fd: &impl AsFd) {
    let flags = OFlag::from_bits_retain(fcntl(fd, FcntlArg::F_GETFL).unwrap());
    fcntl(fd, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK)).unwrap();
}

/// Checks that bytes and the end pass from `writing` to `reading`, whether the descriptors block or not.
#[track_caller]
fn check_carries(reading: OwnedFd, writing: OwnedFd) {
    let sent: Vec<u8> = (0..MUCH).map(|at| u8::try_from(at % 251).unwrap()).collect();
    let expected = sent.clone();
    let writer = thread::Builder::new()
        .name("test-writer".to_owned())
        .spawn(move || Output::new(writing).write_all(&sent))
        .unwrap();
    let (_waker, wake) = Wake::pair().unwrap();
    let mut received = Vec::new();
    Input::new(reading, wake).read_to_end(&mut received).unwrap();
    writer.join().unwrap().unwrap();
    assert!(received == expected, "{} bytes came", received.len());
}

#[test]
fn pipes_carry_bytes() {
    let (reading, writing) = pipe2(OFlag::O_CLOEXEC).unwrap();
    check_carries(reading, writing);
    let (reading, writing) = pipe2(OFlag::O_CLOEXEC | OFlag::O_NONBLOCK).unwrap();
    check_carries(reading, writing);
}

#[test]
fn sockets_carry_bytes() {
    for is_nonblocking in [false, true] {
        let (ours, theirs) = UnixStream::pair().unwrap();
        ours.set_nonblocking(is_nonblocking).unwrap();
        theirs.set_nonblocking(is_nonblocking).unwrap();
        check_carries(ours.into(), theirs.into());
    }
}

#[test]
fn a_half_closed_socket_is_an_end_and_can_still_be_written() {
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    ours.set_nonblocking(true).unwrap();
    let (_waker, wake) = Wake::pair().unwrap();
    let mut input = Input::new(ours.try_clone().unwrap().into(), wake);
    theirs.write_all(b"last").unwrap();
    theirs.shutdown(std::net::Shutdown::Write).unwrap();
    let mut received = String::new();
    input.read_to_string(&mut received).unwrap();
    assert_eq!(received, "last");
    Output::new(ours.into()).write_all(b"answer").unwrap();
    drop(input);
    let mut answer = String::new();
    theirs.read_to_string(&mut answer).unwrap();
    assert_eq!(answer, "answer");
}

#[test]
fn a_nonblocking_pty_carries_bytes_until_it_is_hung_up() {
    let pty = openpty(None, None).unwrap();
    let mut raw = tcgetattr(&pty.slave).unwrap();
    cfmakeraw(&mut raw);
    tcsetattr(&pty.slave, SetArg::TCSANOW, &raw).unwrap();
    set_nonblocking(&pty.slave);
    set_nonblocking(&pty.master);
    let sent = vec![b'x'; 100_000];
    let mut output = Output::new(pty.slave.try_clone().unwrap());
    let writer = thread::Builder::new().spawn(move || output.write_all(&sent)).unwrap();
    let (_waker, wake) = Wake::pair().unwrap();
    let mut master = Input::new(pty.master, wake);
    let mut received = vec![0; 100_000];
    master.read_exact(&mut received).unwrap();
    assert!(received.iter().all(|byte| *byte == b'x'));
    writer.join().unwrap().unwrap();

    let (_waker, wake) = Wake::pair().unwrap();
    let mut slave = Input::new(pty.slave, wake);
    Output::new(master.fd).write_all(b"bye").unwrap();
    let mut received = Vec::new();
    slave.read_to_end(&mut received).unwrap();
    assert!(received.is_empty() || received == b"bye", "a hang-up may drop what was not read: {received:?}");
}

#[test]
fn a_pty_whose_slaves_are_gone_is_an_end() {
    let pty = openpty(None, None).unwrap();
    drop(pty.slave);
    let (_waker, wake) = Wake::pair().unwrap();
    assert_eq!(Input::new(pty.master, wake).read(&mut [0; 9]).unwrap(), 0);
}

#[test]
fn files_and_dev_null_carry_bytes() {
    let mut file = tempfile::tempfile().unwrap();
    Output::new(file.try_clone().unwrap().into()).write_all(b"{}\n").unwrap();
    std::io::Seek::rewind(&mut file).unwrap();
    let (_waker, wake) = Wake::pair().unwrap();
    let mut received = String::new();
    Input::new(file.into(), wake).read_to_string(&mut received).unwrap();
    assert_eq!(received, "{}\n");

    let null = File::options().read(true).write(true).open("/dev/null").unwrap();
    Output::new(null.try_clone().unwrap().into()).write_all(b"gone").unwrap();
    let (_waker, wake) = Wake::pair().unwrap();
    assert_eq!(Input::new(null.into(), wake).read(&mut [0; 9]).unwrap(), 0);
}

#[test]
fn a_woken_input_has_ended_even_if_bytes_are_ready() {
    let (reading, writing) = pipe2(OFlag::O_CLOEXEC).unwrap();
    let (waker, wake) = Wake::pair().unwrap();
    let mut input = Input::new(reading, wake);
    Output::new(writing.try_clone().unwrap()).write_all(b"abcd").unwrap();
    assert_eq!(input.read(&mut [0; 2]).unwrap(), 2);
    assert!(!input.wake.is_woken());
    waker.wake();
    assert_eq!(input.read(&mut [0; 2]).unwrap(), 0);
    assert!(input.wake.is_woken());
}

#[test]
fn a_wait_for_input_ends_when_it_is_woken() {
    let (reading, _writing) = pipe2(OFlag::O_CLOEXEC | OFlag::O_NONBLOCK).unwrap();
    let (waker, wake) = Wake::pair().unwrap();
    let reader = thread::Builder::new().spawn(move || Input::new(reading, wake).read(&mut [0; 9])).unwrap();
    waker.wake();
    assert_eq!(reader.join().unwrap().unwrap(), 0);
}

#[test]
fn a_reader_that_is_gone_is_a_broken_pipe() {
    for flags in [OFlag::O_CLOEXEC, OFlag::O_CLOEXEC | OFlag::O_NONBLOCK] {
        let (reading, writing) = pipe2(flags).unwrap();
        let mut output = Output::new(writing);
        let writer = thread::Builder::new().spawn(move || output.write_all(&[0; MUCH])).unwrap();
        let (_waker, wake) = Wake::pair().unwrap();
        let mut input = Input::new(reading, wake);
        input.read_exact(&mut [0; 100_000]).unwrap();
        drop(input);
        assert_eq!(writer.join().unwrap().unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }
}

#[test]
fn a_pipe_is_enlarged_and_never_made_smaller() {
    let (_reading, writing) = pipe2(OFlag::O_CLOEXEC).unwrap();
    let output = Output::new(writing);
    let size = || fcntl(&output.fd, FcntlArg::F_GETPIPE_SZ).unwrap();
    output.enlarge_pipe(4096);
    assert_eq!(size(), 65_536);
    output.enlarge_pipe(usize::MAX);
    assert_eq!(size(), 65_536);
    output.enlarge_pipe(262_144);
    assert_eq!(size(), 262_144);
    Output::new(tempfile::tempfile().unwrap().into()).enlarge_pipe(262_144);
}
