//! Dropping nulls where null is not a value and no default stands ready to take its place.
//!
//! Mirrors apiextensions `pkg/apiserver/schema/defaulting/prunenulls.go`: only members of objects are dropped; a null
//! in a list would shift the others, so it stays for validation to refuse.

use super::structural::Structural;
use serde_json::Value;

pub fn drop_nulls(schema: &Structural, value: &mut Value) {
    match value {
        Value::Object(map) => map.retain(|name, child| {
            let Some(schema) = schema.member(name) else { return true };
            if child.is_null() {
                return schema.nullable || schema.default.is_some();
            }
            drop_nulls(schema, child);
            true
        }),
        Value::Array(list) => {
            let Some(items) = &schema.items else { return };
            for item in list {
                drop_nulls(items, item);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_a_null_without_nullable_and_without_default_is_dropped() {
        let schema = json!({"type": "array", "items": {"type": "object", "properties": {
            "a": {"type": "string", "default": "x"}, "b": {"type": "string", "nullable": true},
            "c": {"type": "string", "nullable": true, "default": "x"}, "d": {"type": "string"}}}});
        let schema = Structural::parse(&schema).unwrap();
        let mut value = json!([{"a": null}, {"b": null}, {"c": null}, {"d": null}, {"e": null}, null]);
        drop_nulls(&schema, &mut value);
        assert_eq!(value, json!([{"a": null}, {"b": null}, {"c": null}, {}, {"e": null}, null]));
    }
}
