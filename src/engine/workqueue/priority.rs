//! The priority queue of controller-runtime, `pkg/controller/priorityqueue/priorityqueue.go`.
//!
//! Guarantees: high priority first, first in first out within one; one entry a key, of two priorities the higher and
//! of two times the earlier one counts; a key in work is passed over until `done`, but keeps its place.
//!
//! Caveat, as in the real queue: a delayed add of a key that is already ready is swallowed.

use crate::time::SimTime;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// One key's entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Item {
    priority: i64,
    /// Place within the priority: when the key was added, was raised or came due.
    counter: u64,
    /// None: ready.
    ready_at: Option<SimTime>,
}

type ReadyPlace = (Reverse<i64>, u64);

/// What an add did, for the metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// The key is ready now and was not before.
    BecameReady,
    /// It waits, or was ready already.
    Merged,
}

/// Ready and waiting entries by order, and the locked keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Priority<K> {
    items: BTreeMap<K, Item>,
    /// Exactly the items without a time.
    ready: BTreeMap<ReadyPlace, K>,
    /// Exactly the items with a time.
    waiting: BTreeMap<(SimTime, ReadyPlace), K>,
    /// Keys a worker holds; they may be in `items` again.
    locked: BTreeSet<K>,
    counter: u64,
}

impl<K> Default for Priority<K> {
    fn default() -> Self {
        Priority {
            items: BTreeMap::new(),
            ready: BTreeMap::new(),
            waiting: BTreeMap::new(),
            locked: BTreeSet::new(),
            counter: 0,
        }
    }
}

impl<K: Ord + Clone> Priority<K> {
    /// Adds `key`, ready at `ready_at` (None: now), or merges it into the entry that is there.
    pub fn add(&mut self, key: &K, ready_at: Option<SimTime>, priority: i64) -> Added {
        let Some(old) = self.take_out(key) else {
            let counter = self.tick();
            self.put(key, Item { priority, counter, ready_at });
            return if ready_at.is_none() { Added::BecameReady } else { Added::Merged };
        };
        // Either one being ready makes the merged entry ready.
        let merged_at = old.ready_at.zip(ready_at).map(|(a, b)| a.min(b));
        let raised = priority > old.priority;
        let counter = if raised { self.tick() } else { old.counter };
        self.put(key, Item { priority: old.priority.max(priority), counter, ready_at: merged_at });
        if merged_at.is_none() && old.ready_at.is_some() { Added::BecameReady } else { Added::Merged }
    }

    /// Hands out the first ready key that nobody holds.
    pub fn get(&mut self) -> Option<(K, i64)> {
        let key = self.ready.values().find(|key| !self.locked.contains(key))?.clone();
        let item = self.take_out(&key)?;
        self.locked.insert(key.clone());
        Some((key, item.priority))
    }

    pub fn done(&mut self, key: &K) {
        self.locked.remove(key);
    }

    /// The next time at which a waiting key becomes ready.
    #[must_use]
    pub fn next(&self) -> Option<SimTime> {
        self.waiting.keys().next().map(|(at, _)| *at)
    }

    /// Makes the first waiting key ready if it is due; it goes behind those ready before.
    pub fn pop_due(&mut self, now: SimTime) -> Option<(SimTime, K)> {
        let at = self.next().filter(|at| *at <= now)?;
        let key = self.waiting.values().next()?.clone();
        let item = self.take_out(&key)?;
        let counter = self.tick();
        self.put(&key, Item { priority: item.priority, counter, ready_at: None });
        Some((at, key))
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.ready.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ready.is_empty()
    }

    /// Ready keys with their priorities, the next one first.
    pub fn ready(&self) -> impl Iterator<Item = (&K, i64)> {
        self.ready.iter().map(|((Reverse(priority), _), key)| (key, *priority))
    }

    /// Waiting keys with their times and priorities, the next one first.
    pub fn waiting(&self) -> impl Iterator<Item = (&K, SimTime, i64)> {
        self.waiting.iter().map(|((at, (Reverse(priority), _)), key)| (key, *at, *priority))
    }

    /// When `key` becomes ready: `None` if it is not there, `Some(None)` if it is ready.
    #[must_use]
    pub fn ready_at(&self, key: &K) -> Option<Option<SimTime>> {
        self.items.get(key).map(|item| item.ready_at)
    }

    #[must_use]
    pub fn locked(&self) -> &BTreeSet<K> {
        &self.locked
    }

    fn tick(&mut self) -> u64 {
        let n = self.counter;
        self.counter += 1;
        n
    }

    fn put(&mut self, key: &K, item: Item) {
        let place = (Reverse(item.priority), item.counter);
        match item.ready_at {
            None => self.ready.insert(place, key.clone()),
            Some(at) => self.waiting.insert((at, place), key.clone()),
        };
        self.items.insert(key.clone(), item);
    }

    fn take_out(&mut self, key: &K) -> Option<Item> {
        let item = self.items.remove(key)?;
        let place = (Reverse(item.priority), item.counter);
        match item.ready_at {
            None => self.ready.remove(&place),
            Some(at) => self.waiting.remove(&(at, place)),
        };
        Some(item)
    }
}
