//! Verbs that change part of an object: `patch`, `scale`, `label`, `annotate`, `set image`, `cordon`, `edit`.

use super::apply::write;
use super::output::done;
use super::pick::{Picked, pick};
use super::resources::Res;
use super::session::{Cx, Flow};
use super::threeway::{Lists, patch as difference};
use crate::api::message::Method;
use crate::object::{Object, ObjectView};
use crate::yaml::to_yaml;
use serde_json::{Map, Value, json};

const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";

/// Sends a patch and says what it did.
fn send(cx: &mut Cx, one: &Picked, manager: &str, kind: &str, body: Value, before: &Value, what: [&str; 2]) -> Flow {
    let mut request = write(cx, Method::Patch, one.path(), manager).body(body);
    request.content_type = kind.to_string();
    let response = cx.call(request)?;
    if !response.success() {
        cx.refused(&response, "");
        return Ok(());
    }
    let same = *response.body == *before;
    let body = response.body;
    done(cx, &one.res, &body, if same { what[1] } else { what[0] })
}

pub fn patch(cx: &mut Cx) -> Flow {
    let args = cx.command.args.clone();
    let Some(text) = cx.command.flag("patch").map(str::to_string) else {
        return Err(cx.fail("must specify --patch or --patch-file containing the contents of the patch"));
    };
    let kind = match cx.command.flag("type") {
        None | Some("strategic") => STRATEGIC,
        Some("merge") => MERGE,
        Some("json") => "application/json-patch+json",
        Some(other) => {
            let other = other.to_string();
            return Err(cx.fail(format!("--type must be one of [json merge strategic], not \"{other}\"")));
        }
    };
    let body = match crate::manifest::parse(&text) {
        Ok(documents) if documents.len() == 1 => documents[0].value.clone(),
        Ok(_) => return Err(cx.fail(format!("unable to parse \"{text}\": not one document"))),
        Err(why) => return Err(cx.fail(format!("unable to parse \"{text}\": {}", why.message))),
    };
    for one in pick(cx, &args)? {
        let before = one.live(cx)?;
        let mut target = one.path();
        if let Some(sub) = cx.command.flag("subresource") {
            target = format!("{target}/{sub}");
        }
        let mut request = write(cx, Method::Patch, target, "kubectl-patch").body(body.clone());
        request.content_type = kind.to_string();
        let response = cx.call(request)?;
        if !response.success() {
            cx.refused(&response, "");
            continue;
        }
        let same = *response.body == *before;
        done(cx, &one.res, &response.body, if same { "patched (no change)" } else { "patched" })?;
    }
    Ok(())
}

pub fn scale(cx: &mut Cx) -> Flow {
    let args = cx.command.args.clone();
    let Some(text) = cx.command.flag("replicas").map(str::to_string) else {
        return Err(cx.fail("required flag(s) \"replicas\" not set"));
    };
    let replicas = match text.parse::<i64>() {
        Ok(n) if n >= 0 => n,
        Ok(_) => {
            return Err(cx.fail("The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0"));
        }
        Err(_) => {
            return Err(cx.fail(format!(
                "invalid argument \"{text}\" for \"--replicas\" flag: strconv.ParseInt: parsing \"{text}\": invalid syntax"
            )));
        }
    };
    let current = cx.command.flag("current-replicas").and_then(|c| c.parse::<i64>().ok());
    let picked = pick(cx, &args)?;
    if picked.is_empty() && cx.code == 0 {
        return Err(cx.fail("no objects passed to scale"));
    }
    for one in picked {
        let path = format!("{}/scale", one.path());
        if let Some(expected) = current {
            let now = cx.fetch(path.clone())?.int(&["spec", "replicas"]).unwrap_or(0);
            if now != expected {
                return Err(cx.fail(format!("Expected replicas to be {expected}, was {now}")));
            }
        }
        let mut request = write(cx, Method::Patch, path, "kubectl").body(json!({"spec": {"replicas": replicas}}));
        request.content_type = MERGE.to_string();
        let response = cx.call(request)?;
        if response.success() {
            done(cx, &one.res, &response.body, "scaled")?;
        } else {
            cx.refused(&response, "");
        }
    }
    Ok(())
}

/// Arguments of `label` and `annotate`: what to work on, what to set, what to remove.
type Changes = (Vec<String>, Vec<(String, String)>, Vec<String>);

fn changes(cx: &mut Cx, what: &str) -> Flow<Changes> {
    let (mut on, mut set, mut remove) = (Vec::new(), Vec::new(), Vec::new());
    for arg in cx.command.args.clone() {
        let changing = !set.is_empty() || !remove.is_empty();
        match arg.split_once('=') {
            Some((key, value)) if !key.is_empty() => set.push((key.to_string(), value.to_string())),
            _ if arg.len() > 1 && arg.ends_with('-') => remove.push(arg[..arg.len() - 1].to_string()),
            _ if changing => {
                return Err(cx.fail(format!("all resources must be specified before {what} changes: {arg}")));
            }
            _ => on.push(arg),
        }
    }
    if set.is_empty() && remove.is_empty() {
        return Err(cx.fail(format!("at least one {what} update is required")));
    }
    if let Some(both) = set.iter().find(|(k, _)| remove.contains(k)) {
        return Err(cx.fail(format!(
            "can not both modify and remove {} {} in the same command",
            if what == "label" { "a label" } else { "an annotation" },
            both.0
        )));
    }
    Ok((on, set, remove))
}

pub fn label(cx: &mut Cx) -> Flow {
    marks(cx, "label", "labels", "kubectl-label", ["labeled", "not labeled", "unlabeled"])
}

pub fn annotate(cx: &mut Cx) -> Flow {
    marks(cx, "annotation", "annotations", "kubectl-annotate", ["annotated", "annotated", "annotated"])
}

fn marks(cx: &mut Cx, what: &str, field: &str, manager: &str, said: [&str; 3]) -> Flow {
    let (on, set, remove) = changes(cx, what)?;
    for one in pick(cx, &on)? {
        let live = one.live(cx)?;
        let nothing = Map::new();
        let now = live.at(&["metadata", field]).and_then(Value::as_object).unwrap_or(&nothing);
        if !cx.command.on("overwrite") {
            let clash = set.iter().find_map(|(k, v)| {
                let old = now.get(k)?.as_str()?;
                (old != v).then(|| format!("'{k}' already has a value ({old})"))
            });
            if let Some(clash) = clash {
                let text = if what == "label" {
                    format!("{clash}, and --overwrite is false")
                } else {
                    format!("--overwrite is false but found the following declared annotation(s): {clash}")
                };
                return Err(cx.fail(text));
            }
        }
        let mut part = Map::new();
        for (key, value) in &set {
            part.insert(key.clone(), json!(value));
        }
        let mut removes = false;
        for key in &remove {
            if now.contains_key(key) {
                removes = true;
                part.insert(key.clone(), Value::Null);
            } else if what == "label" {
                cx.out(format!("label \"{key}\" not found."));
            }
        }
        let changed = part.iter().any(|(k, v)| now.get(k).unwrap_or(&Value::Null) != v);
        let word = match (changed, removes && set.is_empty()) {
            (false, _) => said[1],
            (true, true) => said[2],
            (true, false) => said[0],
        };
        if !changed {
            done(cx, &one.res, &live, word)?;
            continue;
        }
        let body = json!({"metadata": {field: part}});
        send(cx, &one, manager, MERGE, body, &live, [word, word])?;
    }
    Ok(())
}

/// `set image TYPE/NAME container=image`.
pub fn set(cx: &mut Cx) -> Flow {
    let args = cx.command.args.clone();
    match args.first().map(String::as_str) {
        Some("image") => {}
        Some(other) => return Err(cx.fail(format!("kubectl set {other} is not available here; set image is"))),
        None => return Err(cx.fail("set needs a subcommand, such as image")),
    }
    let (images, on): (Vec<String>, Vec<String>) = args[1..].iter().cloned().partition(|a| a.contains('='));
    if images.is_empty() {
        return Err(cx.fail("at least one image update is required"));
    }
    for one in pick(cx, &on)? {
        let live = one.live(cx)?;
        let base: &[&str] = if one.res.kind == "Pod" { &["spec"] } else { &["spec", "template", "spec"] };
        let mut parts: Vec<Value> = Vec::new();
        for pair in &images {
            let (container, image) = pair.split_once('=').unwrap_or((pair, ""));
            let path = [base, &["containers"]].concat();
            let names = live.list(&path).iter().map(|c| c.text(&["name"]));
            let hit: Vec<&str> = names.filter(|n| container == "*" || *n == container).collect();
            if hit.is_empty() {
                return Err(cx.fail(format!("unable to find container named \"{container}\"")));
            }
            parts.extend(hit.into_iter().map(|name| json!({"name": name, "image": image})));
        }
        let same = parts.iter().all(|p| {
            let path = [base, &["containers"]].concat();
            live.list(&path).iter().any(|c| c["name"] == p["name"] && c["image"] == p["image"])
        });
        if same {
            continue;
        }
        let body = base.iter().rev().fold(json!({"containers": parts}), |inner, field| json!({*field: inner}));
        send(cx, &one, "kubectl-set", STRATEGIC, body, &live, ["image updated", "image updated"])?;
    }
    Ok(())
}

pub fn cordon(cx: &mut Cx, off: bool) -> Flow {
    let names = cx.command.args.clone();
    if names.is_empty() {
        return Err(cx.fail("USAGE: cordon NODE [flags]"));
    }
    for name in names {
        cordoned(cx, &node(&name), off)?;
    }
    Ok(())
}

/// A node by its name, with or without its type.
pub fn node(name: &str) -> Picked {
    let name = name.trim_start_matches("node/").trim_start_matches("nodes/").to_string();
    let res = Res::node();
    Picked { res, namespace: String::new(), name, source: String::new() }
}

/// Takes a node out of scheduling, or back into it.
pub fn cordoned(cx: &mut Cx, one: &Picked, off: bool) -> Flow {
    let live = one.live(cx)?;
    let is_off = live.at(&["spec", "unschedulable"]) == Some(&Value::Bool(true));
    let word = if off { "cordoned" } else { "uncordoned" };
    if is_off == off {
        cx.out(format!("node/{} already {word}", one.name));
        return Ok(());
    }
    let value = if off { Value::Bool(true) } else { Value::Null };
    send(cx, one, "kubectl", STRATEGIC, json!({"spec": {"unschedulable": value}}), &live, [word, word])
}

/// The text an editor is given for an object.
#[must_use]
pub fn edit_text(object: &Value) -> String {
    let mut object = object.clone();
    crate::object::remove(&mut object, &["metadata", "managedFields"]);
    format!(
        "# Please edit the object below. Lines beginning with a '#' will be ignored,\n# and an empty file will abort the \
         edit. If an error occurs while saving this file will be\n# reopened with the relevant failures.\n#\n{}",
        to_yaml(&object)
    )
}

/// Without an edited text the text to edit is printed; with one the difference is sent. The object as it was when the
/// editor opened may follow the edited one: what others changed meanwhile is left alone then.
pub fn edit(cx: &mut Cx) -> Flow {
    let args = cx.command.args.clone();
    let edited: Vec<Object> = cx.command.objects.iter().map(|(_, o)| o.clone()).collect();
    let mut picked = Vec::new();
    for (res, names) in super::pick::groups(cx, &args)? {
        if names.is_empty() {
            return Err(cx.fail("resource(s) were provided, but no name was specified"));
        }
        let namespace = if res.namespaced { cx.namespace() } else { String::new() };
        picked.extend(names.into_iter().map(|name| Picked {
            res: res.clone(),
            namespace: namespace.clone(),
            name,
            source: String::new(),
        }));
    }
    if picked.is_empty() {
        return Err(cx.fail("you must provide one or more resources by argument or filename."));
    }
    for one in picked {
        let live = one.live(cx)?;
        let mut given = edited.iter().filter(|o| o.name() == one.name && o.kind() == live.kind());
        let Some(wanted) = given.next() else {
            cx.out(edit_text(&live));
            continue;
        };
        let mut before = (**given.next().unwrap_or(&live)).clone();
        crate::object::remove(&mut before, &["metadata", "managedFields"]);
        let lists = if one.res.builtin { Lists::Merge } else { Lists::Replace };
        let body = difference(&before, &before, wanted, lists);
        if body.as_object().is_none_or(Map::is_empty) {
            cx.err("Edit cancelled, no changes made.");
            continue;
        }
        let kind = if one.res.builtin { STRATEGIC } else { MERGE };
        send(cx, &one, "kubectl-edit", kind, body, &live, ["edited", "edited"])?;
    }
    Ok(())
}
