//! Strategic merge patch: a merge patch that knows which lists of a built-in kind merge, and by which key.
//!
//! Mirrors apimachinery `pkg/util/strategicpatch/patch.go`: directives `$patch`, `$retainKeys`,
//! `$setElementOrder/…`, `$deleteFromPrimitiveList/…`, and its order of merged lists.

use super::unprocessable;
use crate::api::schema::structural::DEPTH_MAX;
use crate::api::status::ApiStatus;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How a field takes a patch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// Objects merge, lists and plain values are replaced.
    #[default]
    Plain,
    /// A list of objects merges by this key.
    MergeBy(String),
    /// A list of plain values is a union.
    MergeValues,
}

/// The patch strategies of a kind, as a tree of its fields.
#[derive(Clone, Debug, Default)]
pub struct PatchSchema {
    pub strategy: Strategy,
    pub fields: BTreeMap<String, Arc<PatchSchema>>,
    /// The items of a list, or the values of a map.
    pub items: Option<Arc<PatchSchema>>,
}

impl PatchSchema {
    fn field(&self, name: &str) -> Option<&PatchSchema> {
        self.fields.get(name).or(self.items.as_ref()).map(Arc::as_ref)
    }
}

type Fields = Map<String, Value>;
type Outcome<T> = Result<T, ApiStatus>;

const DIRECTIVE: &str = "$patch";
const RETAIN: &str = "$retainKeys";
const ORDER: &str = "$setElementOrder/";
const DELETE_VALUES: &str = "$deleteFromPrimitiveList/";

/// Applies `patch` to `document`, an object of the kind that `schema` describes.
///
/// # Errors
/// 422 for a directive that cannot be followed, 400 for a patch that is no object.
pub fn apply(document: &Value, patch: &Value, schema: &PatchSchema) -> Outcome<Value> {
    match (document, patch) {
        (Value::Object(document), Value::Object(patch)) => {
            merge_map(document.clone(), patch, Some(schema), 0).map(Value::Object)
        }
        _ => Err(ApiStatus::bad_request("error decoding patch: not an object")),
    }
}

fn merge_map(mut original: Fields, patch: &Fields, schema: Option<&PatchSchema>, depth: usize) -> Outcome<Fields> {
    if depth > DEPTH_MAX {
        return Err(unprocessable("the patch is nested too deep"));
    }
    if let Some(directive) = patch.get(DIRECTIVE) {
        return match directive.as_str() {
            Some("replace") => Ok(without_directives(patch)),
            Some("delete") => Ok(Fields::new()),
            _ => Err(unprocessable("Unknown patch type found: $patch must be replace or delete in a map")),
        };
    }
    retain(&mut original, patch)?;
    let ordered = set_order(&mut original, patch, schema, depth)?;
    for (name, change) in patch {
        if name == RETAIN || name.starts_with(ORDER) || ordered.contains(&name.as_str()) {
            continue;
        }
        if let Some(field) = name.strip_prefix(DELETE_VALUES) {
            delete_values(&mut original, field, change);
            continue;
        }
        merge_field(&mut original, name, change, schema, depth)?;
    }
    Ok(original)
}

fn merge_field(
    original: &mut Fields,
    name: &str,
    change: &Value,
    schema: Option<&PatchSchema>,
    depth: usize,
) -> Outcome<()> {
    if change.is_null() {
        original.remove(name);
        return Ok(());
    }
    let below = schema.and_then(|s| s.field(name));
    let merged = match (original.remove(name), change) {
        (Some(Value::Object(old)), Value::Object(new)) => Value::Object(merge_map(old, new, below, depth + 1)?),
        (None, Value::Object(new)) => Value::Object(merge_map(Fields::new(), new, below, depth + 1)?),
        (old, Value::Array(new)) => {
            let old = match old {
                Some(Value::Array(list)) => list,
                _ => Vec::new(),
            };
            Value::Array(merge_list(old, new, below, depth + 1)?)
        }
        (_, plain) => plain.clone(),
    };
    original.insert(name.to_string(), merged);
    Ok(())
}

fn merge_list(old: Vec<Value>, new: &[Value], schema: Option<&PatchSchema>, depth: usize) -> Outcome<Vec<Value>> {
    let items = schema.and_then(|s| s.items.as_deref());
    match schema.map_or(&Strategy::Plain, |s| &s.strategy) {
        Strategy::Plain => Ok(new.to_vec()),
        Strategy::MergeValues => {
            let merged = union(&old, new);
            Ok(in_order(merged, new, &old, None))
        }
        Strategy::MergeBy(key) => {
            let (base, changes, replaced) = special_items(&old, new, key)?;
            let merged = merge_items(base, &changes, key, items, depth)?;
            if replaced { Ok(merged) } else { Ok(in_order(merged, &changes, &old, Some(key))) }
        }
    }
}

fn union(old: &[Value], new: &[Value]) -> Vec<Value> {
    let mut merged: Vec<Value> = Vec::with_capacity(old.len() + new.len());
    for value in old.iter().chain(new) {
        if !merged.contains(value) {
            merged.push(value.clone());
        }
    }
    merged
}

/// Follows the items of a patch list that carry `$patch`, and answers what is left of both lists and whether
/// the old one was thrown away.
fn special_items(old: &[Value], new: &[Value], key: &str) -> Outcome<(Vec<Value>, Vec<Value>, bool)> {
    let mut base = old.to_vec();
    let mut changes = Vec::with_capacity(new.len());
    let mut replaced = false;
    for item in new {
        match item.get(DIRECTIVE).and_then(Value::as_str) {
            None => changes.push(item.clone()),
            Some("replace") => replaced = true,
            Some("delete") => {
                let id = item
                    .get(key)
                    .ok_or_else(|| unprocessable(&format!("delete patch type with no merge key {key}")))?;
                base.retain(|o| o.get(key) != Some(id));
            }
            Some(other) => return Err(unprocessable(&format!("Unknown patch type found: {other}"))),
        }
    }
    if replaced {
        base.clear();
    }
    Ok((base, changes, replaced))
}

fn merge_items(
    mut base: Vec<Value>,
    changes: &[Value],
    key: &str,
    items: Option<&PatchSchema>,
    depth: usize,
) -> Outcome<Vec<Value>> {
    for change in changes {
        let Value::Object(fields) = change else {
            return Err(unprocessable("a merged list must hold objects"));
        };
        let id = fields
            .get(key)
            .ok_or_else(|| unprocessable(&format!("map: does not contain declared merge key: {key}")))?;
        let found = base.iter_mut().find(|o| o.get(key) == Some(id));
        match found {
            Some(slot) => {
                let old = slot.as_object().cloned().unwrap_or_default();
                *slot = Value::Object(merge_map(old, fields, items, depth + 1)?);
            }
            None => base.push(Value::Object(merge_map(Fields::new(), fields, items, depth + 1)?)),
        }
    }
    Ok(base)
}

/// Whether two items are the same one.
fn same(a: &Value, b: &Value, key: Option<&str>) -> bool {
    match key {
        Some(key) => a.get(key).is_some() && a.get(key) == b.get(key),
        None => a == b,
    }
}

fn place(order: &[Value], item: &Value, key: Option<&str>) -> Option<usize> {
    order.iter().position(|o| same(o, item, key))
}

/// Puts a merged list in its order: the items of the patch as the patch has them, the others woven in where the
/// server's old order allows it, else behind.
fn in_order(merged: Vec<Value>, patch: &[Value], server: &[Value], key: Option<&str>) -> Vec<Value> {
    let (mut ours, mut theirs): (Vec<Value>, Vec<Value>) =
        merged.into_iter().partition(|item| place(patch, item, key).is_some());
    ours.sort_by_key(|item| place(patch, item, key));
    theirs.sort_by_key(|item| place(server, item, key).unwrap_or(usize::MAX));
    let before = |a: &Value, b: &Value| match (place(server, a, key), place(server, b, key)) {
        (Some(a), Some(b)) => a < b,
        _ => false,
    };
    let (mut ours, mut theirs) = (ours.into_iter().peekable(), theirs.into_iter().peekable());
    let mut out = Vec::with_capacity(ours.len() + theirs.len());
    loop {
        match (theirs.peek(), ours.peek()) {
            (Some(their), Some(our)) if before(their, our) => out.extend(theirs.next()),
            (_, Some(_)) => out.extend(ours.next()),
            (Some(_), None) => out.extend(theirs.next()),
            (None, None) => return out,
        }
    }
}

/// Follows `$setElementOrder/…` and answers the fields that are done with.
fn set_order<'a>(
    original: &mut Fields,
    patch: &'a Fields,
    schema: Option<&PatchSchema>,
    depth: usize,
) -> Outcome<Vec<&'a str>> {
    let mut done = Vec::new();
    for (name, order) in patch {
        let Some(field) = name.strip_prefix(ORDER) else { continue };
        let order = order.as_array().ok_or_else(|| unprocessable("$setElementOrder must be a list"))?;
        let below = schema.and_then(|s| s.field(field));
        let key = match below.map(|b| &b.strategy) {
            Some(Strategy::MergeBy(key)) => Some(key.as_str()),
            _ => None,
        };
        let server = original.get(field).and_then(Value::as_array).cloned().unwrap_or_default();
        if let Some(gone) = patch.get(&format!("{DELETE_VALUES}{field}")) {
            delete_values(original, field, gone);
        }
        match patch.get(field) {
            Some(Value::Null) => {
                original.remove(field);
            }
            Some(change) => merge_field(original, field, change, schema, depth)?,
            None => {}
        }
        if let Some(Value::Array(merged)) = original.remove(field) {
            original.insert(field.to_string(), Value::Array(in_order(merged, order, &server, key)));
        }
        done.push(field);
    }
    Ok(done)
}

fn delete_values(original: &mut Fields, field: &str, gone: &Value) {
    if let (Some(Value::Array(list)), Some(gone)) = (original.get_mut(field), gone.as_array()) {
        list.retain(|v| !gone.contains(v));
    }
}

fn retain(original: &mut Fields, patch: &Fields) -> Outcome<()> {
    let Some(keys) = patch.get(RETAIN) else { return Ok(()) };
    let keys = keys.as_array().ok_or_else(|| unprocessable("$retainKeys must be a list"))?;
    let kept = |name: &str| keys.iter().any(|k| k.as_str() == Some(name));
    let extra = patch.iter().any(|(name, value)| !name.starts_with('$') && !value.is_null() && !kept(name));
    if extra {
        return Err(unprocessable("$retainKeys must contain all the keys of the patch"));
    }
    original.retain(|name, _| kept(name));
    Ok(())
}

fn without_directives(patch: &Fields) -> Fields {
    patch.iter().filter(|(name, _)| *name != DIRECTIVE).map(|(n, v)| (n.clone(), v.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> PatchSchema {
        let list = |strategy| Arc::new(PatchSchema { strategy, items: Some(Arc::default()), ..PatchSchema::default() });
        let mut root = PatchSchema::default();
        root.fields.insert("values".into(), list(Strategy::MergeValues));
        root.fields.insert("items".into(), list(Strategy::MergeBy("name".into())));
        root
    }

    fn patched(document: &Value, patch: &Value) -> Value {
        apply(document, patch, &schema()).unwrap()
    }

    #[test]
    fn a_new_value_of_a_merged_list_comes_first() {
        assert_eq!(patched(&json!({"values": ["a"]}), &json!({"values": ["b"]})), json!({"values": ["b", "a"]}));
    }

    #[test]
    fn lists_without_a_strategy_are_replaced() {
        assert_eq!(patched(&json!({"other": ["a"]}), &json!({"other": ["b"]})), json!({"other": ["b"]}));
    }

    #[test]
    fn items_merge_by_their_key_and_keep_their_place() {
        let document = json!({"items": [{"name": "a", "v": 1, "w": 1}, {"name": "b", "v": 2}]});
        let patch = json!({"items": [{"name": "a", "v": 9, "w": null}]});
        assert_eq!(patched(&document, &patch), json!({"items": [{"name": "a", "v": 9}, {"name": "b", "v": 2}]}));
    }

    #[test]
    fn directives_delete_replace_order_and_retain() {
        let document = json!({"items": [{"name": "a"}, {"name": "b"}], "values": ["x", "y"], "m": {"k": 1, "l": 2}});
        let patch = json!({"items": [{"name": "a", "$patch": "delete"}], "$deleteFromPrimitiveList/values": ["x"],
            "m": {"$retainKeys": ["l", "n"], "n": 3}});
        assert_eq!(
            patched(&document, &patch),
            json!({"items": [{"name": "b"}], "values": ["y"], "m": {"l": 2, "n": 3}})
        );
        let patch =
            json!({"m": {"$patch": "replace", "z": 1}, "$setElementOrder/items": [{"name": "b"}, {"name": "a"}]});
        assert_eq!(
            patched(&document, &patch),
            json!({"items": [{"name": "b"}, {"name": "a"}], "values": ["x", "y"], "m": {"z": 1}})
        );
        let patch = json!({"items": [{"$patch": "replace"}, {"name": "c"}]});
        assert_eq!(patched(&document, &patch)["items"], json!([{"name": "c"}]));
    }

    #[test]
    fn an_item_without_its_key_is_refused() {
        let refused = apply(&json!({"items": []}), &json!({"items": [{"v": 1}]}), &schema()).unwrap_err();
        assert_eq!(refused.code, 422);
    }
}
