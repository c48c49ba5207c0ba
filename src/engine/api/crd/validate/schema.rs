//! The keywords of a schema, node by node; then whether it is structural, whether its rules compile, and whether its
//! defaults are good.
//!
//! Mirrors apiextensions `pkg/apis/apiextensions/validation/validation.go`
//! (`ValidateCustomResourceDefinitionOpenAPISchema`).

use super::{defaults, list, present, structural, text};
use crate::api::schema::cel;
use crate::api::schema::field::FieldError;
use crate::api::schema::structural::{DEPTH_MAX, Structural};
use crate::object::ObjectView;
use serde_json::Value;

const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];
/// Keywords that the server does not take, in the form of their cause.
const REFUSED: [&str; 6] = ["id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"];
/// What the root may carry when status is a subresource.
const AT_ROOT: [&str; 22] = [
    "description",
    "type",
    "format",
    "title",
    "maximum",
    "exclusiveMaximum",
    "minimum",
    "exclusiveMinimum",
    "maxLength",
    "minLength",
    "pattern",
    "maxItems",
    "minItems",
    "uniqueItems",
    "multipleOf",
    "required",
    "items",
    "properties",
    "externalDocs",
    "example",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-validations",
];
const RESOURCE_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

pub fn flag(schema: &Value, name: &str) -> bool {
    schema.get(name) == Some(&Value::Bool(true))
}

/// The schemas under a keyword that names them.
pub fn schemas<'a>(schema: &'a Value, name: &str) -> impl Iterator<Item = (&'a str, &'a Value)> {
    schema.get(name).and_then(Value::as_object).into_iter().flatten().map(|(k, v)| (k.as_str(), v))
}

/// A node below another, and the step that leads there.
pub struct Child<'a> {
    pub node: &'a Value,
    step: String,
    keyword: &'static str,
    /// The name of a property.
    name: &'a str,
}

/// The nodes directly below a node.
pub fn children(schema: &Value) -> Vec<Child<'_>> {
    let mut found = Vec::new();
    for keyword in ["additionalProperties", "not", "items"] {
        if let Some(node) = present(schema, keyword).filter(|v| v.is_object()) {
            found.push(Child { node, step: keyword.to_string(), keyword, name: "" });
        }
    }
    for keyword in ["allOf", "anyOf", "oneOf", "items"] {
        for (i, node) in list(schema.get(keyword)).iter().enumerate() {
            found.push(Child { node, step: format!("{keyword}[{i}]"), keyword, name: "" });
        }
    }
    for keyword in ["properties", "definitions", "patternProperties", "dependencies"] {
        for (name, node) in schemas(schema, keyword) {
            found.push(Child { node, step: format!("{keyword}[{name}]"), keyword, name });
        }
    }
    found
}

/// The faults of the schema of a version; `before` is the schema that the version had so far.
pub fn validate(root: &Value, path: &str, with_status: bool, before: Option<&Value>) -> Vec<FieldError> {
    let mut errors = judge(root, path, with_status);
    if let (false, Some(before)) = (errors.is_empty(), before) {
        // A definition is not held to what it was let off with when it was stored.
        if before == root {
            errors.retain(|e| !cel::is_cost_error(e));
        }
        let known = if errors.is_empty() { Vec::new() } else { judge(before, path, with_status) };
        errors.retain(|e| !known.iter().any(|k| k.path == e.path && k.kind == e.kind && k.detail == e.detail));
    }
    errors
}

fn judge(root: &Value, path: &str, with_status: bool) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let tree = match Structural::parse(root) {
        Ok(tree) => tree,
        Err(why) => return vec![FieldError::invalid_text(path, "", why)],
    };
    if with_status {
        root_of_status(root, path, &mut errors);
    }
    if flag(root, "nullable") {
        errors.push(FieldError::forbidden(format!("{path}.nullable"), "nullable cannot be true at the root"));
    }
    let mut walk = Walk { errors };
    walk.node(root, path, Place { root: true, ..Place::default() }, 0);
    let mut errors = walk.errors;
    let faults = structural::faults(root, path);
    let whole = faults.is_empty();
    errors.extend(faults);
    if tree.rules_below {
        let (_, found) = cel::compile_schema(&tree, path, &errors);
        errors.extend(found);
    }
    if whole {
        defaults::faults(&tree, path, true, &mut errors);
    }
    errors
}

fn root_of_status(root: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let sort = text(root, "type");
    if sort != "object" && !sort.is_empty() {
        let detail =
            "only \"object\" is allowed as the type at the root of the schema if the status subresource is enabled";
        errors.push(FieldError::invalid_text(format!("{path}.type"), sort, detail));
        return;
    }
    let zero = |value: &Value| match value {
        Value::Null => true,
        Value::Bool(set) => !set,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        _ => false,
    };
    let mut fields = root.as_object().into_iter().flatten();
    if let Some((name, _)) = fields.find(|(name, value)| !zero(value) && !AT_ROOT.contains(&name.as_str())) {
        let detail = format!(
            "only {AT_ROOT:?} fields are allowed at the root of the schema if the status subresource is enabled"
        );
        errors.push(FieldError::invalid_text(path, name, detail));
    }
}

/// Where the walk is.
#[derive(Clone, Default)]
struct Place {
    root: bool,
    inside_meta: bool,
    /// Why a default may not stand here.
    no_default: Option<String>,
}

struct Walk {
    errors: Vec<FieldError>,
}

impl Walk {
    fn forbid(&mut self, path: String, detail: impl Into<String>) {
        self.errors.push(FieldError::forbidden(path, detail));
    }

    fn node(&mut self, schema: &Value, path: &str, place: Place, depth: usize) {
        if depth > DEPTH_MAX {
            return;
        }
        self.keywords(schema, path, &place);
        self.lists(schema, path);
        for child in children(schema) {
            let mut below = Place { root: false, ..place.clone() };
            match child.keyword {
                "additionalProperties" if place.inside_meta => {
                    below.no_default = Some("inside additionalProperties applying to object metadata".to_string());
                }
                "properties" => {
                    let resource = place.root || flag(schema, "x-kubernetes-embedded-resource");
                    if resource && RESOURCE_FIELDS.contains(&child.name) {
                        below.inside_meta = true;
                        if place.root {
                            below.no_default = Some(format!("in top-level {}", child.name));
                        }
                    }
                }
                "allOf" | "anyOf" | "oneOf" | "not" => below.no_default = Some(format!("inside {}", child.keyword)),
                _ => {}
            }
            self.node(child.node, &format!("{path}.{}", child.step), below, depth + 1);
        }
    }

    fn keywords(&mut self, schema: &Value, path: &str, place: &Place) {
        let at = |name: &str| format!("{path}.{name}");
        if let (Some(why), Some(_)) = (&place.no_default, present(schema, "default")) {
            self.forbid(at("default"), format!("must not be set {why}"));
        }
        for name in REFUSED {
            let empty = |v: &Value| v.as_object().is_some_and(|m| m.is_empty() && name != "additionalItems") || v == "";
            if present(schema, name).is_some_and(|v| !empty(v)) {
                self.forbid(at(name), format!("{name} is not supported"));
            }
        }
        let sort = text(schema, "type");
        if sort == "null" {
            self.forbid(at("type"), "type cannot be set to null, use nullable as an alternative");
        }
        if !sort.is_empty() && !TYPES.contains(&sort) {
            self.errors.push(FieldError::not_supported(at("type"), &Value::from(sort), &TYPES));
        }
        if schema.get("items").is_some_and(|i| i.as_array().is_some_and(|l| !l.is_empty())) {
            self.forbid(at("items"), "items must be a schema object and not an array");
        }
        if place.inside_meta && flag(schema, "x-kubernetes-embedded-resource") {
            self.forbid(at("x-kubernetes-embedded-resource"), "must not be used inside of resource meta");
        }
        if flag(schema, "uniqueItems") {
            let detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
            self.forbid(at("uniqueItems"), detail);
        }
        let additional = present(schema, "additionalProperties");
        if additional.is_some_and(|a| *a != Value::Bool(true)) && schemas(schema, "properties").next().is_some() {
            let detail = "additionalProperties and properties are mutual exclusive";
            self.forbid(at("additionalProperties"), detail);
        }
        let preserve = "x-kubernetes-preserve-unknown-fields";
        if schema.get(preserve) == Some(&Value::Bool(false)) {
            self.errors.push(FieldError::invalid(at(preserve), &Value::Bool(false), "must be true or undefined"));
        }
    }

    /// A type that an extension asks for.
    fn wants_type(&mut self, schema: &Value, path: &str, wanted: &str, extension: &str) -> bool {
        let sort = text(schema, "type");
        if sort == wanted {
            return true;
        }
        let at = format!("{path}.type");
        let detail = format!("must be {wanted} if {extension} is specified");
        self.errors.push(match sort {
            "" => FieldError::required(at, detail),
            _ => FieldError::invalid_text(at, sort, detail),
        });
        false
    }

    fn lists(&mut self, schema: &Value, path: &str) {
        let at = |name: &str| format!("{path}.{name}");
        let (list_type, map_type) = ("x-kubernetes-list-type", "x-kubernetes-map-type");
        if let Some(sort) = present(schema, map_type) {
            self.wants_type(schema, path, "object", map_type);
            if !matches!(sort.as_str(), Some("atomic" | "granular")) {
                self.errors.push(FieldError::not_supported(at(map_type), sort, &["granular", "atomic"]));
            }
        }
        let sort = present(schema, list_type).and_then(Value::as_str);
        if let Some(sort) = sort {
            if self.wants_type(schema, path, "array", list_type) && sort == "set" {
                self.set_items(schema, path);
            }
            if !matches!(sort, "atomic" | "set" | "map") {
                let allowed = ["atomic", "set", "map"];
                self.errors.push(FieldError::not_supported(at(list_type), &Value::from(sort), &allowed));
            }
        }
        if !list(schema.get("x-kubernetes-list-map-keys")).is_empty() {
            let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
            match sort {
                Some("map") => {}
                None => self.errors.push(FieldError::required(at(list_type), detail)),
                Some(sort) => self.errors.push(FieldError::invalid_text(at(list_type), sort, detail)),
            }
        }
        if sort == Some("map") {
            self.map_keys(schema, path);
        }
        if matches!(sort, Some("set" | "map")) {
            self.keys_and_nulls(schema, path, sort.unwrap_or(""));
        }
    }

    fn set_items(&mut self, schema: &Value, path: &str) {
        let Some(items) = present(schema, "items").filter(|i| i.is_object()) else { return };
        let detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
        let name = match text(items, "type") {
            "array" => "x-kubernetes-list-type",
            "object" => "x-kubernetes-map-type",
            _ => return,
        };
        let sort = present(items, name).and_then(Value::as_str);
        let atomic = sort == Some("atomic") || (sort.is_none() && name == "x-kubernetes-list-type");
        if !atomic {
            let path = format!("{path}.items.{name}");
            self.errors.push(FieldError::invalid_text(path, sort.unwrap_or(""), detail));
        }
    }

    fn map_keys(&mut self, schema: &Value, path: &str) {
        let keys = list(schema.get("x-kubernetes-list-map-keys"));
        let at = format!("{path}.x-kubernetes-list-map-keys");
        if keys.is_empty() {
            let detail = "must not be empty if x-kubernetes-list-type is map";
            self.errors.push(FieldError::required(at.clone(), detail));
        }
        let Some(items) = present(schema, "items") else {
            let detail = "must have a schema if x-kubernetes-list-type is map";
            self.errors.push(FieldError::required(format!("{path}.items"), detail));
            return;
        };
        if text(items, "type") != "object" {
            let detail = "must be object if parent array's x-kubernetes-list-type is map";
            let path = format!("{path}.items.type");
            self.errors.push(FieldError::invalid_text(path, text(items, "type"), detail));
            return;
        }
        let shown = Value::Array(keys.to_vec());
        let mut seen = Vec::new();
        for key in keys.iter().filter_map(Value::as_str) {
            match items.at(&["properties", key]).map(|p| text(p, "type")) {
                Some(sort @ ("array" | "object")) => {
                    let detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
                    let path = format!("{path}.items.properties[{key}].type");
                    self.errors.push(FieldError::invalid_text(path, sort, detail));
                }
                Some(_) => {}
                None => {
                    let detail = "entries must all be names of item properties";
                    self.errors.push(FieldError::invalid(at.clone(), &shown, detail));
                }
            }
            if seen.contains(&key) {
                self.errors.push(FieldError::invalid(at.clone(), &shown, "must not contain duplicate entries"));
            }
            seen.push(key);
        }
    }

    /// Items that are told apart cannot be null, and the keys that tell them apart have to be there.
    fn keys_and_nulls(&mut self, schema: &Value, path: &str, sort: &str) {
        let Some(items) = present(schema, "items").filter(|i| i.is_object()) else { return };
        if flag(items, "nullable") {
            let detail = format!("cannot be nullable when x-kubernetes-list-type is {sort}");
            self.forbid(format!("{path}.items.nullable"), detail);
        }
        if sort != "map" {
            return;
        }
        let required = list(items.get("required"));
        for key in list(schema.get("x-kubernetes-list-map-keys")) {
            let Some(name) = key.as_str() else { continue };
            let Some(property) = items.at(&["properties", name]) else { continue };
            let at = format!("{path}.items.properties[{name}]");
            if !required.contains(key) && present(property, "default").is_none() {
                let detail = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a \
                              required property";
                self.errors.push(FieldError::required(format!("{at}.default"), detail));
            }
            if flag(property, "nullable") {
                let detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
                self.forbid(format!("{at}.nullable"), detail);
            }
        }
    }
}
