//! The scheduler: gives each pod without a node the emptiest node that takes it.
//!
//! How many pods a node has is counted as events come in, and a pod that was bound counts at once, before its event
//! comes back (`pkg/scheduler/backend/cache`, assumed pods).

use super::core;
use crate::api::message::{Method, Request};
use crate::event::Phase;
use crate::ids::{Gvr, Key};
use crate::object::{Object, ObjectView};
use crate::process::context::{Action, Context, Expect, Stop};
use crate::process::controller::{Caches, Controller, Handler, Notice, Source};
use crate::process::memory::Memory;
use crate::time::Span;
use serde_json::{Value, json};

/// The first and the longest wait before a pod that fits nowhere is tried again (scheduler `backend/queue`).
const RETRY: Span = Span::secs(5);

pub struct Scheduler;

fn waits(pod: &Object) -> bool {
    pod.text(&["spec", "nodeName"]).is_empty() && !pod.deleting() && pod.text(&["status", "phase"]) != "Failed"
}

fn takes_pods(node: &Object) -> bool {
    node.condition("Ready") == "True"
        && node.at(&["spec", "unschedulable"]) != Some(&json!(true))
        && !node.list(&["spec", "taints"]).iter().any(|t| matches!(t.text(&["effect"]), "NoSchedule" | "NoExecute"))
}

/// Counts a pod to a node, or to none; a pod counts once.
fn count(memory: &mut Memory, pod: &Key, node: &str) {
    let name = format!("pod {pod}");
    let before = memory.get(&name).and_then(Value::as_str).unwrap_or("").to_string();
    if before == node {
        return;
    }
    for (of, change) in [(before.as_str(), -1), (node, 1)] {
        if !of.is_empty() {
            let load = load(memory, of) + change;
            memory.set(&format!("node {of}"), json!(load));
        }
    }
    if node.is_empty() {
        memory.remove(&name);
    } else {
        memory.set(&name, json!(node));
    }
}

fn load(memory: &Memory, node: &str) -> i64 {
    memory.get(&format!("node {node}")).and_then(Value::as_i64).unwrap_or(0)
}

/// The fittest node: the one with the fewest pods, the first by name among equals.
fn fittest(cx: &mut Context, nodes: &[Object]) -> Option<String> {
    let fit: Vec<&str> = nodes.iter().filter(|n| takes_pods(n)).map(|n| n.name()).collect();
    let best = cx.memory(|memory| json!(fit.iter().min_by_key(|n| (load(memory, n), **n))));
    best.as_str().map(str::to_string)
}

impl Controller for Scheduler {
    fn name(&self) -> &'static str {
        "default-scheduler"
    }

    fn sources(&self) -> Vec<Source> {
        vec![Source::new(core("pods"), Handler::Map), Source::new(core("nodes"), Handler::Map)]
    }

    fn map(&self, gvr: &Gvr, notice: &Notice, caches: &dyn Caches, _memory: &mut Memory) -> Vec<Key> {
        if &*gvr.resource == "pods" {
            let pod = notice.object();
            let gone = matches!(notice, Notice::Delete { .. });
            return if waits(pod) && !gone { vec![pod.key()] } else { Vec::new() };
        }
        let became_fit = match notice {
            Notice::Update { old, new } => takes_pods(new) && !takes_pods(old),
            Notice::Add { object, .. } => takes_pods(object),
            Notice::Delete { .. } => false,
        };
        let pods = if became_fit { caches.list(&core("pods"), "") } else { Vec::new() };
        pods.iter().filter(|p| waits(p)).map(|p| p.key()).collect()
    }

    fn observe(&self, gvr: &Gvr, notice: &Notice, memory: &mut Memory) {
        let pod = notice.object();
        if &*gvr.resource != "pods" {
            return;
        }
        if matches!(notice, Notice::Delete { .. }) {
            count(memory, &pod.key(), "");
        } else if !pod.text(&["spec", "nodeName"]).is_empty() {
            count(memory, &pod.key(), pod.text(&["spec", "nodeName"]));
        }
    }

    fn reconcile(&self, cx: &mut Context, key: &Key) -> Result<Action, Stop> {
        let Some(pod) = cx.get(&core("pods"), key).filter(waits) else { return Ok(Action::done()) };
        let nodes = cx.list(&core("nodes"), "");
        let Some(node) = fittest(cx, &nodes) else {
            cx.no_write(format!("0/{} nodes are available", nodes.len()));
            return Ok(Action::after(RETRY));
        };
        cx.at(Phase::Act, "bind", node.as_str());
        let assume = |memory: &mut Memory, node: &str| {
            count(memory, key, node);
            Value::Null
        };
        cx.memory(|memory| assume(memory, &node));
        let binding = json!({"apiVersion": "v1", "kind": "Binding",
            "metadata": {"name": pod.name(), "namespace": pod.namespace(), "uid": pod.uid()},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node}});
        let path = format!("{}/binding", core("pods").object(key));
        let bound = cx.send(Request::new(Method::Post, path).body(binding)).or_not_found();
        if matches!(bound, Err(Stop::Pending) | Ok(Some(_))) {
            return bound.map(|_| Action::done());
        }
        cx.memory(|memory| assume(memory, ""));
        match bound {
            // Somebody else bound it, or it is going: the next event tells.
            Err(Stop::Api(status)) if status.is_conflict() => Ok(Action::done()),
            other => other.map(|_| Action::done()),
        }
    }
}
