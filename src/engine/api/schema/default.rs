//! Filling in defaults.
//!
//! Mirrors apiextensions `pkg/apiserver/schema/defaulting/algorithm.go`: a default stands in for a missing field, or
//! for a null where null is not a value. It never makes its parent, and a falsy value is a value.
//!
//! Divergence from Kubernetes: after `FILLED_MAX` values nothing more is filled in, because a small list of empty
//! objects under a large default would otherwise grow without bound.

use super::structural::Structural;
use serde_json::Value;

/// Most values that defaults may bring into one object.
const FILLED_MAX: usize = 500_000;

pub fn default(schema: &Structural, value: &mut Value) {
    if schema.defaults_below {
        node(schema, value, &mut { FILLED_MAX });
    }
}

fn node(schema: &Structural, value: &mut Value, budget: &mut usize) {
    match value {
        Value::Object(map) => {
            for (name, property) in schema.properties.iter().filter(|(_, p)| p.default.is_some()) {
                let wanting = map.get(name).is_none_or(|v| v.is_null() && !property.nullable);
                if let Some(filled) = wanting.then(|| fill(property, budget)).flatten() {
                    map.insert(name.clone(), filled);
                }
            }
            for (name, child) in map {
                let declared = schema.properties.get(name);
                let Some(below) = declared.or_else(|| schema.additional_schema()) else { continue };
                if declared.is_none() {
                    replace_null(below, child, budget);
                }
                if below.defaults_below {
                    node(below, child, budget);
                }
            }
        }
        Value::Array(list) => {
            let Some(items) = schema.items.as_ref().filter(|i| i.defaults_below) else { return };
            for item in list {
                replace_null(items, item, budget);
                node(items, item, budget);
            }
        }
        _ => {}
    }
}

fn replace_null(schema: &Structural, value: &mut Value, budget: &mut usize) {
    let wanting = value.is_null() && !schema.nullable;
    if let Some(filled) = wanting.then(|| fill(schema, budget)).flatten() {
        *value = filled;
    }
}

fn fill(schema: &Structural, budget: &mut usize) -> Option<Value> {
    let default = schema.default.as_ref()?;
    *budget = budget.checked_sub(count(default))?;
    Some(default.clone())
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(list) => list.iter().map(count).sum(),
        Value::Object(map) => map.values().map(count).sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn defaulted(schema: Value, mut value: Value) -> Value {
        default(&Structural::parse(&schema).unwrap(), &mut value);
        value
    }

    #[test]
    fn falsy_values_are_values_and_null_is_not() {
        let schema = json!({"type": "array", "items": {"type": "object",
            "properties": {"a": {"type": "string", "default": "A"}}}});
        let body = json!([{}, {"a": 1}, {"a": 0}, {"a": ""}, {"a": null}, {"a": []}, {"a": {}}]);
        let wanted = json!([{"a": "A"}, {"a": 1}, {"a": 0}, {"a": ""}, {"a": "A"}, {"a": []}, {"a": {}}]);
        assert_eq!(defaulted(schema, body), wanted);
    }

    #[test]
    fn a_null_stays_where_null_is_a_value() {
        let schema =
            json!({"type": "object", "properties": {"a": {"type": "string", "nullable": true, "default": "A"}}});
        assert_eq!(defaulted(schema, json!({"a": null})), json!({"a": null}));
    }

    #[test]
    fn a_default_never_makes_its_parent_but_completes_a_defaulted_one() {
        let inner = json!({"type": "object", "properties": {"b": {"type": "integer", "default": 2}}});
        let schema = json!({"type": "object", "properties": {"spec": inner}});
        assert_eq!(defaulted(schema, json!({})), json!({}));
        let inner = json!({"type": "object", "default": {}, "properties": {"b": {"type": "integer", "default": 2}}});
        let schema = json!({"type": "object", "properties": {"spec": inner}});
        assert_eq!(defaulted(schema, json!({})), json!({"spec": {"b": 2}}));
    }

    #[test]
    fn null_items_and_null_map_values_take_the_default_of_their_schema() {
        let schema = json!({"type": "object", "properties": {
            "l": {"type": "array", "items": {"type": "string", "default": "x"}},
            "m": {"type": "object", "additionalProperties": {"type": "string", "default": "d"}}}});
        let body = json!({"l": [null, "y"], "m": {"k": null}});
        assert_eq!(defaulted(schema, body), json!({"l": ["x", "y"], "m": {"k": "d"}}));
    }
}
