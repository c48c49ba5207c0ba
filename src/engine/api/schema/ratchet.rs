//! Which old value a new value is compared with, and whether the two are the same.
//!
//! An update is forgiven what it leaves alone: a fault at a node whose old counterpart is equal stays silent.
//! Counterparts are found by key in objects and by key tuple in map lists; items of other lists have none.
//!
//! Mirrors apiserver `pkg/cel/common/equality.go`: a member that the schema does not know has no counterpart, so
//! a node holding one is never unchanged. The root holds `metadata`, hence the root is never unchanged.

use super::structural::{ListType, Structural};
use serde_json::Value;
use std::collections::BTreeMap;

/// An old value with the schema that says how its parts are told apart.
#[derive(Clone, Copy, Debug)]
pub struct Old<'a> {
    pub value: &'a Value,
    pub schema: &'a Structural,
}

impl<'a> Old<'a> {
    #[must_use]
    pub fn new(value: &'a Value, schema: &'a Structural) -> Self {
        Old { value, schema }
    }

    /// The counterpart of the member `key`.
    #[must_use]
    pub fn member(&self, key: &str) -> Option<Old<'a>> {
        let schema = self.schema.member(key)?;
        Some(Old { value: self.value.get(key)?, schema })
    }

    /// The counterparts of the items of a new list. Only a map list has any.
    #[must_use]
    pub fn items(&self) -> OldItems<'a> {
        let list = self.value.as_array();
        match (&self.schema.list_type, &self.schema.items, list) {
            (ListType::Map(keys), Some(schema), Some(list)) => {
                let mut by_key = BTreeMap::new();
                for item in list {
                    if let Some(tuple) = key_tuple(item, keys) {
                        by_key.entry(tuple).or_insert(item);
                    }
                }
                OldItems::Keyed { keys, schema, by_key }
            }
            _ => OldItems::None,
        }
    }

    /// Whether `new` is what this old value is.
    #[must_use]
    pub fn unchanged(&self, new: &Value) -> bool {
        match (self.value, new) {
            (Value::Array(old), Value::Array(list)) => {
                if old.len() != list.len() {
                    return false;
                }
                match self.items() {
                    OldItems::None => old == list,
                    items => list.iter().all(|item| items.of(item).is_some_and(|o| o.unchanged(item))),
                }
            }
            (Value::Object(old), Value::Object(map)) => {
                old.len() == map.len()
                    && map.iter().all(|(key, value)| self.member(key).is_some_and(|o| o.unchanged(value)))
            }
            (old, new) => old == new,
        }
    }
}

/// The items of an old list, found by their keys.
#[derive(Debug)]
pub enum OldItems<'a> {
    None,
    Keyed { keys: &'a [String], schema: &'a Structural, by_key: BTreeMap<String, &'a Value> },
}

impl<'a> OldItems<'a> {
    /// The counterpart of a new item.
    #[must_use]
    pub fn of(&self, item: &Value) -> Option<Old<'a>> {
        match self {
            OldItems::None => None,
            OldItems::Keyed { keys, schema, by_key } => {
                let value = by_key.get(&key_tuple(item, keys)?)?;
                Some(Old { value, schema })
            }
        }
    }
}

/// The keys of an item as one text; a missing key is not the same as any value.
fn key_tuple(item: &Value, keys: &[String]) -> Option<String> {
    let map = item.as_object()?;
    let mut tuple = String::new();
    for key in keys {
        match map.get(key) {
            Some(value) => tuple.push_str(&value.to_string()),
            None => tuple.push('-'),
        }
        tuple.push(',');
    }
    Some(tuple)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_reordered_map_list_is_unchanged_and_a_reordered_atomic_list_is_not() {
        let schema = |list_type: &str| {
            Structural::parse(&json!({"type": "array", "x-kubernetes-list-type": list_type,
                "x-kubernetes-list-map-keys": ["k"],
                "items": {"type": "object", "properties": {"k": {"type": "string"}}}}))
            .unwrap()
        };
        let (old, new) = (json!([{"k": "a"}, {"k": "b"}]), json!([{"k": "b"}, {"k": "a"}]));
        assert!(Old::new(&old, &schema("map")).unchanged(&new));
        assert!(!Old::new(&old, &schema("atomic")).unchanged(&new));
    }

    #[test]
    fn an_object_with_a_member_the_schema_does_not_know_is_never_unchanged() {
        let schema = Structural::parse(&json!({"type": "object", "properties": {"spec": {"type": "object"}}})).unwrap();
        let object = json!({"metadata": {}, "spec": {}});
        let old = Old::new(&object, &schema);
        assert!(!old.unchanged(&object) && old.member("spec").unwrap().unchanged(&object["spec"]));
    }
}
