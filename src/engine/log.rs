//! Where records are written: numbers, causes, traces and the running hash of everything that happened.

use crate::event::{Event, Record};
use crate::ids::{EventId, TraceId};
use crate::time::SimTime;
use std::hash::{Hash, Hasher};

/// A hash that is the same on every machine: FNV-1a by 64-bit words, lengths always 64 bits wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceHash(pub u64);

impl Default for TraceHash {
    fn default() -> Self {
        TraceHash(0xcbf2_9ce4_8422_2325)
    }
}

impl TraceHash {
    fn word(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29);
    }
}

impl Hasher for TraceHash {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.word(u64::from_le_bytes(word));
        }
    }
    fn write_u8(&mut self, i: u8) {
        self.word(u64::from(i));
    }
    fn write_u32(&mut self, i: u32) {
        self.word(u64::from(i));
    }
    fn write_u64(&mut self, i: u64) {
        self.word(i);
    }
    fn write_usize(&mut self, i: usize) {
        self.word(i as u64);
    }
    fn write_isize(&mut self, i: isize) {
        self.word(i as u64);
    }
}

/// Collects the records of one step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Log {
    last: EventId,
    last_trace: TraceId,
    hash: TraceHash,
    pub now: SimTime,
    /// What the next record names as its cause.
    pub cause: EventId,
    pub trace: TraceId,
    /// Set while housekeeping is being done: what it leads to is housekeeping too.
    pub background: bool,
    records: Vec<Record>,
}

impl Log {
    /// Writes a record and answers its number.
    pub fn emit(&mut self, event: Event) -> EventId {
        self.last.0 += 1;
        let (id, at, cause, trace) = (self.last, self.now, self.cause, self.trace);
        (id, at, cause, trace, &event).hash(&mut self.hash);
        let (background, hash) = (self.background, self.hash.0);
        self.records.push(Record { id, at, cause, trace, background, hash, event });
        self.last
    }

    /// Writes a record and makes it the cause of those that follow in this step.
    pub fn chain(&mut self, event: Event) -> EventId {
        self.cause = self.emit(event);
        self.cause
    }

    /// Begins a trace of its own, as a command does.
    pub fn new_trace(&mut self) -> TraceId {
        self.last_trace.0 += 1;
        self.trace = self.last_trace;
        self.trace
    }

    pub fn take(&mut self) -> Vec<Record> {
        std::mem::take(&mut self.records)
    }

    #[must_use]
    pub fn hash(&self) -> u64 {
        self.hash.0
    }

    #[must_use]
    pub fn last(&self) -> EventId {
        self.last
    }
}
