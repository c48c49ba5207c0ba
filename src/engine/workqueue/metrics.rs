//! What a queue counts: client-go `util/workqueue/metrics.go`.
//!
//! Divergence from Kubernetes: the histograms keep count, sum and the most recent observations, not the buckets; the
//! gauges of running work are computed when read, not each 500 ms.

use crate::time::{SimTime, Span};
use std::collections::{BTreeMap, VecDeque};

/// Observations kept for drawing; older ones live on in count and sum only.
const RECENT_MAX: usize = 256;

/// Durations observed so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Durations {
    pub count: u64,
    pub sum: Span,
    /// The last ones, oldest first.
    pub recent: VecDeque<Span>,
}

impl Durations {
    fn observe(&mut self, d: Span) {
        self.count += 1;
        self.sum = self.sum + d;
        self.recent.push_back(d);
        if self.recent.len() > RECENT_MAX {
            self.recent.pop_front();
        }
    }
}

/// The metrics of one queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metrics<K> {
    /// Accepted adds.
    pub adds: u64,
    /// Adds not handed out yet, also of keys in work. Signed, because `done` of a key nobody held makes the real gauge
    /// go below zero.
    pub depth: i64,
    /// Delayed adds asked for.
    pub retries: u64,
    /// From add to get.
    pub queue_time: Durations,
    /// From get to done.
    pub work_time: Durations,
    added_at: BTreeMap<K, SimTime>,
    started_at: BTreeMap<K, SimTime>,
}

impl<K> Default for Metrics<K> {
    fn default() -> Self {
        Metrics {
            adds: 0,
            depth: 0,
            retries: 0,
            queue_time: Durations::default(),
            work_time: Durations::default(),
            added_at: BTreeMap::new(),
            started_at: BTreeMap::new(),
        }
    }
}

impl<K: Ord + Clone> Metrics<K> {
    pub(super) fn add(&mut self, now: SimTime, key: &K) {
        self.adds += 1;
        self.depth += 1;
        self.added_at.entry(key.clone()).or_insert(now);
    }

    pub(super) fn get(&mut self, now: SimTime, key: &K) {
        self.depth -= 1;
        self.started_at.insert(key.clone(), now);
        if let Some(since) = self.added_at.remove(key) {
            self.queue_time.observe(now.since(since));
        }
    }

    pub(super) fn done(&mut self, now: SimTime, key: &K) {
        if let Some(since) = self.started_at.remove(key) {
            self.work_time.observe(now.since(since));
        }
    }

    /// Sum of the ages of all runs.
    #[must_use]
    pub fn unfinished_work(&self, now: SimTime) -> Span {
        self.started_at.values().fold(Span::ZERO, |sum, since| sum + now.since(*since))
    }

    /// Age of the oldest run.
    #[must_use]
    pub fn longest_running(&self, now: SimTime) -> Span {
        self.started_at.values().map(|since| now.since(*since)).max().unwrap_or(Span::ZERO)
    }

    /// When the run of a key began, for each key in work.
    #[must_use]
    pub fn started_at(&self) -> &BTreeMap<K, SimTime> {
        &self.started_at
    }
}
