//! The server's own controllers for definitions: they judge names, establish, and end what was deleted.

use super::ApiServer;
use crate::api::crd::{Definition, lifecycle};
use crate::ids::{GroupResource, Key};
use crate::object::{Object, ObjectView};
use crate::store::Commit;
use crate::time::{SimTime, Span};
use serde_json::Value;
use std::sync::Arc;

/// How soon the controllers look at what changed.
const NOTICE: Span = Span::millis(10);
/// How soon they look again while instances of a dying definition are left (`finalizer/crd_finalizer.go`).
const AGAIN: Span = Span::secs(5);

fn definitions() -> GroupResource {
    GroupResource::new("apiextensions.k8s.io", "customresourcedefinitions")
}

impl ApiServer {
    pub(super) fn prepare_definition(&self, new: &mut Value, old: Option<&Value>) {
        lifecycle::default(new);
        lifecycle::note_storage_version(new, old);
        if old.is_none() {
            let finalizers = new.finalizers();
            if !finalizers.contains(&lifecycle::CLEANUP) {
                let mut list: Vec<String> = finalizers.into_iter().map(str::to_string).collect();
                list.push(lifecycle::CLEANUP.to_string());
                super::delete::set_finalizers(new, list);
            }
        }
    }

    /// A definition was written or removed: what is served follows, and the controllers will look.
    pub(super) fn definition_changed(&mut self, now: SimTime, commit: &Arc<Commit>) {
        self.registry.lifecycle = Some(now + NOTICE);
        let Some(new) = &commit.new else {
            self.end_of(&commit.key.name);
            return;
        };
        let accepted = new.condition("Established") == "True";
        let spec = |o: &Object| o.at(&["spec"]).cloned();
        let changed =
            commit.old.as_ref().is_none_or(|old| spec(old) != spec(new) || old.condition("Established") != "True");
        if !accepted || !changed {
            return;
        }
        self.end_of(&commit.key.name);
        if let Some(definition) = Definition::parse(new, commit.revision) {
            let id = GroupResource::new(&definition.group, &definition.names.plural);
            self.registry.define(&definition);
            self.store.restart_history(&id);
        }
    }

    fn end_of(&mut self, name: &str) {
        if let Some(old) = self.registry.definition(name) {
            let id = GroupResource::new(&old.group, &old.names.plural);
            self.watches.end_all(&id);
            self.registry.forget(name);
        }
    }

    /// Takes every definition one step on.
    pub(super) fn run_lifecycle(&mut self, now: SimTime) {
        if self.registry.lifecycle.is_none_or(|at| at > now) {
            return;
        }
        self.registry.lifecycle = None;
        let all: Vec<Object> = self.store.list(&definitions(), "").map(|(_, s)| s.object.clone()).collect();
        for crd in &all {
            let others: Vec<&Value> = all.iter().map(Arc::as_ref).collect();
            if crd.deleting() {
                self.finish_definition(now, crd);
            } else if let Some(next) = lifecycle::judge_names(crd, &others, now) {
                self.write_definition(now, &crd.key(), next);
            }
        }
    }

    fn finish_definition(&mut self, now: SimTime, crd: &Object) {
        if !crd.finalizers().contains(&lifecycle::CLEANUP) {
            return;
        }
        let names = crd.at(&["status", "acceptedNames"]).unwrap_or(&Value::Null);
        let id = GroupResource::new(crd.text(&["spec", "group"]), names.text(&["plural"]));
        let instances: Vec<(Key, Object)> =
            self.store.list(&id, "").map(|(k, s)| (k.clone(), s.object.clone())).collect();
        let user: Arc<str> = "system:apiserver".into();
        for (key, object) in &instances {
            if object.finalizers().is_empty() {
                if let Some(entry) = self.store.delete(now, &id, key, &user) {
                    self.committed(entry);
                }
            } else if !object.deleting() {
                let mut dying = Value::clone(object);
                crate::object::set(&mut dying, &["metadata", "deletionTimestamp"], Value::from(now.rfc3339()));
                crate::object::set(&mut dying, &["metadata", "deletionGracePeriodSeconds"], Value::from(0));
                crate::object::set(&mut dying, &["metadata", "generation"], Value::from(object.generation() + 1));
                let entry = self.store.put(now, &id, key, dying, 0, &user);
                self.committed(entry);
            }
        }
        let left = self.store.count(&id);
        let next = lifecycle::terminating(crd, now, left);
        if left > 0 {
            self.registry.lifecycle = Some(now + AGAIN);
        }
        if left == 0 && next.finalizers().is_empty() {
            if let Some(entry) = self.store.delete(now, &definitions(), &crd.key(), &user) {
                self.committed(entry);
            }
        } else if next != **crd {
            self.write_definition(now, &crd.key(), next);
        }
    }

    fn write_definition(&mut self, now: SimTime, key: &Key, next: Value) {
        let entry = self.store.put(now, &definitions(), key, next, 0, &"system:apiserver".into());
        self.committed(entry);
    }
}
