//! The reader thread: one match over the messages. Cheap answers are given here; calls are handed to the pool.

use std::io::Read;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use crate::call::Outcome;
use crate::call::sanitizer::sanitize;
use crate::governance::audit::{Decision, Record};
use crate::problem::echo;
use crate::protocol::listing::Listing;
use crate::protocol::rejection::Rejection;
use crate::protocol::reply::Reply;
use crate::protocol::request::{self, ARGUMENTS, Handshake, Message, Rejected, ToolCall};
use crate::protocol::revision::Era;
use crate::protocol::session;
use crate::server::refusal::no_slot;
use crate::server::shared::Shared;
use crate::server::table::{Job, MAX_SUBSCRIPTIONS, Request, Taken};
use crate::server::{watchdog, workers};
use crate::tools::{self, Tool};
use crate::wire::frame::{Frame, FrameError, FrameReader};
use crate::wire::jsonrpc::{self, Malformed};
use crate::wire::request_id::RequestId;

/// The state of the reader.
#[derive(Debug)]
pub(super) struct Dispatcher {
    shared: Arc<Shared>,
    handshake: Handshake,
    listing: Listing,
    refused: RefusedLines,
    /// The watchdog runs: it is started with the first call, and again when that failed.
    is_watched: bool,
}

impl Dispatcher {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        let listing = Listing::new(shared.toolbox.iter().map(Tool::spec));
        Self {
            shared,
            handshake: Handshake::Awaited,
            listing,
            refused: RefusedLines::default(),
            is_watched: false,
        }
    }

    /// Reads until the stream ends, or until main ends the reading. Waits only for stdin, and for a client that does
    /// not read its answers.
    pub(super) fn read_all(&mut self, mut frames: FrameReader<impl Read>) {
        while self.shared.outbox.wait_for_client() {
            match frames.next_frame() {
                // Bytes that a signal cut short are not a message of the client.
                Ok(Some(_)) if self.shared.outbox.has_reading_ended() => return,
                Ok(Some(frame)) => self.frame(&frame),
                Ok(None) => return,
                Err(FrameError::TooLong { limit }) => {
                    let why = Rejection::too_long(limit);
                    self.refused.report(&why, format_args!("more than {limit}"));
                    self.reject(None, &why);
                }
                Err(FrameError::Io(error)) => {
                    log::error!(target: "session", "stdin cannot be read: {error}");
                    return self.shared.notices.fail(error);
                }
            }
        }
    }

    fn frame(&mut self, frame: &Frame<'_>) {
        let incoming = match jsonrpc::parse(frame, ARGUMENTS) {
            Ok(incoming) => incoming,
            Err(Malformed { id, why }) => {
                // An id in flight belongs to the request that has it.
                let id = id.filter(|id| !self.is_in_flight(id));
                let why = Rejection::malformed(&why);
                self.refused.report(&why, format_args!("{}", frame.bytes().len()));
                return self.reject(id.as_ref(), &why);
            }
        };
        match request::understand(incoming, self.handshake) {
            Ok(Message::Ignore) => {}
            Ok(Message::Cancel(id)) => self.cancel(&id),
            Ok(Message::Request { id, era, request }) => self.request(id, era, request),
            Err(Rejected { id, why }) => match id {
                Some(id) if self.is_in_flight(&id) => self.refuse_id(&id),
                id => self.reject(id.as_ref(), &why),
            },
        }
    }

    fn request(&mut self, id: RequestId, era: Era, request: request::Request) {
        if self.is_in_flight(&id) {
            return self.refuse_id(&id);
        }
        match request {
            request::Request::Discover => self.shared.outbox.push(session::discover(&id)),
            request::Request::Initialize { offer } => {
                self.handshake = Handshake::Done;
                self.shared.outbox.push(session::initialize(&id, offer));
            }
            request::Request::Ping => self.shared.outbox.push(session::pong(&id)),
            request::Request::ListNothing(list) => self.shared.outbox.push(session::nothing(&id, list)),
            request::Request::ListTools => self.shared.outbox.push(self.listing.line(&id, era)),
            request::Request::Listen => self.listen(&id),
            request::Request::CallTool(call) => {
                self.watch();
                self.call(id, era, call);
            }
        }
    }

    fn watch(&mut self) {
        if !self.is_watched {
            self.is_watched = watchdog::start(Arc::clone(&self.shared))
                .inspect_err(
                    |error| log::error!(target: "session", "no watchdog thread could be started: {error}"),
                )
                .is_ok();
        }
    }

    fn is_in_flight(&self, id: &RequestId) -> bool {
        self.shared.in_flight.with(|table| table.holds(id))
    }

    /// The id belongs to the first request, which goes on: so it stands in the message, not as the error's id.
    fn refuse_id(&self, id: &RequestId) {
        let id = serde_json::to_string(id).unwrap_or_default();
        let rule = format_args!("a request with id {id} is still in flight");
        self.reject(None, &Rejection::request(rule));
    }

    fn reject(&self, id: Option<&RequestId>, why: &Rejection) {
        self.shared.outbox.push(why.line(id));
    }

    fn cancel(&self, id: &RequestId) {
        if let Some(taken) = self.shared.in_flight.with_now(|table, now| table.cancel(id, now)) {
            self.shared.settle(taken, None);
        }
    }

    fn listen(&self, id: &RequestId) {
        if self.shared.in_flight.with(|table| table.subscribe(id.clone())) {
            self.shared.outbox.push(session::subscription_acknowledged(id));
        } else {
            let rule =
                format_args!("at most {MAX_SUBSCRIPTIONS} subscriptions are held open; cancel one first");
            self.reject(Some(id), &Rejection::request(rule));
        }
    }

    fn call(&self, id: RequestId, era: Era, call: ToolCall) {
        let ToolCall { name, arguments, progress } = call;
        let Some((index, tools::Registered { lane, tool })) = self.shared.toolbox.find(&name) else {
            log::info!(target: "call", "tool={} decision=deny outcome=\"unknown tool\"", echo(&name));
            return self.reject(Some(&id), &Rejection::tool(&name));
        };
        let (now, name) = (Instant::now(), &tool.spec().name);
        let arguments = arguments.map(|mut arguments| {
            arguments.retain(|name, _| !self.shared.toolbox.ignores(name));
            arguments
        });
        let arguments = match sanitize(arguments) {
            Ok(arguments) if self.is_watched => arguments,
            refused => {
                let (decision, outcome) = match refused {
                    Ok(_) => (Decision::Undecided, Outcome::Internal),
                    Err(problem) => (Decision::Deny, Outcome::Problem(problem)),
                };
                let record = Record::open(name, std::iter::empty(), now);
                let taken = Taken::refused(Reply::new(id, era), record, decision);
                return self.shared.settle(taken, Some(&outcome));
            }
        };
        let request = Request {
            id,
            era,
            lane: *lane,
            record: Record::open(name, arguments.keys(), now),
            bytes: weight(&arguments),
            job: Job { tool: index, arguments },
            progress,
        };
        match self.shared.in_flight.with(|table| table.register(request, now)) {
            None => workers::wake(&self.shared),
            Some(taken) => self.shared.settle(taken, Some(&no_slot())),
        }
    }
}

/// The warnings about lines that are no messages: at most one a second, so that a client cannot fill the log.
#[derive(Debug, Default)]
struct RefusedLines {
    last: Option<Instant>,
    /// Those that were refused since without a warning.
    unreported: u64,
}

impl RefusedLines {
    /// Logs the reason and the length, never the bytes.
    fn report(&mut self, why: &Rejection, length: impl std::fmt::Display) {
        let now = Instant::now();
        if self.last.is_some_and(|last| now.duration_since(last) < Duration::from_secs(1)) {
            self.unreported = self.unreported.saturating_add(1);
            return;
        }
        let Self { unreported, .. } = std::mem::take(self);
        self.last = Some(now);
        let before = if unreported > 0 { format!("; {unreported} before it") } else { String::new() };
        log::warn!(target: "session", "a line of {length} bytes was refused: {}{before}", why.message);
    }
}

/// Estimates the memory of arguments in bytes: sanitized ones hold at most 1,000 items.
fn weight(arguments: &Map<String, Value>) -> usize {
    /// A value and its slot in a map.
    const ITEM: usize = 96;
    fn of(value: &Value) -> usize {
        ITEM + match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
            Value::String(text) => text.len(),
            Value::Array(items) => items.iter().map(of).sum(),
            Value::Object(members) => weight(members),
        }
    }
    arguments.iter().map(|(key, value)| key.len() + of(value)).sum()
}
