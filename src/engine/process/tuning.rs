//! What is special about one process: set by commands, kept over its restarts.

use crate::client::call::Scope;
use crate::ids::GroupResource;
use crate::time::{SimTime, Span};
use std::collections::BTreeMap;

/// kubelet `pkg/kubelet/kubelet.go`, `backOffPeriod`: first wait of a container that keeps ending.
const CRASH_LOOP_BASE: Span = Span::secs(10);
/// kubelet `pkg/kubelet/kubelet.go`, `MaxCrashLoopBackOff`.
const CRASH_LOOP_CAP: Span = Span::secs(300);
/// A container that ran so long starts a new series (twice the cap, client-go `util/flowcontrol/backoff.go`).
const CRASH_LOOP_RESET: Span = Span::secs(600);
/// What it takes to start a container again.
const CONTAINER_START: Span = Span::secs(1);

/// Part of a collection that is cached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CacheScope {
    pub namespace: String,
    pub label_selector: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tuning {
    /// By plural; the empty one stands for every other.
    lags: BTreeMap<String, Span>,
    scopes: BTreeMap<String, CacheScope>,
}

impl Tuning {
    pub fn set_lag(&mut self, resource: &str, lag: Option<Span>) {
        match lag {
            Some(lag) => self.lags.insert(resource.to_string(), lag),
            None => self.lags.remove(resource),
        };
    }

    pub fn set_scope(&mut self, resource: &str, scope: CacheScope) {
        if scope == CacheScope::default() {
            self.scopes.remove(resource);
        } else {
            self.scopes.insert(resource.to_string(), scope);
        }
    }

    #[must_use]
    pub fn lag(&self, resource: &GroupResource) -> Option<Span> {
        self.lags.get(&*resource.resource).or_else(|| self.lags.get("")).copied()
    }

    /// Narrows what an informer asks for, where its source leaves that open.
    pub fn narrow(&self, scope: &mut Scope) {
        let Some(set) = self.scopes.get(&*scope.gvr.resource).or_else(|| self.scopes.get("")) else { return };
        if scope.namespace.is_empty() {
            scope.namespace.clone_from(&set.namespace);
        }
        if scope.label_selector.is_empty() {
            scope.label_selector.clone_from(&set.label_selector);
        }
    }
}

/// How a kubelet starts an ended container again: at once, then after 10 s, 20 s, … 5 min.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restarts {
    next: Option<Span>,
}

impl Restarts {
    /// The wait before the next start of a process that ended now and was started at `started`.
    pub fn wait(&mut self, started: SimTime, now: SimTime) -> Span {
        if now.since(started) >= CRASH_LOOP_RESET {
            self.next = None;
        }
        let wait = self.next.map_or(CONTAINER_START, |backoff| backoff + CONTAINER_START);
        self.next = Some(self.next.map_or(CRASH_LOOP_BASE, |b| b.saturating_mul(2).min(CRASH_LOOP_CAP)));
        wait
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crash_loop_slows_down_to_five_minutes_and_starts_over_after_ten_good_ones() {
        let mut restarts = Restarts::default();
        let mut waits: Vec<u64> = (0..8).map(|_| restarts.wait(SimTime::ZERO, SimTime(1_000_000)).as_secs()).collect();
        waits.push(restarts.wait(SimTime::ZERO, SimTime(600_000_000)).as_secs());
        assert_eq!(waits, [1, 11, 21, 41, 81, 161, 301, 301, 1]);
    }
}
