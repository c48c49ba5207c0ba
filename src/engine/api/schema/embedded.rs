//! Resources inside resources: `x-kubernetes-embedded-resource`.
//!
//! Mirrors apiextensions `pkg/apiserver/schema/objectmeta/{coerce,validation}.go`: metadata of an embedded resource is
//! read as typed metadata, apiVersion and kind have to be there, a name need not.

use super::field::{FieldError, FieldPath};
use super::names;
use super::structural::Structural;
use crate::api::kinds::NameRule;
use crate::api::meta;
use serde_json::{Map, Value, json};

/// Reads the metadata of every embedded resource; `unknown` collects the paths of fields that metadata does not have.
///
/// # Errors
/// A sentence about a field of the wrong type.
pub fn coerce_embedded(schema: &Structural, value: &mut Value, unknown: &mut Vec<String>) -> Result<(), String> {
    coerce(schema, value, &FieldPath::Root, unknown)
}

fn coerce(schema: &Structural, value: &mut Value, path: &FieldPath, unknown: &mut Vec<String>) -> Result<(), String> {
    if !schema.shapes_below {
        return Ok(());
    }
    if schema.embedded_resource && value.is_object() {
        coerce_meta(value, path, unknown)?;
    }
    match value {
        Value::Object(map) => {
            for (name, child) in map {
                if schema.embedded_resource && name == "metadata" {
                    continue;
                }
                if let Some(below) = schema.member(name) {
                    coerce(below, child, &path.child(name), unknown)?;
                }
            }
        }
        Value::Array(list) => {
            let Some(items) = &schema.items else { return Ok(()) };
            for (i, item) in list.iter_mut().enumerate() {
                coerce(items, item, &path.index(i), unknown)?;
            }
        }
        _ => {}
    }
    Ok(())
}

fn coerce_meta(value: &mut Value, path: &FieldPath, unknown: &mut Vec<String>) -> Result<(), String> {
    for name in ["apiVersion", "kind"] {
        if value.get(name).is_some_and(|v| !v.is_string()) {
            return Err(format!("{}: Invalid value: must be a string", path.child(name)));
        }
    }
    if value.get("metadata").is_none() {
        return Ok(());
    }
    let mut below = Vec::new();
    meta::decode(value, &mut below).map_err(|why| format!("{}: {why}", path.child("metadata")))?;
    unknown.extend(below.into_iter().map(|field| format!("{path}.{field}")));
    Ok(())
}

/// The faults of every embedded resource below `value`.
#[must_use]
pub fn embedded_faults(schema: &Structural, value: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    check(schema, value, &FieldPath::Root, &mut errors);
    errors
}

fn check(schema: &Structural, value: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) {
    if !schema.shapes_below {
        return;
    }
    match value {
        Value::Object(map) => {
            if schema.embedded_resource {
                resource(map, path, errors);
            }
            for (name, child) in map {
                if schema.embedded_resource && name == "metadata" {
                    continue;
                }
                if let Some(property) = schema.properties.get(name) {
                    check(property, child, &path.child(name), errors);
                } else if let Some(values) = schema.additional_schema() {
                    check(values, child, &path.key(name), errors);
                }
            }
        }
        Value::Array(list) => {
            let Some(items) = &schema.items else { return };
            for (i, item) in list.iter().enumerate() {
                check(items, item, &path.index(i), errors);
            }
        }
        _ => {}
    }
}

fn resource(map: &Map<String, Value>, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let mut text = |name: &str| match map.get(name) {
        Some(Value::String(text)) if !text.is_empty() => Some(text.as_str()),
        None | Some(Value::String(_)) => {
            errors.push(FieldError::required(path.child_text(name), ""));
            None
        }
        Some(other) => {
            errors.push(FieldError::invalid(path.child_text(name), other, "must be a string"));
            None
        }
    };
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    if let Some(v) = api_version.filter(|v| v.matches('/').count() > 1) {
        let detail = format!("unexpected GroupVersion string: {v}");
        errors.push(FieldError::invalid_text(path.child_text("apiVersion"), v, detail));
    }
    if let Some(kind) = kind {
        for fault in names::dns1035_label(&kind.to_lowercase()) {
            let detail = format!("may have mixed case, but should otherwise match: {fault}");
            errors.push(FieldError::invalid_text(path.child_text("kind"), kind, detail));
        }
    }
    let Some(Value::Object(metadata)) = map.get("metadata") else { return };
    let mut metadata = metadata.clone();
    // Metadata is checked as that of a whole resource, which has to have a name; an embedded one need not.
    metadata.entry("name").or_insert_with(|| Value::from("unnamed"));
    let namespaced = metadata.contains_key("namespace");
    for mut error in meta::validate(&json!({ "metadata": metadata }), namespaced, NameRule::PathSegment) {
        error.path = format!("{path}.{}", error.path);
        errors.push(error);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> std::sync::Arc<Structural> {
        let embedded = json!({"type": "object", "x-kubernetes-embedded-resource": true,
            "x-kubernetes-preserve-unknown-fields": true});
        Structural::parse(&json!({"type": "object", "properties": {"t": embedded}})).unwrap()
    }

    fn causes(value: Value) -> Vec<(String, &'static str)> {
        embedded_faults(&schema(), &value).into_iter().map(|e| (e.path.clone(), e.kind.reason())).collect()
    }

    #[test]
    fn an_embedded_resource_names_its_type_and_needs_no_name() {
        assert!(
            causes(json!({"t": {"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": {"a": "b"}}}})).is_empty()
        );
        let required = "FieldValueRequired";
        assert_eq!(causes(json!({"t": {}})), [("t.apiVersion".into(), required), ("t.kind".into(), required)]);
        let invalid = "FieldValueInvalid";
        assert_eq!(causes(json!({"t": {"apiVersion": "a/b/c", "kind": "Pod"}})), [("t.apiVersion".into(), invalid)]);
    }

    #[test]
    fn the_name_of_an_embedded_resource_is_one_path_segment() {
        let named = |name: &str| json!({"t": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}}});
        assert!(causes(named("Has Space")).is_empty());
        assert_eq!(causes(named("a/b")).len(), 1);
        assert_eq!(causes(named("..")).len(), 1);
    }

    #[test]
    fn embedded_metadata_of_the_wrong_type_cannot_be_read() {
        let mut value = json!({"t": {"metadata": {"labels": {"a": 1}}}});
        assert!(coerce_embedded(&schema(), &mut value, &mut Vec::new()).is_err());
        let (mut value, mut unknown) = (json!({"t": {"metadata": {"nick": 1}}}), Vec::new());
        coerce_embedded(&schema(), &mut value, &mut unknown).unwrap();
        assert_eq!(unknown, ["t.metadata.nick"]);
    }
}
