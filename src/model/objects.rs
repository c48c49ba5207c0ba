//! Objects as rows: which are shown, in which order, in which state.

use super::gauge::is_ready;
use engine::ids::{GroupResource, Key};
use engine::object::{Object, ObjectView};
use engine::scene::Scene;
use serde_json::Value;

/// Names one object of the cluster.
pub type ObjectId = (GroupResource, Key);

/// The state of an object, shown by shape and word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Ready,
    Starting,
    Leaving,
    Failed,
    /// It has no notion of being ready.
    Plain,
}

impl State {
    #[must_use]
    pub fn class(self) -> &'static str {
        match self {
            State::Ready => "ready",
            State::Starting => "starting",
            State::Leaving => "leaving",
            State::Failed => "failed",
            State::Plain => "plain",
        }
    }
    /// A mark that stands beside the name.
    #[must_use]
    pub fn mark(self) -> &'static str {
        match self {
            State::Ready => "✓",
            State::Starting => "…",
            State::Leaving => "−",
            State::Failed => "×",
            State::Plain => "",
        }
    }
}

#[must_use]
pub fn state(object: &Value) -> State {
    if object.deleting() {
        return State::Leaving;
    }
    if object.kind() == "Pod" {
        return match object.text(&["status", "phase"]) {
            "Failed" => State::Failed,
            "Succeeded" => State::Ready,
            _ if is_ready(object) => State::Ready,
            _ => State::Starting,
        };
    }
    let conditions = object.list(&["status", "conditions"]);
    let is = |kind: &str| conditions.iter().find(|c| c.text(&["type"]) == kind).map(|c| c.text(&["status"]) == "True");
    match is("Ready").or_else(|| is("Available")).or_else(|| is("Established")) {
        Some(true) => State::Ready,
        Some(false) => State::Starting,
        None => State::Plain,
    }
}

/// Resources that belong to the machinery and would hide what the reader made.
const MACHINERY: [&str; 6] = ["leases", "events", "endpointslices", "controllerrevisions", "apiservices", "namespaces"];

/// Every object worth a row: the reader's own kinds first, then the built-in ones, nodes and definitions last.
#[must_use]
pub fn rows(scene: &Scene) -> Vec<(ObjectId, Object)> {
    let mut rows: Vec<_> = scene
        .objects
        .iter()
        .filter(|(resource, _)| !MACHINERY.contains(&&*resource.resource) && !resource.group.starts_with("rbac."))
        .flat_map(|(resource, objects)| {
            objects.iter().map(move |(key, object)| ((resource.clone(), key.clone()), object.clone()))
        })
        .filter(|((_, key), _)| !key.namespace.starts_with("kube-"))
        .collect();
    rows.sort_by_key(|((resource, _), _)| rank(resource));
    rows
}

fn rank(resource: &GroupResource) -> u8 {
    match &*resource.resource {
        "customresourcedefinitions" => 9,
        "nodes" => 8,
        "pods" => 2,
        _ if resource.group.contains('.') && !resource.group.ends_with(".k8s.io") => 0,
        "deployments" | "statefulsets" => 1,
        _ => 3,
    }
}

/// What is looked at when nothing was chosen: the first wish of the reader.
#[must_use]
pub fn first(scene: &Scene) -> Option<ObjectId> {
    rows(scene).into_iter().map(|(id, _)| id).find(|(resource, _)| rank(resource) < 4)
}

/// Pods on a node; the empty name asks for those that have none.
#[must_use]
pub fn pods_on(scene: &Scene, node: &str) -> Vec<(Key, Object)> {
    scene
        .of("", "pods")
        .filter(|(_, pod)| pod.text(&["spec", "nodeName"]) == node)
        .map(|(k, p)| (k.clone(), p.clone()))
        .collect()
}

/// `object-pod-cache-0`: how tests and anchors name an object.
#[must_use]
pub fn slug(kind: &str, name: &str) -> String {
    format!("object-{}-{name}", kind.to_lowercase())
}

/// An object as shown, without the field owners and the copy of the last manifest that nobody asked for.
#[must_use]
pub fn readable(object: &Value) -> String {
    let mut shown = object.clone();
    if let Some(metadata) = shown.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
        if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
            annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
            if annotations.is_empty() {
                metadata.remove("annotations");
            }
        }
    }
    engine::yaml::to_yaml(&shown)
}
