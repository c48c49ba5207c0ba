//! Subresources, printer columns and selectable fields of a version.

use super::{list, text};
use crate::api::schema::field::FieldError;
use crate::object::ObjectView;
use serde_json::Value;

/// Most selectable fields of a version.
const SELECTABLE_MAX: usize = 8;
const COLUMN_TYPES: [&str; 5] = ["integer", "number", "string", "boolean", "date"];
const COLUMN_FORMATS: [&str; 8] = ["int32", "int64", "float", "double", "byte", "date", "date-time", "password"];

pub fn subresources(version: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let Some(scale) = version.at(&["subresources", "scale"]).filter(|s| !s.is_null()) else { return };
    let at = |field: &str| format!("{path}.subresources.scale.{field}");
    let rooted = |json_path: &str, roots: &[&str]| roots.iter().any(|root| json_path.starts_with(root));
    for (field, root) in [("specReplicasPath", ".spec."), ("statusReplicasPath", ".status.")] {
        let json_path = text(scale, field);
        if json_path.is_empty() {
            errors.push(FieldError::required(at(field), ""));
        } else if let Some(fault) = simple_path_fault(json_path) {
            errors.push(FieldError::invalid_text(at(field), json_path, fault));
        } else if !rooted(json_path, &[root]) {
            let detail = format!("should be a json path under {}", root.trim_end_matches('.'));
            errors.push(FieldError::invalid_text(at(field), json_path, detail));
        }
    }
    let selector = text(scale, "labelSelectorPath");
    if selector.is_empty() {
        return;
    }
    if let Some(fault) = simple_path_fault(selector) {
        errors.push(FieldError::invalid_text(at("labelSelectorPath"), selector, fault));
    } else if !rooted(selector, &[".spec.", ".status."]) {
        let detail = "should be a json path under either .spec or .status";
        errors.push(FieldError::invalid_text(at("labelSelectorPath"), selector, detail));
    }
}

fn simple_path_fault(path: &str) -> Option<&'static str> {
    (!path.starts_with('.')).then_some("must be a simple json path starting with .")
}

pub fn columns(version: &Value, path: &str, errors: &mut Vec<FieldError>) {
    for (i, column) in list(version.get("additionalPrinterColumns")).iter().enumerate() {
        let at = |field: &str| format!("{path}.additionalPrinterColumns[{i}].{field}");
        if text(column, "name").is_empty() {
            errors.push(FieldError::required(at("name"), ""));
        }
        let one_of = |names: &[&str]| format!("must be one of {}", names.join(","));
        let (sort, format) = (text(column, "type"), text(column, "format"));
        if sort.is_empty() {
            errors.push(FieldError::required(at("type"), one_of(&COLUMN_TYPES)));
        } else if !COLUMN_TYPES.contains(&sort) {
            errors.push(FieldError::invalid_text(at("type"), sort, one_of(&COLUMN_TYPES)));
        }
        if !format.is_empty() && !COLUMN_FORMATS.contains(&format) {
            errors.push(FieldError::invalid_text(at("format"), format, one_of(&COLUMN_FORMATS)));
        }
        let json_path = text(column, "jsonPath");
        if json_path.is_empty() {
            errors.push(FieldError::required(at("JSONPath"), ""));
        } else if let Some(fault) = simple_path_fault(json_path) {
            errors.push(FieldError::invalid_text(at("JSONPath"), json_path, fault));
        }
    }
}

/// `schema` is the schema that stands beside the fields, if one does.
pub fn selectable_fields(version: &Value, schema: Option<&Value>, path: &str, errors: &mut Vec<FieldError>) {
    let fields = list(version.get("selectableFields"));
    let at = format!("{path}.selectableFields");
    if fields.is_empty() {
        return;
    }
    let Some(schema) = schema else {
        errors.push(FieldError::invalid_text(at, "", "may only be set when a schema is set in the same place"));
        return;
    };
    if fields.len() > SELECTABLE_MAX {
        errors.push(FieldError::too_many(at.clone(), fields.len(), SELECTABLE_MAX));
    }
    let mut seen = Vec::new();
    for (i, field) in fields.iter().enumerate() {
        let at = format!("{at}[{i}].jsonPath");
        let json_path = text(field, "jsonPath");
        if json_path.is_empty() {
            errors.push(FieldError::required(at, ""));
            continue;
        }
        match selected(schema, json_path) {
            Err(why) => errors.push(FieldError::invalid_text(at, json_path, format!("is an invalid path: {why}"))),
            Ok(_) if json_path.starts_with(".metadata.") => {
                errors.push(FieldError::invalid_text(at, json_path, "must not point to fields in metadata"));
            }
            Ok(node) if !matches!(text(node, "type"), "string" | "boolean" | "integer") => {
                let detail = "must point to a field of type string, boolean or integer. Enum string fields and strings \
                              with formats are allowed.";
                errors.push(FieldError::invalid_text(at, json_path, detail));
            }
            Ok(_) if seen.contains(&json_path) => errors.push(FieldError::duplicate(at, &Value::from(json_path))),
            Ok(_) => seen.push(json_path),
        }
    }
}

/// The node that a path in dot notation leads to.
fn selected<'a>(schema: &'a Value, path: &str) -> Result<&'a Value, &'static str> {
    let steps = path.strip_prefix('.').ok_or("expected . at the start")?;
    steps.split('.').try_fold(schema, |node, step| {
        if step.is_empty() || step.contains(['[', ']']) {
            return Err("expected a field name");
        }
        let declared = node.at(&["properties", step]);
        // A map has a field of any name.
        let values = || node.get("additionalProperties").filter(|v| v.is_object() && node.get("properties").is_none());
        declared.or_else(values).ok_or("does not refer to a valid field")
    })
}
