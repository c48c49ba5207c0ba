//! Dropping what the schema does not know.
//!
//! Mirrors apiextensions `pkg/apiserver/schema/pruning/algorithm.go`: scalars are never touched, so that a value of
//! the wrong type lives on to be refused by validation; `x-kubernetes-preserve-unknown-fields` keeps a node's unknown
//! members but is not inherited by its declared ones.

use super::field::FieldPath;
use super::structural::{Additional, Structural};
use serde_json::Value;

/// Most dropped fields that are named; the rest is dropped in silence, so that an answer stays smaller than its cause.
const NAMED_MAX: usize = 1000;
/// The fields that every resource has, whatever its schema says.
const RESOURCE_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Prunes a whole resource and answers with the paths of what fell away, sorted.
pub fn prune(schema: &Structural, value: &mut Value) -> Vec<String> {
    prune_at(schema, value, true)
}

/// Prunes a value below the root; only what declares itself an embedded resource keeps the fields of one.
pub fn prune_at(schema: &Structural, value: &mut Value, resource: bool) -> Vec<String> {
    let mut pruner = Pruner { unknown: Vec::new() };
    pruner.node(Some(schema), value, resource, &FieldPath::Root);
    pruner.unknown.sort();
    pruner.unknown
}

struct Pruner {
    unknown: Vec<String>,
}

impl Pruner {
    fn node(&mut self, schema: Option<&Structural>, value: &mut Value, resource: bool, path: &FieldPath) {
        if let Some(schema) = schema.filter(|s| s.preserve_unknown) {
            self.preserved(schema, value, resource, path);
            return;
        }
        match value {
            Value::Object(map) => map.retain(|name, child| {
                let at = path.child(name);
                let Some(schema) = schema else { return self.unknown(&at) };
                if (resource || schema.embedded_resource) && RESOURCE_FIELDS.contains(&name.as_str()) {
                    return true;
                }
                match (schema.properties.get(name), &schema.additional) {
                    (Some(property), _) => self.node(Some(property), child, false, &at),
                    (None, Some(Additional::Schema(values))) => self.node(Some(values), child, false, &at),
                    (None, Some(Additional::Allowed(_))) => self.node(None, child, false, &at),
                    (None, None) => return self.unknown(&at),
                }
                true
            }),
            Value::Array(list) => {
                let items = schema.and_then(|s| s.items.as_deref());
                for (i, item) in list.iter_mut().enumerate() {
                    self.node(items, item, false, &path.index(i));
                }
            }
            _ => {}
        }
    }

    /// A node whose unknown members stay; its declared ones are pruned by their own schemas.
    fn preserved(&mut self, schema: &Structural, value: &mut Value, resource: bool, path: &FieldPath) {
        match value {
            Value::Object(map) => {
                for (name, child) in map {
                    let kept = (resource || schema.embedded_resource) && RESOURCE_FIELDS.contains(&name.as_str());
                    let at = path.child(name);
                    match (schema.properties.get(name), &schema.additional) {
                        _ if kept => {}
                        (Some(property), _) => self.node(Some(property), child, false, &at),
                        (None, Some(Additional::Schema(values))) => self.node(Some(values), child, false, &at),
                        (None, Some(Additional::Allowed(_))) => self.node(None, child, false, &at),
                        (None, None) => {}
                    }
                }
            }
            Value::Array(list) => {
                let Some(items) = &schema.items else { return };
                for (i, item) in list.iter_mut().enumerate() {
                    self.preserved(items, item, false, &path.index(i));
                }
            }
            _ => {}
        }
    }

    /// Notes an unknown field; answers that it is not kept.
    fn unknown(&mut self, at: &FieldPath) -> bool {
        if self.unknown.len() < NAMED_MAX {
            self.unknown.push(at.to_string());
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pruned(schema: Value, mut value: Value) -> (Value, Vec<String>) {
        let unknown = prune_at(&Structural::parse(&schema).unwrap(), &mut value, false);
        (value, unknown)
    }

    #[test]
    fn unknown_fields_fall_away_in_list_items_too_and_are_named() {
        let schema = json!({"type": "object", "properties": {"array": {"type": "array", "items": {"type": "object",
            "properties": {"a": {"type": "integer"}, "c": {"type": "integer"}}}}}});
        let body = json!({"array": [{"a": 1}, {"b": 1}, {"a": 1, "b": 2, "c": 3}], "unspecified": {"a": 1}});
        let (value, unknown) = pruned(schema, body);
        assert_eq!(value, json!({"array": [{"a": 1}, {}, {"a": 1, "c": 3}]}));
        assert_eq!(unknown, ["array[1].b", "array[2].b", "unspecified"]);
    }

    #[test]
    fn a_map_keeps_its_keys_and_an_object_where_a_scalar_belongs_is_emptied() {
        let schema = json!({"type": "object", "additionalProperties": {"type": "integer"}});
        let (value, unknown) = pruned(schema, json!({"a": 1, "c": {"a": 1}}));
        assert_eq!(value, json!({"a": 1, "c": {}}));
        assert_eq!(unknown, ["c.a"]);
    }

    #[test]
    fn preserving_is_not_inherited_by_declared_fields() {
        let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true,
            "properties": {"p": {"type": "object", "properties": {"k": {"type": "string"}}}}});
        let (value, unknown) = pruned(schema, json!({"free": {"x": 1}, "p": {"k": "v", "z": 1}}));
        assert_eq!(value, json!({"free": {"x": 1}, "p": {"k": "v"}}));
        assert_eq!(unknown, ["p.z"]);
    }

    #[test]
    fn a_resource_keeps_its_type_and_metadata() {
        let schema = Structural::parse(&json!({"type": "object"})).unwrap();
        let mut value = json!({"apiVersion": "v1", "kind": "A", "metadata": {"name": "x"}, "spec": {}});
        assert_eq!(prune(&schema, &mut value), ["spec"]);
        assert_eq!(value["metadata"]["name"], "x");
    }
}
