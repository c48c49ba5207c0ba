//! The token bucket of `golang.org/x/time/rate`, in whole numbers.
//!
//! Guarantees: a call is charged at once, also when it has to wait, so waits add up and keep their order; a bucket
//! never holds more than its burst.
//!
//! Divergence from Kubernetes: the real bucket counts in floats; this one counts in parts of a token that make both
//! decimal rates and one token in five minutes exact, and rounds waits to a microsecond.

use crate::time::{SimTime, Span};
use serde::{Deserialize, Serialize};

/// One token in the unit the bucket counts in.
const TOKEN: i128 = 300_000_000_000_000;
/// A millionth of a token a second, in units a microsecond.
const MICRO_QPS: u64 = 300;

/// A rate, in units a microsecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rate(u64);

impl Rate {
    #[must_use]
    pub const fn per_second(n: u64) -> Self {
        Rate::micro(n.saturating_mul(1_000_000))
    }

    /// From millionths of a token a second, so that fractions such as 0.5 stay exact.
    #[must_use]
    pub const fn micro(qps: u64) -> Self {
        Rate(qps.saturating_mul(MICRO_QPS))
    }

    /// From milliardths of a token a second, as fine as the `float32` rates of client settings.
    #[must_use]
    pub const fn nano(qps: u64) -> Self {
        Rate((qps as u128 * MICRO_QPS as u128 / 1_000) as u64)
    }

    /// One token in each `span`.
    #[must_use]
    pub const fn one_in(span: Span) -> Self {
        match (TOKEN as u64).checked_div(span.0) {
            Some(units) => Rate(units),
            None => Rate(u64::MAX),
        }
    }

    /// In millionths of a token a second.
    #[must_use]
    pub const fn micro_qps(self) -> u64 {
        self.0 / MICRO_QPS
    }
}

/// A bucket that starts full.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenBucket {
    rate: Rate,
    burst: u32,
    /// Below zero while reservations are outstanding.
    tokens: i128,
    last: SimTime,
}

impl TokenBucket {
    #[must_use]
    pub fn new(rate: Rate, burst: u32) -> Self {
        TokenBucket { rate, burst, tokens: i128::from(burst) * TOKEN, last: SimTime::ZERO }
    }

    #[must_use]
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// Tokens at `now`, in thousandths; below zero while callers wait.
    #[must_use]
    pub fn milli_tokens(&self, now: SimTime) -> i64 {
        (self.tokens_at(now) / (TOKEN / 1_000)) as i64
    }

    /// Takes a token now or in the future and answers how long to wait for it.
    pub fn reserve(&mut self, now: SimTime) -> Span {
        self.reserve_within(now, None).unwrap_or(Span(u64::MAX))
    }

    /// Takes a token only if it is there; a refusal costs nothing.
    pub fn take(&mut self, now: SimTime) -> bool {
        self.reserve_within(now, Some(Span::ZERO)).is_some()
    }

    /// Takes a token unless the wait would be longer than `limit`; a refusal costs nothing.
    pub fn reserve_within(&mut self, now: SimTime, limit: Option<Span>) -> Option<Span> {
        let left = self.tokens_at(now) - TOKEN;
        let wait = self.time_for(-left);
        if self.burst == 0 || limit.is_some_and(|limit| wait > limit) {
            return None;
        }
        self.tokens = left;
        self.last = now;
        Some(wait)
    }

    fn tokens_at(&self, now: SimTime) -> i128 {
        let gained = i128::from(now.since(self.last).0) * i128::from(self.rate.0);
        (self.tokens + gained).min(i128::from(self.burst) * TOKEN)
    }

    /// The time until `missing` units have flowed in, rounded to a microsecond.
    fn time_for(&self, missing: i128) -> Span {
        if missing <= 0 {
            return Span::ZERO;
        }
        let rate = i128::from(self.rate.0);
        if rate == 0 {
            return Span(u64::MAX);
        }
        Span(u64::try_from((missing + rate / 2) / rate).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_of_a_third_of_a_second_do_not_drift() {
        let mut bucket = TokenBucket::new(Rate::per_second(3), 1);
        let waits: Vec<u64> = (0..4).map(|_| bucket.reserve(SimTime::ZERO).0).collect();
        assert_eq!(waits, [0, 333_333, 666_667, 1_000_000]);
    }

    #[test]
    fn a_refusal_costs_nothing() {
        let mut bucket = TokenBucket::new(Rate::per_second(1), 1);
        assert!(bucket.take(SimTime::ZERO));
        assert!(!bucket.take(SimTime(500_000)));
        assert!(bucket.take(SimTime(1_000_000)));
    }

    #[test]
    fn a_bucket_without_rate_or_burst_never_grants() {
        assert_eq!(TokenBucket::new(Rate(0), 0).reserve(SimTime::ZERO), Span(u64::MAX));
        let mut empty = TokenBucket::new(Rate(0), 1);
        assert_eq!(empty.reserve(SimTime::ZERO), Span::ZERO);
        assert_eq!(empty.reserve(SimTime(9)), Span(u64::MAX));
    }
}
