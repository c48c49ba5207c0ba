//! A schema as a tree, parsed once for each version of a definition and shared.
//!
//! Flow: the `openAPIV3Schema` of a version goes in, an `Arc<Structural>` comes out; pruning, defaulting,
//! validation and rules all walk this tree and none of them reads the JSON again.
//!
//! Guarantees: parsing never panics and stops at `DEPTH_MAX`. A keyword of the wrong JSON type is ignored here,
//! because the definition was refused before it got this far.
//!
//! Divergence from Kubernetes: patterns run on a smaller regular expression engine, see `re2`.

use super::pattern::Pattern;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Deepest nesting of a schema or an object that is looked at. The real server is bounded by its own decoder;
/// every walk here recurses, so the bound keeps a hostile document off the end of the stack.
pub const DEPTH_MAX: usize = 100;

/// The JSON type a node demands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Type {
    Array,
    Boolean,
    Integer,
    Number,
    Object,
    String,
}

impl Type {
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "array" => Type::Array,
            "boolean" => Type::Boolean,
            "integer" => Type::Integer,
            "number" => Type::Number,
            "object" => Type::Object,
            "string" => Type::String,
            _ => return None,
        })
    }
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Type::Array => "array",
            Type::Boolean => "boolean",
            Type::Integer => "integer",
            Type::Number => "number",
            Type::Object => "object",
            Type::String => "string",
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How the items of a list are told apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ListType {
    /// The list is one value.
    #[default]
    Atomic,
    /// Items are told apart by their value.
    Set,
    /// Items are told apart by the values of these keys.
    Map(Vec<String>),
}

/// What `additionalProperties` says.
#[derive(Clone, Debug)]
pub enum Additional {
    Schema(Arc<Structural>),
    Allowed(bool),
}

/// One entry of `x-kubernetes-validations`, as data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    pub rule: String,
    pub message: String,
    pub message_expression: String,
    /// Empty means `FieldValueInvalid`.
    pub reason: String,
    pub field_path: String,
    pub optional_old_self: bool,
}

/// A bound as written and as compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    pub value: f64,
    pub exclusive: bool,
}

/// The checks a value is held to, apart from its type.
#[derive(Clone, Debug, Default)]
pub struct Checks {
    pub format: String,
    pub maximum: Option<Bound>,
    pub minimum: Option<Bound>,
    pub multiple_of: Option<f64>,
    pub max_length: Option<i64>,
    pub min_length: Option<i64>,
    pub pattern: Option<Pattern>,
    pub max_items: Option<i64>,
    pub min_items: Option<i64>,
    pub max_properties: Option<i64>,
    pub min_properties: Option<i64>,
    pub required: Vec<String>,
    pub enumeration: Vec<Value>,
    pub all_of: Vec<Arc<Structural>>,
    pub any_of: Vec<Arc<Structural>>,
    pub one_of: Vec<Arc<Structural>>,
    pub not: Option<Arc<Structural>>,
}

/// A node of the tree.
#[derive(Clone, Debug, Default)]
pub struct Structural {
    pub type_: Option<Type>,
    pub properties: BTreeMap<String, Arc<Structural>>,
    pub additional: Option<Additional>,
    pub items: Option<Arc<Structural>>,
    pub default: Option<Value>,
    pub nullable: bool,
    pub preserve_unknown: bool,
    pub embedded_resource: bool,
    pub int_or_string: bool,
    pub list_type: ListType,
    /// `x-kubernetes-map-type: atomic`.
    pub atomic_map: bool,
    pub checks: Checks,
    pub rules: Vec<Rule>,
    /// A default stands here or below, so defaulting has to come by.
    pub defaults_below: bool,
    /// A rule stands here or below.
    pub rules_below: bool,
    /// A set, a map list or an embedded resource stands here or below.
    pub shapes_below: bool,
}

impl Structural {
    /// Parses an `openAPIV3Schema`. A schema nested deeper than `DEPTH_MAX` is refused with a sentence.
    ///
    /// # Errors
    /// When the schema nests too deep.
    pub fn parse(schema: &Value) -> Result<Arc<Structural>, String> {
        parse_at(schema, 0)
    }

    /// The schema of the values under keys that `properties` does not name.
    #[must_use]
    pub fn additional_schema(&self) -> Option<&Arc<Structural>> {
        match &self.additional {
            Some(Additional::Schema(schema)) => Some(schema),
            _ => None,
        }
    }

    /// The schema of the value under `key`.
    #[must_use]
    pub fn member(&self, key: &str) -> Option<&Arc<Structural>> {
        self.properties.get(key).or_else(|| self.additional_schema())
    }

    fn children(&self) -> impl Iterator<Item = &Arc<Structural>> {
        self.properties.values().chain(self.additional_schema()).chain(self.items.as_ref())
    }
}

fn parse_at(schema: &Value, depth: usize) -> Result<Arc<Structural>, String> {
    if depth > DEPTH_MAX {
        return Err(format!("schema is nested deeper than {DEPTH_MAX} levels"));
    }
    let empty = Map::new();
    let map = schema.as_object().unwrap_or(&empty);
    let flag = |name: &str| map.get(name).and_then(Value::as_bool).unwrap_or(false);
    let text = |name: &str| map.get(name).and_then(Value::as_str).unwrap_or("");
    let mut node = Structural {
        type_: Type::parse(text("type")),
        additional: additional(map.get("additionalProperties"), depth)?,
        items: map.get("items").filter(|v| v.is_object()).map(|v| parse_at(v, depth + 1)).transpose()?,
        default: map.get("default").filter(|v| !v.is_null()).cloned(),
        nullable: flag("nullable"),
        preserve_unknown: flag("x-kubernetes-preserve-unknown-fields"),
        embedded_resource: flag("x-kubernetes-embedded-resource"),
        int_or_string: flag("x-kubernetes-int-or-string"),
        list_type: list_type(map),
        atomic_map: text("x-kubernetes-map-type") == "atomic",
        checks: checks(map, depth)?,
        rules: list(map, "x-kubernetes-validations").iter().map(rule).collect(),
        ..Structural::default()
    };
    for (name, child) in map.get("properties").and_then(Value::as_object).unwrap_or(&empty) {
        node.properties.insert(name.clone(), parse_at(child, depth + 1)?);
    }
    node.defaults_below = node.default.is_some() || node.children().any(|c| c.defaults_below);
    node.rules_below = !node.rules.is_empty() || node.children().any(|c| c.rules_below);
    let shaped = node.list_type != ListType::Atomic || node.embedded_resource;
    node.shapes_below = shaped || node.children().any(|c| c.shapes_below);
    Ok(Arc::new(node))
}

fn list<'a>(map: &'a Map<String, Value>, name: &str) -> &'a [Value] {
    map.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn additional(value: Option<&Value>, depth: usize) -> Result<Option<Additional>, String> {
    Ok(match value {
        Some(Value::Bool(allowed)) => Some(Additional::Allowed(*allowed)),
        Some(schema @ Value::Object(_)) => Some(Additional::Schema(parse_at(schema, depth + 1)?)),
        _ => None,
    })
}

fn list_type(map: &Map<String, Value>) -> ListType {
    match map.get("x-kubernetes-list-type").and_then(Value::as_str) {
        Some("set") => ListType::Set,
        Some("map") => ListType::Map(texts(map, "x-kubernetes-list-map-keys")),
        _ => ListType::Atomic,
    }
}

fn texts(map: &Map<String, Value>, name: &str) -> Vec<String> {
    list(map, name).iter().filter_map(Value::as_str).map(str::to_string).collect()
}

fn checks(map: &Map<String, Value>, depth: usize) -> Result<Checks, String> {
    let int = |name: &str| map.get(name).and_then(Value::as_i64);
    let bound = |name: &str, exclusive: &str| {
        let value = map.get(name).and_then(Value::as_f64)?;
        Some(Bound { value, exclusive: map.get(exclusive).and_then(Value::as_bool).unwrap_or(false) })
    };
    let branches = |name: &str| list(map, name).iter().map(|b| parse_at(b, depth + 1)).collect::<Result<Vec<_>, _>>();
    Ok(Checks {
        format: map.get("format").and_then(Value::as_str).unwrap_or("").to_string(),
        maximum: bound("maximum", "exclusiveMaximum"),
        minimum: bound("minimum", "exclusiveMinimum"),
        multiple_of: map.get("multipleOf").and_then(Value::as_f64),
        max_length: int("maxLength"),
        min_length: int("minLength"),
        pattern: map.get("pattern").and_then(Value::as_str).filter(|p| !p.is_empty()).map(Pattern::new_or_inert),
        max_items: int("maxItems"),
        min_items: int("minItems"),
        max_properties: int("maxProperties"),
        min_properties: int("minProperties"),
        required: texts(map, "required"),
        enumeration: list(map, "enum").to_vec(),
        all_of: branches("allOf")?,
        any_of: branches("anyOf")?,
        one_of: branches("oneOf")?,
        not: map.get("not").filter(|v| v.is_object()).map(|v| parse_at(v, depth + 1)).transpose()?,
    })
}

fn rule(value: &Value) -> Rule {
    let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or("").to_string();
    Rule {
        rule: text("rule"),
        message: text("message"),
        message_expression: text("messageExpression"),
        reason: text("reason"),
        field_path: text("fieldPath"),
        optional_old_self: value.get("optionalOldSelf").and_then(Value::as_bool).unwrap_or(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_tree_knows_whether_defaults_and_rules_stand_below() {
        let s = Structural::parse(&json!({"type": "object", "properties": {
            "a": {"type": "object", "properties": {"b": {"type": "string", "default": "x"}}},
            "c": {"type": "integer", "x-kubernetes-validations": [{"rule": "self > 1"}]}}}))
        .unwrap();
        assert!(s.defaults_below && s.rules_below && !s.shapes_below);
        assert!(!s.properties["c"].defaults_below && s.properties["a"].defaults_below);
    }

    #[test]
    fn a_schema_nested_too_deep_is_refused() {
        let mut s = json!({"type": "string"});
        for _ in 0..=DEPTH_MAX {
            s = json!({"type": "array", "items": s});
        }
        assert!(Structural::parse(&s).is_err());
    }
}
