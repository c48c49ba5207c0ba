//! Dotted paths of cases: `a.b[0].c`, `status.conditions[Ready]`, `metadata.labels[a.b/c]`.

use serde_json::Value;

/// The steps of a path; what stands in brackets is one step, dots and all.
fn steps(path: &str) -> Vec<(String, bool)> {
    let (mut steps, mut step, mut bracket) = (Vec::new(), String::new(), false);
    for c in path.chars() {
        match (c, bracket) {
            ('.', false) | ('[', false) => {
                if !step.is_empty() {
                    steps.push((std::mem::take(&mut step), false));
                }
                bracket = c == '[';
            }
            (']', true) => {
                steps.push((std::mem::take(&mut step), true));
                bracket = false;
            }
            _ => step.push(c),
        }
    }
    if !step.is_empty() {
        steps.push((step, bracket));
    }
    steps
}

/// The value at a path; null where there is none.
pub fn get(value: &Value, path: &str) -> Value {
    let mut at = value;
    for (step, bracket) in steps(path) {
        let next = match at {
            Value::Array(list) if bracket => match step.parse::<usize>() {
                Ok(index) => list.get(index),
                Err(_) => list.iter().find(|v| ["type", "name"].iter().any(|f| v[*f].as_str() == Some(&step))),
            },
            _ => at.get(&step),
        };
        match next {
            Some(next) => at = next,
            None => return Value::Null,
        }
    }
    at.clone()
}

/// The value an `await` compares: a condition stands for its status.
pub fn awaited(value: &Value, path: &str) -> Value {
    let found = get(value, path);
    let condition = path.ends_with(']') && path.contains("conditions[");
    if condition { found.get("status").cloned().unwrap_or(Value::Null) } else { found }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn brackets_pick_by_index_type_name_or_key() {
        let v = json!({"a": [{"type": "X", "status": "True"}, {"name": "n/s", "k": 1}], "l": {"a.b/c": "v"}});
        assert_eq!(get(&v, "a[0].status"), json!("True"));
        assert_eq!(get(&v, "a[n/s].k"), json!(1));
        assert_eq!(get(&v, "l[a.b/c]"), json!("v"));
        assert_eq!(get(&v, "a[9].x"), Value::Null);
    }
}
