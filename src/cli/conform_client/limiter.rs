//! Kind `ratelimiter`.

use super::read::{self, Op, START, later, list, micros, ms_of, number, span, text};
use engine::time::Span;
use engine::workqueue::bucket::Rate;
use engine::workqueue::rate_limiter::Limiter;
use serde_json::{Value, json};

pub fn play(input: &Value) -> Result<Value, String> {
    let mut limiter = limiter(input.get("limiter").unwrap_or(&Value::Null), 0)?;
    let mut now = START;
    let mut results = Vec::new();
    for op in list(input, "ops").iter().map(Op::of) {
        let key = op.text(1).to_string();
        results.push(match op.word() {
            "when" => ms_of(limiter.when(now, &key)),
            "when_times" => (0..op.int(2)).map(|_| ms_of(limiter.when(now, &key))).collect(),
            "when_each" => (1..=op.int(2)).map(|n| ms_of(limiter.when(now, &format!("{key}{n}")))).collect(),
            "num_requeues" => json!(limiter.num_requeues(&key)),
            "forget" => {
                limiter.forget(&key);
                Value::Null
            }
            "advance_ms" => {
                now = later(now, op.micros(1));
                Value::Null
            }
            _ => return Err(op.unknown()),
        });
    }
    Ok(json!({"results": results}))
}

/// Deeper nesting than any real set-up is refused.
const DEPTH_MAX: usize = 16;

fn limiter(spec: &Value, depth: usize) -> Result<Limiter<String>, String> {
    if depth > DEPTH_MAX {
        return Err("limiters nested too deeply".to_string());
    }
    let members =
        || list(spec, "limiters").iter().map(|inner| limiter(inner, depth + 1)).collect::<Result<Vec<_>, _>>();
    Ok(match text(spec, "type") {
        "exponential" => Limiter::exponential(span(spec, "base_ms"), span(spec, "max_ms")),
        "bucket" => bucket(spec),
        "fast_slow" => {
            Limiter::fast_slow(span(spec, "fast_ms"), span(spec, "slow_ms"), number(spec, "max_fast").max(0) as u32)
        }
        "max_of" => Limiter::MaxOf(members()?),
        "max_wait" => {
            let inner = members()?.into_iter().next().ok_or("max_wait without a limiter")?;
            Limiter::MaxWait { max: span(spec, "max_ms"), inner: Box::new(inner) }
        }
        "default_controller" => Limiter::default_controller(),
        other => return Err(format!("unknown limiter {other:?}")),
    })
}

/// The limiter of a queue: a series for each key, and perhaps a bucket over all. Absent: the default of reconcile cases.
pub fn of_queue(input: &Value) -> Limiter<String> {
    let spec = input.get("limiter").unwrap_or(&Value::Null);
    let given =
        |field: &str, default: Span| spec.get(field).map_or(default, |ms| Span(u64::try_from(micros(ms)).unwrap_or(0)));
    let series = Limiter::exponential(given("base_ms", Span::millis(5)), given("max_ms", Span::secs(1_000)));
    match spec.get("bucket").filter(|bucket| bucket.is_object()) {
        None => series,
        Some(spec) => Limiter::MaxOf(vec![series, bucket(spec)]),
    }
}

fn bucket(spec: &Value) -> Limiter<String> {
    let rate = Rate::micro(u64::try_from(read::micro_qps(spec, "qps")).unwrap_or(0));
    Limiter::bucket(rate, u32::try_from(number(spec, "burst")).unwrap_or(0))
}
