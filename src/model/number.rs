//! Numbers as the page writes them, without the weight of floating point formatting.

use engine::time::{SimTime, Span};

/// A coordinate with one digit after the point.
#[must_use]
pub fn coordinate(value: f32) -> String {
    let tenths = (value * 10.0) as i32;
    let sign = if tenths < 0 { "-" } else { "" };
    format!("{sign}{}.{}", tenths.unsigned_abs() / 10, tenths.unsigned_abs() % 10)
}

/// `4.312`: seconds with milliseconds.
#[must_use]
pub fn seconds(at: SimTime) -> String {
    format!("{}.{:03}", at.0 / 1_000_000, at.0 / 1_000 % 1_000)
}

/// `320 ms`, `1.5 s`, `2 min`.
#[must_use]
pub fn span(span: Span) -> String {
    match span.0 {
        us if us < 1_000 => format!("{us} µs"),
        us if us < 1_000_000 => format!("{} ms", us / 1_000),
        us if us < 60_000_000 && us % 1_000_000 < 50_000 => format!("{} s", us / 1_000_000),
        us if us < 60_000_000 => format!("{}.{} s", us / 1_000_000, us / 100_000 % 10),
        us => format!("{} min {} s", us / 60_000_000, us / 1_000_000 % 60),
    }
}

/// `¼×`, `1×`, `8×`: two to the power of the exponent.
#[must_use]
pub fn speed(exponent: i32) -> String {
    if exponent >= 0 {
        format!("{}×", 1 << exponent.min(30))
    } else {
        format!("1⁄{}×", 1 << exponent.unsigned_abs().min(30))
    }
}

/// How much virtual time passes in `micros` of real time.
#[must_use]
pub fn scaled(micros: u64, exponent: i32) -> Span {
    let by = exponent.unsigned_abs().min(30);
    Span(if exponent >= 0 { micros << by } else { micros >> by })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_a_person_writes_them() {
        assert_eq!(coordinate(-3.27), "-3.2");
        assert_eq!(coordinate(-0.5), "-0.5");
        assert_eq!(seconds(SimTime(4_312_900)), "4.312");
        assert_eq!(span(Span::millis(320)), "320 ms");
        assert_eq!(span(Span::millis(1_500)), "1.5 s");
        assert_eq!(speed(-2), "1⁄4×");
        assert_eq!(scaled(1_000, -2), Span(250));
    }
}
