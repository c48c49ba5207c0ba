//! The names of a definition.

use super::{list, shaped, text};
use crate::api::schema::field::FieldError;
use crate::api::schema::names::dns1035_label;
use serde_json::Value;

/// The names that a spec has to have; those of a status may be missing.
pub fn required(spec: &Value, errors: &mut Vec<FieldError>) {
    for field in ["plural", "singular", "kind", "listKind"] {
        if spec.get("names").is_none_or(|names| text(names, field).is_empty()) {
            errors.push(FieldError::required(format!("spec.names.{field}"), ""));
        }
    }
}

/// The shapes of names.
pub fn names(names: &Value, path: &str, errors: &mut Vec<FieldError>) {
    for field in ["plural", "singular"] {
        let name = text(names, field);
        if !name.is_empty() {
            shaped(errors, format!("{path}.{field}"), name, &dns1035_label(name));
        }
    }
    for field in ["kind", "listKind"] {
        let name = text(names, field);
        if !name.is_empty() {
            let faults: Vec<String> = dns1035_label(&name.to_lowercase())
                .into_iter()
                .map(|fault| format!("may have mixed case, but should otherwise match: {fault}"))
                .collect();
            shaped(errors, format!("{path}.{field}"), name, &faults);
        }
    }
    let lists = |field: &'static str| list(names.get(field)).iter().enumerate().map(move |(i, v)| (field, i, v));
    for (field, i, name) in lists("shortNames").chain(lists("categories")) {
        let name = name.as_str().unwrap_or("");
        shaped(errors, format!("{path}.{field}[{i}]"), name, &dns1035_label(name));
    }
    let kind = text(names, "kind");
    if !kind.is_empty() && kind == text(names, "listKind") {
        let detail = "kind and listKind may not be the same";
        errors.push(FieldError::invalid_text(format!("{path}.listKind"), kind, detail));
    }
}
