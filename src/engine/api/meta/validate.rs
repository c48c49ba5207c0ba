//! Checks of metadata. Mirrors apimachinery `pkg/api/validation/objectmeta.go` and `pkg/apis/meta/v1/validation`.

use crate::api::kinds::NameRule;
use crate::api::schema::field::FieldError;
use crate::api::schema::names;
use crate::object::ObjectView;
use serde_json::{Map, Value};

/// Sum of the bytes of annotation keys and values (apimachinery `objectmeta.go`).
const ANNOTATIONS_MAX: usize = 256 * 1024;
const NAME_PART_MAX: usize = 63;
const IMMUTABLE: &str = "field is immutable";
const NAME_SHAPE: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end \
     with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
     '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE_SHAPE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', \
     and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used \
     for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

impl NameRule {
    /// What keeps a text from being a name of this sort; a prefix may end in a dash.
    #[must_use]
    pub fn faults(self, text: &str, prefix: bool) -> Vec<String> {
        let trimmed = text.strip_suffix('-').filter(|t| prefix && !t.is_empty());
        let masked = trimmed.map(|t| format!("{t}a"));
        let text = masked.as_deref().unwrap_or(text);
        match self {
            NameRule::Subdomain => names::dns1123_subdomain(text),
            NameRule::Label => names::dns1123_label(text),
            NameRule::Label1035 => names::dns1035_label(text),
            NameRule::PathSegment => names::path_segment(text),
        }
    }
}

fn word(text: &str) -> bool {
    let bytes = text.as_bytes();
    matches!((bytes.first(), bytes.last()), (Some(a), Some(z)) if a.is_ascii_alphanumeric() && z.is_ascii_alphanumeric())
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

/// What keeps a text from being a qualified name: `name` or `prefix/name`.
#[must_use]
pub fn qualified_name(text: &str) -> Vec<String> {
    let parts: Vec<&str> = text.split('/').collect();
    let mut faults = Vec::new();
    let name = match parts.as_slice() {
        [name] => *name,
        [prefix, name] => {
            if prefix.is_empty() {
                faults.push("prefix part must be non-empty".to_string());
            } else {
                faults.extend(names::dns1123_subdomain(prefix).into_iter().map(|m| format!("prefix part {m}")));
            }
            *name
        }
        _ => return vec![format!("a qualified {NAME_SHAPE} with an optional DNS subdomain prefix and '/'")],
    };
    if name.is_empty() {
        faults.push("name part must be non-empty".to_string());
    } else if name.len() > NAME_PART_MAX {
        faults.push(format!("name part must be no more than {NAME_PART_MAX} bytes"));
    }
    if !word(name) {
        faults.push(NAME_SHAPE.to_string());
    }
    faults
}

/// What keeps a text from being the value of a label.
#[must_use]
pub fn label_value(text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if text.len() > NAME_PART_MAX {
        faults.push(format!("must be no more than {NAME_PART_MAX} bytes"));
    }
    if !text.is_empty() && !word(text) {
        faults.push(VALUE_SHAPE.to_string());
    }
    faults
}

/// Faults of the metadata of one object.
#[must_use]
pub fn validate(object: &Value, namespaced: bool, rule: NameRule) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let prefix = object.text(&["metadata", "generateName"]);
    if !prefix.is_empty() {
        let faults = rule.faults(prefix, true);
        errors.extend(faults.into_iter().map(|m| FieldError::invalid_text("metadata.generateName", prefix, m)));
    }
    let name = object.name();
    if name.is_empty() {
        errors.push(FieldError::required("metadata.name", "name or generateName is required"));
    } else {
        let faults = rule.faults(name, false);
        errors.extend(faults.into_iter().map(|m| FieldError::invalid_text("metadata.name", name, m)));
    }
    let namespace = object.namespace();
    if namespaced && namespace.is_empty() {
        errors.push(FieldError::required("metadata.namespace", ""));
    } else if namespaced {
        let faults = names::dns1123_label(namespace);
        errors.extend(faults.into_iter().map(|m| FieldError::invalid_text("metadata.namespace", namespace, m)));
    } else if !namespace.is_empty() {
        errors.push(FieldError::forbidden("metadata.namespace", "not allowed on this type"));
    }
    if object.generation() < 0 {
        let value = Value::from(object.generation());
        errors.push(FieldError::invalid("metadata.generation", &value, "must be greater than or equal to 0"));
    }
    shared(object, &mut errors);
    finalizers(object, &mut errors);
    errors
}

/// Faults of changing `old` into `new`, as found by one of the two places that look.
#[must_use]
pub fn validate_update(new: &Value, old: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if old.deleting() {
        no_new_finalizers(new, old, &mut errors);
    }
    if new.resource_version().is_empty() {
        errors.push(FieldError::invalid_text("metadata.resourceVersion", "", "must be specified for an update"));
    }
    if new.generation() < old.generation() {
        let value = Value::from(new.generation());
        errors.push(FieldError::invalid("metadata.generation", &value, "must not be decremented"));
    }
    for field in ["name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"] {
        let path = ["metadata", field];
        if new.at(&path) != old.at(&path) {
            let value = new.at(&path).unwrap_or(&Value::Null);
            errors.push(FieldError::invalid(format!("metadata.{field}"), value, IMMUTABLE));
        }
    }
    shared(new, &mut errors);
    errors
}

fn map<'a>(object: &'a Value, field: &str) -> impl Iterator<Item = (&'a String, &'a str)> {
    let map: Option<&Map<String, Value>> = object.at(&["metadata", field]).and_then(Value::as_object);
    map.into_iter().flatten().map(|(k, v)| (k, v.as_str().unwrap_or("")))
}

/// What both kinds of check look at: labels, annotations and owners.
fn shared(object: &Value, errors: &mut Vec<FieldError>) {
    for (key, value) in map(object, "labels") {
        let invalid = |text: &str, m| FieldError::invalid_text("metadata.labels", text, m);
        errors.extend(qualified_name(key).into_iter().map(|m| invalid(key, m)));
        errors.extend(label_value(value).into_iter().map(|m| invalid(value, m)));
    }
    let mut total = 0;
    for (key, value) in map(object, "annotations") {
        let faults = qualified_name(&key.to_lowercase());
        errors.extend(faults.into_iter().map(|m| FieldError::invalid_text("metadata.annotations", key, m)));
        total += key.len() + value.len();
    }
    if total > ANNOTATIONS_MAX {
        errors.push(FieldError::too_long("metadata.annotations", ANNOTATIONS_MAX));
    }
    owners(object, errors);
}

fn owners(object: &Value, errors: &mut Vec<FieldError>) {
    let path = "metadata.ownerReferences";
    let mut controller = "";
    for reference in object.owner_references() {
        let text = |field: &str| reference.text(&[field]);
        let invalid =
            |field: &str, m: &str| FieldError::invalid_text(format!("{path}.{field}"), reference.text(&[field]), m);
        let version = text("apiVersion");
        if version.is_empty() {
            errors.push(invalid("apiVersion", "version must not be empty"));
        } else if version.split('/').count() > 2 || version.split('/').any(str::is_empty) {
            errors.push(invalid("apiVersion", "must be <group>/<version> or <version>"));
        }
        for field in ["kind", "name", "uid"] {
            if text(field).is_empty() {
                errors.push(invalid(field, "must not be empty"));
            }
        }
        if version == "v1" && text("kind") == "Event" {
            errors.push(FieldError::invalid(path, reference, "/v1, Kind=Event is disallowed from being an owner"));
        }
        if reference.get("controller") == Some(&Value::Bool(true)) {
            if controller.is_empty() {
                controller = text("name");
            } else {
                let detail = format!(
                    "Only one reference can have Controller set to true. Found \"true\" in references for {controller} \
                     and {}",
                    text("name")
                );
                errors.push(FieldError::invalid(path, reference, detail));
            }
        }
    }
}

fn finalizers(object: &Value, errors: &mut Vec<FieldError>) {
    let path = "metadata.finalizers";
    let list = object.finalizers();
    for finalizer in &list {
        errors.extend(qualified_name(finalizer).into_iter().map(|m| FieldError::invalid_text(path, finalizer, m)));
    }
    if list.contains(&"orphan") && list.contains(&"foregroundDeletion") {
        let value = object.at(&["metadata", "finalizers"]).unwrap_or(&Value::Null);
        errors.push(FieldError::invalid(path, value, "finalizer orphan and foregroundDeletion cannot be both set"));
    }
}

fn no_new_finalizers(new: &Value, old: &Value, errors: &mut Vec<FieldError>) {
    let before = old.finalizers();
    let added: Vec<String> =
        new.finalizers().into_iter().filter(|f| !before.contains(f)).map(|f| format!("{f:?}")).collect();
    if !added.is_empty() {
        let detail = format!(
            "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
            added.join(", ")
        );
        errors.push(FieldError::forbidden("metadata.finalizers", detail));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn faults(meta: Value) -> Vec<String> {
        let errors = validate(&json!({"metadata": meta}), true, NameRule::Subdomain);
        errors.iter().map(|e| e.path.clone()).collect()
    }

    #[test]
    fn a_name_or_a_prefix_is_required() {
        assert_eq!(faults(json!({"namespace": "ns"})), ["metadata.name"]);
        assert_eq!(faults(json!({"namespace": "ns", "name": "a.b-1", "generateName": "run-"})), Vec::<String>::new());
        assert_eq!(faults(json!({"namespace": "ns", "name": "Upper"})), ["metadata.name"]);
    }

    #[test]
    fn finalizers_are_qualified_names_and_the_two_policies_exclude_each_other() {
        let with = |list: Value| faults(json!({"namespace": "ns", "name": "a", "finalizers": list})).len();
        assert_eq!((with(json!(["not a name"])), with(json!(["/x"])), with(json!(["a.b/c", "plain"]))), (1, 1, 0));
        assert_eq!(with(json!(["orphan", "foregroundDeletion"])), 1);
    }

    #[test]
    fn only_one_owner_may_be_the_controller() {
        let owner = |n: &str| json!({"apiVersion": "v1", "kind": "K", "name": n, "uid": n, "controller": true});
        let both = json!({"namespace": "ns", "name": "a", "ownerReferences": [owner("x"), owner("y")]});
        assert_eq!(faults(both), ["metadata.ownerReferences"]);
    }

    #[test]
    fn a_dying_object_takes_no_new_finalizer() {
        let meta = |f: Value| {
            json!({"metadata": {"name": "a", "resourceVersion": "1", "finalizers": f,
            "deletionTimestamp": "2026-01-01T00:00:00Z"}})
        };
        assert_eq!(validate_update(&meta(json!(["x/b"])), &meta(json!(["x/a"]))).len(), 1);
        assert_eq!(validate_update(&meta(json!(["x/a"])), &meta(json!(["y/b", "x/a"]))).len(), 0);
    }
}
