//! PUT, and the end that every change of an existing object comes to.

use super::call::Call;
use super::create::{place, warn_of_definition};
use super::read::present;
use super::write::{content_differs, ends_with, validate_update};
use super::{ApiServer, Outcome};
use crate::api::message::{Response, Stage};
use crate::api::meta;
use crate::api::resource::Source;
use crate::api::schema::field::FieldError;
use crate::api::status::ApiStatus;
use crate::object::{self, Object, ObjectView};
use serde_json::Value;
use std::sync::Arc;

impl ApiServer {
    pub(super) fn update(&mut self, call: &mut Call) -> Outcome<Response> {
        let mut new = self.body(call)?;
        if new.name().is_empty() {
            let name = call.path.name;
            return Err(ApiStatus::bad_request(format!(
                "the name of the object ({name} based on URL) was undeterminable: name must be provided"
            )));
        }
        if new.name() != call.path.name {
            let (name, url) = (new.name(), call.path.name);
            return Err(ApiStatus::bad_request(format!(
                "the name of the object ({name}) does not match the name on the URL ({url})"
            )));
        }
        place(call, &mut new)?;
        let Some(live) = self.live(call)? else {
            if !call.resource.create_on_update || call.to_status() {
                return Err(call.not_found());
            }
            self.authorize_also(call, "create")?;
            self.track(call, None, &mut new);
            return self.create_object(call, new);
        };
        self.check_preconditions(call, &mut new, &live)?;
        self.track_update(call, &live, &mut new);
        self.replace(call, new, &live)
    }

    /// The object as it is now, in the version of the request.
    pub(super) fn live(&self, call: &Call) -> Outcome<Option<Object>> {
        let stored = self.store.get(&call.resource.group_resource(), &call.key());
        stored.map(|s| present(&call.resource, s)).transpose()
    }

    fn check_preconditions(&self, call: &Call, new: &mut Value, live: &Object) -> Outcome<()> {
        let id = call.resource.group_resource();
        if !new.uid().is_empty() && new.uid() != live.uid() {
            let why = format!(
                "StorageError: invalid object, Code: 4, Key: /registry/{id}/{}, ResourceVersion: 0, \
                 AdditionalErrorMsg: Precondition failed: UID in precondition: {}, UID in object meta: {}",
                call.key(),
                new.uid(),
                live.uid()
            );
            return Err(ApiStatus::conflict(&id, call.path.name, &why));
        }
        let said = new.resource_version().to_string();
        match said.as_str() {
            "" | "0"
                if call.resource.unconditional_update
                    || call.to_status() && call.resource.built_in_kind().is_some() =>
            {
                meta::keep(new, live, "resourceVersion");
            }
            "" | "0" => {
                let error =
                    FieldError::invalid("metadata.resourceVersion", &Value::from(0), "must be specified for an update");
                return Err(call.invalid(call.path.name, &[error]));
            }
            _ => check_revision(call, &said, live)?,
        }
        Ok(())
    }

    pub(super) fn track_update(&self, call: &Call, live: &Object, new: &mut Value) {
        self.track(call, Some(live), new);
    }

    /// Puts `new` in the place of `live`, or removes the object if nothing holds it any more. Ownership was noted.
    pub(super) fn replace(&mut self, call: &mut Call, mut new: Value, live: &Object) -> Outcome<Response> {
        let before = call.snapshot(&new);
        self.check_escalation(call, &new, Some(live))?;
        self.prepare_update(call, &mut new, live);
        call.passed(Stage::Admit, before.as_ref(), &new);
        let status = call.to_status();
        let errors = validate_update(&call.resource, &new, live, status, &mut call.warnings);
        if !errors.is_empty() {
            return Err(call.invalid(new.name(), &errors));
        }
        call.passed(Stage::Validate, None, &Value::Null);
        let key = live.key();
        let last = ends_with(&new, live) && !status && !self.namespace_holds(call, &new);
        if last {
            self.remove(call, &key);
            return Ok(Response::ok(200, Arc::new(new)));
        }
        Ok(Response::ok(200, self.put(call, &key, new)?))
    }

    fn prepare_update(&mut self, call: &mut Call, new: &mut Value, live: &Object) {
        let resource = call.resource.clone();
        if call.to_status() {
            only_status(call, new, live);
        } else if resource.has_status {
            match live.get("status") {
                Some(status) => object::set(new, &["status"], status.clone()),
                None => drop(object::remove(new, &["status"])),
            }
        }
        meta::keep_system_fields(new, live);
        meta::keep(new, live, "generation");
        match &resource.source {
            Source::BuiltIn(kind) if call.to_status() => (kind.hooks.prepare_status)(new, live),
            Source::BuiltIn(kind) => {
                (kind.hooks.prepare_update)(new, live);
                warn_of_definition(call, new);
            }
            Source::Custom(..) if !call.to_status() => self.warn_of_finalizers(call, new),
            Source::Custom(..) => {}
        }
        let counts = resource.generation && !call.to_status();
        if counts && new.generation() == live.generation() && content_differs(&resource, new, live) {
            object::set(new, &["metadata", "generation"], Value::from(live.generation() + 1));
        }
    }
}

/// A write to `/status` takes everything else from the live object; a built-in kind also takes metadata.
fn only_status(call: &Call, new: &mut Value, live: &Object) {
    let status = object::remove(new, &["status"]);
    let metadata = object::remove(new, &["metadata"]);
    let mut kept = Value::clone(live);
    match status {
        Some(status) => object::set(&mut kept, &["status"], status),
        None => drop(object::remove(&mut kept, &["status"])),
    }
    if let Some(metadata) = metadata {
        if call.resource.built_in_kind().is_some() {
            object::set(&mut kept, &["metadata"], metadata);
        } else {
            match metadata.get("managedFields") {
                Some(managed) => object::set(&mut kept, &["metadata", "managedFields"], managed.clone()),
                None => drop(object::remove(&mut kept, &["metadata", "managedFields"])),
            }
            if let Some(revision) = metadata.get("resourceVersion") {
                object::set(&mut kept, &["metadata", "resourceVersion"], revision.clone());
            }
        }
    }
    *new = kept;
}

/// A revision that is not the live one is a conflict.
pub fn check_revision(call: &Call, said: &str, live: &Object) -> Outcome<()> {
    if said.parse::<u64>().is_err() {
        return Err(ApiStatus::plain(format!("strconv.ParseUint: parsing {said:?}: invalid syntax")));
    }
    if said != live.resource_version() {
        let why = "the object has been modified; please apply your changes to the latest version and try again";
        return Err(ApiStatus::conflict(&call.resource.group_resource(), call.path.name, why));
    }
    Ok(())
}
