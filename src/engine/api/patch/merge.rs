//! RFC 7386 merge patch: null deletes, objects merge, everything else replaces.

use crate::api::schema::structural::DEPTH_MAX;
use serde_json::{Map, Value};

/// Merges `patch` into `target`.
pub fn merge(target: &mut Value, patch: &Value) {
    merge_at(target, patch, 0);
}

fn merge_at(target: &mut Value, patch: &Value, depth: usize) {
    let Value::Object(changes) = patch else {
        *target = patch.clone();
        return;
    };
    if depth > DEPTH_MAX {
        return;
    }
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(fields) = target else { return };
    for (name, change) in changes {
        if change.is_null() {
            fields.remove(name);
        } else {
            merge_at(fields.entry(name.as_str()).or_insert(Value::Null), change, depth + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn merged(target: Value, patch: &Value) -> Value {
        let mut target = target;
        merge(&mut target, patch);
        target
    }

    /// The table at the end of RFC 7386.
    #[test]
    fn the_examples_of_the_rfc_hold() {
        let cases = [
            (json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "b"}), json!({"b": "c"}), json!({"a": "b", "b": "c"})),
            (json!({"a": "b"}), json!({"a": null}), json!({})),
            (json!({"a": ["b"]}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": {"b": "c"}}), json!({"a": {"b": "d", "c": null}}), json!({"a": {"b": "d"}})),
            (json!({"a": [{"b": "c"}]}), json!({"a": [1]}), json!({"a": [1]})),
            (json!(["a", "b"]), json!(["c", "d"]), json!(["c", "d"])),
            (json!({"e": null}), json!({"a": 1}), json!({"e": null, "a": 1})),
            (json!([1, 2]), json!({"a": "b", "c": null}), json!({"a": "b"})),
            (json!({}), json!({"a": {"bb": {"ccc": null}}}), json!({"a": {"bb": {}}})),
        ];
        for (target, patch, expected) in cases {
            assert_eq!(merged(target, &patch), expected);
        }
    }
}
