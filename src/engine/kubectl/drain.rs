//! `drain`: cordons nodes and evicts what runs there.

use super::modify::{cordoned, node};
use super::observe::{self, End};
use super::pick::Picked;
use super::resources::builtin;
use super::session::{Cx, Flow, duration};
use crate::api::message::{Method, Request};
use crate::object::ObjectView;
use crate::time::{SimTime, Span};
use serde_json::{Value, json};

/// How long kubectl waits before it tries an eviction again that a budget refused (kubectl `pkg/drain/drain.go`).
const RETRY: Span = Span::secs(5);
/// How long it goes on when no time-out is set.
const WAIT_MAX: Span = Span::secs(24 * 60 * 60);

pub fn drain(cx: &mut Cx) -> Flow {
    let names = cx.command.args.clone();
    if names.is_empty() {
        return Err(cx.fail("USAGE: drain NODE [flags]"));
    }
    let timeout = cx.command.flag("timeout").and_then(duration).filter(|t| *t > Span::ZERO).unwrap_or(WAIT_MAX);
    let deadline = cx.now + timeout;
    for name in names {
        let one = node(&name);
        cordoned(cx, &one, true)?;
        let pods = on_node(cx, &one.name)?;
        judge(cx, &one, &pods)?;
        let going: Vec<Picked> = pods.iter().filter(|p| leaves(p)).filter_map(picked).collect();
        for pod in &going {
            cx.err(format!("evicting pod {}/{}", pod.namespace, pod.name));
        }
        for pod in going {
            evict(cx, &pod, deadline)?;
        }
        cx.out(format!("node/{} drained", one.name));
    }
    Ok(())
}

fn picked(pod: &Value) -> Option<Picked> {
    let res = builtin().find(|r| r.kind == "Pod")?;
    let (namespace, name) = (pod.namespace().to_string(), pod.name().to_string());
    Some(Picked { res, namespace, name, source: String::new() })
}

fn on_node(cx: &mut Cx, node: &str) -> Flow<Vec<Value>> {
    let request = Request::new(Method::Get, "/api/v1/pods").query("fieldSelector", format!("spec.nodeName={node}"));
    let response = cx.call(request)?;
    Ok(cx.check(response)?.list(&["items"]).to_vec())
}

fn of_daemon_set(pod: &Value) -> bool {
    pod.controller_ref().is_some_and(|r| r.kind() == "DaemonSet")
}

fn leaves(pod: &Value) -> bool {
    !of_daemon_set(pod)
}

/// Pods that need a word before they are evicted.
fn judge(cx: &mut Cx, node: &Picked, pods: &[Value]) -> Flow {
    let ended = |p: &&Value| matches!(p.text(&["status", "phase"]), "Succeeded" | "Failed");
    let list = |keep: &dyn Fn(&Value) -> bool| {
        let named = pods.iter().filter(|p| !ended(p) && keep(p)).map(|p| format!("{}/{}", p.namespace(), p.name()));
        named.collect::<Vec<_>>().join(", ")
    };
    let alone = list(&|p| p.controller_ref().is_none());
    let daemons = list(&of_daemon_set);
    let local = list(&|p| p.list(&["spec", "volumes"]).iter().any(|v| v.get("emptyDir").is_some()));
    let mut faults = Vec::new();
    if !alone.is_empty() && !cx.command.on("force") {
        faults.push(format!("cannot delete Pods that declare no controller (use --force to override): {alone}"));
    }
    if !daemons.is_empty() && !cx.command.on("ignore-daemonsets") {
        faults.push(format!("cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore): {daemons}"));
    }
    if !local.is_empty() && !cx.command.on("delete-emptydir-data") {
        faults.push(format!("cannot delete Pods with local storage (use --delete-emptydir-data to override): {local}"));
    }
    if faults.is_empty() {
        return Ok(());
    }
    Err(cx.fail(format!(
        "unable to drain node \"{0}\" due to error: [{1}], continuing command...\nThere are pending nodes to be drained:\n \
         {0}\n{1}",
        node.name,
        faults.join(", ")
    )))
}

fn evict(cx: &mut Cx, pod: &Picked, deadline: SimTime) -> Flow {
    let mut body = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod.name, "namespace": pod.namespace}});
    if let Some(grace) = cx.command.flag("grace-period").and_then(|g| g.parse::<i64>().ok()).filter(|g| *g >= 0) {
        body["deleteOptions"] = json!({"gracePeriodSeconds": grace});
    }
    let live = cx.get(pod.path())?;
    let uid = live.body.uid().to_string();
    loop {
        let response = cx.call(Request::new(Method::Post, format!("{}/eviction", pod.path())).body(body.clone()))?;
        match response.code {
            200..=299 => break,
            404 => return Ok(()),
            429 if cx.now < deadline => {
                let why = response.status().unwrap_or_default().message;
                cx.err(format!(
                    "error when evicting pods/\"{}\" -n \"{}\" (will retry after 5s): {why}",
                    pod.name, pod.namespace
                ));
                cx.sleep(RETRY)?;
            }
            _ => {
                cx.check(response)?;
            }
        }
    }
    let other = |o: &Value| !uid.is_empty() && o.uid() != uid;
    match observe::until(cx, pod, deadline, &mut |_, live| Ok(live.is_none_or(other)))? {
        End::Met => cx.out(format!("pod/{} evicted", pod.name)),
        End::TimedOut => {
            return Err(cx.fail(format!("drain did not complete within the time-out: pod/{} is still there", pod.name)));
        }
    }
    Ok(())
}
