//! How long a failed key waits: the limiters of client-go `util/workqueue/default_rate_limiters.go`.
//!
//! `when` counts one failure and answers the delay; `forget` clears the memory of a key and nothing else.
//!
//! Divergence from Kubernetes: none known beyond rounding to a microsecond.

use super::bucket::{Rate, TokenBucket};
use crate::ids::Key;
use crate::time::{SimTime, Span};
use std::collections::BTreeMap;

/// `DefaultTypedControllerRateLimiter`: first delay of a failed key.
pub const DEFAULT_BASE: Span = Span::millis(5);
/// `DefaultTypedControllerRateLimiter`: longest delay of a failed key.
pub const DEFAULT_MAX: Span = Span::secs(1_000);
/// `DefaultTypedControllerRateLimiter`: the bucket over all keys.
pub const DEFAULT_QPS: u64 = 10;
/// `DefaultTypedControllerRateLimiter`: the bucket over all keys.
pub const DEFAULT_BURST: u32 = 100;

/// A rate limiter with its memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Limiter<K = Key> {
    /// `base`·2ⁿ up to `max`, n = failures of the key so far.
    Exponential { base: Span, max: Span, failures: BTreeMap<K, u32> },
    /// One bucket over all keys.
    Bucket(TokenBucket),
    /// The first `max_fast` failures of a key wait `fast`, later ones `slow`.
    FastSlow { fast: Span, slow: Span, max_fast: u32, failures: BTreeMap<K, u32> },
    /// The longest answer of all; each member is asked each time, so each one spends.
    MaxOf(Vec<Limiter<K>>),
    /// The inner answer, but never more than `max`.
    MaxWait { max: Span, inner: Box<Limiter<K>> },
}

impl<K: Ord + Clone> Limiter<K> {
    #[must_use]
    pub fn exponential(base: Span, max: Span) -> Self {
        Limiter::Exponential { base, max, failures: BTreeMap::new() }
    }

    #[must_use]
    pub fn bucket(rate: Rate, burst: u32) -> Self {
        Limiter::Bucket(TokenBucket::new(rate, burst))
    }

    #[must_use]
    pub fn fast_slow(fast: Span, slow: Span, max_fast: u32) -> Self {
        Limiter::FastSlow { fast, slow, max_fast, failures: BTreeMap::new() }
    }

    /// What the plain queue of a built-in controller uses.
    #[must_use]
    pub fn default_controller() -> Self {
        Limiter::MaxOf(vec![
            Self::exponential(DEFAULT_BASE, DEFAULT_MAX),
            Self::bucket(Rate::per_second(DEFAULT_QPS), DEFAULT_BURST),
        ])
    }

    /// What the priority queue of controller-runtime uses: the series per key, no bucket.
    #[must_use]
    pub fn default_priority() -> Self {
        Self::exponential(DEFAULT_BASE, DEFAULT_MAX)
    }

    /// Counts one failure of `key` and answers how long it waits.
    pub fn when(&mut self, now: SimTime, key: &K) -> Span {
        match self {
            Limiter::Exponential { base, max, failures } => {
                let n = count(failures, key);
                doubled(*base, n).min(*max)
            }
            Limiter::Bucket(bucket) => bucket.reserve(now),
            Limiter::FastSlow { fast, slow, max_fast, failures } => {
                if count(failures, key) < *max_fast {
                    *fast
                } else {
                    *slow
                }
            }
            Limiter::MaxOf(members) => members.iter_mut().map(|m| m.when(now, key)).max().unwrap_or(Span::ZERO),
            Limiter::MaxWait { max, inner } => inner.when(now, key).min(*max),
        }
    }

    /// Clears the memory of `key`; tokens already spent stay spent.
    pub fn forget(&mut self, key: &K) {
        match self {
            Limiter::Exponential { failures, .. } | Limiter::FastSlow { failures, .. } => {
                failures.remove(key);
            }
            Limiter::Bucket(_) => {}
            Limiter::MaxOf(members) => members.iter_mut().for_each(|m| m.forget(key)),
            Limiter::MaxWait { inner, .. } => inner.forget(key),
        }
    }

    /// Changes base and cap of the exponential series within; counts and buckets stay.
    pub fn set_series(&mut self, new_base: Span, new_max: Span) {
        match self {
            Limiter::Exponential { base, max, .. } => (*base, *max) = (new_base, new_max),
            Limiter::MaxOf(members) => members.iter_mut().for_each(|m| m.set_series(new_base, new_max)),
            Limiter::MaxWait { inner, .. } => inner.set_series(new_base, new_max),
            Limiter::Bucket(_) | Limiter::FastSlow { .. } => {}
        }
    }

    /// Failures counted for `key`.
    #[must_use]
    pub fn num_requeues(&self, key: &K) -> u32 {
        match self {
            Limiter::Exponential { failures, .. } | Limiter::FastSlow { failures, .. } => {
                failures.get(key).copied().unwrap_or(0)
            }
            Limiter::Bucket(_) => 0,
            Limiter::MaxOf(members) => members.iter().map(|m| m.num_requeues(key)).max().unwrap_or(0),
            Limiter::MaxWait { inner, .. } => inner.num_requeues(key),
        }
    }

    /// All keys with failures and their counts, for drawing.
    #[must_use]
    pub fn failures(&self) -> BTreeMap<K, u32> {
        match self {
            Limiter::Exponential { failures, .. } | Limiter::FastSlow { failures, .. } => failures.clone(),
            Limiter::Bucket(_) => BTreeMap::new(),
            Limiter::MaxOf(members) => members.iter().fold(BTreeMap::new(), |mut all, member| {
                for (key, n) in member.failures() {
                    let most = all.entry(key).or_insert(0);
                    *most = n.max(*most);
                }
                all
            }),
            Limiter::MaxWait { inner, .. } => inner.failures(),
        }
    }
}

/// Failures before this one.
fn count<K: Ord + Clone>(failures: &mut BTreeMap<K, u32>, key: &K) -> u32 {
    let n = failures.entry(key.clone()).or_insert(0);
    let before = *n;
    *n = n.saturating_add(1);
    before
}

fn doubled(base: Span, n: u32) -> Span {
    let factor = 1_u64.checked_shl(n).unwrap_or(u64::MAX);
    base.saturating_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> Key {
        Key::new("", name)
    }

    #[test]
    fn the_nineteenth_failure_reaches_the_cap() {
        let mut limiter = Limiter::default_priority();
        let delays: Vec<u64> = (0..20).map(|_| limiter.when(SimTime::ZERO, &key("a")).as_millis()).collect();
        assert_eq!(delays[..4], [5, 10, 20, 40]);
        assert_eq!(delays[17..], [655_360, 1_000_000, 1_000_000]);
    }

    #[test]
    fn forget_starts_the_series_again() {
        let mut limiter = Limiter::exponential(Span::millis(1), Span::secs(1));
        let delays: Vec<u64> = (0..5).map(|_| limiter.when(SimTime::ZERO, &key("a")).as_millis()).collect();
        assert_eq!(delays, [1, 2, 4, 8, 16]);
        assert_eq!(limiter.num_requeues(&key("a")), 5);
        limiter.forget(&key("a"));
        assert_eq!(limiter.when(SimTime::ZERO, &key("a")), Span::millis(1));
    }

    #[test]
    fn a_hundred_and_two_keys_failing_at_once_empty_the_default_bucket() {
        let mut limiter = Limiter::default_controller();
        let delays: Vec<u64> =
            (0..102).map(|n| limiter.when(SimTime::ZERO, &key(&format!("k{n}"))).as_millis()).collect();
        assert_eq!(delays[99..], [5, 100, 200]);
        let mut plain = Limiter::default_priority();
        assert!((0..102).all(|n| plain.when(SimTime::ZERO, &key(&format!("k{n}"))) == Span::millis(5)));
    }

    #[test]
    fn fast_failures_turn_slow() {
        let mut limiter = Limiter::fast_slow(Span::millis(5), Span::secs(10), 3);
        let delays: Vec<u64> = (0..5).map(|_| limiter.when(SimTime::ZERO, &key("a")).as_millis()).collect();
        assert_eq!(delays, [5, 5, 5, 10_000, 10_000]);
    }

    #[test]
    fn thousands_of_failures_do_not_overflow() {
        let mut limiter = Limiter::exponential(Span::millis(5), Span::secs(1_000));
        for _ in 0..5_000 {
            assert!(limiter.when(SimTime::ZERO, &key("a")) <= Span::secs(1_000));
        }
    }
}
