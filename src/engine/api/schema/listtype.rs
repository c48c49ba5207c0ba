//! Duplicates in sets and map lists.
//!
//! Mirrors apiextensions `pkg/apiserver/schema/listtype/validation.go`: a duplicate is told once for each repeated
//! value, at its second occurrence; a missing key is equal to a missing key.

use super::field::{FieldError, FieldPath};
use super::number::settle;
use super::structural::{ListType, Structural};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The faults of all sets and map lists below `value`, which stands at `path`.
#[must_use]
pub fn duplicates(schema: &Structural, value: &Value, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    node(schema, value, path, &mut errors);
    errors
}

fn node(schema: &Structural, value: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) {
    if !schema.shapes_below {
        return;
    }
    match value {
        Value::Object(map) => {
            for (name, child) in map {
                if let Some(property) = schema.properties.get(name) {
                    node(property, child, &path.child(name), errors);
                } else if let Some(values) = schema.additional_schema() {
                    node(values, child, &path.key(name), errors);
                }
            }
        }
        Value::Array(list) => {
            match &schema.list_type {
                ListType::Atomic => {}
                ListType::Set => repeated(list.iter().map(|item| Some(item.clone())), path, errors),
                ListType::Map(keys) => map_list(list, keys, path, errors),
            }
            let Some(items) = &schema.items else { return };
            for (i, item) in list.iter().enumerate() {
                node(items, item, &path.index(i), errors);
            }
        }
        _ => {}
    }
}

fn map_list(list: &[Value], keys: &[String], path: &FieldPath, errors: &mut Vec<FieldError>) {
    if let Some((i, item)) = list.iter().enumerate().find(|(_, item)| !item.is_object() && !item.is_null()) {
        let detail = "must be an object for an array of list-type map";
        errors.push(FieldError::invalid(path.index(i).to_string(), item, detail));
        return;
    }
    // A null is an item without keys.
    let tuple = |item: &Value| -> Map<String, Value> {
        keys.iter().filter_map(|key| Some((key.clone(), item.get(key)?.clone()))).collect()
    };
    match keys {
        [key] => repeated(list.iter().map(|item| tuple(item).remove(key)), path, errors),
        _ => repeated(list.iter().map(|item| Some(Value::Object(tuple(item)))), path, errors),
    }
}

/// Tells every value that comes again; a missing one is equal to a missing one. Numbers by themselves are compared as
/// they were read, so that 1 and 1.0 differ; inside lists and objects they are compared as they are written, as upstream.
fn repeated(values: impl Iterator<Item = Option<Value>>, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for (i, value) in values.enumerate() {
        let mut text = value.clone();
        if let Some(compound) = text.as_mut().filter(|v| v.is_object() || v.is_array()) {
            settle(compound);
        }
        let times = seen.entry(text.map_or_else(String::new, |v| v.to_string())).or_default();
        *times += 1;
        if *times == 2 {
            errors.push(FieldError::duplicate(
                path.index(i).to_string(),
                &value.unwrap_or_else(|| Value::Object(Map::new())),
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fields(schema: Value, value: Value) -> Vec<String> {
        let schema = Structural::parse(&schema).unwrap();
        let root = FieldPath::Root;
        duplicates(&schema, &value, &root.child("array")).into_iter().map(|e| e.path).collect()
    }

    #[test]
    fn a_repeated_value_of_a_set_is_told_once_at_its_second_place() {
        let schema = || json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}});
        assert_eq!(fields(schema(), json!(["a", "a", "b", "c", "d", "c", "a"])), ["array[1]", "array[5]"]);
        assert!(fields(schema(), json!([1, 1.0])).is_empty());
        assert_eq!(fields(schema(), json!([[1], [1.0], null, null])), ["array[1]", "array[3]"]);
    }

    #[test]
    fn a_map_list_compares_its_keys_only_and_a_missing_key_equals_a_missing_key() {
        let schema = || {
            json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k", "p"],
                "items": {"type": "object", "properties": {"k": {"type": "string"}, "p": {"type": "string"}}}})
        };
        assert_eq!(fields(schema(), json!([{"k": "a", "x": 1}, {"k": "a", "p": "q"}, {"k": "a"}])), ["array[2]"]);
        assert_eq!(fields(schema(), json!([{}, {"k": "a"}, null])), ["array[2]"]);
        assert_eq!(fields(schema(), json!([1, 2, {}])), ["array[0]"]);
    }
}
