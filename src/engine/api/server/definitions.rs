//! Definitions in the server: what is served follows what is stored, and the steps of their lives are carried out.

use super::call::Call;
use super::{ApiServer, Outcome, Trace};
use crate::api::crd::lifecycle::{self, Step};
use crate::api::crd::{Definition, strategy};
use crate::api::message::{Method, Request, User};
use crate::api::resource::Resource;
use crate::api::route::ResourcePath;
use crate::api::status::ApiStatus;
use crate::ids::{GroupResource, Key};
use crate::object::{Object, ObjectView};
use crate::store::Commit;
use crate::time::SimTime;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Who the server's own writes are from.
const SELF: &str = "system:apiserver";
/// Steps carried out at one instant at most.
const STEPS_MAX: usize = 1_000;

fn definitions() -> GroupResource {
    GroupResource::new("apiextensions.k8s.io", "customresourcedefinitions")
}

impl ApiServer {
    /// A definition was written or removed: serve what it now says.
    pub(super) fn definition_changed(&mut self, now: SimTime, commit: &Commit) {
        let name = commit.key.name.to_string();
        let before = self.registry.definition(&name).cloned();
        let serving = commit.new.as_ref().filter(|o| Definition::serves(o));
        match serving.and_then(|o| Definition::parse(o)) {
            Some(after) => {
                let after = Arc::new(after);
                if before.as_ref().is_none_or(|b| b.shape != after.shape) {
                    self.watches.end_all(&after.resource());
                    self.store.restart_history(&after.resource());
                }
                self.registry.define(&after);
            }
            None => {
                if let Some(before) = before {
                    self.watches.end_all(&before.resource());
                    self.registry.forget(&name);
                }
            }
        }
        self.registry.lifecycle = Some(now + lifecycle::REACTION);
    }

    /// A definition on its first DELETE stays, marked; later ones are deleted as anything else.
    pub(super) fn mark_definition(&mut self, call: &mut Call, key: &Key, live: &Object) -> Outcome<Option<Object>> {
        if live.deleting() {
            return Ok(None);
        }
        let mut new = Value::clone(live);
        strategy::mark_deleting(&mut new, call.now);
        Ok(Some(self.put(call, key, new)?))
    }

    /// Nothing is created of a kind whose objects are being removed.
    pub(super) fn check_terminating(&self, call: &Call, new: &Value) -> Outcome<()> {
        let name = format!("{}.{}", call.resource.gvr.resource, call.resource.gvr.group);
        match self.registry.definition(&name) {
            Some(definition) if definition.terminating && call.resource.built_in_kind().is_none() => {
                let why = "create not allowed while custom resource definition is terminating";
                Err(ApiStatus::forbidden(&call.resource.group_resource(), new.name(), why))
            }
            _ => Ok(()),
        }
    }

    /// Carries out what the server's controllers have to do about definitions at `now`.
    pub(super) fn run_lifecycle(&mut self, now: SimTime) {
        if self.registry.lifecycle.is_none_or(|at| at > now) {
            return;
        }
        self.registry.lifecycle = None;
        let all: Vec<(Key, Object)> =
            self.store.list(&definitions(), "").map(|(k, s)| (k.clone(), s.object.clone())).collect();
        let mut waiting = false;
        for (key, object) in all.iter().take(STEPS_MAX) {
            match lifecycle::next(object, all.iter().map(|(_, o)| &**o), now) {
                Step::Rest => {}
                Step::Write(new) => {
                    self.write_definition(now, key, *new);
                    // Names are given one at a time, or two definitions would be given the same one.
                    break;
                }
                Step::CleanUp => waiting |= !self.clean_up(now, key, object),
            }
        }
        if waiting && self.registry.lifecycle.is_none() {
            self.registry.lifecycle = Some(now + lifecycle::POLL);
        }
    }

    fn write_definition(&mut self, now: SimTime, key: &Key, new: Value) {
        let gone = new.deleting() && new.finalizers().is_empty();
        let user: Arc<str> = SELF.into();
        let entry = if gone {
            self.store.delete(now, &definitions(), key, &user)
        } else {
            Some(self.store.put(now, &definitions(), key, new, 0, &user))
        };
        if let Some(entry) = entry {
            self.committed(entry);
        }
    }

    /// Deletes the objects of a dying definition; whether that is done.
    fn clean_up(&mut self, now: SimTime, key: &Key, object: &Object) -> bool {
        let Some(definition) = Definition::parse(object).map(Arc::new) else { return true };
        let mut new = Value::clone(object);
        match self.delete_instances(now, &definition) {
            Err(status) => lifecycle::failed(&mut new, now, &status.message),
            Ok(()) if self.store.count(&definition.resource()) == 0 => {
                lifecycle::completed(&mut new, now);
                self.write_definition(now, key, new);
                return true;
            }
            Ok(()) => lifecycle::in_progress(&mut new, now),
        }
        if new != **object {
            self.write_definition(now, key, new);
            self.registry.lifecycle = Some(now + lifecycle::POLL);
        }
        false
    }

    fn delete_instances(&mut self, now: SimTime, definition: &Arc<Definition>) -> Outcome<()> {
        let resource = Arc::new(Resource::custom(definition, definition.storage));
        let namespaces: BTreeSet<String> =
            self.store.list(&definition.resource(), "").map(|(k, _)| k.namespace.to_string()).collect();
        let mut request = Request::new(Method::Delete, "");
        request.user = User { name: SELF.into(), groups: vec!["system:masters".into()] };
        for namespace in namespaces {
            let path = ResourcePath {
                group: &definition.group,
                version: &definition.storage_version().name,
                namespace: &namespace,
                resource: &definition.names.plural,
                ..ResourcePath::default()
            };
            let mut call = Call::new(now, &request, &path, resource.clone(), Trace::Nobody)?;
            self.delete_collection(&mut call)?;
        }
        Ok(())
    }
}
