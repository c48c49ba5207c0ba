//! What a CustomResourceDefinition is held to.
//!
//! Flow: `validate` and `validate_update` read the definition as JSON, after its defaults were filled in and its status
//! was prepared; the object's metadata is checked by the common write path. `warnings` tells what is accepted but
//! useless.
//!
//! Guarantees: any JSON is judged without panic; a schema nested deeper than the bound of `schema::structural` is
//! refused.
//!
//! Mirrors apiextensions `pkg/apis/apiextensions/validation/validation.go`. What all versions say alike (always so with
//! one version) is reported at the top of the spec, as upstream, whose internal form moves it there.
//!
//! Divergence from Kubernetes: certificates in a `caBundle` are looked at from outside only; a certificate with
//! garbage inside passes.

mod conversion;
mod declared;
mod decode;
mod defaults;
mod keywords;
mod names;
mod schema;
mod structural;

pub use decode::decode;
pub use keywords::decode_schema;

pub use conversion::bundle_is_good;

use crate::api::schema::field::{ErrorKind, FieldError};
use crate::api::schema::{format, names as shapes};
use crate::object::ObjectView;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const IMMUTABLE: &str = "field is immutable";
const API_APPROVED: &str = "api-approved.kubernetes.io";

/// The faults of a new definition.
#[must_use]
pub fn validate(new: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let wanted = format!("{}.{}", new.text(&["spec", "names", "plural"]), new.text(&["spec", "group"]));
    if new.name() != wanted {
        errors.push(FieldError::invalid_text(
            "metadata.name",
            new.name(),
            "must be spec.names.plural+\".\"+spec.group",
        ));
    }
    errors.extend(spec(new, None));
    errors.extend(status(new));
    errors.extend(stored_versions(new));
    errors.extend(approval(new, None));
    errors.extend(preserve_unknown(new, None));
    errors
}

/// The faults of a changed definition.
#[must_use]
pub fn validate_update(new: &Value, old: &Value) -> Vec<FieldError> {
    let mut errors = spec(new, Some(old));
    let fixed: &[&[&str]] = if established(old) {
        &[&["spec", "group"], &["spec", "names", "plural"], &["spec", "scope"], &["spec", "names", "kind"]]
    } else {
        &[&["spec", "group"], &["spec", "names", "plural"]]
    };
    for path in fixed {
        if new.at(path) != old.at(path) {
            errors.push(FieldError::invalid(path.join("."), new.at(path).unwrap_or(&Value::Null), IMMUTABLE));
        }
    }
    errors.extend(status(new));
    errors.extend(stored_versions(new));
    errors.extend(approval(new, Some(old)));
    errors.extend(preserve_unknown(new, Some(old)));
    errors
}

/// The faults of a definition whose status was written. What was stored in which version is not looked at.
#[must_use]
pub fn validate_status(new: &Value) -> Vec<FieldError> {
    status(new)
}

/// What is accepted but checks nothing: formats that nobody knows.
#[must_use]
pub fn warnings(new: &Value) -> Vec<String> {
    fn collect(node: &Value, depth: usize, found: &mut BTreeSet<String>) {
        if depth > crate::api::schema::structural::DEPTH_MAX {
            return;
        }
        let name = text(node, "format");
        if !name.is_empty() && !format::numeric(name) && format::lookup(name).is_none() {
            found.insert(format!("unrecognized format {name:?}"));
        }
        for child in schema::children(node) {
            collect(child.node, depth + 1, found);
        }
    }
    let mut found = BTreeSet::new();
    for version in list(new.at(&["spec", "versions"])) {
        if let Some(root) = version.at(&["schema", "openAPIV3Schema"]) {
            collect(root, 0, &mut found);
        }
    }
    found.into_iter().collect()
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or("")
}

fn present<'a>(value: &'a Value, field: &str) -> Option<&'a Value> {
    value.get(field).filter(|v| !v.is_null())
}

fn established(object: &Value) -> bool {
    list(object.at(&["status", "conditions"]))
        .iter()
        .any(|c| text(c, "type") == "Established" && text(c, "status") == "True")
}

/// `Invalid` with all that is wrong with a text, if anything is.
fn shaped(errors: &mut Vec<FieldError>, path: impl Into<String>, value: &str, faults: &[String]) {
    if !faults.is_empty() {
        errors.push(FieldError::invalid_text(path, value, faults.join(",")));
    }
}

fn spec(new: &Value, old: Option<&Value>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let nothing = Value::Null;
    let spec = new.get("spec").unwrap_or(&nothing);
    let group = text(spec, "group");
    if group.is_empty() {
        errors.push(FieldError::required("spec.group", ""));
    } else {
        let faults = shapes::dns1123_subdomain(group);
        if faults.is_empty() && !group.contains('.') {
            errors.push(FieldError::invalid_text("spec.group", group, "should be a domain with at least one dot"));
        }
        shaped(&mut errors, "spec.group", group, &faults);
    }
    one_of(&mut errors, "spec.scope", text(spec, "scope"), &["Cluster", "Namespaced"]);
    versions(spec, &mut errors);
    names::required(spec, &mut errors);
    names::names(spec.get("names").unwrap_or(&nothing), "spec.names", &mut errors);
    let old_spec = old.and_then(|o| o.get("spec"));
    declarations(spec, old_spec, &mut errors);
    conversion::validate(spec, old, &mut errors);
    errors
}

fn one_of(errors: &mut Vec<FieldError>, path: &str, value: &str, allowed: &[&str]) {
    if value.is_empty() {
        errors.push(FieldError::required(path, ""));
    } else if !allowed.contains(&value) {
        errors.push(FieldError::not_supported(path, &Value::from(value), allowed));
    }
}

fn versions(spec: &Value, errors: &mut Vec<FieldError>) {
    let versions = list(spec.get("versions"));
    let mut names = BTreeSet::new();
    let mut unique = true;
    for (i, version) in versions.iter().enumerate() {
        let name = text(version, "name");
        unique &= names.insert(name);
        let faults = shapes::dns1035_label(name);
        if i == 0 && !name.is_empty() {
            // The first version is also the version of the old single-version form.
            shaped(errors, "spec.version", name, &faults);
        }
        shaped(errors, format!("spec.versions[{i}].name"), name, &faults);
        for fault in deprecation_faults(version) {
            let path = format!("spec.versions[{i}].deprecationWarning");
            errors.push(FieldError::invalid_text(path, text(version, "deprecationWarning"), fault));
        }
    }
    let shown = Value::Array(versions.iter().map(|v| Value::from(text(v, "name"))).collect());
    if !unique {
        errors.push(FieldError::invalid("spec.versions", &shown, "must contain unique version names"));
    }
    let storage = versions.iter().filter(|v| v.get("storage") == Some(&Value::Bool(true))).count();
    if storage != 1 {
        let detail = "must have exactly one version marked as storage version";
        errors.push(FieldError::invalid("spec.versions", &shown, detail));
    }
}

/// Longest deprecation warning, in bytes.
const WARNING_MAX: usize = 256;

fn deprecation_faults(version: &Value) -> Vec<String> {
    let Some(warning) = present(version, "deprecationWarning").and_then(Value::as_str) else { return Vec::new() };
    let mut faults = Vec::new();
    if version.get("deprecated") != Some(&Value::Bool(true)) {
        faults.push("can only be set for deprecated versions".to_string());
    }
    if warning.is_empty() {
        faults.push("must not be an empty string".to_string());
    }
    if warning.len() > WARNING_MAX {
        faults.push(format!("must be <= {WARNING_MAX} bytes"));
    }
    if warning.chars().any(char::is_control) {
        faults.push("must only contain printable UTF-8 characters".to_string());
    }
    faults
}

/// What each version declares: schema, subresources, columns, selectable fields. What all versions have alike is judged
/// once, at the top of the spec.
fn declarations(spec: &Value, old_spec: Option<&Value>, errors: &mut Vec<FieldError>) {
    let versions = list(spec.get("versions"));
    let alike = |field: &str| {
        let first = versions.first().and_then(|v| present(v, field));
        versions.iter().all(|v| present(v, field) == first)
    };
    let hoisted: BTreeMap<&str, bool> = ["schema", "subresources", "additionalPrinterColumns", "selectableFields"]
        .into_iter()
        .map(|field| (field, alike(field)))
        .collect();
    let status = |version: &Value| version.at(&["subresources", "status"]).is_some_and(|s| !s.is_null());
    for (i, version) in versions.iter().enumerate() {
        let at = format!("spec.versions[{i}]");
        let top = |field: &str, inner: &str| if hoisted[field] { "spec".to_string() } else { format!("{at}{inner}") };
        let once = |field: &str| i == 0 || !hoisted[field];
        let root = version.at(&["schema", "openAPIV3Schema"]).filter(|s| !s.is_null());
        match root {
            None => {
                let path = format!("{at}.schema.openAPIV3Schema");
                errors.push(FieldError::required(path, "schemas are required"));
            }
            Some(root) if once("schema") => {
                let with_status = if hoisted["schema"] { versions.iter().any(status) } else { status(version) };
                let path = match hoisted["schema"] {
                    true => "spec.validation.openAPIV3Schema".to_string(),
                    false => format!("{at}.schema.openAPIV3Schema"),
                };
                let before = old_schema(old_spec, text(version, "name"));
                errors.extend(schema::validate(root, &path, with_status, before));
            }
            Some(_) => {}
        }
        if once("subresources") {
            declared::subresources(version, &top("subresources", ""), errors);
        }
        if once("additionalPrinterColumns") {
            declared::columns(version, &top("additionalPrinterColumns", ""), errors);
        }
        if once("selectableFields") {
            // Fields and schema have to be judged in one place: upstream looks for the schema beside the fields.
            let beside = root.filter(|_| hoisted["selectableFields"] == hoisted["schema"]);
            declared::selectable_fields(version, beside, &top("selectableFields", ""), errors);
        }
    }
}

/// The schema that the old definition had for a version.
fn old_schema<'a>(old_spec: Option<&'a Value>, name: &str) -> Option<&'a Value> {
    let versions = list(old_spec?.get("versions"));
    versions.iter().find(|v| text(v, "name") == name)?.at(&["schema", "openAPIV3Schema"])
}

fn status(new: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if let Some(accepted) = new.at(&["status", "acceptedNames"]) {
        names::names(accepted, "status.acceptedNames", &mut errors);
    }
    errors
}

fn stored_versions(new: &Value) -> Vec<FieldError> {
    let path = "status.storedVersions";
    let stored: Vec<&str> = list(new.at(&["status", "storedVersions"])).iter().filter_map(Value::as_str).collect();
    if stored.is_empty() {
        let detail = "must have at least one stored version";
        return vec![FieldError::invalid(path, &Value::Array(Vec::new()), detail)];
    }
    let versions = list(new.at(&["spec", "versions"]));
    let mut errors = Vec::new();
    for version in versions.iter().filter(|v| v.get("storage") == Some(&Value::Bool(true))) {
        let name = text(version, "name");
        if !stored.contains(&name) {
            errors.push(FieldError::invalid_text(path, name, format!("must have the storage version {name}")));
        }
    }
    for (i, name) in stored.iter().enumerate() {
        if !versions.iter().any(|v| text(v, "name") == *name) {
            let detail = format!(
                "missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions \
                 until a storage migration ensures no data remains persisted in {name} and removes {name} from \
                 status.storedVersions"
            );
            errors.push(FieldError::invalid_text(format!("{path}[{i}]"), name, detail));
        }
    }
    errors
}

/// Groups of the Kubernetes community need a word of approval.
fn approval(new: &Value, old: Option<&Value>) -> Vec<FieldError> {
    let group = new.text(&["spec", "group"]);
    let guarded = |domain: &str| group == domain || group.ends_with(&format!(".{domain}"));
    if !guarded("k8s.io") && !guarded("kubernetes.io") {
        return Vec::new();
    }
    let state = |object: &Value| {
        let value = object.at(&["metadata", "annotations", API_APPROVED]).and_then(Value::as_str).map(str::to_string);
        let sort = match value.as_deref() {
            None | Some("") => 0,
            Some(v) if v.starts_with("unapproved") => 1,
            Some(v) if v.starts_with("https://") || v.starts_with("http://") => 2,
            Some(_) => 3,
        };
        (sort, value.unwrap_or_default())
    };
    let (sort, value) = state(new);
    if old.is_some_and(|o| state(o).0 == sort) {
        return Vec::new();
    }
    let path = format!("metadata.annotations[{API_APPROVED}]");
    match sort {
        0 => vec![FieldError::required(
            path,
            "protected groups must have approval annotation \"api-approved.kubernetes.io\"",
        )],
        3 => vec![FieldError::invalid_text(path, &value, "must be a URL or start with \"unapproved\"")],
        _ => Vec::new(),
    }
}

fn preserve_unknown(new: &Value, old: Option<&Value>) -> Vec<FieldError> {
    let set = |object: &Value| object.at(&["spec", "preserveUnknownFields"]) == Some(&Value::Bool(true));
    if !set(new) || old.is_some_and(set) {
        return Vec::new();
    }
    let detail =
        "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
    vec![FieldError::new(ErrorKind::Invalid, "spec.preserveUnknownFields", Some(&Value::Bool(true)), detail)]
}

#[cfg(test)]
mod tests;
