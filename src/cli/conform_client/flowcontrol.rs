//! Kind `flowcontrol`.

use super::read::{at, list, micros, ms_at, number, span, text};
use engine::client::flowcontrol::FlowControl;
use engine::workqueue::bucket::Rate;
use serde_json::{Value, json};

pub fn play(input: &Value) -> Result<Value, String> {
    let burst = |spec: &Value| u32::try_from(number(spec, "burst")).unwrap_or(0);
    let config = input.get("rest_config");
    let mut control = match config {
        Some(config) => FlowControl::from_config(nano_qps(config), burst(config)),
        None => FlowControl::limited(Rate::nano(u64::try_from(nano_qps(input)).unwrap_or(0)), burst(input)),
    };
    let mut outcome = json!({});
    if config.is_some() {
        outcome["limited"] = json!(control.rate().is_some());
        if let Some(rate) = control.rate() {
            outcome["qps"] = json!(rate.micro_qps() as f64 / 1_000_000.0);
        }
    }
    let requests = list(input, "requests");
    let mut order: Vec<usize> = (0..requests.len()).collect();
    order.sort_by_key(|&i| requests[i].get("at_ms").map_or(0, micros));
    let mut grants = vec![Value::Null; requests.len()];
    for i in order {
        let request = &requests[i];
        let now = at(request.get("at_ms").map_or(0, micros));
        grants[i] = match text(request, "call") {
            "" | "wait" => ms_at(control.wait(now)),
            "try" if control.try_accept(now) => ms_at(now),
            "try" => json!("REFUSED"),
            "wait_timeout" => match control.wait_timeout(now, span(request, "timeout_ms")) {
                Some(granted) => ms_at(granted),
                None => json!(["GAVE_UP", ms_at(now)]),
            },
            other => return Err(format!("unknown call {other:?}")),
        };
    }
    outcome["grants"] = json!(grants);
    Ok(outcome)
}

/// Client settings hold the rate as a `float32`, which shows in long waits.
fn nano_qps(spec: &Value) -> i64 {
    let qps = spec.get("qps").and_then(Value::as_f64).unwrap_or(0.0) as f32;
    (f64::from(qps) * 1_000_000_000.0).round() as i64
}
