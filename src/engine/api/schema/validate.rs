//! Checks a value against a schema, the way the OpenAPI validator of the server does.
//!
//! Flow: `Validator::run` walks schema and value together; a node with an old counterpart forgets its faults when
//! the counterpart is equal (see `ratchet`); the branches of `anyOf` and friends are walked on the side, and of
//! those that fail the one with the most positive checks lends its faults.
//!
//! Mirrors kube-openapi `pkg/validation/validate` and apiextensions `pkg/apiserver/validation`.
//!
//! Divergence from Kubernetes: after `FAULTS_MAX` faults the rest is not listed.

use super::field::{ErrorKind, FieldError, FieldPath, quote};
use super::format;
use super::number::{Num, NumberCheck, NumberFault, whole};
use super::ratchet::{Old, OldItems};
use super::structural::{Additional, Checks, Structural, Type};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Most faults listed, so that a hostile object cannot make an answer far larger than itself.
pub const FAULTS_MAX: usize = 1000;

/// Checks `value` against `schema`; `prefix` is where the value stands, empty for a whole object.
#[must_use]
pub fn validate(schema: &Structural, value: &Value, old: Option<Old>, prefix: &str) -> Vec<FieldError> {
    let mut outcome = Outcome::default();
    Validator { prefix }.run(schema, value, old, &FieldPath::Root, &mut outcome);
    let mut seen = BTreeSet::new();
    outcome.faults.retain(|f| seen.insert((f.path.clone(), f.kind, f.detail.clone())));
    outcome.faults
}

/// Faults, and how many checks passed: the measure by which the best branch is picked.
#[derive(Default)]
struct Outcome {
    faults: Vec<FieldError>,
    passed: u32,
}

impl Outcome {
    fn push(&mut self, fault: FieldError) {
        if self.faults.len() < FAULTS_MAX {
            self.faults.push(fault);
        }
    }
    fn merge(&mut self, other: Outcome) {
        self.passed = self.passed.saturating_add(other.passed);
        for fault in other.faults {
            self.push(fault);
        }
    }
    fn count(&mut self, checks: u32) {
        self.passed = self.passed.saturating_add(checks);
    }
}

struct Validator<'a> {
    prefix: &'a str,
}

impl Validator<'_> {
    /// A node with its forgiveness.
    fn run(&self, schema: &Structural, value: &Value, old: Option<Old>, path: &FieldPath, out: &mut Outcome) {
        let before = out.faults.len();
        self.node(schema, value, old, path, out);
        if out.faults.len() > before && old.is_some_and(|o| o.unchanged(value)) {
            out.faults.truncate(before);
        }
    }

    /// A node without its forgiveness: what a branch of a junctor is.
    fn node(&self, schema: &Structural, value: &Value, old: Option<Old>, path: &FieldPath, out: &mut Outcome) {
        if value.is_null() {
            let nullable = schema.nullable || type_names(schema).is_empty();
            if nullable {
                out.count(1);
            } else {
                out.push(self.wrong_type(schema, "null", path));
            }
            self.enumeration(schema, value, path, out);
            return;
        }
        self.value_type(schema, value, path, out);
        self.junctors(schema, value, old, path, out);
        match value {
            Value::String(text) => self.text(schema, text, path, out),
            Value::Number(number) => self.number(schema, Num::of(number), path, out),
            Value::Array(items) => self.array(schema, items, old, path, out),
            _ => {}
        }
        self.enumeration(schema, value, path, out);
        if let Value::Object(map) = value {
            self.object(schema, map, old, path, out);
        }
        // One for the node itself, one for the enumeration check, which always applies.
        out.count(2);
    }

    /// The path of an error: the prefix, then the way down from it.
    fn at(&self, path: &FieldPath) -> String {
        match (self.prefix, path.is_root()) {
            (prefix, true) => prefix.to_string(),
            ("", false) => path.to_string(),
            (prefix, false) => format!("{prefix}.{path}"),
        }
    }

    /// A fault that the server reports at no field.
    fn nowhere(&self, detail: String) -> FieldError {
        FieldError::invalid_text(self.prefix, "", detail)
    }

    fn wrong_type(&self, schema: &Structural, found: &str, path: &FieldPath) -> FieldError {
        let detail = format!("{path} in body must be of type {}: {}", type_names(schema).join(","), quote(found));
        FieldError { kind: ErrorKind::TypeInvalid, path: self.at(path), value: Some(quote(found)), detail }
    }

    fn value_type(&self, schema: &Structural, value: &Value, path: &FieldPath, out: &mut Outcome) {
        let types = type_names(schema);
        let format = effective_format(schema);
        if types.is_empty() && format.is_empty() {
            return;
        }
        out.count(1);
        let (found, found_format) = type_of(value);
        let has = |name: &str| types.contains(&name);
        let float_as_int = found == "number" && has("integer") && value.as_f64().is_some_and(whole);
        let fits = has(found) || float_as_int || (found == "integer" && has("number"));
        let sequence = matches!(value, Value::String(_) | Value::Array(_));
        if !sequence && !format.is_empty() && !fits && found_format != format {
            let detail = format!("{path} in body must be of type {format}: {}", quote(found_format));
            let value = Some(quote(found_format));
            out.push(FieldError { kind: ErrorKind::TypeInvalid, path: self.at(path), value, detail });
            return;
        }
        // A format on anything but a number leaves texts and lists to the format's own check.
        let left_to_format = sequence && !format.is_empty() && !has("number") && !has("integer");
        if fits || left_to_format {
            out.count(1);
        } else {
            out.push(self.wrong_type(schema, found, path));
        }
    }

    fn enumeration(&self, schema: &Structural, value: &Value, path: &FieldPath, out: &mut Outcome) {
        let allowed = &schema.checks.enumeration;
        if allowed.is_empty() || allowed.iter().any(|a| enum_match(value, a)) {
            return;
        }
        let names: Vec<String> =
            allowed.iter().map(|a| a.as_str().map_or_else(|| a.to_string(), str::to_string)).collect();
        out.push(FieldError::not_supported(self.at(path), value, &names));
    }

    fn text(&self, schema: &Structural, text: &str, path: &FieldPath, out: &mut Outcome) {
        if let Some(detail) = text_fault(&schema.checks, text, path) {
            out.push(match detail {
                TextFault::TooLong(max) => FieldError::too_long(self.at(path), max),
                TextFault::Other(detail) => FieldError::invalid_text(self.at(path), text, detail),
            });
        }
        out.count(1);
        if let Some(check) = format::lookup(&schema.checks.format) {
            if !check(text) {
                let name = &schema.checks.format;
                let detail = format!("{path} in body must be of type {name}: {}", quote(text));
                let value = Some(quote(text));
                out.push(FieldError { kind: ErrorKind::TypeInvalid, path: self.at(path), value, detail });
            }
            out.count(1);
        }
    }

    fn number(&self, schema: &Structural, value: Num, path: &FieldPath, out: &mut Outcome) {
        let type_name = type_names(schema).first().copied().unwrap_or("");
        let check = NumberCheck { checks: &schema.checks, type_name, format: effective_format(schema), path };
        for fault in check.faults(value) {
            out.push(match fault {
                NumberFault::Range(text) => self.nowhere(text),
                NumberFault::Bound(text) => FieldError::invalid(self.at(path), &value.to_value(), text),
            });
        }
        out.count(2);
    }

    fn array(&self, schema: &Structural, list: &[Value], old: Option<Old>, path: &FieldPath, out: &mut Outcome) {
        if let Some(items) = &schema.items {
            let olds = old.map_or(OldItems::None, |o| o.items());
            for (i, item) in list.iter().enumerate() {
                self.run(items, item, olds.of(item), &path.index(i), out);
            }
        }
        let count = list.len();
        if schema.checks.min_items.is_some_and(|min| less(count, min)) {
            let min = schema.checks.min_items.unwrap_or(0);
            let detail = format!("{path} in body should have at least {min} items");
            out.push(FieldError::invalid(self.at(path), &Value::from(count), detail));
        }
        if let Some(max) = schema.checks.max_items.filter(|max| more(count, *max)) {
            out.push(FieldError::too_many(self.at(path), count, max.max(0) as usize));
        }
        out.count(2);
    }

    fn object(
        &self,
        schema: &Structural,
        map: &Map<String, Value>,
        old: Option<Old>,
        path: &FieldPath,
        out: &mut Outcome,
    ) {
        out.count(1);
        let count = map.len();
        if let Some(min) = schema.checks.min_properties.filter(|min| less(count, *min)) {
            let detail = format!("{path} in body should have at least {min} properties");
            out.push(FieldError::invalid(self.at(path), &Value::from(count), detail));
            return;
        }
        if let Some(max) = schema.checks.max_properties.filter(|max| more(count, *max)) {
            out.push(FieldError::too_many(self.at(path), count, max.max(0) as usize));
            return;
        }
        for (key, value) in map {
            match (schema.properties.get(key), &schema.additional) {
                (Some(child), _) | (None, Some(Additional::Schema(child))) => {
                    self.run(child, value, old.and_then(|o| o.member(key)), &path.child(key), out);
                }
                (None, Some(Additional::Allowed(false))) => {
                    let detail = format!("{} in body is a forbidden property", path.child(key));
                    out.push(FieldError::invalid_text(self.at(path), key, detail));
                }
                (None, _) => {}
            }
        }
        for name in schema.checks.required.iter().filter(|name| !map.contains_key(*name)) {
            out.push(FieldError::required(self.at(&path.child(name)), ""));
        }
    }

    fn junctors(&self, schema: &Structural, value: &Value, old: Option<Old>, path: &FieldPath, out: &mut Outcome) {
        // One for the validator that always applies, one of its own.
        out.count(2);
        let checks = &schema.checks;
        let branch = |schema: &Arc<Structural>| {
            let mut outcome = Outcome::default();
            self.node(schema, value, old, path, &mut outcome);
            outcome
        };
        let named = || quote(&path.to_string());
        if !checks.any_of.is_empty() {
            self.any_of(checks.any_of.iter().map(branch), named, out);
        }
        if !checks.one_of.is_empty() {
            self.one_of(checks.one_of.iter().map(branch), named, out);
        }
        if !checks.all_of.is_empty() {
            let mut valid = 0;
            for outcome in checks.all_of.iter().map(branch) {
                valid += usize::from(outcome.faults.is_empty());
                out.merge(outcome);
            }
            if valid != checks.all_of.len() {
                let none = if valid == 0 { ". None validated" } else { "" };
                out.push(self.nowhere(format!("{} must validate all the schemas (allOf){none}", named())));
            }
        }
        if checks.not.as_ref().is_some_and(|not| branch(not).faults.is_empty()) {
            out.push(self.nowhere(format!("{} must not validate the schema (not)", named())));
        }
    }

    fn any_of(&self, branches: impl Iterator<Item = Outcome>, named: impl Fn() -> String, out: &mut Outcome) {
        let mut best: Option<Outcome> = None;
        for outcome in branches {
            if outcome.faults.is_empty() {
                out.count(outcome.passed);
                return;
            }
            if best.as_ref().is_none_or(|b| outcome.passed > b.passed) {
                best = Some(outcome);
            }
        }
        out.push(self.nowhere(format!("{} must validate at least one schema (anyOf)", named())));
        out.merge(best.unwrap_or_default());
    }

    fn one_of(&self, branches: impl Iterator<Item = Outcome>, named: impl Fn() -> String, out: &mut Outcome) {
        let (mut valid, mut first_passed) = (0, 0);
        let mut best: Option<Outcome> = None;
        for outcome in branches {
            if outcome.faults.is_empty() {
                if valid == 0 {
                    first_passed = outcome.passed;
                }
                valid += 1;
                best = None;
            } else if valid == 0 && best.as_ref().is_none_or(|b| outcome.passed > b.passed) {
                best = Some(outcome);
            }
        }
        if valid == 1 {
            out.count(first_passed);
            return;
        }
        let found =
            if valid == 0 { "Found none valid".to_string() } else { format!("Found {valid} valid alternatives") };
        out.push(self.nowhere(format!("{} must validate one and only one schema (oneOf). {found}", named())));
        out.merge(best.unwrap_or_default());
    }
}

/// The types a node takes, by name.
fn type_names(schema: &Structural) -> &'static [&'static str] {
    if schema.int_or_string {
        return &["integer", "string"];
    }
    match schema.type_ {
        None => &[],
        Some(Type::Array) => &["array"],
        Some(Type::Boolean) => &["boolean"],
        Some(Type::Integer) => &["integer"],
        Some(Type::Number) => &["number"],
        Some(Type::Object) => &["object"],
        Some(Type::String) => &["string"],
    }
}

/// The format as far as the server knows it; an unknown one is as good as none.
fn effective_format(schema: &Structural) -> &str {
    let name = schema.checks.format.as_str();
    if format::numeric(name) || format::lookup(name).is_some() { name } else { "" }
}

/// Type and format of a decoded value.
fn type_of(value: &Value) -> (&'static str, &'static str) {
    match value {
        Value::Null => ("null", ""),
        Value::Bool(_) => ("boolean", ""),
        Value::String(_) => ("string", ""),
        Value::Array(_) => ("array", ""),
        Value::Object(_) => ("object", ""),
        Value::Number(n) if n.as_i64().is_some() => ("integer", "int64"),
        Value::Number(_) => ("number", "float64"),
    }
}

/// Whether a value is an enum entry after conversion to the entry's type: a fraction is cut for a whole entry,
/// null is no value at all.
fn enum_match(value: &Value, allowed: &Value) -> bool {
    match (value, allowed) {
        (Value::Null, _) => false,
        (Value::Number(v), Value::Number(a)) => match (Num::of(v), Num::of(a)) {
            (Num::Float(v), Num::Int(a)) => v.trunc() == a as f64,
            (v, a) => v.as_f64() == a.as_f64(),
        },
        _ => value == allowed,
    }
}

enum TextFault {
    TooLong(usize),
    Other(String),
}

/// The first fault of a text; lengths count code points.
fn text_fault(checks: &Checks, text: &str, path: &FieldPath) -> Option<TextFault> {
    let length = || text.chars().count();
    if let Some(max) = checks.max_length.filter(|max| more(text.len(), *max) && more(length(), *max)) {
        return Some(TextFault::TooLong(max.max(0) as usize));
    }
    if let Some(min) = checks.min_length.filter(|min| less(length(), *min)) {
        return Some(TextFault::Other(format!("{path} in body should be at least {min} chars long")));
    }
    let pattern = checks.pattern.as_ref().filter(|p| !p.found_in(text))?;
    Some(TextFault::Other(format!("{path} in body should match '{}'", pattern.text())))
}

fn less(count: usize, min: i64) -> bool {
    i64::try_from(count).is_ok_and(|c| c < min)
}

fn more(count: usize, max: i64) -> bool {
    i64::try_from(count).map_or(true, |c| c > max)
}
