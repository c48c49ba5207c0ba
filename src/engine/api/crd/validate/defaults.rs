//! Defaults in a schema: each is held to its own node, as written.
//!
//! Mirrors apiextensions `pkg/apiserver/schema/defaulting/validation.go`.

use crate::api::schema::embedded::{coerce_embedded, embedded_faults};
use crate::api::schema::field::FieldError;
use crate::api::schema::structural::Structural;
use crate::api::schema::{cel, prune_at, validate};
use serde_json::Value;

/// The faults of the defaults below `schema`, but those under `additionalProperties`, which upstream does not look at;
/// the place of `schema` in the definition is `path`.
pub fn faults(schema: &Structural, path: &str, resource_root: bool, errors: &mut Vec<FieldError>) {
    if !schema.defaults_below {
        return;
    }
    if let Some(default) = &schema.default {
        errors.extend(default_faults(schema, default, &format!("{path}.default"), resource_root));
    }
    for (name, property) in &schema.properties {
        faults(property, &format!("{path}.properties[{name}]"), false, errors);
    }
    if let Some(items) = &schema.items {
        faults(items, &format!("{path}.items"), false, errors);
    }
}

fn default_faults(schema: &Structural, default: &Value, path: &str, resource_root: bool) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut pruned = default.clone();
    let unknown = prune_at(schema, &mut pruned, schema.embedded_resource);
    if !unknown.is_empty() {
        let detail = format!("must not have unknown fields: {}", unknown.join(", "));
        errors.push(FieldError::invalid(path, default, detail));
    }
    if let Err(why) = coerce_embedded(schema, &mut pruned, &mut Vec::new()) {
        errors.push(FieldError::invalid(path, default, format!("must result in valid metadata: {why}")));
        return errors;
    }
    let below = |mut error: FieldError| {
        error.path = match error.path.as_str() {
            "" => path.to_string(),
            field if field.starts_with('[') => format!("{path}{field}"),
            field => format!("{path}.{field}"),
        };
        error
    };
    let mut found: Vec<FieldError> = embedded_faults(schema, default).into_iter().map(below).collect();
    if found.is_empty() {
        found = validate::validate(schema, default, None, path);
    }
    if found.is_empty() && schema.rules_below {
        let rules = cel::compile_quietly(schema, resource_root || schema.embedded_resource);
        found = cel::evaluate(&rules, default, None).errors.into_iter().map(below).collect();
    }
    errors.extend(found);
    errors
}
