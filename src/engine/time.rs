//! Virtual time: microseconds since the start of the run, and how they read as Kubernetes timestamps.

use serde::{Deserialize, Serialize};
use std::ops::{Add, AddAssign, Sub};

/// The wall-clock instant at which every run begins: 2026-01-01T00:00:00Z, in seconds since 1970.
const EPOCH_UNIX_S: u64 = 1_767_225_600;

/// An instant of virtual time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SimTime(pub u64);

/// A span of virtual time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Span(pub u64);

impl Span {
    pub const ZERO: Span = Span(0);
    pub const fn micros(us: u64) -> Self {
        Span(us)
    }
    pub const fn millis(ms: u64) -> Self {
        Span(ms * 1_000)
    }
    pub const fn secs(s: u64) -> Self {
        Span(s * 1_000_000)
    }
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000
    }
    pub const fn as_secs(self) -> u64 {
        self.0 / 1_000_000
    }
    #[must_use]
    pub fn saturating_mul(self, n: u64) -> Self {
        Span(self.0.saturating_mul(n))
    }
}

impl SimTime {
    pub const ZERO: SimTime = SimTime(0);

    #[must_use]
    pub fn since(self, earlier: SimTime) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// Seconds since 1970 of this instant.
    #[must_use]
    pub fn unix_secs(self) -> u64 {
        EPOCH_UNIX_S + self.0 / 1_000_000
    }

    /// RFC 3339 with whole seconds, as `metadata` times are written.
    #[must_use]
    pub fn rfc3339(self) -> String {
        let (y, mo, d, h, mi, s) = civil(self.unix_secs());
        format!("{y:04}-{mo:02}-{d:02}T{h:02}:{mi:02}:{s:02}Z")
    }

    /// RFC 3339 with microseconds, as Lease and Event times (`MicroTime`) are written.
    #[must_use]
    pub fn rfc3339_micro(self) -> String {
        let (y, mo, d, h, mi, s) = civil(self.unix_secs());
        format!("{y:04}-{mo:02}-{d:02}T{h:02}:{mi:02}:{s:02}.{:06}Z", self.0 % 1_000_000)
    }

    /// Reads a timestamp written by [`SimTime::rfc3339`] or [`SimTime::rfc3339_micro`]; instants before the epoch read as zero.
    #[must_use]
    pub fn parse_rfc3339(text: &str) -> Option<SimTime> {
        let digits = |a: usize, b: usize| text.get(a..b)?.parse::<u64>().ok();
        let days = days_from_civil(digits(0, 4)?, digits(5, 7)?, digits(8, 10)?);
        let secs = days * 86_400 + digits(11, 13)? * 3_600 + digits(14, 16)? * 60 + digits(17, 19)?;
        let micros = match text.get(19..20)? {
            "." => digits(20, 26)?,
            _ => 0,
        };
        Some(SimTime(secs.saturating_sub(EPOCH_UNIX_S) * 1_000_000 + micros))
    }
}

/// Calendar date of a day count, after Howard Hinnant's `civil_from_days` algorithm.
fn civil(unix_s: u64) -> (u64, u64, u64, u64, u64, u64) {
    let (days, rest) = (unix_s / 86_400, unix_s % 86_400);
    let z = days + 719_468;
    let era = z / 146_097;
    let doe = z % 146_097;
    let yoe = (doe - doe / 1_460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let day = doy - (153 * mp + 2) / 5 + 1;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    let year = yoe + era * 400 + u64::from(month <= 2);
    (year, month, day, rest / 3_600, rest / 60 % 60, rest % 60)
}

fn days_from_civil(year: u64, month: u64, day: u64) -> u64 {
    let y = if month <= 2 { year.saturating_sub(1) } else { year };
    let era = y / 400;
    let yoe = y % 400;
    let mp = (month + 9) % 12;
    let doy = (153 * mp + 2) / 5 + day.saturating_sub(1);
    let doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
    (era * 146_097 + doe).saturating_sub(719_468)
}

impl Add<Span> for SimTime {
    type Output = SimTime;
    fn add(self, d: Span) -> SimTime {
        SimTime(self.0.saturating_add(d.0))
    }
}
impl AddAssign<Span> for SimTime {
    fn add_assign(&mut self, d: Span) {
        *self = *self + d;
    }
}
impl Sub<SimTime> for SimTime {
    type Output = Span;
    fn sub(self, earlier: SimTime) -> Span {
        self.since(earlier)
    }
}
impl Add for Span {
    type Output = Span;
    fn add(self, o: Span) -> Span {
        Span(self.0.saturating_add(o.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_read_back_what_they_write() {
        for us in [0, 1, 59_999_999, 86_400_000_000, 5_097_600_123_456] {
            let t = SimTime(us);
            assert_eq!(SimTime::parse_rfc3339(&t.rfc3339_micro()), Some(t));
        }
        assert_eq!(SimTime::ZERO.rfc3339(), "2026-01-01T00:00:00Z");
        assert_eq!(SimTime::parse_rfc3339("garbage"), None);
    }
}
