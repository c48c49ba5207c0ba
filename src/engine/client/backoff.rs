//! The growing wait of a reflector: apimachinery `pkg/util/wait/backoff.go` with the settings of client-go
//! `tools/cache/reflector.go`.

use crate::rng::Rng;
use crate::time::{SimTime, Span};

/// `reflector.go`: first wait.
const INITIAL: Span = Span::millis(800);
/// `reflector.go`: the wait stops growing here.
const CAP: Span = Span::secs(30);
/// `reflector.go`: after so long without a failure the series starts again.
const RESET: Span = Span::secs(120);

/// Each wait is uniform in `[d, 2d)`, and d doubles from 800 ms to 30 s.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backoff {
    next: Span,
    last_asked: Option<SimTime>,
    rng: Rng,
}

impl Backoff {
    #[must_use]
    pub fn new(rng: Rng) -> Self {
        Backoff { next: INITIAL, last_asked: None, rng }
    }

    pub fn step(&mut self, now: SimTime) -> Span {
        if self.last_asked.is_some_and(|last| now.since(last) > RESET) {
            self.next = INITIAL;
        }
        self.last_asked = Some(now);
        let base = self.next;
        self.next = base.saturating_mul(2).min(CAP);
        base + Span(self.rng.below(base.0))
    }

    /// A draw for another jittered choice of the same reflector: uniform in `0..bound`.
    pub fn draw(&mut self, bound: u64) -> u64 {
        self.rng.below(bound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_to_the_cap_and_reset_after_two_quiet_minutes() {
        let mut backoff = Backoff::new(Rng::new(1));
        let mut base = 800_000;
        for _ in 0..8 {
            let wait = backoff.step(SimTime::ZERO).0;
            assert!((base..2 * base).contains(&wait), "{wait} in [{base}, 2·{base})");
            base = (base * 2).min(30_000_000);
        }
        assert!(backoff.step(SimTime(120_000_001)).0 < 1_600_000);
    }
}
