//! Walks over two objects, or an object and a set, led by a schema: compare, merge, remove, and the set of an
//! object's fields. Mirrors structured-merge-diff `typed/{compare,merge,remove,tofieldset,validate}.go`.

use super::set::{Set, field, is_open, keyed, valued};
use crate::api::schema::structural::{DEPTH_MAX, ListType, Structural, Type};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

type Schema<'a> = Option<&'a Structural>;

/// How a value takes part in a walk.
enum Shape<'a> {
    Leaf,
    Map(&'a Map<String, Value>),
    List(&'a [Value]),
}

/// The shape of `value` under `schema`. Where the schema leaves it open, objects are granular and lists are one value.
fn shape<'a>(value: &'a Value, schema: Schema) -> Shape<'a> {
    match value {
        Value::Object(map) if !schema.is_some_and(|s| s.atomic_map) => Shape::Map(map),
        Value::Array(list) if schema.is_some_and(|s| s.list_type != ListType::Atomic) => Shape::List(list),
        _ => Shape::Leaf,
    }
}

fn member<'a>(schema: Schema<'a>, name: &str) -> Schema<'a> {
    schema.and_then(|s| s.member(name)).map(AsRef::as_ref)
}

fn items<'a>(schema: Schema<'a>) -> Schema<'a> {
    schema.and_then(|s| s.items.as_deref())
}

/// The path element of an item; `None` for an item without its keys.
fn element(item: &Value, schema: Schema) -> Option<String> {
    match schema.map(|s| &s.list_type) {
        Some(ListType::Map(keys)) => keyed(item, keys, items(schema)),
        _ => valued(item),
    }
}

/// What differs between two objects.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    pub added: Set,
    pub modified: Set,
    pub removed: Set,
}

impl Comparison {
    #[must_use]
    pub fn is_same(&self) -> bool {
        self.added.is_empty() && self.modified.is_empty() && self.removed.is_empty()
    }
}

/// Compares an old object with a new one.
#[must_use]
pub fn compare(old: &Value, new: &Value, schema: Schema) -> Comparison {
    let mut out = Comparison::default();
    compare_at(Some(old), Some(new), schema, &mut Vec::new(), &mut out);
    out
}

fn compare_at(old: Option<&Value>, new: Option<&Value>, schema: Schema, path: &mut Vec<String>, out: &mut Comparison) {
    if path.len() > DEPTH_MAX {
        return;
    }
    let empty = |v: Option<&Value>| v.is_none_or(|v| v.is_null() || v.as_object().is_some_and(Map::is_empty));
    let empty_list = |v: Option<&Value>| v.is_none_or(|v| v.is_null() || v.as_array().is_some_and(Vec::is_empty));
    let granular = |v: Option<&Value>| v.is_none_or(|v| v.is_null() || !matches!(shape(v, schema), Shape::Leaf));
    let leaf = (empty(old) && empty(new)) || (empty_list(old) && empty_list(new)) || !granular(old) || !granular(new);
    if !leaf {
        let (old_map, new_map) = (old.and_then(Value::as_object), new.and_then(Value::as_object));
        if old_map.is_some() || new_map.is_some() {
            compare_maps(old_map, new_map, schema, path, out);
        }
        let (old_list, new_list) = (old.and_then(Value::as_array), new.and_then(Value::as_array));
        if old_list.is_some() || new_list.is_some() {
            compare_lists(old_list, new_list, schema, path, out);
        }
    }
    // A container counts as added or removed beside its leaves; only a leaf can be modified.
    match (old, new) {
        (None, _) => out.added.insert(path),
        (_, None) => out.removed.insert(path),
        (Some(a), Some(b)) if leaf && a != b => out.modified.insert(path),
        _ => {}
    }
}

fn compare_maps(
    old: Option<&Map<String, Value>>,
    new: Option<&Map<String, Value>>,
    schema: Schema,
    path: &mut Vec<String>,
    out: &mut Comparison,
) {
    let names: BTreeSet<&String> = old.into_iter().chain(new).flat_map(Map::keys).collect();
    for name in names {
        let (a, b) = (old.and_then(|m| m.get(name)), new.and_then(|m| m.get(name)));
        // Most fields of most writes are untouched; equality is much cheaper than walking them.
        if a.is_some() && a == b {
            continue;
        }
        path.push(field(name));
        compare_at(a, b, member(schema, name), path, out);
        path.pop();
    }
}

fn compare_lists(
    old: Option<&Vec<Value>>,
    new: Option<&Vec<Value>>,
    schema: Schema,
    path: &mut Vec<String>,
    out: &mut Comparison,
) {
    let (old, new) = (indexed(old, schema), indexed(new, schema));
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    for name in names {
        let (a, b) = (old.get(name).copied(), new.get(name).copied());
        if a.is_some() && a == b {
            continue;
        }
        path.push(name.clone());
        compare_at(a, b, items(schema), path, out);
        path.pop();
    }
}

fn indexed<'a>(list: Option<&'a Vec<Value>>, schema: Schema) -> BTreeMap<String, &'a Value> {
    let mut out = BTreeMap::new();
    for item in list.into_iter().flatten() {
        if let Some(name) = element(item, schema) {
            out.entry(name).or_insert(item);
        }
    }
    out
}

/// Merges an applied configuration into the live object.
#[must_use]
pub fn merge(live: Option<&Value>, config: &Value, schema: Schema) -> Value {
    merge_at(live, config, schema, 0)
}

fn merge_at(live: Option<&Value>, config: &Value, schema: Schema, depth: usize) -> Value {
    let (Some(live), true) = (live, depth <= DEPTH_MAX) else { return config.clone() };
    match (shape(live, schema), shape(config, schema)) {
        (Shape::Map(old), Shape::Map(new)) if !(old.is_empty() && new.is_empty()) => {
            let mut out = old.clone();
            for (name, value) in new {
                let merged = merge_at(old.get(name), value, member(schema, name), depth + 1);
                out.insert(name.clone(), merged);
            }
            Value::Object(out)
        }
        (Shape::List(old), Shape::List(new)) if !(old.is_empty() && new.is_empty()) => {
            Value::Array(merge_lists(old, new, schema, depth))
        }
        // A null neither clears a granular map nor a list: it names no item.
        (Shape::Map(old), _) if config.is_null() && !old.is_empty() => live.clone(),
        (Shape::List(old), _) if config.is_null() && !old.is_empty() => live.clone(),
        _ => config.clone(),
    }
}

/// Keeps the order of the configuration for the items in both lists, and weaves the live ones around them.
fn merge_lists(old: &[Value], new: &[Value], schema: Schema, depth: usize) -> Vec<Value> {
    let order = |list: &[Value]| -> Vec<(String, Value)> {
        let mut seen = BTreeSet::new();
        let named = list.iter().filter_map(|item| Some((element(item, schema)?, item.clone())));
        named.filter(|(name, _)| seen.insert(name.clone())).collect()
    };
    let (left, right) = (order(old), order(new));
    let by_name: BTreeMap<&str, &Value> = left.iter().map(|(n, v)| (n.as_str(), v)).collect();
    let in_right: BTreeSet<&str> = right.iter().map(|(n, _)| n.as_str()).collect();
    let mut shared = right.iter().map(|(n, _)| n.as_str()).filter(|n| by_name.contains_key(n));
    let mut next_shared = shared.next();
    let mut out = Vec::with_capacity(left.len() + right.len());
    let (mut l, mut r) = (0, 0);
    while l < left.len() || r < right.len() {
        if let (Some((a, _)), Some((b, _))) = (left.get(l), right.get(r)) {
            let waits = in_right.contains(a.as_str()) && next_shared.is_some_and(|n| n != a);
            if a != b && waits {
                l += 1;
                continue;
            }
        }
        match left.get(l) {
            Some((a, item)) if !in_right.contains(a.as_str()) => {
                out.push(item.clone());
                l += 1;
                continue;
            }
            Some((a, _)) if right.get(r).is_none_or(|(b, _)| a == b) => l += 1,
            _ => {}
        }
        if let Some((name, item)) = right.get(r) {
            out.push(merge_at(by_name.get(name.as_str()).copied(), item, items(schema), depth + 1));
            r += 1;
            if next_shared == Some(name.as_str()) {
                next_shared = shared.next();
            }
        }
    }
    out
}

/// The object without the paths of `gone`. `None` when nothing is left of it.
#[must_use]
pub fn remove(value: &Value, gone: &Set, schema: Schema) -> Option<Value> {
    match shape(value, schema) {
        Shape::Map(map) => {
            let mut out = Map::new();
            for (name, child) in map {
                let element = field(name);
                if gone.has(&element) {
                    continue;
                }
                let kept = match gone.below(&element) {
                    Some(below) => remove(child, &below, member(schema, name)),
                    None => Some(child.clone()),
                };
                out.extend(kept.map(|kept| (name.clone(), kept)));
            }
            (!out.is_empty()).then_some(Value::Object(out))
        }
        Shape::List(list) => {
            let mut out = Vec::with_capacity(list.len());
            for item in list {
                let Some(name) = element(item, schema) else {
                    out.push(item.clone());
                    continue;
                };
                if gone.has(&name) {
                    continue;
                }
                match gone.below(&name) {
                    Some(below) => out.extend(remove(item, &below, items(schema))),
                    None => out.push(item.clone()),
                }
            }
            (!out.is_empty()).then_some(Value::Array(out))
        }
        Shape::Leaf => Some(value.clone()),
    }
}

/// The set of the fields of an object.
#[must_use]
pub fn fields_of(value: &Value, schema: Schema) -> Set {
    let mut out = Set::default();
    collect(value, schema, &mut Vec::new(), &mut out);
    out
}

fn collect(value: &Value, schema: Schema, path: &mut Vec<String>, out: &mut Set) {
    if path.len() > DEPTH_MAX {
        return;
    }
    match shape(value, schema) {
        Shape::Leaf => out.insert(path),
        Shape::Map(map) => {
            for (name, child) in map {
                path.push(field(name));
                collect(child, member(schema, name), path, out);
                let empty = child.is_null() || child.as_object().is_some_and(Map::is_empty);
                let declared = schema.is_some_and(|s| s.properties.contains_key(name));
                if empty || !declared {
                    out.insert(path);
                }
                path.pop();
            }
        }
        Shape::List(list) => {
            for name in list.iter().filter_map(|item| element(item, schema).map(|n| (n, item))) {
                path.push(name.0);
                collect(name.1, items(schema), path, out);
                out.insert(path);
                path.pop();
            }
        }
    }
}

/// Checks that a configuration fits its schema: declared fields, scalar types, keys of list items.
///
/// # Errors
/// Every misfit as `.path: what`.
pub fn check(value: &Value, schema: Schema) -> Result<(), Vec<String>> {
    let mut faults = Vec::new();
    check_at(value, schema, "", 0, &mut faults);
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

fn check_at(value: &Value, schema: Schema, path: &str, depth: usize, faults: &mut Vec<String>) {
    let Some(node) = schema else { return };
    if value.is_null() || is_open(schema) || depth > DEPTH_MAX {
        return;
    }
    match node.type_ {
        Some(Type::Object) => check_map(value, node, path, depth, faults),
        Some(Type::Array) => check_list(value, node, path, depth, faults),
        _ if node.int_or_string && !value.is_string() && !value.is_number() => {
            faults.push(format!("{path}: expected string or number, got {}", go_type(value)));
        }
        Some(Type::Integer | Type::Number) if !value.is_number() => {
            faults.push(format!("{path}: expected numeric (int or float), got {}", go_type(value)));
        }
        Some(Type::Boolean) if !value.is_boolean() => {
            faults.push(format!("{path}: expected boolean, got {}", go_type(value)));
        }
        Some(Type::String) if !value.is_string() => {
            faults.push(format!("{path}: expected string, got {}", go_type(value)));
        }
        _ => {}
    }
}

fn check_map(value: &Value, node: &Structural, path: &str, depth: usize, faults: &mut Vec<String>) {
    let Value::Object(map) = value else {
        faults.push(format!("{path}: expected map, got {}", go_type(value)));
        return;
    };
    for (name, child) in map {
        let at = format!("{path}.{name}");
        match node.member(name) {
            Some(below) => check_at(child, Some(below), &at, depth + 1, faults),
            None if node.preserve_unknown || node.additional.is_some() || node.embedded_resource => {}
            None => faults.push(format!("{at}: field not declared in schema")),
        }
    }
}

fn check_list(value: &Value, node: &Structural, path: &str, depth: usize, faults: &mut Vec<String>) {
    let Value::Array(list) = value else {
        faults.push(format!("{path}: expected list, got {}", go_type(value)));
        return;
    };
    let mut seen = BTreeSet::new();
    for (at, item) in list.iter().enumerate() {
        let mut place = format!("{path}[{at}]");
        if node.list_type != ListType::Atomic {
            match element(item, Some(node)) {
                None => faults.push(format!(
                    "{path}: element {at}: associative list without keys has an element that's a map type"
                )),
                Some(name) if !seen.insert(name.clone()) => {
                    let (_, key) = name.split_once(':').unwrap_or(("", &name));
                    faults.push(format!("{path}: duplicate entries for key [{key}]"));
                }
                Some(name) => {
                    let mut one = Set::default();
                    one.insert(&[name]);
                    place = format!("{path}{}", one.paths().concat());
                }
            }
        }
        check_at(item, node.items.as_deref(), &place, depth + 1, faults);
    }
}

fn go_type(value: &Value) -> String {
    match value {
        Value::Null => "nil".to_string(),
        Value::Bool(b) => format!("&value.valueUnstructured{{Value:{b}}}"),
        Value::Number(n) => format!("&value.valueUnstructured{{Value:{n}}}"),
        Value::String(s) => format!("&value.valueUnstructured{{Value:{s:?}}}"),
        Value::Array(_) => "list".to_string(),
        Value::Object(_) => "map".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::sync::Arc;

    fn schema() -> Arc<Structural> {
        Structural::parse(&json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
            "size": {"type": "integer"},
            "hosts": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            "ports": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                "items": {"type": "object", "properties": {"name": {"type": "string"}, "port": {"type": "integer"}}}},
            "steps": {"type": "array", "items": {"type": "string"}},
            "options": {"type": "object", "additionalProperties": {"type": "string"}}}}}}))
        .unwrap()
    }

    #[test]
    fn the_set_of_a_configuration_has_leaves_items_and_map_keys() {
        let config = json!({"spec": {"size": 1, "hosts": ["a"], "ports": [{"name": "p", "port": 1}], "steps": ["x"],
            "options": {"k": "v"}}});
        let expected = json!({"f:spec": {"f:size": {}, "f:hosts": {"v:\"a\"": {}}, "f:steps": {},
            "f:ports": {"k:{\"name\":\"p\"}": {".": {}, "f:name": {}, "f:port": {}}}, "f:options": {"f:k": {}}}});
        assert_eq!(Value::Object(fields_of(&config, Some(&schema())).0), expected);
    }

    #[test]
    fn a_comparison_adds_containers_with_their_leaves() {
        let s = schema();
        let c = compare(&json!({"spec": {"size": 1}}), &json!({"spec": {"size": 2, "options": {"k": "v"}}}), Some(&s));
        assert_eq!(Value::Object(c.added.0), json!({"f:spec": {"f:options": {".": {}, "f:k": {}}}}));
        assert_eq!(Value::Object(c.modified.0), json!({"f:spec": {"f:size": {}}}));
        assert!(c.removed.is_empty());
    }

    #[test]
    fn a_merge_keeps_the_order_of_the_configuration_for_shared_items() {
        let s = schema();
        let merged = |live: Value, config: Value| {
            merge(Some(&json!({"spec": {"hosts": live}})), &json!({"spec": {"hosts": config}}), Some(&s))["spec"]["hosts"].clone()
        };
        assert_eq!(merged(json!(["a", "b"]), json!(["b", "c"])), json!(["a", "b", "c"]));
        assert_eq!(merged(json!(["a", "b", "c"]), json!(["c", "a"])), json!(["b", "c", "a"]));
        assert_eq!(merged(json!(["a", "b"]), json!(["b", "a"])), json!(["b", "a"]));
        assert_eq!(merged(json!([]), json!(["x"])), json!(["x"]));
    }

    #[test]
    fn undeclared_fields_and_wrong_types_are_named() {
        let faults =
            check(&json!({"spec": {"flavour": "x", "size": "big", "hosts": ["a", "a"]}}), Some(&schema())).unwrap_err();
        assert_eq!(faults[0], ".spec.flavour: field not declared in schema");
        assert_eq!(faults.len(), 3);
    }

    #[test]
    fn a_list_that_lost_every_item_goes_too() {
        let s = schema();
        let gone = fields_of(&json!({"spec": {"hosts": ["a"]}}), Some(&s));
        assert_eq!(
            remove(&json!({"spec": {"hosts": ["a"], "size": 1}}), &gone, Some(&s)),
            Some(json!({"spec": {"size": 1}}))
        );
    }
}
