//! `wait --for=condition=…|delete|create|jsonpath=…`.

use super::jsonpath::{Template, shown};
use super::observe::{self, End};
use super::pick::pick;
use super::session::{Cx, Flow, duration};
use crate::object::ObjectView;
use crate::time::Span;
use serde_json::Value;

/// kubectl's own time-out when none is given.
const DEFAULT: Span = Span::secs(30);
/// What a negative time-out stands for.
const WEEK: Span = Span::secs(7 * 24 * 60 * 60);

enum Goal {
    Condition { name: String, status: String },
    Delete,
    Create,
    Path(Template, Option<String>),
}

pub fn wait(cx: &mut Cx) -> Flow {
    let goal = goal(cx)?;
    let timeout = match cx.command.flag("timeout").map(str::to_string) {
        None => DEFAULT,
        Some(text) if text.starts_with('-') => WEEK,
        Some(text) => match duration(&text) {
            Some(timeout) => timeout,
            None => {
                return Err(cx.fail(format!(
                    "invalid argument \"{text}\" for \"--timeout\" flag: time: invalid duration \"{text}\""
                )));
            }
        },
    };
    let args = cx.command.args.clone();
    let picked = pick(cx, &args)?;
    if picked.is_empty() {
        return Err(cx.fail("no matching resources found"));
    }
    let deadline = cx.now + timeout;
    for one in picked {
        if !matches!(goal, Goal::Delete | Goal::Create) {
            one.live(cx)?;
        }
        let end = observe::until(cx, &one, deadline, &mut |_, live| Ok(met(live, &goal)))?;
        if end == End::Met {
            cx.out(format!("{}/{} condition met", one.res.label(), one.name));
        } else {
            cx.code = 1;
            cx.err(format!("error: timed out waiting for the condition on {}/{}", one.res.gvr.resource, one.name));
        }
    }
    Ok(())
}

fn goal(cx: &mut Cx) -> Flow<Goal> {
    let Some(text) = cx.command.flag("for").map(str::to_string) else {
        return Err(cx.fail("--for is required"));
    };
    if let Some(condition) = text.strip_prefix("condition=") {
        let (name, status) = condition.split_once('=').unwrap_or((condition, "True"));
        return Ok(Goal::Condition { name: name.to_string(), status: status.to_string() });
    }
    if let Some(rest) = text.strip_prefix("jsonpath=") {
        // The value follows the closing brace, so an equals sign in a filter is no harm.
        let (path, value) = match rest.find('}') {
            Some(end) => (&rest[..=end], rest[end + 1..].strip_prefix('=')),
            None => rest.split_once('=').map_or((rest, None), |(p, v)| (p, Some(v))),
        };
        let template = Template::path(path).map_err(|why| cx.fail(why))?;
        return Ok(Goal::Path(template, value.map(|v| v.trim_matches(['"', '\'']).to_string())));
    }
    match text.to_lowercase().as_str() {
        "delete" => Ok(Goal::Delete),
        "create" => Ok(Goal::Create),
        _ => Err(cx.fail(format!("unrecognized condition: \"{text}\""))),
    }
}

fn met(live: Option<&Value>, goal: &Goal) -> bool {
    let Some(live) = live else { return matches!(goal, Goal::Delete) };
    match goal {
        Goal::Delete => false,
        Goal::Create => true,
        Goal::Condition { name, status } => condition(live, name, status),
        Goal::Path(template, wanted) => {
            let found = template.values(live);
            match wanted {
                None => !found.is_empty(),
                Some(wanted) => found.first().is_some_and(|v| shown(v) == *wanted),
            }
        }
    }
}

/// A condition counts only when it is not older than the object's generation.
fn condition(live: &Value, name: &str, status: &str) -> bool {
    live.list(&["status", "conditions"]).iter().any(|c| {
        let observed = c.int(&["observedGeneration"]).or_else(|| live.int(&["status", "observedGeneration"]));
        c.text(&["type"]).eq_ignore_ascii_case(name)
            && c.text(&["status"]).eq_ignore_ascii_case(status)
            && observed.is_none_or(|g| g >= live.generation())
    })
}
