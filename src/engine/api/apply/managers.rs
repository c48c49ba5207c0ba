//! `metadata.managedFields`: its entries, their order, and the limit on how many there are.
//!
//! Mirrors apimachinery `pkg/util/managedfields/internal/{managedfields,buildmanagerinfo,capmanagers,stripmeta}.go`.

use super::set::Set;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Most entries of operation Update; the oldest are lumped together above it.
/// Source: apimachinery `managedfields/fieldmanager.go`, `DefaultMaxUpdateManagers`.
pub const UPDATE_ENTRIES_MAX: usize = 10;
/// Who owns the fields of the oldest Update entries once there are too many.
const ANCIENT: &str = "ancient-changes";

/// How a manager came to own fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    Apply,
    Update,
}

impl Operation {
    fn name(self) -> &'static str {
        match self {
            Operation::Apply => "Apply",
            Operation::Update => "Update",
        }
    }
}

/// One entry of the list.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub manager: String,
    pub operation: Operation,
    pub api_version: String,
    pub subresource: String,
    pub time: String,
    pub fields: Set,
}

impl Entry {
    /// Whether both are entries of the same owner. An applier stays the same one across versions.
    #[must_use]
    pub fn same_owner(&self, other: &Entry) -> bool {
        self.manager == other.manager
            && self.operation == other.operation
            && self.subresource == other.subresource
            && (self.operation == Operation::Apply || self.api_version == other.api_version)
    }

    /// The owner as a conflict names it.
    #[must_use]
    pub fn describe(&self) -> String {
        let mut text = format!("{:?}", self.manager);
        if !self.subresource.is_empty() {
            text.push_str(&format!(" with subresource {:?}", self.subresource));
        }
        if self.operation == Operation::Update {
            text.push_str(&format!(" using {}", self.api_version));
        }
        text
    }

    fn parse(value: &Value) -> Option<Entry> {
        let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or("").to_string();
        let operation = match value.get("operation").and_then(Value::as_str)? {
            "Apply" => Operation::Apply,
            "Update" => Operation::Update,
            _ => return None,
        };
        if value.get("fieldsType").and_then(Value::as_str).is_some_and(|t| t != "FieldsV1") {
            return None;
        }
        Some(Entry {
            manager: text("manager"),
            operation,
            api_version: text("apiVersion"),
            subresource: text("subresource"),
            time: text("time"),
            fields: Set::from_fields(value.get("fieldsV1")),
        })
    }

    fn render(self) -> Value {
        let mut out = Map::new();
        let texts = [
            ("manager", self.manager),
            ("operation", self.operation.name().to_string()),
            ("apiVersion", self.api_version),
            ("subresource", self.subresource),
            ("time", self.time),
        ];
        out.extend(texts.into_iter().filter(|(_, t)| !t.is_empty()).map(|(n, t)| (n.to_string(), Value::String(t))));
        out.insert("fieldsType".to_string(), json!("FieldsV1"));
        out.insert("fieldsV1".to_string(), Value::Object(self.fields.0));
        Value::Object(out)
    }
}

/// Reads a list. `None` when an entry cannot be read, which makes the whole list count as absent.
#[must_use]
pub fn parse(list: Option<&Value>) -> Option<Vec<Entry>> {
    match list {
        None | Some(Value::Null) => Some(Vec::new()),
        Some(Value::Array(list)) => list.iter().map(Entry::parse).collect(),
        Some(_) => None,
    }
}

/// Whether a written list asks to forget who owns what: `[]` or `[{}]`.
#[must_use]
pub fn is_reset(list: Option<&Value>) -> bool {
    match list.and_then(Value::as_array).map(Vec::as_slice) {
        Some([]) => true,
        Some([only]) => only.as_object().is_some_and(Map::is_empty),
        _ => false,
    }
}

/// Writes the entries into an object, or removes the list when there are none.
pub fn store(object: &mut Value, mut entries: Vec<Entry>) {
    entries.retain(|e| !e.fields.is_empty());
    let Some(meta) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    if entries.is_empty() {
        meta.remove("managedFields");
        return;
    }
    entries.sort_by(|a, b| order(a).cmp(&order(b)));
    meta.insert("managedFields".to_string(), entries.into_iter().map(Entry::render).collect());
}

fn order(e: &Entry) -> (Operation, &str, &str, &str, &str) {
    (e.operation, &e.time, &e.manager, &e.api_version, &e.subresource)
}

/// Lumps the oldest Update entries of a version together until no more than the limit are left.
pub fn cap(entries: &mut Vec<Entry>) {
    let updates = |entries: &[Entry]| entries.iter().filter(|e| e.operation == Operation::Update).count();
    let mut over = updates(entries).saturating_sub(UPDATE_ENTRIES_MAX);
    if over == 0 {
        return;
    }
    entries.sort_by(|a, b| order(a).cmp(&order(b)));
    let mut first_of: BTreeMap<String, usize> = BTreeMap::new();
    let mut at = 0;
    while at < entries.len() && over > 0 {
        let version = entries[at].api_version.clone();
        if entries[at].operation == Operation::Apply {
            at += 1;
            continue;
        }
        let Some(&bucket) = first_of.get(&version) else {
            first_of.insert(version, at);
            at += 1;
            continue;
        };
        // Later entries are younger, so the lump takes over their time.
        let merged = entries.remove(at);
        let lump = &mut entries[bucket];
        lump.manager = ANCIENT.to_string();
        lump.subresource = String::new();
        lump.fields = lump.fields.union(&merged.fields);
        lump.time = merged.time;
        over -= 1;
    }
}

/// The fields of every object that nobody owns, because the server writes them.
/// Source: apimachinery `managedfields/internal/stripmeta.go`.
#[must_use]
pub fn untracked() -> Set {
    let names = [
        "name",
        "namespace",
        "creationTimestamp",
        "selfLink",
        "uid",
        "clusterName",
        "generation",
        "managedFields",
        "resourceVersion",
    ];
    let mut meta: Map<String, Value> = names.iter().map(|n| (format!("f:{n}"), json!({}))).collect();
    meta.insert(".".to_string(), json!({}));
    Set(Map::from_iter([
        ("f:apiVersion".to_string(), json!({})),
        ("f:kind".to_string(), json!({})),
        ("f:metadata".to_string(), Value::Object(meta)),
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn update(manager: &str, second: u32, field: &str) -> Entry {
        Entry {
            manager: manager.to_string(),
            operation: Operation::Update,
            api_version: "v1".to_string(),
            subresource: String::new(),
            time: format!("2026-01-01T00:00:{second:02}Z"),
            fields: Set::from_fields(Some(&json!({ field: {} }))),
        }
    }

    #[test]
    fn the_eleventh_updater_lumps_the_oldest_two_together() {
        let mut entries: Vec<Entry> = (0..11).map(|n| update(&format!("m{n}"), n, &format!("f:a{n}"))).collect();
        cap(&mut entries);
        assert_eq!(entries.len(), 10);
        assert_eq!((entries[0].manager.as_str(), entries[0].fields.0.len()), (ANCIENT, 2));
    }

    #[test]
    fn an_entry_survives_being_stored_and_read() {
        let entry = update("kim", 1, "f:spec");
        let mut object = json!({"metadata": {"name": "x"}});
        store(&mut object, vec![entry.clone()]);
        assert_eq!(parse(object["metadata"].get("managedFields")), Some(vec![entry]));
    }

    #[test]
    fn an_empty_list_and_a_list_of_one_empty_entry_reset() {
        assert!(is_reset(Some(&json!([]))) && is_reset(Some(&json!([{}]))));
        assert!(!is_reset(None) && !is_reset(Some(&json!([{"manager": "x"}]))));
    }
}
