//! From the verb to what carries it out.

use super::resources::{builtin, custom};
use super::session::{Cx, Flow};
use super::table::Table;
use super::{apply, create, delete, describe, drain, explain, get, modify, rollout, wait};
use crate::api::message::{Method, Request};
use crate::object::ObjectView;
use serde_json::{Value, json};

/// The version whose behaviour is modelled.
const VERSION: &str = "v1.36.2";

pub fn run(cx: &mut Cx) -> Flow {
    let verb = cx.command.verb.clone();
    if cx.command.on("help") {
        cx.out(format!("See https://kubernetes.io/docs/reference/kubectl/generated/kubectl_{verb}/"));
        return Ok(());
    }
    match verb.as_str() {
        "get" => get::get(cx),
        "events" => get::events(cx),
        "describe" => describe::describe(cx),
        "apply" => apply::apply(cx),
        "create" => create::create(cx),
        "run" => create::run(cx),
        "replace" => create::replace(cx),
        "delete" => delete::delete(cx),
        "patch" => modify::patch(cx),
        "scale" => modify::scale(cx),
        "label" => modify::label(cx),
        "annotate" => modify::annotate(cx),
        "set" => modify::set(cx),
        "cordon" | "uncordon" => modify::cordon(cx, verb == "cordon"),
        "drain" => drain::drain(cx),
        "expose" => create::expose(cx),
        "edit" => modify::edit(cx),
        "rollout" => rollout::rollout(cx),
        "wait" => wait::wait(cx),
        "explain" => explain::explain(cx),
        "api-resources" => api_resources(cx),
        "api-versions" => api_versions(cx),
        "auth" => auth(cx),
        "version" => {
            cx.out(format!("Client Version: {VERSION}\nKustomize Version: v5.7.1\nServer Version: {VERSION}"));
            Ok(())
        }
        other => Err(cx.fail(refusal(other))),
    }
}

/// Why a verb of the real kubectl does nothing here.
fn refusal(verb: &str) -> String {
    let why = match verb {
        "logs" | "attach" => "containers of the model run no program, so they have no output",
        "exec" | "cp" | "debug" | "port-forward" => "containers of the model run no program that one could reach",
        "top" => "the model measures no CPU and no memory",
        _ => "this verb is not part of the model",
    };
    format!("kubectl {verb} is not available here: {why}")
}

fn api_resources(cx: &mut Cx) -> Flow {
    let custom = custom(cx)?;
    let mut all: Vec<_> = builtin().chain(custom).collect();
    if let Some(group) = cx.command.flag("api-group") {
        all.retain(|r| *r.gvr.group == *group);
    }
    if let Some(wanted) = cx.command.flag("namespaced") {
        all.retain(|r| r.namespaced == (wanted != "false"));
    }
    all.sort_by(|a, b| (&a.gvr.group, &a.gvr.resource).cmp(&(&b.gvr.group, &b.gvr.resource)));
    match cx.command.flag("output") {
        Some("name") => {
            let names: Vec<String> = all.iter().map(|r| r.plural()).collect();
            cx.out(names.join("\n"));
        }
        output => {
            let wide = output == Some("wide");
            let mut heads = vec!["Name", "ShortNames", "APIVersion", "Namespaced", "Kind"];
            heads.extend(if wide { &["Verbs", "Categories"][..] } else { &[] });
            let mut table = Table::of(&heads);
            for r in &all {
                let mut row = vec![
                    r.gvr.resource.to_string(),
                    r.short_names.join(","),
                    r.api_version(),
                    r.namespaced.to_string(),
                    r.kind.clone(),
                ];
                row.extend(wide.then(|| [r.verbs.join(","), r.categories.join(",")]).into_iter().flatten());
                table.rows.push(row);
            }
            let text = table.flush(!cx.command.on("no-headers"));
            cx.out(text);
        }
    }
    Ok(())
}

fn api_versions(cx: &mut Cx) -> Flow {
    let groups = cx.fetch("/apis")?;
    let mut all: Vec<String> = groups
        .list(&["groups"])
        .iter()
        .flat_map(|g| g.list(&["versions"]))
        .map(|v| v.text(&["groupVersion"]).to_string())
        .collect();
    all.push("v1".to_string());
    all.sort();
    cx.out(all.join("\n"));
    Ok(())
}

fn auth(cx: &mut Cx) -> Flow {
    let args = cx.command.args.clone();
    match args.first().map(String::as_str) {
        Some("can-i") if cx.command.on("list") => Err(cx.fail("auth can-i --list is not available here")),
        Some("can-i") => can_i(cx, &args[1..]),
        Some("whoami") => {
            let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
            let path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
            let response = cx.call(Request::new(Method::Post, path).body(review))?;
            let body = cx.check(response)?;
            let groups: Vec<&str> =
                body.list(&["status", "userInfo", "groups"]).iter().filter_map(Value::as_str).collect();
            let mut table = Table::of(&["Attribute", "Value"]);
            table.rows.push(vec!["Username".into(), body.text(&["status", "userInfo", "username"]).to_string()]);
            table.rows.push(vec!["Groups".into(), format!("[{}]", groups.join(" "))]);
            let text = table.flush(true);
            cx.out(text);
            Ok(())
        }
        Some(other) => Err(cx.fail(format!("unknown command \"{other}\" for \"kubectl auth\""))),
        None => Err(cx.fail("auth needs a subcommand: can-i or whoami")),
    }
}

fn can_i(cx: &mut Cx, args: &[String]) -> Flow {
    let [verb, what, rest @ ..] = args else {
        return Err(cx.fail("you must specify two arguments: verb resource or verb resource/resourceName."));
    };
    let namespace = cx.namespace();
    let spec = if what.starts_with('/') {
        json!({"nonResourceAttributes": {"verb": verb, "path": what}})
    } else {
        let (word, name) = match what.split_once('/') {
            Some((word, name)) => (word, name),
            None => (what.as_str(), rest.first().map_or("", String::as_str)),
        };
        let (word, sub) = match cx.command.flag("subresource") {
            Some(sub) => (word, sub.to_string()),
            None => (word, String::new()),
        };
        let known = if word == "*" { None } else { find(cx, word)? };
        let (group, resource, namespaced) = match known {
            Some(res) => (res.gvr.group.to_string(), res.gvr.resource.to_string(), res.namespaced),
            None if word == "*" => ("*".to_string(), "*".to_string(), true),
            None => {
                cx.err(format!("Warning: the server doesn't have a resource type '{word}'\n"));
                (String::new(), word.to_string(), true)
            }
        };
        if !namespaced && cx.command.flag("namespace").is_none() {
            cx.err(format!("Warning: resource '{resource}' is not namespace scoped in group '{group}'\n"));
        }
        let mut attributes = json!({"verb": verb, "group": group, "resource": resource, "namespace": namespace});
        for (field, value) in [("name", name), ("subresource", sub.as_str())] {
            if !value.is_empty() {
                attributes[field] = json!(value);
            }
        }
        json!({"resourceAttributes": attributes})
    };
    let review = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": spec});
    let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let response = cx.call(Request::new(Method::Post, path).body(review))?;
    let body = cx.check(response)?;
    let allowed = body.at(&["status", "allowed"]) == Some(&Value::Bool(true));
    let reason = body.text(&["status", "reason"]);
    let why = if allowed || reason.is_empty() { String::new() } else { format!(" - {reason}") };
    if !cx.command.on("quiet") {
        cx.out(format!("{}{why}", if allowed { "yes" } else { "no" }));
    }
    cx.code = i32::from(!allowed);
    Ok(())
}

/// Like `named`, without a word when there is no such type.
fn find(cx: &mut Cx, word: &str) -> Flow<Option<super::resources::Res>> {
    if let Some(found) = builtin().find(|r| r.is(word)) {
        return Ok(Some(found));
    }
    Ok(custom(cx)?.into_iter().find(|r| r.is(word)))
}
