//! What every write ends with: validation was passed, the object goes to the store in the storage version, and is
//! read back for the answer.

use super::call::Call;
use super::read::{present, shape};
use super::{ApiServer, Outcome};
use crate::api::apply;
use crate::api::crd::{Version, convert};
use crate::api::message::Stage;
use crate::api::meta;
use crate::api::resource::{Resource, Source};
use crate::api::schema::scale::{ScalePaths, scale_faults};
use crate::api::schema::{self, field::FieldError};
use crate::ids::Key;
use crate::object::{Object, ObjectView};
use crate::store::{HistoryEntry, Stored};
use serde_json::Value;
use std::sync::Arc;

/// Faults of a new object.
pub fn validate_create(resource: &Resource, new: &Value, warnings: &mut Vec<String>) -> Vec<FieldError> {
    let mut errors = meta::validate(new, resource.namespaced, resource.names);
    match &resource.source {
        Source::BuiltIn(kind) => errors.extend((kind.hooks.validate)(new)),
        Source::Custom(definition, version) => {
            validate_custom(&definition.versions[*version], new, None, false, &mut errors, warnings);
        }
    }
    errors
}

fn validate_custom(
    version: &Version,
    new: &Value,
    old: Option<&Value>,
    status: bool,
    errors: &mut Vec<FieldError>,
    warnings: &mut Vec<String>,
) {
    if let Some(scale) = &version.scale {
        let paths = ScalePaths {
            spec_replicas: &scale.spec_replicas,
            status_replicas: &scale.status_replicas,
            label_selector: &scale.label_selector,
        };
        errors.extend(scale_faults(&paths, new, status));
    }
    let Some(schema) = &version.schema else { return };
    match old.filter(|_| status) {
        Some(old) => schema::validate_custom_status(schema, &version.rules, new, old, errors, warnings),
        None => schema::validate_custom(schema, &version.rules, new, old, errors, warnings),
    }
}

/// Faults of a change; `subresource` is empty or `status`.
pub fn validate_update(
    resource: &Resource,
    new: &Value,
    old: &Value,
    status: bool,
    warnings: &mut Vec<String>,
) -> Vec<FieldError> {
    let mut errors = meta::validate_update(new, old);
    match &resource.source {
        Source::BuiltIn(kind) if status => errors.extend((kind.hooks.validate_status)(new, old)),
        Source::BuiltIn(kind) => errors.extend((kind.hooks.validate_update)(new, old)),
        Source::Custom(definition, version) => {
            errors.extend(meta::validate_update(new, old));
            validate_custom(&definition.versions[*version], new, Some(old), status, &mut errors, warnings);
        }
    }
    errors
}

/// The object as the store will hold it, with the number of the shape it is known to have.
fn to_storage(resource: &Resource, mut value: Value) -> Outcome<(Value, u64)> {
    schema::settle_numbers(&mut value);
    let Source::Custom(definition, version) = &resource.source else { return Ok((value, 0)) };
    let storage = definition.storage;
    if *version == storage {
        return Ok((value, definition.shape));
    }
    let mut value = convert::convert(definition, &definition.versions[storage].name, value)?;
    shape(definition, storage, &mut value);
    Ok((value, 0))
}

impl ApiServer {
    /// Writes who owns which field.
    pub(super) fn track(&self, call: &Call, live: Option<&Value>, new: &mut Value) {
        let time = call.now.rfc3339();
        let api_version = call.resource.api_version();
        apply::track(live, new, &write_of(call, &api_version, &time));
    }

    /// Stores an object, unless it is what is stored already, and answers with what a reader now sees.
    pub(super) fn put(&mut self, call: &mut Call, key: &Key, value: Value) -> Outcome<Object> {
        let resource = call.resource.clone();
        let (value, shape) = to_storage(&resource, value)?;
        let id = resource.group_resource();
        if let Some(stored) = self.store.get(&id, key)
            && same_but_times(&stored.object, &value)
        {
            return present(&resource, stored);
        }
        if call.dry_run {
            let stored = Stored { object: Arc::new(value), shape };
            return present(&resource, &stored);
        }
        let before = call.snapshot(&value);
        let entry = self.store.put(call.now, &id, key, value, shape, &call.request.user.name);
        let stored = entry.commit.new.clone().map(|object| Stored { object, shape });
        self.committed(entry);
        let stored = stored.expect("a put always leaves an object");
        call.passed(Stage::Store, before.as_ref(), &stored.object);
        present(&resource, &stored)
    }

    /// Removes an object for good.
    pub(super) fn remove(&mut self, call: &Call, key: &Key) {
        if call.dry_run {
            return;
        }
        let id = call.resource.group_resource();
        if let Some(entry) = self.store.delete(call.now, &id, key, &call.request.user.name) {
            self.committed(entry);
        }
    }

    /// Everyone who waits for a commit learns of it.
    pub(super) fn committed(&mut self, entry: HistoryEntry) {
        let commit = entry.commit;
        self.watches.note(&commit.resource);
        if &*commit.resource.resource == "customresourcedefinitions" {
            self.definition_changed(entry.at, &commit);
        }
        self.commits.push(commit);
    }
}

/// Whether two objects differ in nothing, or only in when somebody came to own something
/// (apiserver `handlers/fieldmanager/equality.go`).
fn same_but_times(a: &Value, b: &Value) -> bool {
    if a == b {
        return true;
    }
    let timeless = |v: &Value| {
        let mut v = v.clone();
        for entry in v.pointer_mut("/metadata/managedFields").and_then(Value::as_array_mut).into_iter().flatten() {
            entry.as_object_mut().map(|e| e.remove("time"));
        }
        v
    };
    a.get("spec") == b.get("spec") && timeless(a) == timeless(b)
}

/// What ownership needs to know of a call.
pub fn write_of<'a>(call: &'a Call, api_version: &'a str, time: &'a str) -> apply::Write<'a> {
    let reset: &[&str] = match (call.to_status(), call.resource.has_status) {
        (true, _) => &["spec", "metadata"],
        (false, true) => &["status"],
        (false, false) => &[],
    };
    apply::Write {
        manager: call.manager(),
        api_version,
        subresource: call.path.subresource,
        time,
        schema: Some(&call.resource.typed),
        reset,
    }
}

/// Whether two objects differ outside their metadata, and outside their status where that is a subresource.
pub fn content_differs(resource: &Resource, a: &Value, b: &Value) -> bool {
    let skipped = |name: &str| name == "metadata" || (name == "status" && resource.has_status);
    let same = |a: &Value, b: &Value| {
        let names = |v: &Value| v.as_object().map_or(0, |m| m.keys().filter(|n| !skipped(n)).count());
        names(a) == names(b)
            && a.as_object().into_iter().flatten().filter(|(n, _)| !skipped(n)).all(|(n, v)| b.get(n) == Some(v))
    };
    !same(a, b)
}

/// Whether an object may be removed by an update: it is dying, nothing holds it, and its time is up.
pub fn ends_with(new: &Value, old: &Value) -> bool {
    old.deleting()
        && new.finalizers().is_empty()
        && old.int(&["metadata", "deletionGracePeriodSeconds"]).is_none_or(|grace| grace == 0)
}
