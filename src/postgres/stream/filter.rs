//! Messages of a server, each kept to a bound, without a byte of I/O: the driver would take a message of a
//! gigabyte into memory before it looks at it.
//!
//! An error that quotes a value of 100 MB arrives with its texts cut. A row that is longer than any answer arrives as an
//! error of class 54. What else is too long ends the connection.
//!
//! <https://www.postgresql.org/docs/current/protocol-message-formats.html>

/// The SQLSTATE that takes the place of a row that is too long.
pub(crate) const ROW_TOO_LONG: &str = "54M01";

/// Errors and notices up to this length pass as they are, in bytes.
const MAX_REPORT: usize = 16_384;
/// The part that is kept of each text of a longer one, in bytes.
const MAX_REPORT_TEXT: usize = 1_024;
/// The longest of all other messages, in bytes: 1,664 columns are described in less than 200 kB.
pub(crate) const MAX_OTHER: usize = 1 << 20;

const ERROR: u8 = b'E';
const NOTICE: u8 = b'N';
const ROW: u8 = b'D';
/// A message's type and its length.
const HEADER: usize = 5;

/// A message that is too long, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the server sends what is no message of PostgreSQL's, or one that is too long")]
pub(crate) struct Unacceptable;

/// A stream of messages as it comes.
#[derive(Debug)]
pub(crate) struct Filter {
    max_row: usize,
    state: State,
}

#[derive(Debug)]
enum State {
    /// So many bytes of a header are there.
    Header { bytes: [u8; HEADER], have: usize },
    /// The rest of a message.
    Rest { left: usize, fate: Fate },
}

/// The treatment of a message.
#[derive(Debug)]
enum Fate {
    /// It passes.
    Pass,
    /// Something else has taken its place.
    Drop,
    /// It is an error or a notice whose texts are cut.
    Cut(Report),
}

const NEXT: State = State::Header { bytes: [0; HEADER], have: 0 };

impl Filter {
    pub(crate) fn new(max_row: usize) -> Self {
        Self { max_row, state: NEXT }
    }

    /// Takes what has come and appends what passes.
    pub(crate) fn take(&mut self, mut input: &[u8], out: &mut Vec<u8>) -> Result<(), Unacceptable> {
        while !input.is_empty() {
            let state = std::mem::replace(&mut self.state, NEXT);
            (self.state, input) = self.step(state, input, out)?;
        }
        Ok(())
    }

    fn step<'i>(
        &self,
        state: State,
        input: &'i [u8],
        out: &mut Vec<u8>,
    ) -> Result<(State, &'i [u8]), Unacceptable> {
        let (left, mut fate) = match state {
            State::Header { bytes, have } => return self.header(bytes, have, input, out),
            State::Rest { left, fate } => (left, fate),
        };
        let (part, rest) = split(input, left);
        let left = left - part.len();
        match &mut fate {
            Fate::Pass => out.extend_from_slice(part),
            Fate::Drop => {}
            Fate::Cut(report) => {
                report.take(part)?;
                if left == 0 {
                    report.finish(out);
                }
            }
        }
        Ok((unless_done(left, fate), rest))
    }

    fn header<'i>(
        &self,
        mut bytes: [u8; HEADER],
        have: usize,
        input: &'i [u8],
        out: &mut Vec<u8>,
    ) -> Result<(State, &'i [u8]), Unacceptable> {
        let (part, rest) = split(input, HEADER - have);
        bytes.iter_mut().skip(have).zip(part).for_each(|(to, from)| *to = *from);
        let have = have + part.len();
        if have < HEADER {
            return Ok((State::Header { bytes, have }, rest));
        }
        let [tag, length @ ..] = bytes;
        // The length counts itself, and has a sign.
        let left = i32::from_be_bytes(length).checked_sub(4).ok_or(Unacceptable)?;
        let left = usize::try_from(left).map_err(|_| Unacceptable)?;
        let most = match tag {
            ROW => self.max_row,
            ERROR | NOTICE => MAX_REPORT,
            _ => MAX_OTHER,
        };
        let fate = match tag {
            _ if left <= most => {
                out.extend_from_slice(&bytes);
                Fate::Pass
            }
            ROW => {
                self.row_too_long(out);
                Fate::Drop
            }
            ERROR | NOTICE => Fate::Cut(Report { tag, body: Vec::new(), text: None }),
            _ => return Err(Unacceptable),
        };
        Ok((unless_done(left, fate), rest))
    }

    fn row_too_long(&self, out: &mut Vec<u8>) {
        let text = format!("a row is longer than {} bytes; select fewer or shorter columns", self.max_row);
        let body = format!("SERROR\0VERROR\0C{ROW_TOO_LONG}\0M{text}\0\0").into_bytes();
        Report { tag: ERROR, body, text: None }.finish(out);
    }
}

fn split(input: &[u8], at: usize) -> (&[u8], &[u8]) {
    input.split_at_checked(at).unwrap_or((input, &[]))
}

fn unless_done(left: usize, fate: Fate) -> State {
    if left == 0 { NEXT } else { State::Rest { left, fate } }
}

/// An error or a notice as it is made anew: fields of a type and a text that ends with NUL, and a NUL behind the last.
#[derive(Debug)]
struct Report {
    tag: u8,
    body: Vec<u8>,
    /// The length so far of the text under way, cut or not; none between fields.
    text: Option<usize>,
}

impl Report {
    fn take(&mut self, mut input: &[u8]) -> Result<(), Unacceptable> {
        while let Some((first, rest)) = input.split_first() {
            let Some(seen) = self.text else {
                self.body.push(*first);
                self.text = (*first != 0).then_some(0);
                input = rest;
                continue;
            };
            let end = memchr::memchr(0, input);
            let (part, _) = split(input, end.unwrap_or(input.len()));
            let (kept, _) = split(part, MAX_REPORT_TEXT.saturating_sub(seen));
            self.body.extend_from_slice(kept);
            let seen = seen + part.len();
            match end {
                None => self.text = Some(seen),
                Some(_) => self.end_text(seen),
            }
            input = split(input, part.len() + usize::from(end.is_some())).1;
            if self.body.len() > MAX_REPORT {
                return Err(Unacceptable);
            }
        }
        Ok(())
    }

    fn end_text(&mut self, seen: usize) {
        if seen > MAX_REPORT_TEXT {
            let start = self.body.len().saturating_sub(MAX_REPORT_TEXT);
            let text = self.body.get(start..).unwrap_or_default();
            // The cut may have split a character.
            let whole = std::str::from_utf8(text).map_or_else(|error| error.valid_up_to(), str::len);
            self.body.truncate(start + whole);
            self.body.extend_from_slice(b"...");
        }
        self.body.push(0);
        self.text = None;
    }

    fn finish(&self, out: &mut Vec<u8>) {
        // INVARIANT: a body is at most a little longer than MAX_REPORT.
        let length = u32::try_from(self.body.len() + 4).unwrap_or(u32::MAX);
        out.push(self.tag);
        out.extend_from_slice(&length.to_be_bytes());
        out.extend_from_slice(&self.body);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(tag: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
        [&[tag][..], &length, body].concat()
    }

    /// Checks the bytes that pass of `input`, the same in any pieces.
    #[track_caller]
    fn check(input: &[u8], expected: Result<&[u8], Unacceptable>) {
        let alike =
            [1, 2, 3, 5, 7, 1000, input.len().max(1)].map(|size| input.chunks(size).collect::<Vec<_>>());
        let halves = (0..input.len().min(300)).map(|at| input.split_at(at)).map(|(one, two)| vec![one, two]);
        for pieces in alike.into_iter().chain(halves) {
            let (mut filter, mut out) = (Filter::new(100), Vec::new());
            let outcome = pieces.iter().try_for_each(|piece| filter.take(piece, &mut out));
            let shown = || {
                format!("{} pieces, the first of {}", pieces.len(), pieces.first().map_or(0, |it| it.len()))
            };
            match expected {
                Ok(expected) => {
                    assert_eq!(outcome, Ok(()), "{}", shown());
                    assert!(out == expected, "{}: {}", shown(), String::from_utf8_lossy(&out));
                }
                Err(error) => assert_eq!(outcome, Err(error), "{}", shown()),
            }
        }
    }

    #[test]
    fn short_messages_pass_as_they_are() {
        let short = [
            message(b'1', b""),
            message(b'T', &[7; 2000]),
            message(ROW, &[0; 100]),
            message(ERROR, &[b'x'; MAX_REPORT]),
            message(b'S', &[1; MAX_OTHER]),
            message(b'Z', b"I"),
        ]
        .concat();
        check(&short, Ok(&short));
        check(b"", Ok(b""));
        check(b"Z\0\0", Ok(b""));
    }

    #[test]
    fn a_session_passes_byte_for_byte() {
        let session = [
            // SCRAM: the mechanisms, the server's first and final word, and the way in.
            message(b'R', b"\0\0\0\x0aSCRAM-SHA-256\0\0"),
            message(b'R', b"\0\0\0\x0br=nonce,s=salt,i=4096"),
            message(b'R', b"\0\0\0\x0cv=signature"),
            message(b'R', b"\0\0\0\0"),
            message(b'S', b"client_encoding\0UTF8\0"),
            message(b'K', b"\0\0\0\x01\0\0\0\x02"),
            message(b'Z', b"I"),
            message(b'T', b"\0\0"),
            // At any time: a notice, a setting, a notification.
            message(NOTICE, b"SNOTICE\0C00000\0Mhello\0\0"),
            message(ROW, b"\0\0"),
            message(b'S', b"TimeZone\0UTC\0"),
            message(b'A', b"\0\0\0\x01channel\0payload\0"),
            message(ROW, &[0; 100]),
            message(b'd', &[1; 1000]),
            message(b'c', b""),
            message(b'C', b"SELECT 2\0"),
            message(b'Z', b"T"),
        ]
        .concat();
        check(&session, Ok(&session));
    }

    #[test]
    fn of_a_message_that_never_ends_nothing_is_held() {
        let endless = [0x7f, 0xff, 0xff, 0xff];
        for (tag, most) in [(ROW, 200), (ERROR, 0), (NOTICE, 0)] {
            let (mut filter, mut out) = (Filter::new(100), Vec::new());
            filter.take(&[&[tag][..], &endless].concat(), &mut out).unwrap();
            for _ in 0..1000 {
                filter.take(&[b'x'; 16_384], &mut out).unwrap();
            }
            assert!(out.len() <= most, "{}", out.len());
            if let State::Rest { fate: Fate::Cut(report), .. } = filter.state {
                assert!(report.body.len() <= MAX_REPORT, "{}", report.body.len());
            }
        }
        // A server that cannot even fork reports it without a length, and hangs up.
        check(b"Ecould not fork new process for connection\n\0", Ok(b""));
    }

    #[test]
    fn texts_of_a_long_error_are_cut_between_characters() {
        let ready = message(b'Z', b"I");
        let long = format!("SERROR\0C22P02\0Mwas {}\0Dshort\0\0", "é".repeat(20_000));
        let kept = format!("SERROR\0C22P02\0Mwas {}...\0Dshort\0\0", "é".repeat((MAX_REPORT_TEXT - 4) / 2));
        for tag in [ERROR, NOTICE] {
            let input = [message(tag, long.as_bytes()), ready.clone()].concat();
            check(&input, Ok(&[message(tag, kept.as_bytes()), ready.clone()].concat()));
        }
        let odd = format!("M{}\0\0", "é".repeat(20_000));
        let kept = format!("M{}...\0\0", "é".repeat(MAX_REPORT_TEXT / 2));
        check(&message(ERROR, odd.as_bytes()), Ok(&message(ERROR, kept.as_bytes())));
        let odd = format!("Mx{}\0\0", "é".repeat(20_000));
        let kept = format!("Mx{}...\0\0", "é".repeat(MAX_REPORT_TEXT / 2 - 1));
        check(&message(ERROR, odd.as_bytes()), Ok(&message(ERROR, kept.as_bytes())));
    }

    #[test]
    fn a_long_row_becomes_an_error_and_the_rest_goes_on() {
        let (short, ready) = (message(ROW, b"\0\0"), message(b'Z', b"T"));
        let cut =
            b"SERROR\0VERROR\0C54M01\0Ma row is longer than 100 bytes; select fewer or shorter columns\0\0";
        let input = [short.clone(), message(ROW, &[9; 101]), ready.clone()].concat();
        check(&input, Ok(&[short, message(ERROR, cut), ready].concat()));
    }

    #[test]
    fn endless_messages_and_other_bytes_are_not_accepted() {
        for tag in *b"ADEGNRSTVWZdv1?\0\xff" {
            for length in [0, 1, 2, 3, 1 << 31, u32::MAX] {
                let input = [&[tag][..], &length.to_be_bytes(), &[0; 20]].concat();
                check(&input, Err(Unacceptable));
            }
        }
        check(b"HTTP/1.1 400 Bad Request\r\n", Err(Unacceptable));
        check(&message(b'A', &[1; MAX_OTHER + 1]), Err(Unacceptable));
        // Nothing but short fields.
        check(&message(NOTICE, &b"Dx\0".repeat(MAX_REPORT)), Err(Unacceptable));
    }
}
