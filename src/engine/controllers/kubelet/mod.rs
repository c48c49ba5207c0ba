//! The agent of a node: brings pods up, watches over their containers, ends them, and says that the node is alive.
//!
//! What a container does depends on the tag of its image: `:bad` cannot be pulled, `:crash` exits soon after every
//! start, `:slow` takes long to be ready and to stop; every other image starts and becomes ready at once.

mod heartbeat;
mod life;
mod status;

pub use heartbeat::{Heartbeat, NAMESPACE as LEASES_OF_NODES, leases};

use super::core;
use crate::event::Phase;
use crate::ids::Key;
use crate::object::{Object, ObjectView};
use crate::process::context::{Action, Context, Expect, Stop};
use crate::process::controller::{Controller, Handler, Source};
use crate::time::{SimTime, Span};
use life::{Life, Stage};
use serde_json::{Value, json};

/// Looks after the pods of one node.
pub struct Pods {
    node: String,
}

impl Pods {
    #[must_use]
    pub fn on(node: &str) -> Self {
        Pods { node: node.to_string() }
    }
}

impl Controller for Pods {
    fn name(&self) -> &'static str {
        "kubelet"
    }

    fn sources(&self) -> Vec<Source> {
        vec![Source::new(core("pods"), Handler::ForObject).fields(format!("spec.nodeName={}", self.node))]
    }

    fn workers(&self) -> u32 {
        4
    }

    fn reconcile(&self, cx: &mut Context, key: &Key) -> Result<Action, Stop> {
        let now = cx.now();
        let Some(pod) = cx.get(&core("pods"), key) else {
            cx.memory(|m| m.remove(&key.to_string()).unwrap_or(Value::Null));
            return Ok(Action::done());
        };
        if matches!(pod.text(&["status", "phase"]), "Succeeded" | "Failed") && !pod.deleting() {
            return Ok(Action::done());
        }
        let known = remembered(cx, key, &pod, now);
        if pod.deleting() {
            return self.end(cx, &pod, &known, now);
        }
        let life = Life::at(&pod, SimTime(known["since"].as_u64().unwrap_or(now.0)), now);
        self.report(cx, &pod, &life)?;
        Ok(life.next.map_or_else(Action::done, |at| Action::after(at.since(now))))
    }
}

/// What this kubelet knows of a pod: when it first saw it, and when it was told to end it.
fn remembered(cx: &mut Context, key: &Key, pod: &Object, now: SimTime) -> Value {
    let (uid, deleting) = (pod.uid().to_string(), pod.deleting());
    let running = pod.text(&["status", "phase"]) == "Running";
    cx.memory(move |memory| {
        let name = key.to_string();
        let mut known = memory.get(&name).filter(|k| k["uid"] == json!(uid)).cloned().unwrap_or_else(|| {
            // A kubelet that comes back finds running containers and leaves them running.
            let since = if running { now.0.saturating_sub(life::ADOPTED.0) } else { now.0 };
            json!({"uid": uid, "since": since})
        });
        if deleting && known.get("ending").is_none() {
            known["ending"] = json!(now.0);
        }
        memory.set(&name, known.clone());
        known
    })
}

impl Pods {
    fn report(&self, cx: &mut Context, pod: &Object, life: &Life) -> Result<(), Stop> {
        let status = status::of(pod, life, &self.node);
        if pod.at(&["status"]) == Some(&status) {
            return Ok(());
        }
        cx.at(Phase::Status, "status", life.stage.word());
        let mut changed = Value::clone(pod);
        changed["status"] = status;
        match cx.update_status(&core("pods"), changed).or_not_found() {
            // Somebody wrote in between; the event that tells of it brings the pod back here.
            Err(Stop::Api(status)) if status.is_conflict() => Ok(()),
            other => other.map(|_| ()),
        }
    }

    /// Containers get their time to stop; then the pod is removed for good.
    fn end(&self, cx: &mut Context, pod: &Object, known: &Value, now: SimTime) -> Result<Action, Stop> {
        let from = SimTime(known["ending"].as_u64().unwrap_or(now.0));
        let grace = Span::secs(pod.int(&["metadata", "deletionGracePeriodSeconds"]).unwrap_or(0).unsigned_abs());
        let takes = life::stopping_time(pod).min(grace);
        let done = from + takes;
        if now < done {
            return Ok(Action::after(done.since(now)));
        }
        if !pod.finalizers().is_empty() {
            let life = Life { stage: Stage::Stopped, since: done, restarts: 0, next: None };
            self.report(cx, pod, &life)?;
            return Ok(Action::done());
        }
        cx.at(Phase::Act, "remove", pod.name());
        let options = json!({"gracePeriodSeconds": 0, "preconditions": {"uid": pod.uid()}});
        match cx.delete(&core("pods"), &pod.key(), options).or_not_found() {
            Err(Stop::Api(status)) if status.is_conflict() => Ok(Action::done()),
            other => other.map(|_| Action::done()),
        }
    }
}
