//! POST: a new object.

use super::call::Call;
use super::write::validate_create;
use super::{ApiServer, Outcome};
use crate::api::crd::validate;
use crate::api::message::{Response, Stage};
use crate::api::meta;
use crate::api::resource::Source;
use crate::api::status::ApiStatus;
use crate::ids::Key;
use crate::object::{self, ObjectView};
use serde_json::Value;

impl ApiServer {
    pub(super) fn create(&mut self, call: &mut Call) -> Outcome<Response> {
        if call.resource.built_in_kind().is_some_and(|k| k.virtual_only) {
            return self.review(call);
        }
        let mut new = self.body(call)?;
        place(call, &mut new)?;
        self.track(call, None, &mut new);
        self.create_object(call, new)
    }

    /// Creates an object that was decoded and has its namespace.
    pub(super) fn create_object(&mut self, call: &mut Call, mut new: Value) -> Outcome<Response> {
        let before = call.snapshot(&new);
        self.check_terminating(call, &new)?;
        self.check_namespace(call, &new)?;
        self.check_escalation(call, &new, None)?;
        if !new.resource_version().is_empty() {
            return Err(ApiStatus::plain("resourceVersion should not be set on objects to be created"));
        }
        let base = new.text(&["metadata", "generateName"]).to_string();
        let generated = new.name().is_empty() && !base.is_empty();
        if generated {
            let name = self.free_name(call, &base);
            object::set(&mut new, &["metadata", "name"], Value::from(name));
        }
        self.prepare_create(call, &mut new)?;
        call.passed(Stage::Admit, before.as_ref(), &new);
        let errors = validate_create(&call.resource, &new, &mut call.warnings);
        if !errors.is_empty() {
            return Err(call.invalid(new.name(), &errors));
        }
        call.passed(Stage::Validate, None, &Value::Null);
        let key = Key::new(new.namespace(), new.name());
        let id = call.resource.group_resource();
        if let Some(stored) = self.store.get(&id, &key) {
            let dying = stored.object.deleting();
            let mut status = ApiStatus::already_exists(&id, new.name());
            if dying {
                status.message = format!("object is being deleted: {}", status.message);
            }
            if generated {
                status.retry_after_s = Some(1);
                status.message += ", the server was not able to generate a unique name for the object";
            }
            return Err(status);
        }
        Ok(Response::ok(201, self.put(call, &key, new)?))
    }

    /// A name made of `base` that nobody has, if a few draws find one.
    fn free_name(&mut self, call: &Call, base: &str) -> String {
        let id = call.resource.group_resource();
        let mut name = String::new();
        for _ in 0..meta::NAME_ATTEMPTS {
            name = meta::generate_name(&mut self.rng, base);
            if self.store.get(&id, &Key::new(call.namespace(), &name)).is_none() {
                break;
            }
        }
        name
    }

    fn prepare_create(&mut self, call: &mut Call, new: &mut Value) -> Outcome<()> {
        meta::wipe_system_fields(new);
        let resource = call.resource.clone();
        if resource.has_status && !keeps_status_on_create(call) {
            object::remove(new, &["status"]);
        }
        let fields = meta::of(new);
        fields.insert("uid".to_string(), Value::from(meta::uid(&mut self.rng)));
        fields.insert("creationTimestamp".to_string(), Value::from(call.now.rfc3339()));
        if resource.generation {
            fields.insert("generation".to_string(), Value::from(1));
        }
        match &resource.source {
            Source::BuiltIn(kind) => {
                (kind.hooks.prepare_create)(new);
                if resource.is("", "namespaces") {
                    super::namespace::prepare(new);
                }
                warn_of_definition(call, new);
            }
            Source::Custom(..) => self.warn_of_finalizers(call, new),
        }
        Ok(())
    }

    /// A finalizer without a domain is taken, with a warning.
    pub(super) fn warn_of_finalizers(&self, call: &mut Call, new: &Value) {
        for finalizer in new.finalizers().into_iter().filter(|f| !f.contains('/')) {
            let known = matches!(finalizer, "orphan" | "foregroundDeletion");
            if !known && meta::qualified_name(finalizer).is_empty() {
                call.warnings.push(format!(
                    "metadata.finalizers: {finalizer:?}: prefer a domain-qualified finalizer name including a path (/) \
                     to avoid accidental conflicts with other finalizer writers"
                ));
            }
        }
    }
}

/// A definition that says what nobody checks is told so.
pub fn warn_of_definition(call: &mut Call, new: &Value) {
    if call.resource.is("apiextensions.k8s.io", "customresourcedefinitions") {
        call.warnings.extend(validate::warnings(new));
    }
}

/// Nodes come with the status their kubelet knows.
fn keeps_status_on_create(call: &Call) -> bool {
    call.resource.is("", "nodes")
}

/// Puts the object into the namespace of the address.
pub fn place(call: &Call, new: &mut Value) -> Outcome<()> {
    let wanted = call.namespace();
    if wanted.is_empty() {
        object::remove(new, &["metadata", "namespace"]);
        return Ok(());
    }
    let said = new.namespace();
    if !said.is_empty() && said != wanted {
        return Err(ApiStatus::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    object::set(new, &["metadata", "namespace"], Value::from(wanted));
    Ok(())
}
