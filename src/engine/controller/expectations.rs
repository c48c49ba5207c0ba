//! The book-keeping of awaited creations and deletions: `pkg/controller/controller_utils.go`.
//!
//! A controller that has just created two pods does not see them in its cache yet; until it has, or five minutes have
//! passed, it neither creates nor deletes.
//!
//! Divergence from Kubernetes: none known.

use crate::time::{SimTime, Span};
use std::collections::{BTreeMap, BTreeSet};

/// `controller_utils.go`, `ExpectationsTimeout`: after so long an event is taken as lost.
const TIMEOUT: Span = Span::secs(300);

/// What is still awaited; below zero when more was seen than expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    pub add: i64,
    pub del: i64,
    /// Set when the record was made, not when it was changed.
    pub since: SimTime,
}

/// Counts for each controlled object, by its key, and the names of awaited deletions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expectations {
    records: BTreeMap<String, Expected>,
    awaited: BTreeMap<String, BTreeSet<String>>,
}

impl Expectations {
    /// Replaces the record of `key`.
    pub fn set(&mut self, now: SimTime, key: &str, add: i64, del: i64) {
        self.records.insert(key.to_string(), Expected { add, del, since: now });
    }

    pub fn expect_creations(&mut self, now: SimTime, key: &str, n: i64) {
        self.set(now, key, n, 0);
    }

    pub fn expect_deletions(&mut self, now: SimTime, key: &str, n: i64) {
        self.set(now, key, 0, n);
    }

    pub fn creation_observed(&mut self, key: &str) {
        self.lower(key, 1, 0);
    }

    pub fn deletion_observed(&mut self, key: &str) {
        self.lower(key, 0, 1);
    }

    /// Raises an existing record; makes none.
    pub fn raise(&mut self, key: &str, add: i64, del: i64) {
        self.lower(key, add.saturating_neg(), del.saturating_neg());
    }

    /// Lowers an existing record; makes none.
    pub fn lower(&mut self, key: &str, add: i64, del: i64) {
        if let Some(record) = self.records.get_mut(key) {
            record.add = record.add.saturating_sub(add);
            record.del = record.del.saturating_sub(del);
        }
    }

    pub fn delete(&mut self, key: &str) {
        self.records.remove(key);
        self.awaited.remove(key);
    }

    /// Everything was seen, or nothing is awaited, or it was too long ago.
    #[must_use]
    pub fn satisfied(&self, now: SimTime, key: &str) -> bool {
        self.records
            .get(key)
            .is_none_or(|record| (record.add <= 0 && record.del <= 0) || now.since(record.since) > TIMEOUT)
    }

    #[must_use]
    pub fn get(&self, key: &str) -> Option<Expected> {
        self.records.get(key).copied()
    }

    /// Awaits the deletion of these objects, each of which counts once.
    pub fn expect_deletions_of(&mut self, now: SimTime, key: &str, names: impl IntoIterator<Item = String>) {
        let names: BTreeSet<String> = names.into_iter().collect();
        self.expect_deletions(now, key, i64::try_from(names.len()).unwrap_or(i64::MAX));
        self.awaited.insert(key.to_string(), names);
    }

    /// A deletion seen twice, or one that nobody awaits, counts nothing.
    pub fn deletion_observed_of(&mut self, key: &str, name: &str) {
        if self.awaited.get_mut(key).is_some_and(|names| names.remove(name)) {
            self.deletion_observed(key);
        }
    }

    #[must_use]
    pub fn awaited(&self, key: &str) -> Option<&BTreeSet<String>> {
        self.awaited.get(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_event_is_given_up_after_five_minutes() {
        let mut expectations = Expectations::default();
        expectations.expect_creations(SimTime::ZERO, "k", 2);
        expectations.creation_observed("k");
        assert!(!expectations.satisfied(SimTime(300_000_000), "k"));
        assert!(expectations.satisfied(SimTime(300_000_001), "k"));
    }

    #[test]
    fn a_deletion_seen_twice_counts_once() {
        let mut expectations = Expectations::default();
        expectations.expect_deletions_of(SimTime::ZERO, "k", ["a".to_string(), "b".to_string()]);
        expectations.deletion_observed_of("k", "a");
        expectations.deletion_observed_of("k", "a");
        assert!(!expectations.satisfied(SimTime::ZERO, "k"));
    }
}
