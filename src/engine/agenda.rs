//! What will happen: wakes by time, ties in the order they were made.

use crate::event::{InformerId, ProcessId};
use crate::ids::{EventId, MessageId, TraceId};
use crate::time::SimTime;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Everything that can ever happen next.
#[derive(Clone, Debug, PartialEq)]
pub enum Wake {
    /// A command of the reader's, a lesson's or a link's.
    Command(Arc<crate::command::Command>),
    /// A message reaches its end.
    Deliver(MessageId),
    /// A timer of the API server: establishing, bookmarks, watch time-outs, compaction.
    Server,
    Process(ProcessId, Life),
}

/// What can happen inside a process. A wake of an earlier life of the process is void.
#[derive(Clone, Debug, PartialEq)]
pub enum Life {
    Start,
    /// The informer's own timer.
    InformerTimer(InformerId),
    /// The informer takes one batch out of its FIFO.
    InformerPop(InformerId),
    /// Delayed keys of a queue come due.
    QueueTimer(Arc<str>),
    /// An idle worker asks its queue for a key.
    WorkerGet(Arc<str>),
    /// A worker goes on with its reconcile.
    WorkerRun(Arc<str>, u32),
    /// The client side rate limiter lets the next request go.
    Send,
    /// Leader election: the next try, renewal or deadline.
    ElectionTimer,
    /// The event recorder tries a write again.
    RecorderTimer,
    /// Caches that are not filled by now end the process.
    SyncDeadline,
    /// Nothing has come through for so long that the connections count as broken.
    ConnectionLost,
    /// The person at the keyboard: the next step of a kubectl command.
    Kubectl,
}

/// A wake with what led to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub wake: Wake,
    pub cause: EventId,
    pub trace: TraceId,
    /// Which life of the process it belongs to; see [`Life`].
    pub life: u32,
    /// Housekeeping that does not keep the world from being quiet.
    pub background: bool,
}

/// Wakes in the order they will be taken.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Agenda {
    /// Commands go before everything else of their instant, so that a replay with all commands known beforehand
    /// takes them at the same place.
    entries: BTreeMap<(SimTime, bool, u64), Entry>,
    next: u64,
    /// Entries that are not background, so that "quiet" is a look and not a search.
    foreground: usize,
}

impl Agenda {
    pub fn push(&mut self, at: SimTime, entry: Entry) {
        self.foreground += usize::from(!entry.background);
        let ordinary = !matches!(entry.wake, Wake::Command(_));
        self.entries.insert((at, ordinary, self.next), entry);
        self.next += 1;
    }

    /// Strikes out the commands booked for later than `at`.
    pub fn drop_commands_after(&mut self, at: SimTime) {
        let dropped: Vec<_> = self
            .entries
            .iter()
            .filter(|((due, ..), e)| *due > at && matches!(e.wake, Wake::Command(_)))
            .map(|(slot, _)| *slot)
            .collect();
        for slot in dropped {
            self.entries.remove(&slot);
            self.foreground -= 1;
        }
    }

    pub fn pop(&mut self) -> Option<(SimTime, Entry)> {
        let ((at, ..), entry) = self.entries.pop_first()?;
        self.foreground -= usize::from(!entry.background);
        Some((at, entry))
    }

    #[must_use]
    pub fn next_at(&self) -> Option<SimTime> {
        self.entries.first_key_value().map(|((at, ..), _)| *at)
    }

    /// When something other than housekeeping happens next.
    #[must_use]
    pub fn next_foreground_at(&self) -> Option<SimTime> {
        if self.foreground == 0 {
            return None;
        }
        self.entries.iter().find(|(_, e)| !e.background).map(|((at, ..), _)| *at)
    }

    /// Nothing but housekeeping is left to happen.
    #[must_use]
    pub fn quiet(&self) -> bool {
        self.foreground == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(background: bool) -> Entry {
        Entry { wake: Wake::Server, cause: EventId(0), trace: TraceId(0), life: 0, background }
    }

    #[test]
    fn ties_are_taken_in_the_order_they_were_made() {
        let mut agenda = Agenda::default();
        agenda.push(SimTime(5), entry(false));
        agenda.push(SimTime(5), Entry { life: 1, ..entry(false) });
        agenda.push(SimTime(1), Entry { life: 2, ..entry(true) });
        let lives: Vec<_> = std::iter::from_fn(|| agenda.pop()).map(|(_, e)| e.life).collect();
        assert_eq!(lives, [2, 0, 1]);
    }

    #[test]
    fn housekeeping_alone_is_quiet() {
        let mut agenda = Agenda::default();
        agenda.push(SimTime(1), entry(true));
        assert!(agenda.quiet());
        agenda.push(SimTime(1), entry(false));
        assert!(!agenda.quiet());
        while agenda.pop().is_some() {}
        assert!(agenda.quiet());
    }
}
