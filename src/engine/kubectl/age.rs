//! How long ago, as kubectl says it (apimachinery `pkg/util/duration/duration.go`).

use crate::time::SimTime;
use serde_json::Value;

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
const YEAR: u64 = 365 * DAY;

/// `5s`, `3m12s`, `47h`, `12d`.
pub fn human(seconds: u64) -> String {
    let two = |big: u64, b: char, small: u64, s: char| {
        if small == 0 { format!("{big}{b}") } else { format!("{big}{b}{small}{s}") }
    };
    match seconds {
        s if s < 2 * MINUTE => format!("{s}s"),
        s if s < 10 * MINUTE => two(s / MINUTE, 'm', s % MINUTE, 's'),
        s if s < 3 * HOUR => format!("{}m", s / MINUTE),
        s if s < 8 * HOUR => two(s / HOUR, 'h', s % HOUR / MINUTE, 'm'),
        s if s < 2 * DAY => format!("{}h", s / HOUR),
        s if s < 8 * DAY => two(s / DAY, 'd', s % DAY / HOUR, 'h'),
        s if s < 2 * YEAR => format!("{}d", s / DAY),
        s if s < 8 * YEAR => two(s / YEAR, 'y', s % YEAR / DAY, 'd'),
        s => format!("{}y", s / YEAR),
    }
}

/// The age of a timestamp in a table.
pub fn since(stamp: Option<&Value>, now: SimTime) -> String {
    match stamp.and_then(Value::as_str) {
        None | Some("") => "<unknown>".to_string(),
        Some(text) => match SimTime::parse_rfc3339(text) {
            None => "<invalid>".to_string(),
            Some(then) => human(now.since(then).as_secs()),
        },
    }
}
