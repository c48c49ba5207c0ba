//! What a definition gets on its way into the store.
//!
//! Mirrors apiextensions `pkg/apis/apiextensions/v1/defaults.go` and `pkg/registry/customresourcedefinition/strategy.go`.

use super::lifecycle::{CLEANUP, TERMINATING, set_condition};
use crate::object::{self, ObjectView};
use crate::time::SimTime;
use serde_json::{Map, Value, json};

/// Fills in what a definition leaves out.
pub fn default(object: &mut Value) {
    let kind = object.text(&["spec", "names", "kind"]).to_string();
    if !kind.is_empty() {
        fill(object, &["spec", "names", "singular"], kind.to_lowercase());
        fill(object, &["spec", "names", "listKind"], format!("{kind}List"));
    }
    if object.get("spec").is_some_and(Value::is_object) && object.text(&["spec", "conversion", "strategy"]).is_empty() {
        object::set(object, &["spec", "conversion", "strategy"], Value::from("None"));
    }
    let service = &["spec", "conversion", "webhook", "clientConfig", "service"];
    if object.at(service).is_some_and(|s| s.is_object() && s.get("port").is_none_or(Value::is_null)) {
        object::set(object, &["spec", "conversion", "webhook", "clientConfig", "service", "port"], Value::from(443));
    }
}

fn fill(object: &mut Value, path: &[&str], text: String) {
    if object.at(path).is_none_or(|v| v.is_null() || v.as_str() == Some("")) {
        object::set(object, path, Value::from(text));
    }
}

fn storage_version(object: &Value) -> Option<String> {
    let versions = object.list(&["spec", "versions"]);
    let stored = versions.iter().find(|v| v.get("storage") == Some(&Value::Bool(true)))?;
    Some(stored.text(&["name"]).to_string())
}

/// A new definition has nothing accepted and one stored version.
pub fn prepare_create(object: &mut Value) {
    let stored: Vec<String> = storage_version(object).into_iter().collect();
    let mut status = json!({"acceptedNames": {"plural": "", "kind": ""}, "storedVersions": stored});
    if status.list(&["storedVersions"]).is_empty() {
        status["storedVersions"] = Value::Null;
    }
    object::set(object, &["status"], status);
}

/// An update keeps the old status, to which a new storage version is appended.
pub fn prepare_update(object: &mut Value, old: &Value) {
    let status = old.get("status").cloned().unwrap_or_else(|| Value::Object(Map::new()));
    object::set(object, &["status"], status);
    append_storage_version(object);
}

/// A status write may shorten the stored versions, but not to nothing.
pub fn prepare_status(object: &mut Value, _old: &Value) {
    if object.list(&["status", "storedVersions"]).is_empty() {
        append_storage_version(object);
    }
}

fn append_storage_version(object: &mut Value) {
    let Some(version) = storage_version(object) else { return };
    let mut stored = object.list(&["status", "storedVersions"]).to_vec();
    if !stored.iter().any(|v| v.as_str() == Some(&version)) {
        stored.push(Value::from(version));
        object::set(object, &["status", "storedVersions"], Value::from(stored));
    }
}

/// The first DELETE: the definition stays until its objects are gone. `generation` stays too.
pub fn mark_deleting(object: &mut Value, now: SimTime) {
    object::set(object, &["metadata", "deletionTimestamp"], Value::from(now.rfc3339()));
    let mut finalizers = object.list(&["metadata", "finalizers"]).to_vec();
    if !finalizers.iter().any(|f| f.as_str() == Some(CLEANUP)) {
        finalizers.push(Value::from(CLEANUP));
    }
    object::set(object, &["metadata", "finalizers"], Value::from(finalizers));
    let message = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon";
    set_condition(object, now, TERMINATING, true, "InstanceDeletionPending", message);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_kind_unless_given() {
        let mut crd = json!({"spec": {"names": {"kind": "CronTab", "singular": "ct"}}});
        default(&mut crd);
        assert_eq!(crd["spec"]["names"], json!({"kind": "CronTab", "singular": "ct", "listKind": "CronTabList"}));
        assert_eq!(crd["spec"]["conversion"], json!({"strategy": "None"}));
    }

    #[test]
    fn a_new_storage_version_is_appended_and_none_is_forgotten() {
        let old = json!({"status": {"storedVersions": ["v1"]}});
        let mut new =
            json!({"spec": {"versions": [{"name": "v2", "storage": true}]}, "status": {"storedVersions": []}});
        prepare_update(&mut new, &old);
        assert_eq!(new["status"]["storedVersions"], json!(["v1", "v2"]));
    }
}
