//! Reading a schema as the typed form does: what it does not know falls away and is named, wrong types are refused.

use crate::api::schema::structural::DEPTH_MAX;
use serde_json::Value;

/// What a keyword holds.
enum Holds {
    Text,
    Flag,
    Whole,
    Number,
    Texts,
    Any,
    Schema,
    /// A schema or a truth value.
    SchemaOrFlag,
    Schemas,
    /// Schemas by name.
    Named,
    /// One schema or several.
    Items,
    Rules,
    Docs,
}

fn keyword(name: &str) -> Option<Holds> {
    Some(match name {
        "id"
        | "$schema"
        | "$ref"
        | "description"
        | "type"
        | "format"
        | "title"
        | "pattern"
        | "x-kubernetes-list-type"
        | "x-kubernetes-map-type" => Holds::Text,
        "exclusiveMaximum"
        | "exclusiveMinimum"
        | "uniqueItems"
        | "nullable"
        | "x-kubernetes-embedded-resource"
        | "x-kubernetes-int-or-string"
        | "x-kubernetes-preserve-unknown-fields" => Holds::Flag,
        "maxLength" | "minLength" | "maxItems" | "minItems" | "maxProperties" | "minProperties" => Holds::Whole,
        "maximum" | "minimum" | "multipleOf" => Holds::Number,
        "required" | "x-kubernetes-list-map-keys" => Holds::Texts,
        "default" | "example" => Holds::Any,
        "enum" => Holds::Any,
        "not" => Holds::Schema,
        "additionalProperties" | "additionalItems" => Holds::SchemaOrFlag,
        "allOf" | "anyOf" | "oneOf" => Holds::Schemas,
        "properties" | "patternProperties" | "definitions" | "dependencies" => Holds::Named,
        "items" => Holds::Items,
        "x-kubernetes-validations" => Holds::Rules,
        "externalDocs" => Holds::Docs,
        _ => return None,
    })
}

/// Reads a schema in place; `unknown` collects the paths of keywords that do not exist.
///
/// # Errors
/// A sentence about a keyword of the wrong type.
pub fn decode_schema(schema: &mut Value, path: &str, unknown: &mut Vec<String>) -> Result<(), String> {
    node(schema, path, 0, unknown)
}

fn wrong(path: &str, wanted: &str) -> String {
    format!("json: cannot unmarshal into Go struct field {path} of type {wanted}")
}

fn node(schema: &mut Value, path: &str, depth: usize, unknown: &mut Vec<String>) -> Result<(), String> {
    if depth > DEPTH_MAX {
        return Err(format!("{path} is nested deeper than {DEPTH_MAX} levels"));
    }
    let Some(map) = schema.as_object_mut() else { return Err(wrong(path, "JSONSchemaProps")) };
    map.retain(|name, value| {
        let known = keyword(name).is_some();
        if !known {
            unknown.push(format!("{path}.{name}"));
        }
        known && (!value.is_null() || name == "default")
    });
    for (name, value) in map {
        let at = format!("{path}.{name}");
        let texts = |v: &Value| v.as_array().is_some_and(|l| l.iter().all(Value::is_string));
        let good = match keyword(name).unwrap_or(Holds::Any) {
            Holds::Any => name != "enum" || value.is_array(),
            Holds::Text => value.is_string(),
            Holds::Flag => value.is_boolean(),
            Holds::Whole => value.is_i64(),
            Holds::Number => value.is_number(),
            Holds::Texts => texts(value),
            Holds::Docs => value.is_object(),
            Holds::SchemaOrFlag if value.is_boolean() => true,
            Holds::Schema | Holds::SchemaOrFlag => node(value, &at, depth + 1, unknown).map(|()| true)?,
            Holds::Items | Holds::Schemas if value.is_array() => {
                for (i, child) in value.as_array_mut().into_iter().flatten().enumerate() {
                    node(child, &format!("{at}[{i}]"), depth + 1, unknown)?;
                }
                true
            }
            Holds::Items => node(value, &at, depth + 1, unknown).map(|()| true)?,
            Holds::Schemas => false,
            Holds::Named => named(name, value, &at, depth, unknown)?,
            Holds::Rules => rules(value, &at, unknown)?,
        };
        if !good {
            return Err(wrong(&at, "JSONSchemaProps"));
        }
    }
    Ok(())
}

fn named(name: &str, value: &mut Value, at: &str, depth: usize, unknown: &mut Vec<String>) -> Result<bool, String> {
    let Some(map) = value.as_object_mut() else { return Ok(false) };
    for (key, child) in map {
        if name == "dependencies" && child.is_array() {
            continue;
        }
        node(child, &format!("{at}.{key}"), depth + 1, unknown)?;
    }
    Ok(true)
}

fn rules(value: &mut Value, at: &str, unknown: &mut Vec<String>) -> Result<bool, String> {
    let Some(list) = value.as_array_mut() else { return Ok(false) };
    for (i, rule) in list.iter_mut().enumerate() {
        let Some(map) = rule.as_object_mut() else { return Ok(false) };
        map.retain(|name, value| {
            let known = matches!(
                name.as_str(),
                "rule" | "message" | "messageExpression" | "reason" | "fieldPath" | "optionalOldSelf"
            );
            if !known {
                unknown.push(format!("{at}[{i}].{name}"));
            }
            known && !value.is_null()
        });
        let fits = |name: &str, v: &Value| if name == "optionalOldSelf" { v.is_boolean() } else { v.is_string() };
        if let Some((name, _)) = map.iter().find(|(name, v)| !fits(name, v)) {
            return Err(wrong(&format!("{at}.{name}"), "ValidationRule"));
        }
    }
    Ok(true)
}
