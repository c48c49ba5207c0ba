//! Who owns which field, and what an apply makes of that.
//!
//! Flow: an ordinary write calls `track` with the live object and the decoded new one, before the kind's strategy
//! touches it; an apply calls `apply` with the live object and the configuration and sends what it gets through
//! the same stages as a PUT.
//!
//! Guarantees: tracking never refuses a write. An apply that changes nothing answers with the live object.
//!
//! Caveats: fields are compared in the version of the request; with conversion by webhook the sets that other
//! versions own are read in the version at hand.
//!
//! Divergence from Kubernetes: sets are not converted between the versions of a kind, and a change of a list's type in a
//! schema does not rewrite the sets that are already stored.

pub mod managers;
mod metadata;
pub mod set;
pub mod typed;

use super::schema::structural::{Structural, Type};
use super::status::{ApiStatus, Cause};
pub use metadata::metadata_schema;

use managers::{Entry, Operation};
use serde_json::{Map, Value};
use set::Set;
use std::sync::Arc;
use typed::Comparison;

/// The owner of what an object held before its first apply.
const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// One write, as far as ownership is concerned.
#[derive(Clone, Copy, Debug)]
pub struct Write<'a> {
    /// `fieldManager` of the query, else the first part of the user agent.
    pub manager: &'a str,
    pub api_version: &'a str,
    /// Empty for the main resource.
    pub subresource: &'a str,
    /// The time to write down, RFC 3339.
    pub time: &'a str,
    /// The whole object, `metadata` included: see `with_metadata`.
    pub schema: Option<&'a Structural>,
    /// Top-level fields that this endpoint resets and that therefore cannot be owned through it.
    pub reset: &'a [&'a str],
}

impl Write<'_> {
    fn entry(&self, operation: Operation, fields: Set) -> Entry {
        let manager = if self.manager.is_empty() { "unknown" } else { self.manager };
        Entry {
            manager: manager.to_string(),
            operation,
            api_version: self.api_version.to_string(),
            subresource: self.subresource.to_string(),
            time: self.time.to_string(),
            fields,
        }
    }

    fn ignored(&self) -> Set {
        Set(self.reset.iter().map(|f| (set::field(f), Value::Object(Map::new()))).collect())
    }

    /// What differs between two objects, without what this endpoint resets and what nobody owns.
    fn compare(&self, old: &Value, new: &Value) -> Comparison {
        let (ignored, untracked) = (self.ignored(), managers::untracked());
        let found = typed::compare(old, new, self.schema);
        let keep = |s: Set| s.recursive_difference(&ignored).difference(&untracked);
        Comparison { added: keep(found.added), modified: keep(found.modified), removed: keep(found.removed) }
    }
}

/// The schema of a whole custom resource: its own, with `metadata` as every kind has it.
#[must_use]
pub fn with_metadata(schema: Option<&Structural>, metadata: &Arc<Structural>) -> Structural {
    let mut root = schema.cloned().unwrap_or_else(|| Structural { preserve_unknown: true, ..Structural::default() });
    root.type_ = Some(Type::Object);
    let text = Arc::new(Structural { type_: Some(Type::String), ..Structural::default() });
    root.properties.insert("apiVersion".to_string(), text.clone());
    root.properties.insert("kind".to_string(), text);
    root.properties.insert("metadata".to_string(), metadata.clone());
    root
}

/// Writes down who owns what after an ordinary write. `live` is absent on a create.
pub fn track(live: Option<&Value>, new: &mut Value, write: &Write) {
    let written = new.get_mut("metadata").and_then(Value::as_object_mut).and_then(|m| m.remove("managedFields"));
    let stored = live.and_then(|l| l.pointer("/metadata/managedFields"));
    if write.subresource.is_empty() && managers::is_reset(written.as_ref()) {
        if live.is_none() {
            track_from(&Value::Object(Map::new()), new, Vec::new(), write);
        }
        return;
    }
    let known = if write.subresource.is_empty() {
        managers::parse(written.as_ref()).filter(|entries| !entries.is_empty())
    } else {
        None
    };
    let entries = known.or_else(|| managers::parse(stored)).unwrap_or_default();
    match live {
        // Without a single owner the object is not tracked: its ownership was reset.
        Some(_) if entries.is_empty() => {}
        Some(live) => track_from(live, new, entries, write),
        None => track_from(&Value::Object(Map::new()), new, entries, write),
    }
}

fn track_from(live: &Value, new: &mut Value, mut entries: Vec<Entry>, write: &Write) {
    let found = write.compare(live, new);
    if !found.is_same() {
        let taken = found.added.union(&found.modified);
        let lost = taken.union(&found.removed);
        let mine = write.entry(Operation::Update, taken);
        let mut merged = false;
        for entry in &mut entries {
            let before = entry.same_owner(&mine).then(|| entry.fields.clone());
            entry.fields = entry.fields.difference(&lost);
            if let Some(before) = before {
                merged = true;
                entry.fields = entry.fields.union(&mine.fields);
                if entry.fields != before {
                    entry.time.clone_from(&mine.time);
                }
            }
        }
        if !merged {
            entries.push(mine);
        }
        entries.retain(|e| !e.fields.is_empty());
        managers::cap(&mut entries);
    }
    managers::store(new, entries);
}

/// Applies a configuration: the object to store, its ownership included. `live` is absent when the apply creates;
/// `seed` is then the empty object with the name and namespace of the address.
///
/// # Errors
/// 400 for another version or `managedFields` in the configuration, 409 for conflicts, 500 with an empty reason for
/// fields the schema does not know.
pub fn apply(live: Option<&Value>, config: &Value, write: &Write, force: bool) -> Result<Value, ApiStatus> {
    let version = config.get("apiVersion").and_then(Value::as_str).unwrap_or("");
    if version != write.api_version {
        let expected = write.api_version;
        return Err(ApiStatus::bad_request(format!(
            "Incorrect version specified in apply patch. Specified patch version: {version}, expected: {expected}"
        )));
    }
    let written = config.pointer("/metadata/managedFields").and_then(Value::as_array);
    if written.is_some_and(|l| !l.is_empty()) {
        return Err(ApiStatus::bad_request("metadata.managedFields must be nil"));
    }
    typed::check(config, write.schema).map_err(|faults| untyped(config, &faults))?;
    let mut base = live.cloned().unwrap_or_else(|| Value::Object(Map::new()));
    let mut entries = managers::parse(base.pointer("/metadata/managedFields")).unwrap_or_default();
    if let Some(meta) = base.get_mut("metadata").and_then(Value::as_object_mut) {
        meta.remove("managedFields");
    }
    if entries.is_empty() && live.is_some() {
        let first = write.compare(&Value::Object(Map::new()), &base);
        let before = Write { manager: BEFORE_FIRST_APPLY, ..*write };
        entries.push(before.entry(Operation::Update, first.added.union(&first.modified)));
    }
    apply_to(&base, config, entries, write, force)
}

fn untyped(config: &Value, faults: &[String]) -> ApiStatus {
    let text = |path: &str| config.pointer(path).and_then(Value::as_str).unwrap_or("").to_string();
    let named = format!(
        "{}/{}; {}",
        text("/metadata/namespace"),
        text("/metadata/name"),
        [text("/apiVersion"), text("/kind")].join(", Kind=")
    );
    let fault = match faults {
        [one] => one.clone(),
        many => format!("errors:\n  {}", many.join("\n  ")),
    };
    ApiStatus::new(500, "", format!("failed to create typed patch object ({named}): {fault}"))
}

fn apply_to(
    live: &Value,
    config: &Value,
    mut entries: Vec<Entry>,
    write: &Write,
    force: bool,
) -> Result<Value, ApiStatus> {
    let mut wanted = typed::fields_of(config, write.schema).recursive_difference(&write.ignored());
    let mut mine = write.entry(Operation::Apply, Set::default());
    let last = entries.iter().position(|e| e.same_owner(&mine)).map(|at| entries.remove(at));
    let mut merged = typed::merge(Some(live), config, write.schema);
    if let Some(last) = last.as_ref().filter(|l| !l.fields.is_empty()) {
        let others = entries.iter().fold(wanted.clone(), |all, e| all.union(&e.fields));
        merged = prune(merged, &last.fields, &others, write.schema);
    }
    let found = write.compare(live, &merged);
    let changed = found.added.union(&found.modified);
    let conflicts: Vec<(&Entry, Set)> =
        entries.iter().map(|e| (e, e.fields.intersection(&changed))).filter(|(_, s)| !s.is_empty()).collect();
    if !force && !conflicts.is_empty() {
        return Err(conflict(&conflicts));
    }
    let lost = changed.union(&found.removed);
    for entry in &mut entries {
        entry.fields = entry.fields.difference(&lost);
    }
    wanted = wanted.difference(&managers::untracked());
    match last {
        // The same set again keeps its time, so that repeating an apply writes nothing.
        Some(last) if last.fields == wanted && last.api_version == mine.api_version => mine.time = last.time,
        _ => {}
    }
    mine.fields = wanted;
    entries.push(mine);
    entries.retain(|e| !e.fields.is_empty());
    let mut object = if merged == *live { live.clone() } else { merged };
    managers::store(&mut object, entries);
    Ok(object)
}

/// Removes what the applier gave last time and not now, unless somebody else owns it.
fn prune(merged: Value, last: &Set, owned: &Set, schema: Option<&Structural>) -> Value {
    let nothing = || Value::Object(Map::new());
    let last = last.with_named_fields(schema);
    let all = typed::fields_of(&merged, schema).with_named_fields(schema);
    let named = |object: &Value| typed::fields_of(object, schema).with_named_fields(schema);
    let bare = typed::remove(&merged, &last, schema).unwrap_or_else(nothing);
    let kept = named(&bare).union(&owned.with_named_fields(schema));
    let with_owned = typed::remove(&merged, &all.difference(&kept), schema).unwrap_or_else(nothing);
    let gone = all.difference(&named(&with_owned)).intersection(&last);
    typed::remove(&merged, &gone, schema).unwrap_or_else(nothing)
}

fn conflict(conflicts: &[(&Entry, Set)]) -> ApiStatus {
    let mut owners: Vec<(String, Vec<String>)> = conflicts.iter().map(|(e, s)| (e.describe(), s.paths())).collect();
    owners.sort();
    let causes: Vec<Cause> =
        owners.iter().flat_map(|(owner, paths)| paths.iter().map(move |p| cause(owner, p))).collect();
    let message = match (&causes[..], owners.first()) {
        ([one], Some((owner, _))) => format!("Apply failed with 1 conflict: conflict with {owner}: {}", one.field),
        _ => {
            let lines: Vec<String> = owners
                .iter()
                .flat_map(|(owner, paths)| {
                    let heading = std::iter::once(format!("conflicts with {owner}:"));
                    heading.chain(paths.iter().map(|p| format!("- {p}")))
                })
                .collect();
            format!("Apply failed with {} conflicts: {}", causes.len(), lines.join("\n"))
        }
    };
    ApiStatus { causes, ..ApiStatus::new(409, "Conflict", message) }
}

fn cause(owner: &str, path: &str) -> Cause {
    Cause {
        reason: "FieldManagerConflict".to_string(),
        message: format!("conflict with {owner}"),
        field: path.to_string(),
    }
}

#[cfg(test)]
mod tests;
