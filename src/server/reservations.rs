//! Memory that is reserved for answers before they are made. Pure state.

use std::collections::{HashMap, VecDeque};

use crate::call::Serial;

/// Bytes of waiting lines and of answers being made at which no further call is run.
pub(super) const RUN_BOUND: usize = 16 << 20;

/// An answer of so many bytes needs no reservation: there are at most as many as workers.
const SMALL_ANSWER: usize = 64 << 10;

/// The outcome of waiting for memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(super) enum Reservation {
    /// It holds until it is released.
    Granted,
    /// The call was interrupted.
    Unwanted,
    /// There was not enough in time.
    Late,
}

/// A place among those that wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ticket {
    number: u64,
    /// 0 for a small answer.
    bytes: usize,
}

#[derive(Debug, Default)]
pub(super) struct Reservations {
    bytes: usize,
    granted: HashMap<Serial, usize>,
    /// In the order they came, so that a large one is not overtaken for ever.
    waiting: VecDeque<Ticket>,
    last_number: u64,
}

impl Reservations {
    /// Begins to wait for `bytes`. An answer larger than the whole bound waits until it is alone.
    pub(super) fn enter(&mut self, bytes: usize) -> Ticket {
        let bytes = if bytes <= SMALL_ANSWER { 0 } else { bytes.min(RUN_BOUND) };
        self.last_number = self.last_number.wrapping_add(1);
        let ticket = Ticket { number: self.last_number, bytes };
        self.waiting.push_back(ticket);
        ticket
    }

    /// Grants a reservation if it is the ticket's turn and there is memory beside `queued` bytes of lines. A small answer
    /// waits for the client alone: neither other answers nor a large one holds it up.
    pub(super) fn grant(&mut self, ticket: Ticket, serial: Serial, queued: usize) -> bool {
        let is_small = ticket.bytes == 0;
        let first = self.waiting.iter().find(|rival| (rival.bytes == 0) == is_small);
        let taken = queued.saturating_add(if is_small { 0 } else { self.bytes });
        let fits = taken == 0 || taken.saturating_add(ticket.bytes) <= RUN_BOUND;
        let is_granted = first == Some(&ticket) && fits;
        if is_granted {
            self.granted.insert(serial, ticket.bytes);
            self.bytes = self.bytes.saturating_add(ticket.bytes);
        }
        is_granted
    }

    /// Ends the wait, granted or not.
    pub(super) fn leave(&mut self, ticket: Ticket) {
        self.waiting.retain(|waiting| *waiting != ticket);
    }

    /// Ends the reservation, if there is one: the answer is queued, or not wanted any more.
    pub(super) fn release(&mut self, serial: Serial) {
        let bytes = self.granted.remove(&serial).unwrap_or_default();
        self.bytes = self.bytes.saturating_sub(bytes);
    }

    pub(super) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }
}
