//! Finds the first difference between a recorded and a played outcome.

use serde_json::Value;

/// None if both mean the same. In an object an absent field, null and an empty list or object are equal.
pub fn first_difference(recorded: &Value, played: &Value) -> Option<String> {
    differ("outcome", recorded, played)
}

fn empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn differ(path: &str, recorded: &Value, played: &Value) -> Option<String> {
    let says = || Some(format!("{path}: recorded {recorded}, played {played}"));
    match (recorded, played) {
        (Value::Object(a), Value::Object(b)) => {
            let mut names: Vec<&String> = a.keys().chain(b.keys()).collect();
            names.sort();
            names.dedup();
            names.into_iter().find_map(|name| {
                let (a, b) = (a.get(name).unwrap_or(&Value::Null), b.get(name).unwrap_or(&Value::Null));
                if empty(a) && empty(b) { None } else { differ(&format!("{path}.{name}"), a, b) }
            })
        }
        (Value::Array(a), Value::Array(b)) => {
            let inner = a.iter().zip(b).enumerate().find_map(|(i, (a, b))| differ(&format!("{path}[{i}]"), a, b));
            inner.or_else(|| if a.len() == b.len() { None } else { says() })
        }
        (Value::Number(a), Value::Number(b)) => {
            let close = a.as_f64().zip(b.as_f64()).is_some_and(|(a, b)| (a - b).abs() < 1e-9);
            if close { None } else { says() }
        }
        (a, b) if a == b => None,
        _ => says(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn absent_null_and_empty_are_equal_in_objects_only() {
        assert_eq!(first_difference(&json!({"a": []}), &json!({"b": null})), None);
        assert!(first_difference(&json!([null]), &json!([[]])).is_some());
        assert!(first_difference(&json!({"a": false}), &json!({})).is_some());
    }
}
