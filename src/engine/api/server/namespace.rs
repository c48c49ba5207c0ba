//! Namespaces: nothing is created in one that is absent or dying, and one dies only when it is empty.

use super::call::Call;
use super::{ApiServer, Outcome};
use crate::api::message::Response;
use crate::api::meta;
use crate::api::status::{ApiStatus, Cause};
use crate::ids::{GroupResource, Key};
use crate::object::{self, Object, ObjectView};
use serde_json::Value;
use std::sync::Arc;

fn namespaces() -> GroupResource {
    GroupResource::new("", "namespaces")
}

fn held(object: &Value) -> bool {
    !object.list(&["spec", "finalizers"]).is_empty()
}

/// A new namespace is held by its contents, is active, and carries its name as a label
/// (registry `core/namespace/strategy.go`, `pkg/apis/core/v1/defaults.go`).
pub fn prepare(new: &mut Value) {
    let name = new.name().to_string();
    let mut finalizers = new.list(&["spec", "finalizers"]).to_vec();
    if !finalizers.iter().any(|f| f.as_str() == Some("kubernetes")) {
        finalizers.push(Value::from("kubernetes"));
    }
    object::set(new, &["spec", "finalizers"], Value::from(finalizers));
    object::set(new, &["status", "phase"], Value::from("Active"));
    object::set(new, &["metadata", "labels", "kubernetes.io/metadata.name"], Value::from(name));
}

impl ApiServer {
    /// Refuses to create in a namespace that is absent or dying.
    pub(super) fn check_namespace(&self, call: &Call, new: &Value) -> Outcome<()> {
        let namespace = call.namespace();
        if namespace.is_empty() {
            return Ok(());
        }
        let Some(stored) = self.store.get(&namespaces(), &Key::new("", namespace)) else {
            return Err(ApiStatus::not_found(&namespaces(), namespace));
        };
        if !stored.object.deleting() {
            return Ok(());
        }
        let why = format!("unable to create new content in namespace {namespace} because it is being terminated");
        let mut status = ApiStatus::forbidden(&call.resource.group_resource(), new.name(), &why);
        status.causes = vec![Cause {
            reason: "NamespaceTerminating".to_string(),
            message: format!("namespace {namespace} is being terminated"),
            field: "metadata.namespace".to_string(),
        }];
        Err(status)
    }

    /// Marks a namespace as dying; answers it while its contents hold it.
    pub(super) fn mark_namespace(&mut self, call: &mut Call, key: &Key, live: &Object) -> Outcome<Option<Object>> {
        if live.deleting() {
            return Ok(held(live).then(|| live.clone()));
        }
        if !held(live) {
            return Ok(None);
        }
        let mut new = Value::clone(live);
        object::set(&mut new, &["metadata", "deletionTimestamp"], Value::from(call.now.rfc3339()));
        object::set(&mut new, &["status", "phase"], Value::from("Terminating"));
        Ok(Some(self.put(call, key, new)?))
    }

    /// A namespace whose contents are not gone is not removed by an update.
    pub(super) fn namespace_holds(&self, call: &Call, new: &Value) -> bool {
        call.resource.is("", "namespaces") && held(new)
    }

    /// PUT `/finalize`: only `spec.finalizers` is taken.
    pub(super) fn finalize_namespace(&mut self, call: &mut Call) -> Outcome<Response> {
        let sent = self.body(call)?;
        let Some(live) = self.live(call)? else { return Err(call.not_found()) };
        let said = sent.resource_version();
        if !said.is_empty() {
            super::update::check_revision(call, said, &live)?;
        }
        let mut new = Value::clone(&live);
        match sent.at(&["spec", "finalizers"]) {
            Some(list) if list.as_array().is_some_and(|l| !l.is_empty()) => {
                object::set(&mut new, &["spec", "finalizers"], list.clone());
            }
            _ => drop(object::remove(&mut new, &["spec", "finalizers"])),
        }
        meta::keep(&mut new, &live, "resourceVersion");
        if live.deleting() && !held(&new) && new.finalizers().is_empty() {
            let key = live.key();
            self.remove(call, &key);
            return Ok(Response::ok(200, Arc::new(new)));
        }
        Ok(Response::ok(200, self.put(call, &live.key(), new)?))
    }
}
