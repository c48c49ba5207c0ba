//! The plain queue of client-go, `util/workqueue/queue.go`: first in, first out, without doubles.
//!
//! Guarantees: a key stands in line once, however often it was added; a key in work is not handed out again before
//! `done`, and one further run follows if it was added meanwhile.
//!
//! Caveat, as in the real queue: `done` for a key that is queued but held by nobody puts it in line twice.

use std::collections::{BTreeSet, VecDeque};

/// The line, and the two sets that keep it honest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classic<K> {
    /// Keys a worker can take, in order. Each is in `dirty`, and none in `processing`, unless `done` was called for a
    /// key that nobody held.
    line: VecDeque<K>,
    /// Keys that want a run.
    dirty: BTreeSet<K>,
    /// Keys a worker holds.
    processing: BTreeSet<K>,
}

impl<K> Default for Classic<K> {
    fn default() -> Self {
        Classic { line: VecDeque::new(), dirty: BTreeSet::new(), processing: BTreeSet::new() }
    }
}

impl<K: Ord + Clone> Classic<K> {
    /// Marks `key` as wanting a run; false if it already did.
    pub fn add(&mut self, key: &K) -> bool {
        if !self.dirty.insert(key.clone()) {
            return false;
        }
        if !self.processing.contains(key) {
            self.line.push_back(key.clone());
        }
        true
    }

    pub fn get(&mut self) -> Option<K> {
        let key = self.line.pop_front()?;
        self.processing.insert(key.clone());
        self.dirty.remove(&key);
        Some(key)
    }

    pub fn done(&mut self, key: &K) {
        self.processing.remove(key);
        if self.dirty.contains(key) {
            self.line.push_back(key.clone());
        }
    }

    #[must_use]
    pub fn line(&self) -> &VecDeque<K> {
        &self.line
    }

    #[must_use]
    pub fn dirty(&self) -> &BTreeSet<K> {
        &self.dirty
    }

    #[must_use]
    pub fn processing(&self) -> &BTreeSet<K> {
        &self.processing
    }
}
