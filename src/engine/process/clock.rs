//! The clock a process reads: it may run slower or faster than true time.

use crate::time::{SimTime, Span};

/// Local time as a straight line over true time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// True time at which the present rate began, and what the clock showed then.
    since: SimTime,
    showed: SimTime,
    percent: u32,
}

impl Default for Clock {
    fn default() -> Self {
        Clock { since: SimTime::ZERO, showed: SimTime::ZERO, percent: 100 }
    }
}

impl Clock {
    #[must_use]
    pub fn percent(self) -> u32 {
        self.percent
    }

    /// What the clock shows at true time `now`.
    #[must_use]
    pub fn read(self, now: SimTime) -> SimTime {
        self.showed + scaled(now.since(self.since), self.percent, 100, 0)
    }

    /// The first true time at which the clock shows `local`.
    #[must_use]
    pub fn when(self, local: SimTime) -> SimTime {
        let percent = self.percent.max(1);
        self.since + scaled(local.since(self.showed), 100, percent, percent - 1)
    }

    /// The same clock with another rate from `now` on.
    #[must_use]
    pub fn turned(self, now: SimTime, percent: u32) -> Self {
        Clock { since: now, showed: self.read(now), percent: percent.max(1) }
    }
}

fn scaled(span: Span, times: u32, by: u32, round: u32) -> Span {
    let wide = (u128::from(span.0) * u128::from(times) + u128::from(round)) / u128::from(by);
    Span(u64::try_from(wide).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_is_never_early_by_the_clock_it_was_set_on() {
        let mut clock = Clock::default().turned(SimTime(1_000), 33).turned(SimTime(5_001), 250);
        for rate in [1, 7, 50, 100, 201, 999] {
            clock = clock.turned(SimTime(9_999), rate);
            for due in (0..5_000).map(|n| clock.read(SimTime(10_000)) + Span(n)) {
                assert!(clock.read(clock.when(due)) >= due);
            }
        }
    }

    #[test]
    fn half_speed_shows_half_the_time() {
        let slow = Clock::default().turned(SimTime(10), 50);
        assert_eq!(slow.read(SimTime(30)), SimTime(20));
        assert_eq!(slow.when(SimTime(20)), SimTime(30));
        assert_eq!(slow.when(SimTime(3)), SimTime(10));
    }
}
