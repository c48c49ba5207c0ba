//! Kind `conditions`.

use super::read::{Op, list, number, text};
use engine::controller::conditions::{Condition, condition_is, find_condition, remove_condition, set_condition};
use serde_json::{Value, json};

pub fn play(input: &Value) -> Result<Value, String> {
    let mut conditions: Vec<Value> = list(input, "conditions").iter().map(typed).collect();
    let mut seconds: u64 = 0;
    let mut steps = Vec::new();
    for op in list(input, "ops").iter().map(Op::of) {
        let kind = op.text(1);
        let result = match op.word() {
            "set" => json!(set_condition(&mut conditions, &condition(op.value(1)), &time(seconds))),
            "remove" => json!(remove_condition(&mut conditions, kind)),
            "is_true" => json!(condition_is(&conditions, kind, "True")),
            "is_false" => json!(condition_is(&conditions, kind, "False")),
            "is" => json!(condition_is(&conditions, kind, op.text(2))),
            "find" => find_condition(&conditions, kind).cloned().unwrap_or(Value::Null),
            "advance_s" => {
                seconds += u64::try_from(op.int(1)).unwrap_or(0);
                Value::Null
            }
            _ => return Err(op.unknown()),
        };
        steps.push(json!({"result": result, "conditions": conditions}));
    }
    Ok(json!({"steps": steps}))
}

/// A condition as the real code reads it: texts that are absent are empty.
fn typed(given: &Value) -> Value {
    let mut condition = given.clone();
    for field in ["type", "status", "reason", "message"] {
        if let Some(map) = condition.as_object_mut() {
            map.entry(field).or_insert_with(|| json!(""));
        }
    }
    condition
}

fn condition(spec: &Value) -> Condition {
    let mut condition =
        Condition::new(text(spec, "type"), text(spec, "status"), text(spec, "reason"), text(spec, "message"));
    condition.observed_generation = number(spec, "observedGeneration");
    condition.last_transition_time = spec.get("lastTransitionTime").and_then(Value::as_str).map(str::to_string);
    condition
}

/// Cases begin at 2000-01-01T00:00:00Z.
fn time(seconds: u64) -> String {
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let (mut days, rest) = (seconds / 86_400, seconds % 86_400);
    let mut year = 2000;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let months = [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while days >= months[month] {
        days -= months[month];
        month += 1;
    }
    format!("{year:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", month + 1, days + 1, rest / 3_600, rest / 60 % 60, rest % 60)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_first_of_march_of_a_leap_year_is_day_sixty() {
        assert_eq!(super::time(60 * 86_400 + 61), "2000-03-01T00:01:01Z");
        assert_eq!(super::time(366 * 86_400), "2001-01-01T00:00:00Z");
    }
}
