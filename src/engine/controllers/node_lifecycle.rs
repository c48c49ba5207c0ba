//! Node lifecycle: a node whose lease is old is not Ready; its pods are not either, and after five minutes they are
//! taken from it.
//!
//! Mirrors `pkg/controller/nodelifecycle`.

use super::core;
use super::kubelet::{LEASES_OF_NODES, leases};
use crate::event::Phase;
use crate::ids::{Gvr, Key};
use crate::object::{Object, ObjectView};
use crate::process::context::{Action, Context, Expect, Stop};
use crate::process::controller::{Caches, Controller, Handler, Notice, Source};
use crate::process::memory::Memory;
use crate::time::{SimTime, Span};
use serde_json::{Value, json};

/// Age of a lease at which its node is given up (`--node-monitor-grace-period`).
const GRACE: Span = Span::secs(50);
/// How long pods stay on a node that does not answer (`DefaultTolerationSeconds`).
const TOLERATION: Span = Span::secs(300);
const UNREACHABLE: &str = "node.kubernetes.io/unreachable";

pub struct NodeLifecycle;

impl Controller for NodeLifecycle {
    fn name(&self) -> &'static str {
        "node-lifecycle-controller"
    }

    fn sources(&self) -> Vec<Source> {
        let here = |gvr: Gvr| Source::new(gvr, Handler::Map);
        vec![here(core("nodes")), here(leases()), here(core("pods"))]
    }

    fn map(&self, gvr: &Gvr, notice: &Notice, _caches: &dyn Caches, _memory: &mut Memory) -> Vec<Key> {
        let object = notice.object();
        match &*gvr.resource {
            "nodes" => vec![object.key()],
            "leases" if object.namespace() == LEASES_OF_NODES => vec![Key::new("", object.name())],
            _ => Vec::new(),
        }
    }

    fn reconcile(&self, cx: &mut Context, key: &Key) -> Result<Action, Stop> {
        let Some(node) = cx.get(&core("nodes"), key) else { return Ok(Action::done()) };
        let Some(lease) = cx.get(&leases(), &Key::new(LEASES_OF_NODES, node.name())) else { return Ok(Action::done()) };
        let now = cx.now();
        let Some(renewed) = SimTime::parse_rfc3339(lease.text(&["spec", "renewTime"])) else {
            return Ok(Action::done());
        };
        if now < renewed + GRACE {
            if node.condition("Ready") == "True" && tainted(&node) {
                set_taints(cx, &node, false)?;
            }
            return Ok(Action::after((renewed + GRACE).since(now)));
        }
        self.give_up(cx, &node, now)?;
        let lost = renewed + GRACE + TOLERATION;
        if now < lost {
            return Ok(Action::after(lost.since(now)));
        }
        evict(cx, &node)?;
        Ok(Action::done())
    }
}

fn tainted(node: &Object) -> bool {
    node.list(&["spec", "taints"]).iter().any(|t| t.text(&["key"]) == UNREACHABLE)
}

fn set_taints(cx: &mut Context, node: &Object, on: bool) -> Result<(), Stop> {
    let mut taints: Vec<Value> = node.list(&["spec", "taints"]).to_vec();
    taints.retain(|t| t.text(&["key"]) != UNREACHABLE);
    if on {
        let at = cx.now().rfc3339();
        for effect in ["NoSchedule", "NoExecute"] {
            taints.push(json!({"key": UNREACHABLE, "effect": effect, "timeAdded": at}));
        }
    }
    let taints = if taints.is_empty() { Value::Null } else { Value::from(taints) };
    cx.patch(&core("nodes"), &node.key(), "", json!({"spec": {"taints": taints}}))?;
    Ok(())
}

fn unknown(conditions: &[Value], now: SimTime, word: &str, reason: &str, message: &str) -> Vec<Value> {
    let mut list = conditions.to_vec();
    for condition in list.iter_mut().filter(|c| c.text(&["type"]) == "Ready") {
        condition["status"] = json!(word);
        condition["reason"] = json!(reason);
        condition["message"] = json!(message);
        condition["lastTransitionTime"] = json!(now.rfc3339());
    }
    list
}

impl NodeLifecycle {
    fn give_up(&self, cx: &mut Context, node: &Object, now: SimTime) -> Result<(), Stop> {
        if node.condition("Ready") == "True" {
            cx.at(Phase::Act, "unknown", node.name());
            let why = "Kubelet stopped posting node status.";
            let conditions = unknown(node.list(&["status", "conditions"]), now, "Unknown", "NodeStatusUnknown", why);
            cx.patch(&core("nodes"), &node.key(), "status", json!({"status": {"conditions": conditions}}))?;
            set_taints(cx, node, true)?;
        }
        let pods = cx.list(&core("pods"), "");
        for pod in pods.iter().filter(|p| on(p, node) && p.condition("Ready") == "True") {
            let conditions = unknown(pod.list(&["status", "conditions"]), now, "False", "NodeNotReady", "");
            let patch = json!({"status": {"conditions": conditions}});
            cx.patch(&core("pods"), &pod.key(), "status", patch).or_not_found()?;
        }
        Ok(())
    }
}

fn on(pod: &Object, node: &Object) -> bool {
    pod.text(&["spec", "nodeName"]) == node.name()
}

fn evict(cx: &mut Context, node: &Object) -> Result<(), Stop> {
    let pods = cx.list(&core("pods"), "");
    for pod in pods.iter().filter(|p| on(p, node) && !p.deleting()) {
        cx.at(Phase::Act, "evict", pod.name());
        cx.delete(&core("pods"), &pod.key(), Value::Null).or_not_found()?;
    }
    Ok(())
}
