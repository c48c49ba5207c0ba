//! Objects are `serde_json::Value` behind `Arc`; these are the small typed views they are read through.

use crate::ids::{Gvk, Key};
use serde_json::{Map, Value};
use std::sync::Arc;

/// A stored or cached object. Shared, never changed in place.
pub type Object = Arc<Value>;

/// Reads of the fields every object has. Absent and wrongly typed fields read as empty.
pub trait ObjectView {
    fn value(&self) -> &Value;

    fn at(&self, path: &[&str]) -> Option<&Value> {
        path.iter().try_fold(self.value(), |v, part| v.get(part))
    }
    fn text(&self, path: &[&str]) -> &str {
        self.at(path).and_then(Value::as_str).unwrap_or("")
    }
    fn int(&self, path: &[&str]) -> Option<i64> {
        self.at(path).and_then(Value::as_i64)
    }
    fn list(&self, path: &[&str]) -> &[Value] {
        self.at(path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }
    fn name(&self) -> &str {
        self.text(&["metadata", "name"])
    }
    fn namespace(&self) -> &str {
        self.text(&["metadata", "namespace"])
    }
    fn uid(&self) -> &str {
        self.text(&["metadata", "uid"])
    }
    fn kind(&self) -> &str {
        self.text(&["kind"])
    }
    fn resource_version(&self) -> &str {
        self.text(&["metadata", "resourceVersion"])
    }
    fn generation(&self) -> i64 {
        self.int(&["metadata", "generation"]).unwrap_or(0)
    }
    fn deleting(&self) -> bool {
        self.at(&["metadata", "deletionTimestamp"]).is_some_and(|v| !v.is_null())
    }
    fn key(&self) -> Key {
        Key::new(self.namespace(), self.name())
    }
    fn gvk(&self) -> Gvk {
        Gvk::parse(self.text(&["apiVersion"]), self.kind())
    }
    fn label(&self, name: &str) -> Option<&str> {
        self.at(&["metadata", "labels"])?.get(name)?.as_str()
    }
    fn annotation(&self, name: &str) -> Option<&str> {
        self.at(&["metadata", "annotations"])?.get(name)?.as_str()
    }
    fn finalizers(&self) -> Vec<&str> {
        self.list(&["metadata", "finalizers"]).iter().filter_map(Value::as_str).collect()
    }
    fn owner_references(&self) -> &[Value] {
        self.list(&["metadata", "ownerReferences"])
    }
    /// The owner reference with `controller: true`.
    fn controller_ref(&self) -> Option<&Value> {
        self.owner_references().iter().find(|r| r.get("controller") == Some(&Value::Bool(true)))
    }
    /// The status word of a condition: `True`, `False`, `Unknown`, or empty when it is absent.
    fn condition(&self, kind: &str) -> &str {
        self.list(&["status", "conditions"])
            .iter()
            .find(|c| c.get("type").and_then(Value::as_str) == Some(kind))
            .and_then(|c| c.get("status"))
            .and_then(Value::as_str)
            .unwrap_or("")
    }
}

impl ObjectView for Value {
    fn value(&self) -> &Value {
        self
    }
}
impl ObjectView for Object {
    fn value(&self) -> &Value {
        self
    }
}

/// Sets `path` to `value`, making the objects on the way; anything that is not an object there is replaced.
pub fn set(object: &mut Value, path: &[&str], value: Value) {
    let Some((last, parents)) = path.split_last() else {
        *object = value;
        return;
    };
    let mut at = object;
    for part in parents {
        at = as_map(at).entry(*part).or_insert_with(|| Value::Object(Map::new()));
    }
    as_map(at).insert((*last).to_string(), value);
}

/// Removes `path` and answers what was there.
pub fn remove(object: &mut Value, path: &[&str]) -> Option<Value> {
    let (last, parents) = path.split_last()?;
    let parent = parents.iter().try_fold(object, |v, part| v.get_mut(part))?;
    parent.as_object_mut()?.remove(*last)
}

fn as_map(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    value.as_object_mut().expect("made an object on the line above")
}
