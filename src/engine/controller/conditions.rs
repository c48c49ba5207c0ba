//! Lists of conditions: apimachinery `pkg/api/meta/conditions.go`.
//!
//! Divergence from Kubernetes: none known; times are texts, so the caller says what `now` reads like.

use serde_json::{Map, Value, json};

/// A condition to set. Empty texts are allowed; a time that is absent is filled in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    pub kind: String,
    pub status: String,
    pub reason: String,
    pub message: String,
    /// 0: not given.
    pub observed_generation: i64,
    pub last_transition_time: Option<String>,
}

impl Condition {
    #[must_use]
    pub fn new(kind: &str, status: &str, reason: &str, message: impl Into<String>) -> Self {
        Condition {
            kind: kind.to_string(),
            status: status.to_string(),
            reason: reason.to_string(),
            message: message.into(),
            ..Condition::default()
        }
    }

    #[must_use]
    pub fn observed(self, generation: i64) -> Self {
        Condition { observed_generation: generation, ..self }
    }
}

/// Sets a condition in place, or appends it; answers whether the list changed. Only a change of the status moves the
/// time of transition.
pub fn set_condition(list: &mut Vec<Value>, condition: &Condition, now: &str) -> bool {
    let time = condition.last_transition_time.as_deref().unwrap_or(now);
    let Some(existing) = list.iter_mut().find(|c| text(c, "type") == condition.kind).and_then(Value::as_object_mut)
    else {
        list.push(render(condition, time));
        return true;
    };
    let mut changed = false;
    if put(existing, "status", &condition.status) {
        existing.insert("lastTransitionTime".to_string(), json!(time));
        changed = true;
    }
    changed |= put(existing, "reason", &condition.reason);
    changed |= put(existing, "message", &condition.message);
    changed | put_generation(existing, condition.observed_generation)
}

/// Removes the conditions of a type; answers whether the list changed.
pub fn remove_condition(list: &mut Vec<Value>, kind: &str) -> bool {
    let before = list.len();
    list.retain(|c| text(c, "type") != kind);
    list.len() != before
}

#[must_use]
pub fn find_condition<'a>(list: &'a [Value], kind: &str) -> Option<&'a Value> {
    list.iter().find(|c| text(c, "type") == kind)
}

/// Is the condition there with this status? An absent one has none.
#[must_use]
pub fn condition_is(list: &[Value], kind: &str, status: &str) -> bool {
    find_condition(list, kind).is_some_and(|c| text(c, "status") == status)
}

fn render(condition: &Condition, time: &str) -> Value {
    let mut rendered = json!({"type": condition.kind, "status": condition.status, "lastTransitionTime": time,
        "reason": condition.reason, "message": condition.message});
    if condition.observed_generation != 0 {
        rendered["observedGeneration"] = json!(condition.observed_generation);
    }
    rendered
}

fn put(map: &mut Map<String, Value>, field: &str, value: &str) -> bool {
    // An absent text is an empty one.
    if map.get(field).and_then(Value::as_str).unwrap_or("") == value {
        return false;
    }
    map.insert(field.to_string(), json!(value));
    true
}

fn put_generation(map: &mut Map<String, Value>, generation: i64) -> bool {
    let before = map.get("observedGeneration").and_then(Value::as_i64).unwrap_or(0);
    if before == generation {
        return false;
    }
    if generation == 0 {
        map.remove("observedGeneration");
    } else {
        map.insert("observedGeneration".to_string(), json!(generation));
    }
    true
}

fn text<'a>(condition: &'a Value, field: &str) -> &'a str {
    condition.get(field).and_then(Value::as_str).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ready(status: &str, reason: &str) -> Condition {
        Condition::new("Ready", status, reason, "")
    }

    #[test]
    fn a_new_reason_does_not_move_the_time() {
        let mut list = Vec::new();
        assert!(set_condition(&mut list, &ready("True", "A"), "t0"));
        assert!(set_condition(&mut list, &ready("True", "B"), "t1"));
        assert_eq!((text(&list[0], "reason"), text(&list[0], "lastTransitionTime")), ("B", "t0"));
        assert!(!set_condition(&mut list, &ready("True", "B"), "t2"));
    }

    #[test]
    fn a_flip_moves_the_time_to_the_given_one_or_to_now() {
        let mut list = Vec::new();
        set_condition(&mut list, &ready("True", "A"), "t0");
        set_condition(&mut list, &ready("False", "A"), "t2");
        assert_eq!(text(&list[0], "lastTransitionTime"), "t2");
        let given = Condition { last_transition_time: Some("t9".into()), ..ready("True", "A") };
        set_condition(&mut list, &given, "t3");
        assert_eq!(text(&list[0], "lastTransitionTime"), "t9");
    }

    #[test]
    fn absent_is_neither_true_nor_false() {
        assert!(!condition_is(&[], "Ready", "True") && !condition_is(&[], "Ready", "False"));
    }
}
