//! The history of one kind: what watches replay and old snapshots are undone with.
//!
//! The window that watches may start in grows and shrinks as apiserver
//! `pkg/storage/cacher/watch_cache_history.go` does; entries outside it stay until compaction for old lists.

use super::Commit;
use crate::time::{SimTime, Span};
use std::collections::VecDeque;
use std::sync::Arc;

/// Window sizes and the age below which an event is worth keeping (`watch_cache_history.go`).
const WINDOW_MIN: usize = 100;
const WINDOW_MAX: usize = 102_400;
const FRESH: Span = Span::secs(75);
/// Events kept at most, whatever compaction says; bounds memory under a write storm.
const LOG_MAX: usize = 2 * WINDOW_MAX;
/// Events that share one pointer; a clone of the log copies one pointer for so many.
const CHUNK: usize = 64;

/// One write with what reading it back needs.
#[derive(Clone, Debug)]
pub struct HistoryEntry {
    pub commit: Arc<Commit>,
    pub at: SimTime,
    pub old_shape: u64,
    pub new_shape: u64,
}

/// Entries in revision order, the newest last.
#[derive(Clone, Debug)]
pub struct Log {
    chunks: VecDeque<Arc<Vec<HistoryEntry>>>,
    len: usize,
    /// How many of the newest entries a watch may replay.
    window: usize,
    capacity: usize,
    /// The oldest revision a watch may start from.
    start: u64,
    /// Snapshots older than this cannot be rebuilt.
    floor: u64,
}

impl Default for Log {
    fn default() -> Self {
        Log { chunks: VecDeque::new(), len: 0, window: 0, capacity: WINDOW_MIN, start: 0, floor: 0 }
    }
}

impl Log {
    /// The oldest revision a watch may start from.
    #[must_use]
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Revision of the newest write of this kind; 0 before the first.
    #[must_use]
    pub fn newest(&self) -> u64 {
        self.chunks.back().and_then(|c| c.last()).map_or(0, |e| e.commit.revision)
    }

    pub(super) fn reaches(&self, revision: u64) -> bool {
        revision >= self.floor
    }

    /// The entries newer than `revision`, oldest first.
    pub fn after(&self, revision: u64) -> impl DoubleEndedIterator<Item = &HistoryEntry> {
        let first = self.chunks.partition_point(|c| c.last().is_none_or(|e| e.commit.revision <= revision));
        self.chunks.range(first..).flat_map(|c| c.iter()).filter(move |e| e.commit.revision > revision)
    }

    pub(super) fn restart(&mut self, revision: u64) {
        self.window = 0;
        self.capacity = WINDOW_MIN;
        self.start = revision;
    }

    pub(super) fn push(&mut self, entry: HistoryEntry) {
        if self.window == self.capacity {
            self.resize(entry.at);
        }
        match self.chunks.back_mut() {
            Some(last) if last.len() < CHUNK => Arc::make_mut(last).push(entry),
            _ => self.chunks.push_back(Arc::new(vec![entry])),
        }
        self.len += 1;
        self.window += 1;
        if self.len > LOG_MAX {
            self.drop_chunk();
        }
    }

    /// The window is full: it doubles while its oldest event is fresh, halves once only a quarter is needed.
    fn resize(&mut self, now: SimTime) {
        let age = |place: usize| self.nth_newest(place).map_or(Span::ZERO, |e| now.since(e.at));
        if age(self.window) < FRESH {
            self.capacity = (self.capacity * 2).min(WINDOW_MAX);
        } else if age(self.capacity / 4) > FRESH {
            self.capacity = (self.capacity / 2).max(WINDOW_MIN);
        }
        if self.window >= self.capacity {
            self.window = self.capacity - 1;
            self.start = self.nth_newest(self.window).map_or(self.start, |e| e.commit.revision - 1);
        }
    }

    /// The `n`th entry from the end, counted from 1.
    fn nth_newest(&self, n: usize) -> Option<&HistoryEntry> {
        let mut left = n.checked_sub(1)?;
        for chunk in self.chunks.iter().rev() {
            if left < chunk.len() {
                return chunk.get(chunk.len() - 1 - left);
            }
            left -= chunk.len();
        }
        None
    }

    pub(super) fn has_older(&self, compacted: u64) -> bool {
        self.chunks.front().and_then(|c| c.last()).is_some_and(|e| e.commit.revision <= compacted)
    }

    /// Drops whole chunks that neither a watch nor a snapshot from `compacted` on needs.
    pub(super) fn trim(&mut self, compacted: u64) {
        while self.has_older(compacted) && self.len - self.chunks[0].len() >= self.window {
            self.drop_chunk();
        }
    }

    fn drop_chunk(&mut self) {
        let Some(chunk) = self.chunks.pop_front() else { return };
        self.len -= chunk.len();
        self.floor = chunk.last().map_or(self.floor, |e| e.commit.revision);
        if self.window > self.len {
            self.window = self.len;
            self.start = self.floor;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::message::WatchEventType;
    use crate::ids::{GroupResource, Key};

    fn push(log: &mut Log, revision: u64, at: SimTime) {
        let commit = Commit {
            revision,
            kind: WatchEventType::Modified,
            resource: GroupResource::new("", "pods"),
            key: Key::new("ns", "p"),
            old: None,
            new: None,
            user: "u".into(),
        };
        log.push(HistoryEntry { commit: Arc::new(commit), at, old_shape: 0, new_shape: 0 });
    }

    #[test]
    fn a_burst_of_fresh_events_widens_the_window() {
        let mut log = Log::default();
        for revision in 1..=500 {
            push(&mut log, revision, SimTime::ZERO);
        }
        assert_eq!(log.start(), 0);
        assert_eq!(log.after(480).count(), 20);
    }

    #[test]
    fn old_events_fall_out_once_the_window_is_full() {
        let mut log = Log::default();
        for revision in 1..=150 {
            push(&mut log, revision, SimTime::ZERO + Span::secs(100 * revision));
        }
        assert_eq!(log.start(), 50);
    }

    #[test]
    fn trimming_keeps_what_watches_may_replay() {
        let mut log = Log::default();
        for revision in 1..=1_000 {
            push(&mut log, revision, SimTime::ZERO + Span::secs(100 * revision));
        }
        log.trim(1_000);
        assert!(log.len >= log.window && log.len < 100 + CHUNK);
        assert!(log.after(log.start()).count() == log.window);
    }
}
