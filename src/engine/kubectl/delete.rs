//! `delete`, and waiting until what was deleted is gone.

use super::observe::{self, End};
use super::pick::{Picked, pick};
use super::session::{Cx, Flow, duration};
use crate::api::message::{Method, Request};
use crate::object::ObjectView;
use crate::time::{SimTime, Span};
use serde_json::{Value, json};

/// How long kubectl waits when no time-out is set.
const WAIT_MAX: Span = Span::secs(7 * 24 * 60 * 60);

pub fn delete(cx: &mut Cx) -> Flow {
    let args = cx.command.args.clone();
    let grace = grace(cx)?;
    let picked = pick(cx, &args)?;
    if picked.is_empty() && cx.code == 0 {
        cx.err("No resources found");
        return Ok(());
    }
    if grace == Some(0) && cx.command.on("force") {
        cx.err(
            "Warning: Immediate deletion does not wait for confirmation that the running resource has been terminated. \
             The resource may continue to run on the cluster indefinitely.",
        );
    }
    let mut going = Vec::new();
    for one in picked {
        if let Some(uid) = ask(cx, &one, grace)? {
            going.push((one, uid));
        }
    }
    let waits = cx.command.flag("wait") != Some("false") && cx.command.flag("dry-run").is_none();
    if waits && !(grace == Some(0) && cx.command.on("force")) {
        wait(cx, going)?;
    }
    Ok(())
}

fn grace(cx: &mut Cx) -> Flow<Option<i64>> {
    if cx.command.on("now") {
        return Ok(Some(1));
    }
    let seconds = match cx.command.flag("grace-period").map(str::to_string) {
        None => None,
        Some(text) => match text.parse::<i64>() {
            Ok(n) => Some(n).filter(|n| *n >= 0),
            Err(_) => {
                return Err(cx.fail(format!(
                    "invalid argument \"{text}\" for \"--grace-period\" flag: strconv.ParseInt: parsing \"{text}\": invalid syntax"
                )));
            }
        },
    };
    match (seconds, cx.command.on("force")) {
        // Without force, zero becomes the shortest period that is still graceful.
        (Some(0), false) => Ok(Some(1)),
        (None, true) => Ok(Some(0)),
        (Some(n), true) if n > 0 => {
            Err(cx.fail("--force and --grace-period greater than 0 cannot be specified together"))
        }
        (seconds, _) => Ok(seconds),
    }
}

/// Sends one delete; answers the uid to wait for.
fn ask(cx: &mut Cx, one: &Picked, grace: Option<i64>) -> Flow<Option<String>> {
    let policy = match cx.command.flag("cascade") {
        None | Some("background" | "true") => "Background",
        Some("foreground") => "Foreground",
        Some("orphan" | "false") => "Orphan",
        Some(other) => {
            let other = other.to_string();
            return Err(cx.fail(format!(
                "invalid cascade value ({other}). Must be \"background\", \"foreground\", or \"orphan\""
            )));
        }
    };
    let mut options = json!({"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": policy});
    if let Some(seconds) = grace {
        options["gracePeriodSeconds"] = json!(seconds);
    }
    if cx.command.flag("dry-run") == Some("server") {
        options["dryRun"] = json!(["All"]);
    }
    let response = cx.call(Request::new(Method::Delete, one.path()).body(options))?;
    if response.code == 404 && (cx.command.on("ignore-not-found") || cx.command.on("all")) {
        return Ok(None);
    }
    if !response.success() {
        let from = &one.source;
        let doing = if from.is_empty() { String::new() } else { format!("error when deleting \"{from}\": ") };
        cx.refused(&response, &doing);
        return Ok(None);
    }
    let what = if grace == Some(0) { "force deleted" } else { "deleted" };
    if cx.command.flag("output") == Some("name") {
        cx.out(format!("{}/{}", one.res.label(), one.name));
    } else if one.namespace.is_empty() {
        cx.out(format!("{} \"{}\" {what}", one.res.label(), one.name));
    } else {
        cx.out(format!("{} \"{}\" {what} from {} namespace", one.res.label(), one.name, one.namespace));
    }
    // The answer is the object on its way out, or a Status that names it.
    let uid = match response.body.uid() {
        "" => response.body.text(&["details", "uid"]),
        uid => uid,
    };
    Ok(Some(uid.to_string()))
}

fn wait(cx: &mut Cx, going: Vec<(Picked, String)>) -> Flow {
    let timeout = cx.command.flag("timeout").and_then(duration).filter(|t| *t > Span::ZERO).unwrap_or(WAIT_MAX);
    let deadline = cx.now + timeout;
    for (one, uid) in going {
        if vanished(cx, &one, &uid, deadline)? == End::TimedOut {
            return Err(
                cx.fail(format!("timed out waiting for the condition on {}/{}", one.res.gvr.resource, one.name))
            );
        }
    }
    Ok(())
}

/// Waits until the object is gone, or another has its name. Mostly it is gone at once, so it is read before it is watched.
fn vanished(cx: &mut Cx, one: &Picked, uid: &str, deadline: SimTime) -> Flow<End> {
    let response = cx.get(one.path())?;
    if response.code == 404 {
        return Ok(End::Met);
    }
    let other = |o: &Value| !uid.is_empty() && o.uid() != uid;
    observe::until(cx, one, deadline, &mut |_, live| Ok(live.is_none_or(other)))
}

/// Deletes and waits, as a forced replace does.
pub fn gone(cx: &mut Cx, one: &Picked) -> Flow {
    let options = json!({"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"});
    let response = cx.call(Request::new(Method::Delete, one.path()).body(options))?;
    let uid = response.body.uid().to_string();
    if response.code != 404 {
        cx.check(response)?;
    }
    let deadline = cx.now + WAIT_MAX;
    match vanished(cx, one, &uid, deadline)? {
        End::Met => Ok(()),
        End::TimedOut => Err(cx.fail(format!("timed out waiting for the condition on {}", one.res.gvr.resource))),
    }
}
