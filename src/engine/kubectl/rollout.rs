//! `rollout status`, `history`, `undo`, `pause`, `resume`, `restart` (kubectl `pkg/polymorphichelpers`).

use super::apply::write;
use super::observe::{self, End};
use super::output::done;
use super::pick::{Picked, pick};
use super::revisions::{self, Revision};
use super::session::{Cx, Flow, duration};
use super::tabs;
use crate::api::message::Method;
use crate::object::ObjectView;
use crate::time::Span;
use serde_json::{Value, json};

const STRATEGIC: &str = "application/strategic-merge-patch+json";
const WAIT_MAX: Span = Span::secs(24 * 60 * 60);
const RESTARTED: &str = "kubectl.kubernetes.io/restartedAt";

pub fn rollout(cx: &mut Cx) -> Flow {
    let args = cx.command.args.clone();
    let Some((word, rest)) = args.split_first() else {
        return Err(cx.fail("rollout needs a subcommand: history, pause, restart, resume, status or undo"));
    };
    if !["history", "pause", "restart", "resume", "status", "undo"].contains(&word.as_str()) {
        return Err(cx.fail(format!("unknown command \"{word}\" for \"kubectl rollout\"")));
    }
    if rest.is_empty() && cx.command.objects.is_empty() {
        return Err(cx.fail("required resource not specified"));
    }
    for one in pick(cx, rest)? {
        match word.as_str() {
            "status" => status(cx, &one)?,
            "history" => history(cx, &one)?,
            "undo" => undo(cx, &one)?,
            "pause" => pause(cx, &one, true)?,
            "resume" => pause(cx, &one, false)?,
            _ => restart(cx, &one)?,
        }
    }
    Ok(())
}

fn unsupported(cx: &mut Cx, one: &Picked, what: &str) -> super::session::Stop {
    cx.fail(format!("{} \"{}\" {what}", one.res.plural(), one.name))
}

fn status(cx: &mut Cx, one: &Picked) -> Flow {
    if !matches!(one.res.kind.as_str(), "Deployment" | "StatefulSet") {
        let kind = one.res.kind.clone();
        return Err(cx.fail(format!("no status viewer has been implemented for {kind}")));
    }
    let timeout = cx.command.flag("timeout").and_then(duration).filter(|t| *t > Span::ZERO).unwrap_or(WAIT_MAX);
    let deadline = cx.now + timeout;
    let once = cx.command.flag("watch") == Some("false");
    // What is not there is told in the server's words.
    one.live(cx)?;
    let mut last = String::new();
    let end = observe::until(cx, one, deadline, &mut |cx, live| {
        let Some(live) = live else {
            return Err(cx.fail("object has been deleted"));
        };
        let seen = if one.res.kind == "Deployment" { deployment(live) } else { stateful_set(live) };
        let (text, complete) = seen.map_err(|why| cx.fail(why))?;
        if text != last {
            cx.out(text.clone());
            last = text;
        }
        Ok(complete || once)
    })?;
    match end {
        End::Met => Ok(()),
        End::TimedOut => Err(cx.fail("timed out waiting for the condition")),
    }
}

/// The line for a Deployment, and whether it is done.
fn deployment(live: &Value) -> Result<(String, bool), String> {
    let name = live.name();
    let count = |path: &[&str]| live.int(path).unwrap_or(0);
    if live.generation() > count(&["status", "observedGeneration"]) {
        return Ok(("Waiting for deployment spec update to be observed...".to_string(), false));
    }
    let late = live
        .list(&["status", "conditions"])
        .iter()
        .any(|c| c.text(&["type"]) == "Progressing" && c.text(&["reason"]) == "ProgressDeadlineExceeded");
    if late {
        return Err(format!("deployment \"{name}\" exceeded its progress deadline"));
    }
    let updated = count(&["status", "updatedReplicas"]);
    let wanted = live.int(&["spec", "replicas"]).unwrap_or(1);
    let all = count(&["status", "replicas"]);
    let available = count(&["status", "availableReplicas"]);
    let waiting = format!("Waiting for deployment \"{name}\" rollout to finish:");
    Ok(if updated < wanted {
        (format!("{waiting} {updated} out of {wanted} new replicas have been updated..."), false)
    } else if all > updated {
        (format!("{waiting} {} old replicas are pending termination...", all - updated), false)
    } else if available < updated {
        (format!("{waiting} {available} of {updated} updated replicas are available..."), false)
    } else {
        (format!("deployment \"{name}\" successfully rolled out"), true)
    })
}

/// The line for a StatefulSet, and whether it is done.
fn stateful_set(live: &Value) -> Result<(String, bool), String> {
    let strategy = live.text(&["spec", "updateStrategy", "type"]);
    if strategy != "RollingUpdate" {
        return Err(format!("rollout status is only available for RollingUpdate strategy type, not \"{strategy}\""));
    }
    let count = |path: &[&str]| live.int(path).unwrap_or(0);
    let observed = count(&["status", "observedGeneration"]);
    if observed == 0 || live.generation() > observed {
        return Ok(("Waiting for statefulset spec update to be observed...".to_string(), false));
    }
    let wanted = live.int(&["spec", "replicas"]).unwrap_or(1);
    let (ready, updated) = (count(&["status", "readyReplicas"]), count(&["status", "updatedReplicas"]));
    if ready < wanted {
        return Ok((format!("Waiting for {} pods to be ready...", wanted - ready), false));
    }
    if let Some(partition) = live.int(&["spec", "updateStrategy", "rollingUpdate", "partition"]) {
        let due = wanted - partition;
        if updated < due {
            return Ok((
                format!(
                    "Waiting for partitioned roll out to finish: {updated} out of {due} new pods have been updated..."
                ),
                false,
            ));
        }
        return Ok((format!("partitioned roll out complete: {updated} new pods have been updated..."), true));
    }
    let (update, current) = (live.text(&["status", "updateRevision"]), live.text(&["status", "currentRevision"]));
    if update != current {
        return Ok((
            format!("waiting for statefulset rolling update to complete {updated} pods at revision {update}..."),
            false,
        ));
    }
    let pods = count(&["status", "currentReplicas"]);
    Ok((format!("statefulset rolling update complete {pods} pods at revision {current}..."), true))
}

fn history(cx: &mut Cx, one: &Picked) -> Flow {
    if !matches!(one.res.kind.as_str(), "Deployment" | "StatefulSet" | "DaemonSet") {
        let kind = one.res.kind.clone();
        return Err(cx.fail(format!("no history viewer has been implemented for \"{kind}\"")));
    }
    let live = one.live(cx)?;
    let all = revisions::of(cx, one, &live)?;
    let label = format!("{}/{}", one.res.label(), one.name);
    if let Some(wanted) = number(cx, "revision")? {
        let found = all.iter().find(|r| r.number == wanted);
        let Some(found) = found else { return Err(cx.fail("unable to find the specified revision")) };
        let text = format!("{label} with revision #{wanted}\nPod Template:\n{}", template(&found.template));
        cx.out(text);
        return Ok(());
    }
    let mut lines = vec!["REVISION\tCHANGE-CAUSE".to_string()];
    lines.extend(all.iter().map(|r| format!("{}\t{}", r.number, r.cause)));
    cx.out(format!("{label} \n{}\n", tabs::columns(&lines)));
    Ok(())
}

fn template(template: &Value) -> String {
    let mut lines = Vec::new();
    for (at, (key, value)) in
        template.at(&["metadata", "labels"]).and_then(Value::as_object).into_iter().flatten().enumerate()
    {
        let head = if at == 0 { "  Labels:" } else { "" };
        lines.push(format!("{head:<10}\t{key}={}", super::jsonpath::shown(value)));
    }
    lines.push("  Containers:".to_string());
    for container in template.list(&["spec", "containers"]) {
        lines.push(format!("   {}:", container.text(&["name"])));
        lines.push(format!("    Image:\t{}", container.text(&["image"])));
    }
    lines.join("\n")
}

fn number(cx: &mut Cx, flag: &str) -> Flow<Option<i64>> {
    match cx.command.flag(flag).map(str::to_string) {
        None => Ok(None),
        Some(text) => match text.parse::<i64>() {
            Ok(0) => Ok(None),
            Ok(n) if n > 0 => Ok(Some(n)),
            _ => Err(cx.fail("revision must be a positive integer: ".to_string() + &text)),
        },
    }
}

fn undo(cx: &mut Cx, one: &Picked) -> Flow {
    let live = one.live(cx)?;
    if live.at(&["spec", "paused"]) == Some(&Value::Bool(true)) {
        let text = format!(
            "you cannot rollback a paused deployment; resume it first with 'kubectl rollout resume {}/{}' and try again",
            one.res.label(),
            one.name
        );
        return Err(cx.fail(text));
    }
    let all = revisions::of(cx, one, &live)?;
    let target = match number(cx, "to-revision")? {
        Some(wanted) => match all.iter().find(|r| r.number == wanted) {
            Some(found) => found.clone(),
            None => return Err(cx.fail(format!("unable to find specified revision {wanted} in history"))),
        },
        None => previous(&all)
            .ok_or_else(|| cx.fail(format!("no rollout history found for {} \"{}\"", one.res.singular, one.name)))?,
    };
    if live.at(&["spec", "template"]).is_some_and(|now| same_template(now, &target.template)) {
        let text = format!("skipped rollback (current template already matches revision {})", target.number);
        return done(cx, &one.res, &live, &text);
    }
    let mut request = write(cx, Method::Patch, one.path(), "kubectl-rollout").body(target.patch);
    request.content_type = "application/json-patch+json".to_string();
    let response = cx.call(request)?;
    let body = cx.check(response)?;
    done(cx, &one.res, &body, "rolled back")
}

fn previous(all: &[Revision]) -> Option<Revision> {
    all.len().checked_sub(2).and_then(|at| all.get(at)).cloned()
}

fn same_template(a: &Value, b: &Value) -> bool {
    let plain = |v: &Value| {
        let mut v = v.clone();
        crate::object::remove(&mut v, &["metadata", "creationTimestamp"]);
        v
    };
    plain(a) == plain(b)
}

fn pause(cx: &mut Cx, one: &Picked, stop: bool) -> Flow {
    if one.res.kind != "Deployment" {
        let what = if stop { "pausing is not supported" } else { "resuming is not supported" };
        return Err(unsupported(cx, one, what));
    }
    let live = one.live(cx)?;
    let paused = live.at(&["spec", "paused"]) == Some(&Value::Bool(true));
    if paused == stop {
        return Err(unsupported(cx, one, if stop { "is already paused" } else { "is not paused" }));
    }
    change(
        cx,
        one,
        json!({"spec": {"paused": if stop { json!(true) } else { Value::Null }}}),
        if stop { "paused" } else { "resumed" },
    )
}

fn restart(cx: &mut Cx, one: &Picked) -> Flow {
    if !matches!(one.res.kind.as_str(), "Deployment" | "StatefulSet" | "DaemonSet") {
        return Err(unsupported(cx, one, "restarting is not supported"));
    }
    let live = one.live(cx)?;
    if live.at(&["spec", "paused"]) == Some(&Value::Bool(true)) {
        return Err(unsupported(cx, one, "can't restart paused deployment (run rollout resume first)"));
    }
    let stamp = cx.now.rfc3339();
    if live.at(&["spec", "template", "metadata", "annotations", RESTARTED]).and_then(Value::as_str) == Some(&stamp) {
        return Err(unsupported(
            cx,
            one,
            "if restart has already been triggered within the past second, please wait before attempting to trigger another",
        ));
    }
    let body = json!({"spec": {"template": {"metadata": {"annotations": {RESTARTED: stamp}}}}});
    change(cx, one, body, "restarted")
}

fn change(cx: &mut Cx, one: &Picked, body: Value, what: &str) -> Flow {
    let mut request = write(cx, Method::Patch, one.path(), "kubectl-rollout").body(body);
    request.content_type = STRATEGIC.to_string();
    let response = cx.call(request)?;
    let body = cx.check(response)?;
    done(cx, &one.res, &body, what)
}
