//! The three-way merge of `apply`: from what was applied last, what is live and what is wanted, a patch.
//!
//! Follows apimachinery `pkg/util/strategicpatch` and `pkg/util/jsonmergepatch`: a change is what the wanted object
//! has otherwise than the live one, a deletion is what was applied last and is wanted no more.

use serde_json::{Map, Value, json};

/// Deepest nesting that is compared; deeper parts are replaced whole.
const DEPTH_MAX: usize = 60;

/// How lists of objects are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lists {
    /// Lists are replaced: custom resources.
    Replace,
    /// Lists of known fields merge by key: built-in kinds.
    Merge,
}

/// The patch that leads from `live` to `wanted`; `{}` when nothing is to change.
pub fn patch(last: &Value, live: &Value, wanted: &Value, lists: Lists) -> Value {
    Value::Object(maps(last, live, wanted, &Where { lists, field: "", depth: 0 }))
}

#[derive(Clone, Copy)]
struct Where<'a> {
    lists: Lists,
    field: &'a str,
    depth: usize,
}

impl<'a> Where<'a> {
    fn below(self, field: &'a str) -> Where<'a> {
        Where { field, depth: self.depth + 1, ..self }
    }
}

/// The merge key of a list of a built-in kind (`patchMergeKey` in kubernetes `staging/src/k8s.io/api`).
fn merge_key(field: &str, items: &[Value]) -> Option<&'static str> {
    Some(match field {
        "containers" | "initContainers" | "ephemeralContainers" | "volumes" | "env" | "imagePullSecrets" => "name",
        "secrets" => "name",
        "volumeMounts" => "mountPath",
        "volumeDevices" => "devicePath",
        "ports" if items.iter().all(|i| i.get("containerPort").is_some()) => "containerPort",
        "ports" => "port",
        "hostAliases" => "ip",
        "topologySpreadConstraints" => "topologyKey",
        "conditions" | "addresses" => "type",
        "ownerReferences" => "uid",
        _ => return None,
    })
}

fn maps(last: &Value, live: &Value, wanted: &Value, at: &Where) -> Map<String, Value> {
    let nothing = Map::new();
    let map = |v: &Value| v.as_object().cloned().unwrap_or_else(|| nothing.clone());
    let (last, live, wanted) = (map(last), map(live), map(wanted));
    let mut patch = Map::new();
    for (name, value) in &wanted {
        let there = live.get(name).unwrap_or(&Value::Null);
        if value.is_null() {
            if !there.is_null() {
                patch.insert(name.clone(), Value::Null);
            }
            continue;
        }
        let before = last.get(name).unwrap_or(&Value::Null);
        change(name, before, there, value, at, &mut patch);
    }
    for name in last.keys() {
        if !wanted.contains_key(name) && live.contains_key(name) {
            patch.insert(name.clone(), Value::Null);
        }
    }
    let retains = at.lists == Lists::Merge && (at.field == "strategy" || at.field == "volumes");
    if retains && !patch.is_empty() {
        patch.insert("$retainKeys".into(), wanted.keys().cloned().collect());
    }
    patch
}

fn change(name: &str, last: &Value, live: &Value, wanted: &Value, at: &Where, patch: &mut Map<String, Value>) {
    if same(live, wanted) {
        return;
    }
    match (live, wanted) {
        (Value::Object(_), Value::Object(_)) if at.depth < DEPTH_MAX => {
            let inner = maps(last, live, wanted, &at.below(name));
            if !inner.is_empty() {
                patch.insert(name.to_string(), Value::Object(inner));
            }
        }
        (Value::Array(there), Value::Array(items)) if at.lists == Lists::Merge && at.depth < DEPTH_MAX => {
            match merge_key(name, items) {
                Some(key) if keyed(items, key) && keyed(there, key) => {
                    let before = last.as_array().map_or(&[][..], Vec::as_slice);
                    let parts = list(before, there, items, key, &at.below(name));
                    if parts.is_empty() {
                        return;
                    }
                    let order = items.iter().map(|i| json!({key: i[key]})).collect();
                    patch.insert(format!("$setElementOrder/{name}"), order);
                    patch.insert(name.to_string(), Value::Array(parts));
                }
                _ => {
                    patch.insert(name.to_string(), wanted.clone());
                }
            }
        }
        _ => {
            patch.insert(name.to_string(), wanted.clone());
        }
    }
}

fn keyed(items: &[Value], key: &str) -> bool {
    items.iter().all(|i| i.get(key).is_some())
}

fn list(last: &[Value], live: &[Value], wanted: &[Value], key: &str, at: &Where) -> Vec<Value> {
    let find = |items: &[Value], id: &Value| items.iter().find(|i| i.get(key) == Some(id)).cloned();
    let mut out = Vec::new();
    for item in wanted {
        let id = &item[key];
        let Some(there) = find(live, id) else {
            out.push(item.clone());
            continue;
        };
        let mut inner = maps(&find(last, id).unwrap_or(Value::Null), &there, item, at);
        if !inner.is_empty() {
            inner.insert(key.to_string(), id.clone());
            out.push(Value::Object(inner));
        }
    }
    for item in last {
        let Some(id) = item.get(key) else { continue };
        if find(wanted, id).is_none() && find(live, id).is_some() {
            out.push(json!({"$patch": "delete", key: id}));
        }
    }
    out
}

/// Equal, where 1 and 1.0 are.
fn same(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(x), Some(y)) => x.total_cmp(&y).is_eq(),
        _ => a == b,
    }
}
