//! Small readers of case files, and the virtual clock of a case.

use engine::time::{SimTime, Span};
use serde_json::{Value, json};

/// Cases count from a start that lies well after the beginning of virtual time, because some speak of times before it.
pub const START: SimTime = SimTime(1_000_000_000_000);

pub fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or("")
}

pub fn number(value: &Value, field: &str) -> i64 {
    value.get(field).and_then(Value::as_i64).unwrap_or(0)
}

pub fn flag(value: &Value, field: &str) -> bool {
    value.get(field) == Some(&Value::Bool(true))
}

pub fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The words of one op.
pub struct Op<'a>(pub &'a [Value]);

impl<'a> Op<'a> {
    pub fn of(value: &'a Value) -> Self {
        Op(value.as_array().map_or(&[], Vec::as_slice))
    }
    pub fn word(&self) -> &'a str {
        self.text(0)
    }
    pub fn text(&self, at: usize) -> &'a str {
        self.0.get(at).and_then(Value::as_str).unwrap_or("")
    }
    pub fn int(&self, at: usize) -> i64 {
        self.0.get(at).and_then(Value::as_i64).unwrap_or(0)
    }
    pub fn value(&self, at: usize) -> &'a Value {
        self.0.get(at).unwrap_or(&Value::Null)
    }
    /// Milliseconds at a place, in microseconds.
    pub fn micros(&self, at: usize) -> i64 {
        micros(self.value(at))
    }
    pub fn unknown(&self) -> String {
        format!("unknown op {:?}", self.word())
    }
}

/// A number of milliseconds, perhaps with a fraction, in microseconds.
pub fn micros(ms: &Value) -> i64 {
    ms.as_i64().map_or_else(|| (ms.as_f64().unwrap_or(0.0) * 1_000.0).round() as i64, |ms| ms.saturating_mul(1_000))
}

/// A field in milliseconds as a span; negative ones are zero.
pub fn span(value: &Value, field: &str) -> Span {
    Span(u64::try_from(value.get(field).map_or(0, micros)).unwrap_or(0))
}

/// Microseconds as the milliseconds of an outcome.
pub fn ms(us: i64) -> Value {
    if us % 1_000 == 0 { json!(us / 1_000) } else { json!(us as f64 / 1_000.0) }
}

pub fn ms_of(span: Span) -> Value {
    ms(i64::try_from(span.0).unwrap_or(i64::MAX))
}

/// A time of the case in milliseconds from its start.
pub fn ms_at(at: SimTime) -> Value {
    ms(i64::try_from(at.0).unwrap_or(i64::MAX) - START.0 as i64)
}

/// The time of the case that lies `us` microseconds after its start.
pub fn at(us: i64) -> SimTime {
    SimTime(START.0.saturating_add_signed(us))
}

/// Moves the clock by a number of milliseconds.
pub fn later(now: SimTime, us: i64) -> SimTime {
    now + Span(u64::try_from(us).unwrap_or(0))
}

/// A rate in requests a second, in millionths.
pub fn micro_qps(value: &Value, field: &str) -> i64 {
    let qps = value.get(field).and_then(Value::as_f64).unwrap_or(0.0);
    (qps * 1_000_000.0).round() as i64
}
