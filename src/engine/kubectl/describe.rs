//! `describe`: an object as indented text, with its events below.

use super::age::since;
use super::pick::{groups, list};
use super::resources::Res;
use super::session::{Cx, Flow};
use super::table::Table;
use crate::api::message::{Method, Request};
use crate::object::{Object, ObjectView};
use serde_json::{Map, Value};

/// Deepest nesting that is shown.
const DEPTH_MAX: usize = 40;
/// The column in which the values of the head stand.
const HEAD_WIDTH: usize = 14;

pub fn describe(cx: &mut Cx) -> Flow {
    let args = cx.command.args.clone();
    if args.is_empty() {
        return Err(cx.fail("You must specify the type of resource to describe. Use \"kubectl api-resources\" for a complete list of supported resources."));
    }
    let mut printed = 0;
    for (res, names) in groups(cx, &args)? {
        let namespace = cx.namespace();
        let objects: Vec<Value> = if names.is_empty() {
            list(cx, &res, &namespace)?.list(&["items"]).to_vec()
        } else {
            let mut found = Vec::new();
            for name in &names {
                let response = cx.get(res.path(&namespace, name))?;
                if response.success() {
                    found.push((*response.body).clone());
                } else {
                    cx.refused(&response, "");
                }
            }
            found
        };
        for object in &objects {
            let events = events(cx, &res, object)?;
            let gap = if printed > 0 { "\n\n" } else { "" };
            let text = format!("{gap}{}{}", body(&res, object), event_lines(cx, &events));
            cx.out(text);
            printed += 1;
        }
    }
    if printed == 0 && cx.code == 0 {
        cx.err(format!("No resources found in {} namespace.", cx.namespace()));
    }
    Ok(())
}

fn events(cx: &mut Cx, res: &Res, object: &Value) -> Flow<Vec<Value>> {
    if cx.command.flag("show-events") == Some("false") || res.kind == "Event" {
        return Ok(Vec::new());
    }
    let namespace = if object.namespace().is_empty() { "default" } else { object.namespace() };
    let selector = format!("involvedObject.name={},involvedObject.uid={}", object.name(), object.uid());
    let request =
        Request::new(Method::Get, format!("/api/v1/namespaces/{namespace}/events")).query("fieldSelector", selector);
    let response = cx.call(request)?;
    let list: Object = if response.success() { response.body } else { Object::new(Value::Null) };
    // The server of the model may not know these selectors for events, so the answer is looked through again.
    let about = |e: &&Value| e.text(&["involvedObject", "uid"]) == object.uid();
    let mut events: Vec<Value> = list.list(&["items"]).iter().filter(about).cloned().collect();
    events.sort_by(|a, b| a.text(&["lastTimestamp"]).cmp(b.text(&["lastTimestamp"])));
    Ok(events)
}

fn event_lines(cx: &Cx, events: &[Value]) -> String {
    if events.is_empty() {
        return format!("\n{:<HEAD_WIDTH$}<none>", "Events:");
    }
    let mut table = Table::of(&["Type", "Reason", "Age", "From", "Message"]);
    table.rows.push(["----", "------", "----", "----", "-------"].map(str::to_string).to_vec());
    for event in events {
        let last = since(event.at(&["lastTimestamp"]).or_else(|| event.at(&["eventTime"])), cx.now);
        let count = event.int(&["count"]).unwrap_or(1);
        let age = if count > 1 {
            format!("{last} (x{count} over {})", since(event.at(&["firstTimestamp"]), cx.now))
        } else {
            last
        };
        let source = match event.text(&["source", "component"]) {
            "" => event.text(&["reportingComponent"]),
            source => source,
        };
        table.rows.push(vec![
            event.text(&["type"]).to_string(),
            event.text(&["reason"]).to_string(),
            age,
            source.to_string(),
            event.text(&["message"]).trim().to_string(),
        ]);
    }
    // The head keeps its case here.
    let heads = table.columns.iter().map(|c| c.name.clone()).collect();
    table.rows.insert(0, heads);
    let lines: Vec<String> = table.flush(false).lines().map(|l| format!("  {l}")).collect();
    format!("\nEvents:\n{}", lines.join("\n"))
}

fn body(res: &Res, object: &Value) -> String {
    let mut lines = vec![head("Name", object.name())];
    if res.namespaced {
        lines.push(head("Namespace", object.namespace()));
    }
    lines.extend(marks("Labels", object.at(&["metadata", "labels"])));
    lines.extend(marks("Annotations", object.at(&["metadata", "annotations"])));
    lines.push(head("API Version", &res.api_version()));
    lines.push(head("Kind", &res.kind));
    let mut rest = object.as_object().cloned().unwrap_or_default();
    rest.retain(|name, _| name != "apiVersion" && name != "kind");
    if let Some(meta) = rest.get_mut("metadata").and_then(Value::as_object_mut) {
        for hidden in ["name", "namespace", "labels", "annotations", "managedFields"] {
            meta.remove(hidden);
        }
    }
    fields(&rest, 0, &mut lines);
    lines.join("\n")
}

fn head(name: &str, value: &str) -> String {
    format!("{:<HEAD_WIDTH$}{value}", format!("{name}:"))
}

fn marks(name: &str, map: Option<&Value>) -> Vec<String> {
    let entries: Vec<String> = map
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter(|(k, _)| !k.ends_with("last-applied-configuration"))
        .map(|(k, v)| match name {
            "Labels" => format!("{k}={}", super::jsonpath::shown(v)),
            _ => format!("{k}: {}", super::jsonpath::shown(v)),
        })
        .collect();
    if entries.is_empty() {
        return vec![head(name, "<none>")];
    }
    let mut lines = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        lines.push(if at == 0 { head(name, entry) } else { format!("{:HEAD_WIDTH$}{entry}", "") });
    }
    lines
}

/// Fields sorted, values of one level in one column (kubectl `pkg/describe/describe.go`, printUnstructuredContent).
fn fields(map: &Map<String, Value>, depth: usize, lines: &mut Vec<String>) {
    let indent = "  ".repeat(depth);
    let plain = |v: &Value| !v.is_object() && !v.is_array();
    let width = map.iter().filter(|(_, v)| plain(v)).map(|(k, _)| spaced(k).chars().count() + 3).max().unwrap_or(0);
    if depth > DEPTH_MAX {
        return;
    }
    for (name, value) in map {
        let name = spaced(name);
        match value {
            Value::Object(inner) => {
                lines.push(format!("{indent}{name}:"));
                fields(inner, depth + 1, lines);
            }
            Value::Array(items) => {
                lines.push(format!("{indent}{name}:"));
                for item in items {
                    match item {
                        Value::Object(inner) => fields(inner, depth + 1, lines),
                        leaf => lines.push(format!("{indent}  {}", super::jsonpath::shown(leaf))),
                    }
                }
            }
            leaf => {
                let name = format!("{name}:");
                lines.push(format!("{indent}{name:<width$}{}", super::jsonpath::shown(leaf)));
            }
        }
    }
}

/// `readyReplicas` becomes `Ready Replicas`.
fn spaced(name: &str) -> String {
    let mut out = String::new();
    let chars: Vec<char> = name.chars().collect();
    for (at, c) in chars.iter().enumerate() {
        let after_small = at > 0 && (chars[at - 1].is_lowercase() || chars[at - 1].is_ascii_digit());
        let before_small =
            at > 0 && chars.get(at + 1).is_some_and(|n| n.is_lowercase()) && chars[at - 1].is_uppercase();
        if c.is_uppercase() && (after_small || before_small) {
            out.push(' ');
        }
        if at == 0 { out.extend(c.to_uppercase()) } else { out.push(*c) }
    }
    match out.as_str() {
        "Uid" => "UID".to_string(),
        _ => out,
    }
}
