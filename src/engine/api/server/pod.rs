//! The subresources of pods: binding to a node, and eviction.

use super::body;
use super::call::Call;
use super::{ApiServer, Outcome};
use crate::api::message::{Method, Response};
use crate::api::status::ApiStatus;
use crate::object::{self, ObjectView};
use serde_json::{Value, json};
use std::sync::Arc;

impl ApiServer {
    pub(super) fn pod_subresource(&mut self, call: &mut Call) -> Outcome<Response> {
        if call.request.method != Method::Post {
            return Err(ApiStatus::method_not_allowed(&call.resource.group_resource(), call.verb()));
        }
        if call.path.subresource == "eviction" { self.delete(call) } else { self.bind(call) }
    }

    /// Binds a pod to a node, as the scheduler does (registry `core/pod/storage/storage.go`).
    fn bind(&mut self, call: &mut Call) -> Outcome<Response> {
        let (binding, _) = body::parse(&call.request.body, false)?;
        let Some(live) = self.live(call)? else { return Err(call.not_found()) };
        let node = binding.text(&["target", "name"]);
        let conflict = |why: String| ApiStatus::conflict(&call.resource.group_resource(), live.name(), &why);
        if node.is_empty() {
            return Err(ApiStatus::bad_request("target.name is required"));
        }
        if live.deleting() {
            return Err(conflict(format!("pod {} is being deleted, cannot be assigned to a host", live.name())));
        }
        let bound = live.text(&["spec", "nodeName"]);
        if !bound.is_empty() {
            return Err(conflict(format!("pod {} is already assigned to node {bound:?}", live.name())));
        }
        let mut new = Value::clone(&live);
        object::set(&mut new, &["spec", "nodeName"], Value::from(node));
        let scheduled = json!({"type": "PodScheduled", "status": "True", "lastProbeTime": null,
            "lastTransitionTime": call.now.rfc3339(), "observedGeneration": live.generation()});
        let mut conditions: Vec<Value> = live.list(&["status", "conditions"]).to_vec();
        conditions.retain(|c| c.text(&["type"]) != "PodScheduled");
        conditions.push(scheduled);
        object::set(&mut new, &["status", "conditions"], Value::from(conditions));
        let before = self.live(call)?;
        self.track(call, before.as_deref(), &mut new);
        self.put(call, &live.key(), new)?;
        let done = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201});
        Ok(Response::ok(201, Arc::new(done)))
    }
}
