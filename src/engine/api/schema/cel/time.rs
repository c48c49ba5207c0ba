//! Timestamps: reading, printing and the fields of the calendar.

use super::functions::Fun;
use super::value::{Outcome, Value, fail, no_overload};

const SECOND: i128 = 1_000_000_000;
const DAY_S: i64 = 86_400;
/// The years 1 to 9999, in seconds; what lies outside is an error.
const EARLIEST_S: i128 = -62_135_596_800;
const LATEST_S: i128 = 253_402_300_799;

/// Days since 1970 of a civil date (Howard Hinnant's algorithm).
fn days(year: i64, month: i64, day: i64) -> i64 {
    let y = if month <= 2 { year - 1 } else { year };
    let era = y.div_euclid(400);
    let yoe = y - era * 400;
    let doy = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    era * 146_097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719_468
}

/// Year, month and day of a count of days since 1970.
fn civil(days: i64) -> (i64, i64, i64) {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z - era * 146_097;
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    (yoe + era * 400 + i64::from(month <= 2), month, doy - (153 * mp + 2) / 5 + 1)
}

fn month_days(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn number(text: &str, from: usize, len: usize) -> Option<i64> {
    let part = text.get(from..from + len)?;
    if part.bytes().all(|b| b.is_ascii_digit()) { part.parse().ok() } else { None }
}

/// Days since 1970 of `YYYY-MM-DD` at the start of `text`.
fn parse_days(text: &str) -> Option<i64> {
    let (year, month, day) = (number(text, 0, 4)?, number(text, 5, 2)?, number(text, 8, 2)?);
    let bytes = text.as_bytes();
    let fits = bytes[4] == b'-' && bytes[7] == b'-' && (1..=12).contains(&month);
    (fits && (1..=month_days(year, month)).contains(&day)).then(|| days(year, month, day))
}

/// Reads a full date without a time.
pub fn parse_date(text: &str) -> Option<i128> {
    if text.len() != 10 {
        return None;
    }
    in_range(i128::from(parse_days(text)?) * i128::from(DAY_S) * SECOND)
}

/// Reads RFC 3339.
pub fn parse_timestamp(text: &str) -> Option<i128> {
    let days = parse_days(text)?;
    let (hour, minute, second) = (number(text, 11, 2)?, number(text, 14, 2)?, number(text, 17, 2)?);
    let bytes = text.as_bytes();
    if !matches!(bytes[10], b'T' | b't') || bytes[13] != b':' || bytes[16] != b':' {
        return None;
    }
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let mut rest = text.get(19..)?;
    let mut nanos = 0;
    if let Some(fraction) = rest.strip_prefix('.') {
        let end = fraction.find(|c: char| !c.is_ascii_digit()).unwrap_or(fraction.len());
        if end == 0 {
            return None;
        }
        let kept = &fraction[..end.min(9)];
        nanos = kept.parse::<i128>().ok()? * 10_i128.pow(9 - kept.len() as u32);
        rest = &fraction[end..];
    }
    let offset = match rest {
        "Z" | "z" => 0,
        zone => parse_offset(zone)?,
    };
    let seconds = days * DAY_S + hour * 3600 + minute * 60 + second - offset;
    in_range(i128::from(seconds) * SECOND + nanos)
}

/// `+02:00` in seconds; the sign may be left out where a zone is an argument.
fn parse_offset(zone: &str) -> Option<i64> {
    let negative = zone.starts_with('-');
    let digits = zone.strip_prefix(['-', '+']).unwrap_or(zone);
    if digits.len() != 5 || digits.as_bytes()[2] != b':' {
        return None;
    }
    let (hours, minutes) = (number(digits, 0, 2)?, number(digits, 3, 2)?);
    let seconds = hours * 3600 + minutes * 60;
    (hours < 24 && minutes < 60).then_some(if negative { -seconds } else { seconds })
}

fn in_range(nanos: i128) -> Option<i128> {
    (EARLIEST_S..=LATEST_S).contains(&nanos.div_euclid(SECOND)).then_some(nanos)
}

pub fn checked(nanos: Option<i128>) -> Outcome {
    match nanos.and_then(in_range) {
        Some(nanos) => Ok(Value::Timestamp(nanos)),
        None => fail("timestamp overflow"),
    }
}

pub fn format_timestamp(nanos: i128) -> String {
    let seconds = nanos.div_euclid(SECOND) as i64;
    let (year, month, day) = civil(seconds.div_euclid(DAY_S));
    let of_day = seconds.rem_euclid(DAY_S);
    let mut text = format!("{year:04}-{month:02}-{day:02}T");
    text.push_str(&format!("{:02}:{:02}:{:02}", of_day / 3600, of_day / 60 % 60, of_day % 60));
    let fraction = nanos.rem_euclid(SECOND);
    if fraction > 0 {
        let digits = format!("{fraction:09}");
        text.push('.');
        text.push_str(digits.trim_end_matches('0'));
    }
    text.push('Z');
    text
}

/// The accessors of timestamps and durations.
pub fn accessor(fun: Fun, args: &[Value]) -> Outcome {
    let (nanos, offset) = match args {
        [Value::Duration(d)] => return duration_field(fun, *d),
        [Value::Timestamp(t)] => (*t, 0),
        [Value::Timestamp(t), Value::Str(zone)] => match &**zone {
            "UTC" | "" => (*t, 0),
            zone => match parse_offset(zone) {
                Some(offset) => (*t, offset),
                None => return fail(format!("unknown time zone {zone}")),
            },
        },
        _ => return no_overload(),
    };
    let seconds = nanos.div_euclid(SECOND) as i64 + offset;
    let day_number = seconds.div_euclid(DAY_S);
    let (year, month, day) = civil(day_number);
    let of_day = seconds.rem_euclid(DAY_S);
    Ok(Value::Int(match fun {
        Fun::FullYear => year,
        Fun::Month => month - 1,
        Fun::DayOfYear => day_number - days(year, 1, 1),
        Fun::DayOfMonth => day - 1,
        Fun::Date => day,
        // 1970 began on a Thursday.
        Fun::DayOfWeek => (day_number + 4).rem_euclid(7),
        Fun::Hours => of_day / 3600,
        Fun::Minutes => of_day / 60 % 60,
        Fun::Seconds => of_day % 60,
        _ => (nanos.rem_euclid(SECOND) / 1_000_000) as i64,
    }))
}

fn duration_field(fun: Fun, nanos: i64) -> Outcome {
    Ok(Value::Int(match fun {
        Fun::Hours => nanos / 3_600_000_000_000,
        Fun::Minutes => nanos / 60_000_000_000,
        Fun::Seconds => nanos / 1_000_000_000,
        Fun::Milliseconds => nanos / 1_000_000,
        _ => return no_overload(),
    }))
}

/// `timestamp + duration` and its kin, in checked arithmetic.
pub fn arithmetic(fun: Fun, a: &Value, b: &Value) -> Outcome {
    let duration = |d: Option<i64>| match d {
        Some(d) => Ok(Value::Duration(d)),
        None => fail("duration overflow"),
    };
    match (fun, a, b) {
        (Fun::Add, Value::Duration(a), Value::Duration(b)) => duration(a.checked_add(*b)),
        (Fun::Sub, Value::Duration(a), Value::Duration(b)) => duration(a.checked_sub(*b)),
        (Fun::Add, Value::Timestamp(t), Value::Duration(d)) | (Fun::Add, Value::Duration(d), Value::Timestamp(t)) => {
            checked(Some(t + i128::from(*d)))
        }
        (Fun::Sub, Value::Timestamp(t), Value::Duration(d)) => checked(Some(t - i128::from(*d))),
        (Fun::Sub, Value::Timestamp(a), Value::Timestamp(b)) => duration(i64::try_from(a - b).ok()),
        _ => no_overload(),
    }
}
