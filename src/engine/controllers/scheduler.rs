//! The scheduler: gives each pod without a node the emptiest node that takes it.

use super::core;
use crate::api::message::{Method, Request};
use crate::event::Phase;
use crate::ids::{Gvr, Key};
use crate::object::{Object, ObjectView};
use crate::process::context::{Action, Context, Expect, Stop};
use crate::process::controller::{Caches, Controller, Handler, Notice, Source};
use crate::process::memory::Memory;
use crate::time::Span;
use serde_json::json;

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

    fn reconcile(&self, cx: &mut Context, key: &Key) -> Result<Action, Stop> {
        let Some(pod) = cx.get(&core("pods"), key).filter(waits) else { return Ok(Action::done()) };
        let (nodes, pods) = (cx.list(&core("nodes"), ""), cx.list(&core("pods"), ""));
        let load = |node: &Object| pods.iter().filter(|p| p.text(&["spec", "nodeName"]) == node.name()).count();
        let best = nodes.iter().filter(|n| takes_pods(n)).min_by_key(|n| (load(n), n.name().to_string()));
        let Some(node) = best else {
            cx.no_write(format!("0/{} nodes are available", nodes.len()));
            return Ok(Action::after(RETRY));
        };
        cx.at(Phase::Act, "bind", node.name());
        let binding = json!({"apiVersion": "v1", "kind": "Binding",
            "metadata": {"name": pod.name(), "namespace": pod.namespace(), "uid": pod.uid()},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node.name()}});
        let path = format!("{}/binding", core("pods").object(key));
        match cx.send(Request::new(Method::Post, path).body(binding)).or_not_found() {
            // Somebody else bound it, or it is going: the next event tells.
            Err(Stop::Api(status)) if status.is_conflict() => Ok(Action::done()),
            Err(other) => Err(other),
            Ok(_) => Ok(Action::done()),
        }
    }
}
