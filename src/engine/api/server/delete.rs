//! DELETE: preconditions, propagation, grace, finalizers.
//!
//! Mirrors apiserver `pkg/registry/generic/registry/store.go` Delete and `pkg/registry/rest/delete.go`.

use super::body;
use super::call::Call;
use super::list::Selection;
use super::read::present;
use super::{ApiServer, Outcome};
use crate::api::message::{Body, Response, Stage};
use crate::api::schema::field::FieldError;
use crate::api::status::ApiStatus;
use crate::object::{self, Object, ObjectView};
use crate::time::Span;
use serde_json::{Value, json};
use std::sync::Arc;

const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

/// What happens to the dependents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Propagation {
    Background,
    Foreground,
    Orphan,
}

/// `DeleteOptions`, read out of query and body.
#[derive(Clone, Debug, Default)]
pub(super) struct DeleteOptions {
    propagation: Option<Propagation>,
    grace: Option<i64>,
    uid: Option<String>,
    revision: Option<String>,
    old_style_orphan: bool,
    dry_run: bool,
}

impl DeleteOptions {
    fn read(call: &Call) -> Outcome<Self> {
        let sent = match &call.request.body {
            Body::Empty => Value::Null,
            Body::Text(text) if text.trim().is_empty() => Value::Null,
            other => body::parse(other, false)?.0,
        };
        let text = |field: &str| sent.get(field).and_then(Value::as_str);
        let query = |field: &str| call.request.param(field).filter(|v| !v.is_empty());
        let mut errors = Vec::new();
        let dry: Vec<&str> = sent.list(&["dryRun"]).iter().filter_map(Value::as_str).collect();
        if let Some(other) = dry.iter().find(|d| **d != "All") {
            errors.push(FieldError::not_supported("dryRun", &Value::from(*other), &["All"]));
        }
        let mut options = DeleteOptions {
            grace: sent.get("gracePeriodSeconds").and_then(Value::as_i64),
            uid: sent.at(&["preconditions", "uid"]).and_then(Value::as_str).map(str::to_string),
            revision: sent.at(&["preconditions", "resourceVersion"]).and_then(Value::as_str).map(str::to_string),
            dry_run: dry == ["All"],
            ..DeleteOptions::default()
        };
        if options.grace.is_none() {
            options.grace = query("gracePeriodSeconds").and_then(|t| t.parse().ok());
        }
        let orphan = sent.get("orphanDependents").and_then(Value::as_bool);
        let orphan = orphan.or_else(|| query("orphanDependents").map(|t| t == "true"));
        let policy = text("propagationPolicy").or_else(|| query("propagationPolicy"));
        if policy.is_some() && orphan.is_some() {
            let why = "orphanDependents and deletionPropagation cannot be both set";
            errors.push(FieldError::invalid_text("propagationPolicy", policy.unwrap_or(""), why));
        }
        options.propagation = match policy {
            None => orphan.map(|o| if o { Propagation::Orphan } else { Propagation::Background }),
            Some("Background") => Some(Propagation::Background),
            Some("Foreground") => Some(Propagation::Foreground),
            Some("Orphan") => Some(Propagation::Orphan),
            Some(other) => {
                let known = ["Foreground", "Background", "Orphan", "nil"];
                errors.push(FieldError::not_supported("propagationPolicy", &Value::from(other), &known));
                None
            }
        };
        options.old_style_orphan = orphan == Some(false);
        if errors.is_empty() {
            Ok(options)
        } else {
            Err(ApiStatus::invalid("DeleteOptions", "meta.k8s.io", "", &errors))
        }
    }

    fn check(&self, call: &Call, live: &Object) -> Outcome<()> {
        let conflict = |why: String| Err(ApiStatus::conflict(&call.resource.group_resource(), live.name(), &why));
        if let Some(uid) = self.uid.as_deref().filter(|u| *u != live.uid()) {
            return conflict(format!(
                "the UID in the precondition ({uid}) does not match the UID in record ({}). The object might have been \
                 deleted and then recreated",
                live.uid()
            ));
        }
        if let Some(revision) = self.revision.as_deref().filter(|r| *r != live.resource_version()) {
            return conflict(format!(
                "the ResourceVersion in the precondition ({revision}) does not match the ResourceVersion in record ({}). \
                 The object might have been modified",
                live.resource_version()
            ));
        }
        Ok(())
    }
}

impl ApiServer {
    pub(super) fn delete(&mut self, call: &mut Call) -> Outcome<Response> {
        let options = DeleteOptions::read(call)?;
        call.dry_run |= options.dry_run;
        call.passed(Stage::Decode, None, &Value::Null);
        let Some(live) = self.live(call)? else { return Err(call.not_found()) };
        options.check(call, &live)?;
        self.check_deletable(call, &live)?;
        match self.delete_object(call, &live, &options)? {
            None => Ok(Response::ok(200, Arc::new(gone(call, &live)))),
            Some(pending) => {
                let code = if options.old_style_orphan { 202 } else { 200 };
                Ok(Response::ok(code, pending))
            }
        }
    }

    /// Deletes one object; answers what is left of it while something holds it.
    fn delete_object(&mut self, call: &mut Call, live: &Object, options: &DeleteOptions) -> Outcome<Option<Object>> {
        let key = live.key();
        if call.resource.is("", "namespaces")
            && let Some(left) = self.mark_namespace(call, &key, live)?
        {
            return Ok(Some(left));
        }
        if call.resource.is("apiextensions.k8s.io", "customresourcedefinitions")
            && let Some(left) = self.mark_definition(call, &key, live)?
        {
            return Ok(Some(left));
        }
        let finalizers = wanted_finalizers(live, options.propagation);
        let grace = self.grace(call, live, options.grace);
        if finalizers.is_empty() && grace == 0 {
            if call.resource.is("", "pods") && !live.deleting() && !call.dry_run {
                // A pod is marked even when it goes at once.
                let mut new = Value::clone(live);
                mark(call, &mut new, live, 0);
                self.put(call, &key, new)?;
            }
            self.remove(call, &key);
            return Ok(None);
        }
        let mut new = Value::clone(live);
        set_finalizers(&mut new, finalizers);
        mark(call, &mut new, live, grace);
        Ok(Some(self.put(call, &key, new)?))
    }

    /// Seconds an object gets before it goes; only pods get any.
    fn grace(&self, call: &Call, live: &Object, asked: Option<i64>) -> i64 {
        if !call.resource.is("", "pods") {
            return 0;
        }
        let unbound = live.text(&["spec", "nodeName"]).is_empty();
        if unbound || matches!(live.text(&["status", "phase"]), "Succeeded" | "Failed") {
            return 0;
        }
        let default = live.int(&["spec", "terminationGracePeriodSeconds"]).unwrap_or(30);
        let wanted = asked.unwrap_or(default).max(0);
        if live.deleting() {
            // Grace can only be shortened.
            let left = live.int(&["metadata", "deletionGracePeriodSeconds"]).unwrap_or(0);
            return if asked.is_some() { wanted.min(left) } else { left };
        }
        wanted
    }

    pub(super) fn delete_collection(&mut self, call: &mut Call) -> Outcome<Response> {
        let options = DeleteOptions::read(call)?;
        call.dry_run |= options.dry_run;
        let selection = Selection::read(call)?;
        let id = call.resource.group_resource();
        let mut found = Vec::new();
        for (_, stored) in self.store.list(&id, call.namespace()) {
            let object = present(&call.resource, stored)?;
            if selection.matches(&object) {
                found.push(object);
            }
        }
        for object in &found {
            self.check_deletable(call, object)?;
            let options = DeleteOptions { uid: None, revision: None, ..options.clone() };
            self.delete_object(call, object, &options)?;
        }
        Ok(Response::ok(200, self.list_body(call, found, json!({}))))
    }
}

/// Marks an object as dying.
fn mark(call: &Call, new: &mut Value, live: &Object, grace: i64) {
    let at = call.now + Span::secs(grace as u64);
    if live.deleting() {
        let before = live.int(&["metadata", "deletionGracePeriodSeconds"]);
        if before.is_some_and(|b| grace < b) {
            object::set(new, &["metadata", "deletionTimestamp"], Value::from(at.rfc3339()));
            object::set(new, &["metadata", "deletionGracePeriodSeconds"], Value::from(grace));
        }
        return;
    }
    object::set(new, &["metadata", "deletionTimestamp"], Value::from(at.rfc3339()));
    object::set(new, &["metadata", "deletionGracePeriodSeconds"], Value::from(grace));
    if live.generation() > 0 {
        meta_generation(new, live.generation() + 1);
    }
}

fn meta_generation(new: &mut Value, generation: i64) {
    object::set(new, &["metadata", "generation"], Value::from(generation));
}

/// The finalizers an object keeps while it dies (store.go deletionFinalizersForGarbageCollection).
fn wanted_finalizers(live: &Object, asked: Option<Propagation>) -> Vec<String> {
    let present = live.finalizers();
    let has = |name: &str| present.contains(&name);
    let wanted = match asked {
        Some(Propagation::Orphan) => Some(ORPHAN),
        Some(Propagation::Foreground) => Some(FOREGROUND),
        Some(Propagation::Background) => None,
        None if has(ORPHAN) => Some(ORPHAN),
        None if has(FOREGROUND) => Some(FOREGROUND),
        None => None,
    };
    let mut list: Vec<String> = present
        .iter()
        .filter(|f| !matches!(**f, ORPHAN | FOREGROUND) || wanted == Some(**f))
        .map(|f| (*f).to_string())
        .collect();
    if let Some(wanted) = wanted.filter(|w| !has(w)) {
        list.push(wanted.to_string());
    }
    list
}

pub fn set_finalizers(object: &mut Value, list: Vec<String>) {
    if list.is_empty() {
        object::remove(object, &["metadata", "finalizers"]);
    } else {
        object::set(object, &["metadata", "finalizers"], json!(list));
    }
}

/// The answer when an object went at once.
fn gone(call: &Call, live: &Object) -> Value {
    let mut details = json!({"name": live.name(), "kind": &*call.resource.gvr.resource, "uid": live.uid()});
    if !call.resource.gvr.group.is_empty() {
        details["group"] = Value::from(&*call.resource.gvr.group);
    }
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details})
}

impl ApiServer {
    /// The namespaces of the system stay.
    fn check_deletable(&self, call: &Call, live: &Object) -> Outcome<()> {
        let kept = ["default", "kube-system", "kube-public"].contains(&live.name());
        if call.resource.is("", "namespaces") && kept {
            let id = call.resource.group_resource();
            return Err(ApiStatus::forbidden(&id, live.name(), "this namespace may not be deleted"));
        }
        Ok(())
    }
}
