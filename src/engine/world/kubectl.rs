//! The person at the keyboard: what was asked of kubectl, one request after the other.
//!
//! Divergence from Kubernetes: `apply` of a custom resource together with its definition waits until the definition
//! is established, where kubectl would say "no matches for kind" and want to be run again.

use super::World;
use super::spec::admin;
use crate::api::message::{Method, Request, Response};
use crate::event::Event;
use crate::ids::{Gvk, Gvr, Key, MessageId};
use crate::network::Payload;
use crate::object::{ObjectView, set};
use crate::process::rest::{carries, post};
use crate::time::{SimTime, Span};
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::sync::Arc;

/// How long an apply waits for the kind to be served, and how often it looks.
const KIND_WAIT: Span = Span::secs(30);
const KIND_POLL: Span = Span::millis(500);
/// kubectl's own annotation (kubectl `pkg/cmd/apply`).
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

#[derive(Clone, Debug)]
enum Job {
    Request(Request),
    Apply { object: Arc<Value>, since: Option<SimTime> },
}

#[derive(Clone, Debug)]
enum Asked {
    Plain,
    Kinds,
    Live(Gvr),
    Write(&'static str),
}

/// What kubectl is doing.
#[derive(Clone, Debug, Default)]
pub struct Kubectl {
    jobs: VecDeque<Job>,
    waiting: Option<(MessageId, Asked)>,
}

impl World {
    pub(super) fn kubectl_request(&mut self, request: Request) {
        self.enqueue(Job::Request(request));
    }

    pub(super) fn kubectl_apply(&mut self, manifests: Vec<Arc<Value>>) {
        for object in manifests {
            self.enqueue(Job::Apply { object, since: None });
        }
    }

    pub(super) fn kubectl_line(&mut self, line: &str, manifests: Vec<Arc<Value>>) {
        let _ = manifests;
        self.refuse(format!("kubectl {line}: not understood"));
    }

    fn enqueue(&mut self, job: Job) {
        self.kubectl.jobs.push_back(job);
        if self.kubectl.jobs.len() == 1 && self.kubectl.waiting.is_none() {
            self.kubectl_next();
        }
    }

    /// Starts on the job at the head of the line.
    pub(super) fn kubectl_next(&mut self) {
        if self.kubectl.waiting.is_some() {
            return;
        }
        match self.kubectl.jobs.front().cloned() {
            None => {}
            Some(Job::Request(request)) => self.kubectl_send(request, Asked::Plain),
            Some(Job::Apply { object, .. }) => {
                let root = Gvr::new(&object.gvk().group, &object.gvk().version, "").root();
                self.kubectl_send(Request::new(Method::Get, root), Asked::Kinds);
            }
        }
    }

    fn kubectl_send(&mut self, mut request: Request, asked: Asked) {
        request.user = admin();
        request.agent = "kubectl".into();
        let words = carries(&request);
        let way = ("kubectl".into(), "apiserver".into(), self.core.now());
        let pace = self.core.knobs.pace();
        let what = (words, Payload::Request(Arc::new(request)), false);
        let message = self.core.network.send(way, pace, SimTime::ZERO, what);
        self.kubectl.waiting = Some((message.id, asked));
        post(&mut self.core, message);
    }

    pub(super) fn kubectl_answered(&mut self, request: MessageId, response: Response) {
        let Some((_, asked)) = self.kubectl.waiting.take_if(|(id, _)| *id == request) else { return };
        match (asked, self.kubectl.jobs.front().cloned()) {
            (Asked::Kinds, Some(Job::Apply { object, since })) => self.kinds_known(&object, since, &response),
            (Asked::Live(gvr), Some(Job::Apply { object, .. })) => self.live_known(&gvr, &object, &response),
            (Asked::Write(done), Some(Job::Apply { object, .. })) => self.applied(&object, done, &response),
            _ => {
                if let Some(status) = response.status() {
                    self.print(format!("Error from server ({}): {}", status.reason, status.message), true);
                }
                self.job_done();
            }
        }
    }

    fn kinds_known(&mut self, object: &Arc<Value>, since: Option<SimTime>, response: &Response) {
        let gvk = object.gvk();
        if let Some(gvr) = find_kind(&gvk, response) {
            let (gvr, namespaced) = gvr;
            let namespace = match (namespaced, object.namespace()) {
                (false, _) => "",
                (true, "") => "default",
                (true, namespace) => namespace,
            };
            let path = gvr.object(&Key::new(namespace, object.name()));
            self.kubectl_send(Request::new(Method::Get, path), Asked::Live(gvr));
            return;
        }
        let now = self.core.now();
        let since = since.unwrap_or(now);
        if now.since(since) < KIND_WAIT {
            self.kubectl.jobs[0] = Job::Apply { object: object.clone(), since: Some(since) };
            self.book_kubectl(now + KIND_POLL);
            return;
        }
        self.print(
            format!(
                "error: resource mapping not found for name: \"{}\" namespace: \"{}\": no matches for kind \"{}\" in version \"{}\"\nensure CRDs are installed first",
                object.name(),
                object.namespace(),
                gvk.kind,
                gvk.api_version()
            ),
            true,
        );
        self.job_done();
    }

    fn live_known(&mut self, gvr: &Gvr, object: &Arc<Value>, response: &Response) {
        let namespaced = response.body.namespace().to_string();
        let manifest = with_last_applied(object);
        if response.code == 404 {
            let namespace = if object.namespace().is_empty() { "default" } else { object.namespace() };
            let cluster_scoped = self.api.cluster_scoped(&gvr.group_resource());
            let path = gvr.collection(if cluster_scoped { "" } else { namespace });
            let request = Request::new(Method::Post, path)
                .query("fieldManager", "kubectl-client-side-apply")
                .query("fieldValidation", "Strict")
                .body(manifest);
            self.kubectl_send(request, Asked::Write("created"));
            return;
        }
        if !response.success() {
            self.applied(object, "", response);
            return;
        }
        let patch = three_way(object, &manifest, &response.body);
        if patch.as_object().is_none_or(Map::is_empty) {
            self.print(format!("{} unchanged", full_name(object)), false);
            self.job_done();
            return;
        }
        let path = gvr.object(&Key::new(&namespaced, object.name()));
        let mut request = Request::new(Method::Patch, path)
            .query("fieldManager", "kubectl-client-side-apply")
            .query("fieldValidation", "Strict")
            .body(patch);
        request.content_type = "application/merge-patch+json".to_string();
        self.kubectl_send(request, Asked::Write("configured"));
    }

    fn applied(&mut self, object: &Arc<Value>, done: &str, response: &Response) {
        match response.status() {
            None => self.print(format!("{} {done}", full_name(object)), false),
            Some(status) => {
                self.print(format!("Error from server ({}): {}", status.reason, status.message), true);
            }
        }
        self.job_done();
    }

    fn job_done(&mut self) {
        self.kubectl.jobs.pop_front();
        self.kubectl_next();
    }

    fn print(&mut self, text: String, failed: bool) {
        self.core.log.emit(Event::Printed { process: "kubectl".into(), text: text.into(), failed });
    }
}

/// `statefulset.apps/web`, as kubectl names what it did.
fn full_name(object: &Value) -> String {
    let gvk = object.gvk();
    let kind = gvk.kind.to_lowercase();
    let dot = if gvk.group.is_empty() { "" } else { "." };
    format!("{kind}{dot}{}/{}", gvk.group, object.name())
}

fn find_kind(gvk: &Gvk, discovery: &Response) -> Option<(Gvr, bool)> {
    let entry = discovery.body.list(&["resources"]).iter().find(|r| {
        r.get("kind").and_then(Value::as_str) == Some(&gvk.kind)
            && r.get("name").and_then(Value::as_str).is_some_and(|n| !n.contains('/'))
    })?;
    let plural = entry.get("name")?.as_str()?;
    let namespaced = entry.get("namespaced").and_then(Value::as_bool).unwrap_or(false);
    Some((Gvr::new(&gvk.group, &gvk.version, plural), namespaced))
}

fn with_last_applied(object: &Value) -> Value {
    let mut manifest = object.clone();
    let text = format!("{object}\n");
    set(&mut manifest, &["metadata", "annotations", LAST_APPLIED], json!(text));
    manifest
}

/// The merge patch from what was applied last and what is live to what is applied now.
fn three_way(object: &Value, manifest: &Value, live: &Value) -> Value {
    let last = live.annotation(LAST_APPLIED).and_then(|text| serde_json::from_str::<Value>(text).ok());
    let mut patch = difference(live, manifest);
    if let Some(last) = last {
        deletions(&last, object, live, &mut patch);
    }
    if patch
        == json!({"metadata": {"annotations": {LAST_APPLIED: with_last_applied(object)["metadata"]["annotations"][LAST_APPLIED]}}})
        && live.annotation(LAST_APPLIED) == Some(&format!("{object}\n"))
    {
        return json!({});
    }
    patch
}

/// What has to be merged into `live` so that it holds all of `wanted`.
fn difference(live: &Value, wanted: &Value) -> Value {
    let (Value::Object(live), Value::Object(wanted)) = (live, wanted) else { return wanted.clone() };
    let mut patch = Map::new();
    for (name, value) in wanted {
        match live.get(name) {
            Some(old) if old == value => {}
            Some(old) if old.is_object() && value.is_object() => {
                let inner = difference(old, value);
                if inner.as_object().is_some_and(|m| !m.is_empty()) {
                    patch.insert(name.clone(), inner);
                }
            }
            _ => {
                patch.insert(name.clone(), value.clone());
            }
        }
    }
    Value::Object(patch)
}

/// Fields that were applied last time and are no longer wanted become nulls.
fn deletions(last: &Value, now: &Value, live: &Value, patch: &mut Value) {
    let (Value::Object(last), Value::Object(now)) = (last, now) else { return };
    for (name, old) in last {
        let Some(there) = live.get(name) else { continue };
        match now.get(name) {
            None => set(patch, &[name], Value::Null),
            Some(new) if old.is_object() && new.is_object() => {
                let mut inner = patch.get(name).cloned().unwrap_or_else(|| json!({}));
                deletions(old, new, there, &mut inner);
                if inner.as_object().is_some_and(|m| !m.is_empty()) {
                    set(patch, &[name], inner);
                }
            }
            Some(_) => {}
        }
    }
}
