//! Times as they are written in scenarios: `500ms`, `3s`, `1m30s`, as Go writes a duration.

use crate::time::Span;

const UNITS: [(&str, u64); 5] = [("ms", 1_000), ("us", 1), ("h", 3_600_000_000), ("m", 60_000_000), ("s", 1_000_000)];

/// Reads `1h2m3.5s`, `250ms`, `10us` or `0`. Parts finer than a microsecond are cut off.
#[must_use]
pub fn parse_duration(text: &str) -> Option<Span> {
    if text == "0" {
        return Some(Span::ZERO);
    }
    let mut rest = text;
    let mut total = 0_u64;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at(end);
        let (name, micros) = UNITS.iter().find(|(name, _)| after.starts_with(name))?;
        total = total.checked_add(scaled(number, *micros)?)?;
        rest = &after[name.len()..];
    }
    (!text.is_empty()).then_some(Span(total))
}

/// `number` of a unit in microseconds, without a float on the way.
fn scaled(number: &str, micros: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let mut part = 0;
    let mut weight = micros;
    for digit in fraction.bytes() {
        weight /= 10;
        part += u64::from(digit - b'0') * weight;
    }
    whole.parse::<u64>().ok()?.checked_mul(micros)?.checked_add(part)
}

/// The shortest text that reads back as the same span.
#[must_use]
pub fn show_duration(span: Span) -> String {
    let mut left = span.0;
    let mut text = String::new();
    for (name, micros) in [("h", 3_600_000_000), ("m", 60_000_000), ("s", 1_000_000), ("ms", 1_000), ("us", 1)] {
        if left >= micros {
            text += &format!("{}{name}", left / micros);
            left %= micros;
        }
    }
    if text.is_empty() { "0s".to_string() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_read_back_what_they_show() {
        for us in [0, 1, 999, 1_000, 3_500_000, 90_000_000, 3_723_004_005, u64::MAX] {
            assert_eq!(parse_duration(&show_duration(Span(us))), Some(Span(us)));
        }
        assert_eq!(parse_duration("1.5s"), Some(Span::millis(1_500)));
        assert_eq!(show_duration(Span::secs(90)), "1m30s");
    }

    #[test]
    fn what_is_no_duration_is_refused() {
        for text in ["", "3", "s", "3x", "-3s", "1.2.3s", ".5s", "3s ", "99999999999999999999h", "99999999999h"] {
            assert_eq!(parse_duration(text), None, "{text}");
        }
    }
}
