//! Numbers and durations as text, the way Go reads and prints them.

use super::value::{Outcome, fail};

/// Reads a double as Go's `ParseFloat` does. The JSON reader does the work, so that a value in an object and
/// the same digits in a rule are the same number.
pub fn parse_double(text: &str) -> Option<f64> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let lower = digits.to_ascii_lowercase();
    let value = match lower.as_str() {
        "inf" | "infinity" => f64::INFINITY,
        "nan" => f64::NAN,
        _ => serde_json::from_str(&json_number(&lower)?).ok()?,
    };
    Some(if negative { -value } else { value })
}

/// Writes `.5`, `5.` and `05` the way JSON wants them.
fn json_number(text: &str) -> Option<String> {
    if !text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'+' | b'-')) {
        return None;
    }
    let (mantissa, exponent) = text.split_once('e').map_or((text, None), |(m, e)| (m, Some(e)));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let whole = whole.trim_start_matches('0');
    let mut out = if whole.is_empty() { "0".to_string() } else { whole.to_string() };
    out.push('.');
    out.push_str(if fraction.is_empty() { "0" } else { fraction });
    if let Some(exponent) = exponent {
        out.push('e');
        out.push_str(exponent);
    }
    Some(out)
}

/// The shortest digits of a finite number and the place of its decimal point: 12.5 is ("125", 2).
fn digits(value: f64) -> (String, i32) {
    let text = serde_json::Number::from_f64(value.abs()).map_or_else(|| "0".to_string(), |n| n.to_string());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let leading = all.len() - all.trim_start_matches('0').len();
    let point = whole.len() as i32 + exponent.parse::<i32>().unwrap_or(0) - leading as i32;
    let all = all.trim_matches('0').to_string();
    if all.is_empty() { ("0".to_string(), 1) } else { (all, point) }
}

/// Prints a double as Go's `%g` with the shortest digits does: exponents from 1e6 on, or below 1e-4.
pub fn format_double(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_string();
    }
    let sign = if value.is_sign_negative() { "-" } else { "" };
    if value.is_infinite() {
        return format!("{}Inf", if sign.is_empty() { "+" } else { "-" });
    }
    let (digits, point) = digits(value);
    let exponent = point - 1;
    if value != 0.0 && !(-4..6).contains(&exponent) {
        let mark = if exponent < 0 { '-' } else { '+' };
        let rest = if digits.len() > 1 { format!(".{}", &digits[1..]) } else { String::new() };
        return format!("{sign}{}{rest}e{mark}{:02}", &digits[..1], exponent.unsigned_abs());
    }
    format!("{sign}{}", plain(&digits, point))
}

fn plain(digits: &str, point: i32) -> String {
    if point <= 0 {
        return format!("0.{}{digits}", "0".repeat(point.unsigned_abs() as usize));
    }
    let point = point as usize;
    if digits.len() <= point {
        return format!("{digits}{}", "0".repeat(point - digits.len()));
    }
    format!("{}.{}", &digits[..point], &digits[point..])
}

/// Prints with a fixed count of decimals, half away from zero on the shortest digits.
pub fn format_fixed(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return if value.is_nan() {
            "NaN"
        } else if value > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        }
        .to_string();
    }
    let (digits, point) = digits(value);
    let text = round_digits(&digits, point, point + decimals as i32);
    let (digits, point) = (&text.0, text.1);
    let mut out = plain(digits, point);
    if decimals > 0 {
        let fraction = out.split_once('.').map_or(0, |(_, f)| f.len());
        if fraction == 0 {
            out.push('.');
        }
        out.push_str(&"0".repeat(decimals.saturating_sub(fraction)));
    }
    if value < 0.0 { format!("-{out}") } else { out }
}

/// Prints `d.ddde+XX` with a fixed count of decimals.
pub fn format_scientific(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return format_fixed(value, decimals);
    }
    let (digits, point) = digits(value);
    let (mut digits, point) = round_digits(&digits, point, decimals as i32 + 1);
    digits.push_str(&"0".repeat((decimals + 1).saturating_sub(digits.len())));
    let exponent = if value == 0.0 { 0 } else { point - 1 };
    let mark = if exponent < 0 { '-' } else { '+' };
    let sign = if value < 0.0 { "-" } else { "" };
    let dot = if decimals > 0 { "." } else { "" };
    format!("{sign}{}{dot}{}e{mark}{:02}", &digits[..1], &digits[1..=decimals], exponent.unsigned_abs())
}

/// Keeps `keep` digits, rounding the rest.
fn round_digits(digits: &str, point: i32, keep: i32) -> (String, i32) {
    if keep >= digits.len() as i32 {
        return (digits.to_string(), point);
    }
    if keep < 0 {
        return ("0".to_string(), 1);
    }
    let keep = keep as usize;
    let up = digits.as_bytes()[keep] >= b'5';
    let mut kept: Vec<u8> = digits.as_bytes()[..keep].to_vec();
    let mut point = point;
    if up {
        let nine = kept.iter().rposition(|d| *d != b'9');
        let from = nine.map_or(0, |at| at + 1);
        kept[from..].fill(b'0');
        match nine {
            Some(at) => kept[at] += 1,
            None => {
                kept.insert(0, b'1');
                point += 1;
            }
        }
    }
    if kept.is_empty() {
        return ("0".to_string(), 1);
    }
    (String::from_utf8(kept).unwrap_or_default(), point)
}

/// A double as an integer, refused where it does not fit.
pub fn double_to_int(value: f64) -> Outcome<i64> {
    // The bounds are exclusive because the doubles next to them are the limits themselves.
    if value.is_nan() || value <= i64::MIN as f64 || value >= i64::MAX as f64 {
        return fail("integer overflow");
    }
    Ok(value as i64)
}

/// Units of a Go duration in nanoseconds, longest names first.
const UNITS: [(&str, i128); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Reads a duration such as `1h30m` or `-1.5s`.
pub fn parse_duration(text: &str) -> Option<i64> {
    let negative = text.starts_with('-');
    let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total: i128 = 0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() && fraction.is_empty() || fraction.contains('.') || whole.len() > 19 {
            return None;
        }
        let (name, unit) = UNITS.iter().find(|(name, _)| after.starts_with(name))?;
        let mut amount = if whole.is_empty() { 0 } else { whole.parse::<i128>().ok()? * unit };
        let mut scale = *unit;
        for digit in fraction.bytes() {
            scale /= 10;
            amount += i128::from(digit - b'0') * scale;
        }
        total = total.checked_add(amount)?;
        rest = &after[name.len()..];
    }
    i64::try_from(if negative { -total } else { total }).ok()
}

/// Prints seconds, as CEL's `string(duration)` does.
pub fn format_duration(nanos: i64) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    let (seconds, rest) = (nanos.unsigned_abs() / 1_000_000_000, nanos.unsigned_abs() % 1_000_000_000);
    if rest == 0 {
        return format!("{sign}{seconds}s");
    }
    let fraction = format!("{rest:09}");
    format!("{sign}{seconds}.{}s", fraction.trim_end_matches('0'))
}
