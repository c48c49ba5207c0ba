//! `delete`, and waiting until what was deleted is gone.

use super::pick::{Picked, pick};
use super::resources::Res;
use super::session::{Cx, Flow, duration};
use crate::api::message::{Method, Request};
use crate::object::ObjectView;
use crate::time::Span;
use serde_json::json;

/// How often kubectl looks whether an object is gone, and how long before it gives up when no time-out is set.
const POLL: Span = Span::secs(1);
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
    let until = cx.now + timeout;
    for (one, uid) in going {
        loop {
            let response = cx.get(one.path())?;
            if response.code == 404 || (response.success() && !uid.is_empty() && response.body.uid() != uid) {
                break;
            }
            if !response.success() {
                cx.refused(&response, "");
                break;
            }
            if cx.now >= until {
                return Err(
                    cx.fail(format!("timed out waiting for the condition on {}/{}", one.res.gvr.resource, one.name))
                );
            }
            cx.sleep(POLL)?;
        }
    }
    Ok(())
}

/// Deletes and waits, as a forced replace does.
pub fn gone(cx: &mut Cx, res: &Res, path: &str) -> Flow {
    let options = json!({"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"});
    let response = cx.call(Request::new(Method::Delete, path).body(options))?;
    let uid = response.body.uid().to_string();
    if response.code != 404 {
        cx.check(response)?;
    }
    let until = cx.now + WAIT_MAX;
    loop {
        let response = cx.get(path)?;
        if response.code == 404 || (!uid.is_empty() && response.body.uid() != uid) {
            return Ok(());
        }
        if cx.now >= until {
            return Err(cx.fail(format!("timed out waiting for the condition on {}", res.plural())));
        }
        cx.sleep(POLL)?;
    }
}
