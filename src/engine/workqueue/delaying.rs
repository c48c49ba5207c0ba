//! Delayed adds of the classic queue: client-go `util/workqueue/delaying_queue.go`.
//!
//! Guarantees: one entry a key, and of two times the earlier one counts. Entries know nothing of what is queued.
//!
//! Keys with the very same deadline come out in the order of Go's `container/heap`, which is not the order of their
//! adds; the recordings show it, so the heap is the same array with the same swaps.
//!
//! Divergence from Kubernetes: the 10 s heartbeat is left out, because it changes nothing.

use crate::time::SimTime;
use std::collections::{BTreeMap, BTreeSet};

/// A binary heap by deadline that knows where each key stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelayHeap<K> {
    entries: Vec<(SimTime, K)>,
    /// Index of each key in `entries`; always exactly the keys in it.
    place: BTreeMap<K, usize>,
}

impl<K> Default for DelayHeap<K> {
    fn default() -> Self {
        DelayHeap { entries: Vec::new(), place: BTreeMap::new() }
    }
}

impl<K: Ord + Clone> DelayHeap<K> {
    /// Notes that `key` is due at `at`, or leaves an earlier time as it is.
    pub fn insert(&mut self, key: &K, at: SimTime) {
        if let Some(&i) = self.place.get(key) {
            if at < self.entries[i].0 {
                self.entries[i].0 = at;
                self.up(i);
            }
            return;
        }
        self.place.insert(key.clone(), self.entries.len());
        self.entries.push((at, key.clone()));
        self.up(self.entries.len() - 1);
    }

    #[must_use]
    pub fn next(&self) -> Option<SimTime> {
        self.entries.first().map(|(at, _)| *at)
    }

    /// Takes out the first entry if it is due at `now`.
    pub fn pop_due(&mut self, now: SimTime) -> Option<(SimTime, K)> {
        if self.next()? > now {
            return None;
        }
        let last = self.entries.len() - 1;
        self.swap(0, last);
        let popped = self.entries.pop()?;
        self.place.remove(&popped.1);
        self.down(0);
        Some(popped)
    }

    /// All entries, the next one first, each found only when it is asked for.
    pub fn in_order(&self) -> impl Iterator<Item = (SimTime, &K)> {
        // Of each entry that has left, the two below it stand at the frontier.
        let mut frontier: BTreeSet<(SimTime, usize)> = self.next().map(|at| (at, 0)).into_iter().collect();
        std::iter::from_fn(move || {
            let (at, i) = frontier.pop_first()?;
            for below in [2 * i + 1, 2 * i + 2] {
                if let Some((at, _)) = self.entries.get(below) {
                    frontier.insert((*at, below));
                }
            }
            Some((at, &self.entries[i].1))
        })
    }

    /// When `key` is due.
    #[must_use]
    pub fn time_of(&self, key: &K) -> Option<SimTime> {
        self.place.get(key).map(|i| self.entries[*i].0)
    }

    fn swap(&mut self, i: usize, j: usize) {
        self.entries.swap(i, j);
        for at in [i, j] {
            if let Some(place) = self.place.get_mut(&self.entries[at].1) {
                *place = at;
            }
        }
    }

    fn less(&self, i: usize, j: usize) -> bool {
        self.entries[i].0 < self.entries[j].0
    }

    fn up(&mut self, mut i: usize) {
        while i > 0 {
            let parent = (i - 1) / 2;
            if !self.less(i, parent) {
                return;
            }
            self.swap(i, parent);
            i = parent;
        }
    }

    fn down(&mut self, mut i: usize) {
        loop {
            let left = 2 * i + 1;
            if left >= self.entries.len() {
                return;
            }
            let right = left + 1;
            let child = if right < self.entries.len() && self.less(right, left) { right } else { left };
            if !self.less(child, i) {
                return;
            }
            self.swap(i, child);
            i = child;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_of_three_times_counts() {
        let mut heap = DelayHeap::default();
        for at in [10, 3, 20] {
            heap.insert(&"a", SimTime(at));
        }
        assert_eq!(heap.next(), Some(SimTime(3)));
        assert_eq!(heap.pop_due(SimTime(3)), Some((SimTime(3), "a")));
        assert_eq!(heap.pop_due(SimTime(99)), None);
    }

    #[test]
    fn entries_leave_by_time_and_indexes_stay_true() {
        let mut heap = DelayHeap::default();
        for n in 0..100_u64 {
            heap.insert(&n, SimTime(n * 37 % 101));
        }
        for n in 0..50_u64 {
            heap.insert(&n, SimTime(n));
        }
        let shown: Vec<SimTime> = heap.in_order().map(|(at, _)| at).collect();
        assert!(shown.len() == 100 && shown.is_sorted());
        let mut last = SimTime::ZERO;
        while let Some((at, _)) = heap.pop_due(SimTime(1_000)) {
            assert!(at >= last);
            last = at;
            assert!(heap.place.iter().all(|(k, i)| heap.entries[*i].1 == *k));
        }
        assert!(heap.place.is_empty());
    }
}
