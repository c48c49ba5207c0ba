//! The history of a workload: ReplicaSets of a Deployment, ControllerRevisions of a StatefulSet.

use super::pick::Picked;
use super::resources::{Res, builtin};
use super::session::{Cx, Flow};
use crate::object::ObjectView;
use serde_json::{Value, json};

/// Where a Deployment's revision is kept (kubernetes `pkg/controller/deployment/util`).
const REVISION: &str = "deployment.kubernetes.io/revision";
const CAUSE: &str = "kubernetes.io/change-cause";
const HASH: &str = "pod-template-hash";

/// One entry of the history.
#[derive(Clone, Debug)]
pub struct Revision {
    pub number: i64,
    pub cause: String,
    pub template: Value,
    /// The patch that takes the workload back here.
    pub patch: Value,
}

fn resource(kind: &str) -> Option<Res> {
    builtin().find(|r| r.kind == kind)
}

/// The revisions of a workload, oldest first.
pub fn of(cx: &mut Cx, one: &Picked, live: &Value) -> Flow<Vec<Revision>> {
    let kind = if one.res.kind == "Deployment" { "ReplicaSet" } else { "ControllerRevision" };
    let Some(res) = resource(kind) else { return Ok(Vec::new()) };
    let list = cx.fetch(res.collection(&one.namespace))?;
    let owned = |o: &&Value| o.controller_ref().is_some_and(|r| r.text(&["uid"]) == live.uid());
    let mut out: Vec<Revision> = list.list(&["items"]).iter().filter(owned).filter_map(|o| read(o, kind)).collect();
    out.sort_by_key(|r| r.number);
    Ok(out)
}

fn read(object: &Value, kind: &str) -> Option<Revision> {
    let cause = object.annotation(CAUSE).unwrap_or("<none>").to_string();
    if kind == "ReplicaSet" {
        let number = object.annotation(REVISION)?.parse().ok()?;
        let mut template = object.at(&["spec", "template"])?.clone();
        if let Some(labels) = template.pointer_mut("/metadata/labels").and_then(Value::as_object_mut) {
            labels.remove(HASH);
        }
        let patch = json!([{"op": "replace", "path": "/spec/template", "value": template}]);
        return Some(Revision { number, cause, template, patch });
    }
    let number = object.int(&["revision"])?;
    let mut template = object.at(&["data", "spec", "template"])?.clone();
    if let Some(map) = template.as_object_mut() {
        map.remove("$patch");
    }
    let patch = json!([{"op": "replace", "path": "/spec/template", "value": template}]);
    Some(Revision { number, cause, template, patch })
}
