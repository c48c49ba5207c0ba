//! The life of a definition: defaults, accepted names, established, terminating.
//!
//! Mirrors apiextensions `pkg/controller/{status,establish,finalizer}` as pure steps over the stored definitions: each step
//! answers the next state of one of them.

use crate::object::{self, ObjectView};
use crate::time::{SimTime, Span};
use serde_json::{Value, json};

/// How long after its names were accepted a definition is established (`establish/establishing_controller.go`).
pub const ESTABLISHING_DELAY: Span = Span::secs(5);
/// What holds a definition until its instances are gone (`pkg/apis/apiextensions/v1/types.go`).
pub const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// Fills in what a definition may leave out (`pkg/apis/apiextensions/v1/defaults.go`).
pub fn default(crd: &mut Value) {
    let kind = crd.text(&["spec", "names", "kind"]).to_string();
    if !kind.is_empty() {
        if crd.text(&["spec", "names", "singular"]).is_empty() {
            object::set(crd, &["spec", "names", "singular"], Value::from(kind.to_lowercase()));
        }
        if crd.text(&["spec", "names", "listKind"]).is_empty() {
            object::set(crd, &["spec", "names", "listKind"], Value::from(format!("{kind}List")));
        }
    }
    if crd.at(&["spec", "conversion"]).is_none() {
        object::set(crd, &["spec", "conversion"], json!({"strategy": "None"}));
    }
}

fn storage_version(crd: &Value) -> Option<&str> {
    let stored = crd.list(&["spec", "versions"]).iter().find(|v| v.get("storage") == Some(&Value::Bool(true)))?;
    Some(stored.text(&["name"]))
}

/// The storage version is among the stored ones; it is never taken out here.
pub fn note_storage_version(crd: &mut Value, old: Option<&Value>) {
    let mut stored: Vec<Value> = old.map(|o| o.list(&["status", "storedVersions"]).to_vec()).unwrap_or_default();
    if let Some(version) = storage_version(crd).map(Value::from) {
        if !stored.contains(&version) {
            stored.push(version);
        }
    }
    object::set(crd, &["status", "storedVersions"], Value::from(stored));
}

/// One condition that changed.
fn condition(crd: &mut Value, now: SimTime, kind: &str, status: &str, reason: &str, message: &str) {
    let mut conditions = crd.list(&["status", "conditions"]).to_vec();
    let mut time = Value::from(now.rfc3339());
    let known = conditions.iter().position(|c| c.text(&["type"]) == kind);
    if let Some(same) = known.map(|i| &conditions[i]).filter(|c| c.text(&["status"]) == status) {
        time = same["lastTransitionTime"].clone();
    }
    let new = json!({"type": kind, "status": status, "lastTransitionTime": time, "reason": reason, "message": message});
    match known {
        Some(index) => conditions[index] = new,
        None => conditions.push(new),
    }
    object::set(crd, &["status", "conditions"], Value::from(conditions));
}

/// What another definition of the group already calls its own.
fn taken(crd: &Value, others: &[&Value]) -> Option<(&'static str, String)> {
    let group = crd.text(&["spec", "group"]);
    let others: Vec<&Value> = others
        .iter()
        .copied()
        .filter(|o| {
            o.text(&["spec", "group"]) == group
                && o.name() != crd.name()
                && o.at(&["status", "acceptedNames"]).is_some()
        })
        .collect();
    let resources = |o: &Value| -> Vec<String> {
        let names = o.at(&["status", "acceptedNames"]).unwrap_or(&Value::Null);
        let mut all = vec![names.text(&["plural"]).to_string(), names.text(&["singular"]).to_string()];
        all.extend(names.list(&["shortNames"]).iter().filter_map(Value::as_str).map(str::to_string));
        all.retain(|n| !n.is_empty());
        all
    };
    let kinds = |o: &Value| ["kind", "listKind"].map(|f| o.text(&["status", "acceptedNames", f]).to_string());
    let names = crd.at(&["spec", "names"]).unwrap_or(&Value::Null);
    let in_use = |name: &str, all: &dyn Fn(&Value) -> bool| {
        (!name.is_empty() && others.iter().any(|o| all(o))).then(|| name.to_string())
    };
    let plain = [("PluralConflict", "plural"), ("SingularConflict", "singular")];
    for (reason, field) in plain {
        let name = names.text(&[field]);
        if let Some(name) = in_use(name, &|o| resources(o).iter().any(|r| r == name)) {
            return Some((reason, format!("{name:?} is already in use")));
        }
    }
    for name in names.list(&["shortNames"]).iter().filter_map(Value::as_str) {
        if in_use(name, &|o| resources(o).iter().any(|r| r == name)).is_some() {
            return Some(("ShortNamesConflict", format!("{name:?} is already in use")));
        }
    }
    for (reason, field) in [("KindConflict", "kind"), ("ListKindConflict", "listKind")] {
        let name = names.text(&[field]);
        if in_use(name, &|o| kinds(o).iter().any(|k| k == name)).is_some() {
            return Some((reason, format!("{name:?} is already in use")));
        }
    }
    None
}

/// Judges the names of a definition; answers its next state when that differs.
#[must_use]
pub fn judge_names(crd: &Value, others: &[&Value], now: SimTime) -> Option<Value> {
    if crd.condition("NamesAccepted") == "True" && crd.at(&["status", "acceptedNames"]) == crd.at(&["spec", "names"]) {
        return None;
    }
    let mut new = crd.clone();
    match taken(crd, others) {
        Some((reason, message)) => {
            condition(&mut new, now, "NamesAccepted", "False", reason, &message);
            if crd.condition("Established") != "True" {
                let why = "not all names are accepted";
                condition(&mut new, now, "Established", "False", "NotAccepted", why);
            }
            if crd.at(&["status", "acceptedNames"]).is_none() {
                let nothing = json!({"plural": "", "kind": ""});
                object::set(&mut new, &["status", "acceptedNames"], nothing);
            }
        }
        None => {
            let names = crd.at(&["spec", "names"]).cloned().unwrap_or(Value::Null);
            object::set(&mut new, &["status", "acceptedNames"], names);
            condition(&mut new, now, "NamesAccepted", "True", "NoConflicts", "no conflicts found");
            if crd.condition("Established") != "True" {
                let why = "the initial names have been accepted";
                condition(&mut new, now, "Established", "True", "InitialNamesAccepted", why);
            }
        }
    }
    (new != *crd).then_some(new)
}

/// A dying definition, as it says of itself how far its instances are.
#[must_use]
pub fn terminating(crd: &Value, now: SimTime, left: usize) -> Value {
    let mut new = crd.clone();
    if left > 0 {
        let why = "CustomResource deletion is in progress";
        condition(&mut new, now, "Terminating", "True", "InstanceDeletionInProgress", why);
    } else {
        let why = "removed all instances";
        condition(&mut new, now, "Terminating", "False", "InstanceDeletionCompleted", why);
        let mut kept = new.finalizers().into_iter().map(str::to_string).collect::<Vec<_>>();
        kept.retain(|f| f != CLEANUP);
        if kept.is_empty() {
            object::remove(&mut new, &["metadata", "finalizers"]);
        } else {
            object::set(&mut new, &["metadata", "finalizers"], json!(kept));
        }
    }
    new
}
