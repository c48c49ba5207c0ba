//! Whether a schema is structural: types everywhere, value checks only inside the junctors.
//!
//! Mirrors apiextensions `pkg/apiserver/schema/{validation,complete}.go`.

use super::schema::{flag, schemas};
use super::{list, present, text};
use crate::api::schema::field::FieldError;
use crate::api::schema::pattern::Pattern;
use crate::object::ObjectView;
use serde_json::{Value, json};

/// Where a node stands: it decides the words about a missing type.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

/// The faults of a schema as a structural one.
pub fn faults(root: &Value, path: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    node(root, Level::Root, path, &mut errors);
    for (child, at) in junctors(root, path) {
        complete(child, root, path, &at, &mut errors);
    }
    errors
}

fn node(schema: &Value, level: Level, path: &str, errors: &mut Vec<FieldError>) {
    if let Some(items) = present(schema, "items") {
        node(items, Level::Item, &format!("{path}.items"), errors);
    }
    for (name, property) in schemas(schema, "properties") {
        node(property, Level::Field, &format!("{path}.properties[{name}]"), errors);
    }
    if let Some(values) = present(schema, "additionalProperties") {
        let at = format!("{path}.additionalProperties");
        if level == Level::Root {
            errors.push(FieldError::forbidden(at.clone(), "must not be used at the root"));
        }
        if flag(schema, "x-kubernetes-embedded-resource") {
            let detail = "must not be used if x-kubernetes-embedded-resource is set";
            errors.push(FieldError::forbidden(at.clone(), detail));
        }
        if values.is_object() {
            node(values, Level::Field, &at, errors);
        }
    }
    types(schema, level, path, errors);
    extensions(schema, path, errors);
    resource(schema, level, path, errors);
    // What an int-or-string may say in so many words is let pass in any node.
    let pair = [json!({"type": "integer"}), json!({"type": "string"})];
    let wordy = |s: &Value| *list(s.get("anyOf")) == pair;
    let first_all = list(schema.get("allOf")).first();
    value_checks(schema, wordy(schema), first_all.is_some_and(wordy), path, errors);
}

fn types(schema: &Value, level: Level, path: &str, errors: &mut Vec<FieldError>) {
    let sort = text(schema, "type");
    let at = format!("{path}.type");
    if flag(schema, "x-kubernetes-embedded-resource") && sort != "object" {
        let detail = "must be object if x-kubernetes-embedded-resource is true";
        errors.push(match sort {
            "" => FieldError::required(at, detail),
            _ => FieldError::invalid_text(at, sort, detail),
        });
        return;
    }
    let free = flag(schema, "x-kubernetes-int-or-string") || flag(schema, "x-kubernetes-preserve-unknown-fields");
    if sort.is_empty() && !free {
        let place = match level {
            Level::Root => "at the root",
            Level::Item => "for specified array items",
            Level::Field => "for specified object fields",
        };
        errors.push(FieldError::required(at.clone(), format!("must not be empty {place}")));
    }
    if level == Level::Root && !sort.is_empty() && sort != "object" {
        errors.push(FieldError::invalid_text(at, sort, "must be object at the root"));
    }
    if sort == "array" && present(schema, "items").is_none() {
        errors.push(FieldError::required(format!("{path}.items"), "must be specified"));
    }
}

fn extensions(schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    if flag(schema, "x-kubernetes-int-or-string") {
        for name in ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"] {
            if flag(schema, name) {
                let detail = "must be false if x-kubernetes-int-or-string is true";
                errors.push(FieldError::invalid(format!("{path}.{name}"), &Value::Bool(true), detail));
            }
        }
    }
}

/// What holds for the root and for embedded resources.
fn resource(schema: &Value, level: Level, path: &str, errors: &mut Vec<FieldError>) {
    let embedded = flag(schema, "x-kubernetes-embedded-resource");
    if level != Level::Root && !embedded {
        return;
    }
    let preserve = flag(schema, "x-kubernetes-preserve-unknown-fields");
    if embedded && !preserve && schemas(schema, "properties").next().is_none() {
        let detail =
            "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
        errors.push(FieldError::required(format!("{path}.properties"), detail));
    }
    for name in ["apiVersion", "kind"] {
        if let Some(property) = schema.at(&["properties", name]) {
            let sort = text(property, "type");
            if sort != "string" {
                let at = format!("{path}.properties[{name}].type");
                errors.push(FieldError::invalid_text(at, sort, "must be string"));
            }
        }
    }
    let Some(metadata) = schema.at(&["properties", "metadata"]) else { return };
    let at = format!("{path}.properties[metadata]");
    if text(metadata, "type") != "object" {
        errors.push(FieldError::invalid_text(format!("{at}.type"), text(metadata, "type"), "must be object"));
    }
    let more = metadata
        .as_object()
        .into_iter()
        .flatten()
        .any(|(k, _)| !matches!(k.as_str(), "type" | "properties" | "default"));
    let others = schemas(metadata, "properties").any(|(name, _)| !matches!(name, "name" | "generateName"));
    if level == Level::Root && (more || others) {
        let detail = "must not specify anything other than name and generateName, but metadata is implicitly specified";
        errors.push(FieldError::forbidden(at, detail));
    }
}

/// The branches below the junctors of a node, with their paths.
fn junctors<'a>(schema: &'a Value, path: &str) -> Vec<(&'a Value, String)> {
    let mut found = Vec::new();
    for name in ["anyOf", "allOf", "oneOf"] {
        for (i, branch) in list(schema.get(name)).iter().enumerate() {
            found.push((branch, format!("{path}.{name}[{i}]")));
        }
    }
    found.extend(present(schema, "not").map(|branch| (branch, format!("{path}.not"))));
    found
}

fn value_checks(schema: &Value, skip_any: bool, skip_any_in_first_all: bool, path: &str, errors: &mut Vec<FieldError>) {
    let (any, first_all) = (format!("{path}.anyOf["), format!("{path}.allOf[0]"));
    for (branch, at) in junctors(schema, path) {
        if !(skip_any && at.starts_with(&any)) {
            nested(branch, skip_any_in_first_all && at == first_all, &at, errors);
        }
    }
    let pattern = text(schema, "pattern");
    if let Err(why) = Pattern::new(pattern) {
        errors.push(FieldError::invalid_text(format!("{path}.pattern"), pattern, why));
    }
}

/// Keywords that are not allowed inside junctors. A default there is told by the walk over the keywords.
const OUTSIDE_ONLY: [&str; 12] = [
    "type",
    "additionalProperties",
    "title",
    "description",
    "nullable",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-map-type",
    "x-kubernetes-validations",
];

fn nested(schema: &Value, skip_any: bool, path: &str, errors: &mut Vec<FieldError>) {
    value_checks(schema, skip_any, false, path, errors);
    if let Some(items) = present(schema, "items") {
        nested(items, false, &format!("{path}.items"), errors);
    }
    for (name, property) in schemas(schema, "properties") {
        nested(property, false, &format!("{path}.properties[{name}]"), errors);
    }
    let empty = |v: &Value| match v {
        Value::String(text) => text.is_empty(),
        Value::Bool(set) => !set,
        Value::Array(list) => list.is_empty(),
        _ => v.is_null(),
    };
    for name in OUTSIDE_ONLY {
        let Some(value) = present(schema, name) else { continue };
        if name == "additionalProperties" || !empty(value) {
            errors.push(FieldError::forbidden(format!("{path}.{name}"), "must be empty to be structural"));
        }
    }
    if schema.at(&["properties", "metadata"]).is_some() {
        let at = format!("{path}.properties[metadata]");
        errors.push(FieldError::forbidden(at, "must not be specified in a nested context"));
    }
}

/// Whatever a junctor of the root names has to be declared outside as well. `declared` stands at `path`, the branch at
/// `branch_path`.
fn complete(branch: &Value, declared: &Value, path: &str, branch_path: &str, errors: &mut Vec<FieldError>) {
    for (child, at) in junctors(branch, branch_path) {
        complete(child, declared, path, &at, errors);
    }
    let missing = |at: &str, by: &str| FieldError::required(at, format!("because it is defined in {by}"));
    if let Some(items) = present(branch, "items") {
        let (at, by) = (format!("{path}.items"), format!("{branch_path}.items"));
        match present(declared, "items") {
            Some(outside) => complete(items, outside, &at, &by, errors),
            None => errors.push(missing(&at, &by)),
        }
    }
    for (name, property) in schemas(branch, "properties") {
        let (at, by) = (format!("{path}.properties[{name}]"), format!("{branch_path}.properties[{name}]"));
        match declared.at(&["properties", name]) {
            Some(outside) => complete(property, outside, &at, &by, errors),
            None => errors.push(missing(&at, &by)),
        }
    }
}
