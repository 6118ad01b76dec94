//! JSON-RPC 2.0 envelopes from a client, as one of a closed set.

use serde_json::map::Entry;
use serde_json::{Map, Value};

use crate::wire::fault::{Fault, FaultKind};
use crate::wire::frame::Frame;
use crate::wire::json::Reader;
use crate::wire::request_id::RequestId;

/// The `params` of a message.
#[derive(Debug, Default)]
pub struct Params {
    /// Every member but the quarantined one, in the order written.
    pub members: Map<String, Value>,
    /// The member kept apart, if it stands there: a fault inside it is not a fault of the frame.
    pub quarantined: Option<Result<Value, Fault>>,
}

/// One message from the client.
#[derive(Debug)]
pub enum Incoming {
    /// A request, which gets an answer, or a notification, which has no id and gets none.
    Call {
        /// The id of a request.
        id: Option<RequestId>,
        /// The method.
        method: String,
        /// Absent and present-but-empty are different things in JSON-RPC.
        params: Option<Params>,
    },
    /// An answer to a request that the server never sent.
    Response,
}

/// A line that is no message.
#[derive(Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The request's id when it was read, whole and valid, before the fault.
    pub id: Option<RequestId>,
    /// The fault.
    pub why: EnvelopeFault,
}

/// A fault that makes a line no message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnvelopeFault {
    /// The text is not JSON that is accepted: `-32700`.
    #[error("Parse error: {0}")]
    Json(#[from] Fault),
    /// The JSON is not a JSON-RPC 2.0 message: `-32600`; the text is the broken rule.
    #[error("Invalid request: {0}")]
    Envelope(&'static str),
}

/// Reads one message. `quarantine` is the member of `params` in which duplicate keys, depth, unrepresentable numbers
/// and lone surrogates are not a fault of the frame but kept in [`Params::quarantined`] for the check of arguments.
pub fn parse(frame: &Frame<'_>, quarantine: &str) -> Result<Incoming, Malformed> {
    let mut envelope = Envelope::default();
    let read = envelope.read(&mut Reader::new(frame.bytes()), quarantine);
    let id = envelope.id();
    let judged = read.and_then(|()| envelope.judge(id.clone()).map_err(EnvelopeFault::Envelope));
    judged.map_err(|why| Malformed { id, why })
}

/// The members of a message as they were read, before any check.
#[derive(Default)]
struct Envelope {
    /// Every member; those that are not read with null for their value, the members of `params` apart.
    members: Map<String, Value>,
    params: Option<Params>,
    /// `params` is neither an object nor null, which clients in the field send for what is absent.
    has_wrong_params: bool,
}

impl Envelope {
    /// Reads the whole line; members before a fault stay.
    fn read(&mut self, reader: &mut Reader<'_>, quarantine: &str) -> Result<(), EnvelopeFault> {
        let broken_rule = match reader.scanner.next_byte() {
            Some(b'{') => {
                reader.object(|reader, key, offset| self.read_member(reader, key, offset, quarantine))?;
                return Ok(reader.scanner.end()?);
            }
            Some(b'[') => "batches are not supported: send each message as an object on a line of its own",
            _ => "a message must be an object",
        };
        reader.skip()?;
        reader.scanner.end()?;
        Err(EnvelopeFault::Envelope(broken_rule))
    }

    fn read_member(
        &mut self,
        reader: &mut Reader<'_>,
        key: String,
        offset: usize,
        quarantine: &str,
    ) -> Result<(), Fault> {
        let Entry::Vacant(slot) = self.members.entry(key) else {
            return Err(Fault { kind: FaultKind::DuplicateKey, offset });
        };
        let value = match slot.key().as_str() {
            "jsonrpc" | "id" | "method" => reader.value()?,
            "params" if reader.scanner.next_byte() == Some(b'{') => {
                self.params = Some(read_params(reader, quarantine)?);
                Value::Null
            }
            name => {
                self.has_wrong_params |= name == "params" && reader.scanner.next_byte() != Some(b'n');
                reader.skip()?;
                Value::Null
            }
        };
        slot.insert(value);
        Ok(())
    }

    /// Returns the id, if it is a valid one.
    fn id(&self) -> Option<RequestId> {
        self.members.get("id").and_then(RequestId::from_value)
    }

    /// Decides the kind of message; `id` is the envelope's own.
    fn judge(mut self, id: Option<RequestId>) -> Result<Incoming, &'static str> {
        if self.members.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return Err("`jsonrpc` must be \"2.0\"");
        }
        let is_known = |key: &String| {
            matches!(key.as_str(), "jsonrpc" | "id" | "method" | "params" | "result" | "error")
        };
        if !self.members.keys().all(is_known) {
            return Err(
                "a message has no members but `jsonrpc`, `id`, `method`, `params`, `result` and `error`",
            );
        }
        let has_answer = self.members.contains_key("result") || self.members.contains_key("error");
        let method = self.members.remove("method");
        if method.is_none() && has_answer {
            // A response is never answered; least of all an error without an id, such as this server writes.
            return Ok(Incoming::Response);
        }
        if id.is_none() && self.members.contains_key("id") {
            return Err("`id` must be a string of at most 256 bytes or an integer within 64 bits");
        }
        let method = match method {
            Some(_) if has_answer => return Err("`method` and `result` or `error` exclude each other"),
            Some(Value::String(method)) => method,
            Some(_) => return Err("`method` must be a string"),
            None => return Err("`method` is missing"),
        };
        if self.has_wrong_params {
            return Err("`params` must be an object");
        }
        Ok(Incoming::Call { id, method, params: self.params })
    }
}

fn read_params(reader: &mut Reader<'_>, quarantine: &str) -> Result<Params, Fault> {
    let mut params = Params::default();
    reader.object(|reader, key, offset| {
        if key != quarantine {
            return reader.member(&mut params.members, key, offset);
        }
        if params.quarantined.is_some() {
            return Err(Fault { kind: FaultKind::DuplicateKey, offset });
        }
        params.quarantined = Some(reader.quarantined()?);
        Ok(())
    })?;
    Ok(params)
}

#[cfg(test)]
mod tests;
