//! Reading metadata as the typed `ObjectMeta` does: unknown fields fall away, wrong types are refused, and what is
//! empty is absent.

use crate::object::Object;
use crate::time::SimTime;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Reads `metadata` in place; `unknown` collects the paths of dropped fields.
///
/// # Errors
/// A sentence about a field of the wrong type.
pub fn decode(object: &mut Value, unknown: &mut Vec<String>) -> Result<(), String> {
    let Some(fields) = object.as_object_mut() else { return Err("the object is not a JSON object".to_string()) };
    let meta = fields.entry("metadata").or_insert(Value::Null);
    if meta.is_null() {
        *meta = Value::Object(Map::new());
    }
    let Some(meta) = meta.as_object_mut() else { return Err(wrong("metadata", "ObjectMeta")) };
    meta.retain(|name, value| !empty(value) || (name == "deletionGracePeriodSeconds" && value.is_number()));
    let mut dropped = Vec::new();
    for (name, value) in meta.iter_mut() {
        if !field(name, value, unknown)? {
            dropped.push(name.clone());
        }
    }
    for name in dropped {
        meta.remove(&name);
        unknown.push(format!("metadata.{name}"));
    }
    Ok(())
}

fn empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}

fn wrong(path: &str, wanted: &str) -> String {
    format!("json: cannot unmarshal into Go struct field {path} of type {wanted}")
}

/// Reads one field; false when metadata has no such field.
fn field(name: &str, value: &mut Value, unknown: &mut Vec<String>) -> Result<bool, String> {
    let good = match name {
        "name" | "generateName" | "namespace" | "selfLink" | "uid" | "resourceVersion" => value.is_string(),
        "creationTimestamp" | "deletionTimestamp" => value.as_str().and_then(SimTime::parse_rfc3339).is_some(),
        "generation" | "deletionGracePeriodSeconds" => value.is_i64(),
        "labels" | "annotations" => texts(value),
        "finalizers" => value.as_array().is_some_and(|l| l.iter().all(Value::is_string)),
        "ownerReferences" => owner_references(value, unknown)?,
        "managedFields" => value.as_array().is_some_and(|l| l.iter().all(Value::is_object)),
        _ => return Ok(false),
    };
    if good { Ok(true) } else { Err(wrong(&format!("metadata.{name}"), name)) }
}

/// A map of texts; null reads as the empty text.
fn texts(value: &mut Value) -> bool {
    let Some(map) = value.as_object_mut() else { return false };
    for entry in map.values_mut().filter(|v| v.is_null()) {
        *entry = Value::from("");
    }
    map.values().all(Value::is_string)
}

fn owner_references(value: &mut Value, unknown: &mut Vec<String>) -> Result<bool, String> {
    let Some(list) = value.as_array_mut() else { return Ok(false) };
    for (i, item) in list.iter_mut().enumerate() {
        let Some(reference) = item.as_object_mut() else { return Ok(false) };
        let known =
            |name: &str| matches!(name, "apiVersion" | "kind" | "name" | "uid" | "controller" | "blockOwnerDeletion");
        let extra: Vec<String> = reference.keys().filter(|k| !known(k)).cloned().collect();
        for name in extra {
            reference.remove(&name);
            unknown.push(format!("metadata.ownerReferences[{i}].{name}"));
        }
        reference.retain(|_, v| !v.is_null());
        for (name, field) in reference.iter() {
            let flag = matches!(name.as_str(), "controller" | "blockOwnerDeletion");
            if (flag && !field.is_boolean()) || (!flag && !field.is_string()) {
                return Err(wrong(&format!("metadata.ownerReferences.{name}"), "OwnerReference"));
            }
        }
        for name in ["apiVersion", "kind", "name", "uid"] {
            reference.entry(name).or_insert_with(|| Value::from(""));
        }
    }
    Ok(true)
}

/// Removes owner references that are equal to an earlier one; the warning names their UIDs.
#[must_use]
pub fn dedup_owner_references(object: &mut Value) -> Option<String> {
    let list = object.get_mut("metadata")?.get_mut("ownerReferences")?.as_array_mut()?;
    let (mut kept, mut repeated): (Vec<Value>, Vec<String>) = (Vec::new(), Vec::new());
    for reference in list.drain(..) {
        if kept.contains(&reference) {
            repeated.push(reference.get("uid").and_then(Value::as_str).unwrap_or("").to_string());
        } else {
            kept.push(reference);
        }
    }
    *list = kept;
    (!repeated.is_empty()).then(|| {
        format!(
            ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, \
             and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}",
            repeated.join(", ")
        )
    })
}

/// A copy of an object with another resource version, as a DELETED event carries it.
#[must_use]
pub fn with_revision(object: &Object, revision: u64) -> Object {
    let mut copy = Value::clone(object);
    crate::object::set(&mut copy, &["metadata", "resourceVersion"], Value::from(revision.to_string()));
    Arc::new(copy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(meta: Value) -> Result<(Value, Vec<String>), String> {
        let (mut object, mut unknown) = (json!({"metadata": meta}), Vec::new());
        decode(&mut object, &mut unknown)?;
        Ok((object["metadata"].take(), unknown))
    }

    #[test]
    fn unknown_fields_fall_away_and_are_named() {
        let (meta, unknown) = read(json!({"name": "a", "nmae": 1, "ownerReferences": [{"uid": "u", "x": 1}]})).unwrap();
        assert_eq!(meta["ownerReferences"][0], json!({"apiVersion": "", "kind": "", "name": "", "uid": "u"}));
        assert_eq!(unknown, ["metadata.ownerReferences[0].x", "metadata.nmae"]);
    }

    #[test]
    fn what_is_empty_is_absent() {
        let (meta, unknown) =
            read(json!({"labels": {}, "finalizers": null, "creationTimestamp": null, "uid": ""})).unwrap();
        assert_eq!((meta, unknown.len()), (json!({}), 0));
    }

    #[test]
    fn a_label_that_is_a_number_is_refused() {
        assert!(read(json!({"labels": {"a": 1}})).is_err());
        assert!(read(json!({"finalizers": "x"})).is_err());
        assert!(read(json!("x")).is_err());
    }
}
