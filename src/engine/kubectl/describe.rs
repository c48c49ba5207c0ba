//! `describe`: an object as indented text, with its events below (kubectl `pkg/describe/describe.go`).

use super::age::since;
use super::describe_kinds;
use super::jsonpath::shown;
use super::pick::{groups, list};
use super::resources::Res;
use super::session::{Cx, Flow};
use super::tabs;
use crate::api::message::{Method, Request};
use crate::object::{Object, ObjectView};
use crate::time::SimTime;
use serde_json::{Map, Value};

/// Deepest nesting that is shown.
const DEPTH_MAX: usize = 40;

pub fn describe(cx: &mut Cx) -> Flow {
    let args = cx.command.args.clone();
    if args.is_empty() {
        return Err(cx.fail(
            "You must specify the type of resource to describe. Use \"kubectl api-resources\" for a complete list of \
             supported resources.",
        ));
    }
    let mut printed = 0;
    for (res, names) in groups(cx, &args)? {
        for object in found(cx, &res, &names)? {
            let mut lines = match describe_kinds::lines(cx, &res, &object)? {
                Some(lines) => lines,
                None => generic(&res, &object),
            };
            let events = events(cx, &res, &object)?;
            let below = event_lines(cx, &events);
            let gap = if printed > 0 { "\n\n" } else { "" };
            // Events stand in columns of their own; the word that there are none does not.
            let text = match events.is_empty() {
                true => {
                    lines.extend(below);
                    format!("{gap}{}", tabs::columns(&lines))
                }
                false => format!("{gap}{}\n{}", tabs::columns(&lines), tabs::columns(&below)),
            };
            cx.out(text.trim_end());
            printed += 1;
        }
    }
    if printed == 0 && cx.code == 0 {
        cx.err(format!("No resources found in {} namespace.", cx.namespace()));
    }
    Ok(())
}

fn found(cx: &mut Cx, res: &Res, names: &[String]) -> Flow<Vec<Value>> {
    let namespace = cx.namespace();
    if names.is_empty() {
        return Ok(list(cx, res, &namespace)?.list(&["items"]).to_vec());
    }
    let mut found = Vec::new();
    for name in names {
        let response = cx.get(res.path(&namespace, name))?;
        if response.success() {
            found.push((*response.body).clone());
        } else {
            cx.refused(&response, "");
        }
    }
    Ok(found)
}

fn events(cx: &mut Cx, res: &Res, object: &Value) -> Flow<Vec<Value>> {
    let silent =
        matches!(res.kind.as_str(), "Event" | "Secret" | "Role" | "ClusterRole" | "RoleBinding" | "ClusterRoleBinding");
    if cx.command.flag("show-events") == Some("false") || silent {
        return Ok(Vec::new());
    }
    let namespace = if object.namespace().is_empty() { "default" } else { object.namespace() };
    let selector = format!("involvedObject.name={},involvedObject.uid={}", object.name(), object.uid());
    let request =
        Request::new(Method::Get, format!("/api/v1/namespaces/{namespace}/events")).query("fieldSelector", selector);
    let response = cx.call(request)?;
    let list: Object = if response.success() { response.body } else { Object::new(Value::Null) };
    let about = |e: &&Value| e.text(&["involvedObject", "uid"]) == object.uid();
    let mut events: Vec<Value> = list.list(&["items"]).iter().filter(about).cloned().collect();
    events.sort_by(|a, b| a.text(&["lastTimestamp"]).cmp(b.text(&["lastTimestamp"])));
    Ok(events)
}

fn event_lines(cx: &Cx, events: &[Value]) -> Vec<String> {
    if events.is_empty() {
        return vec!["Events:\t<none>".to_string()];
    }
    let mut lines = vec![
        "Events:".to_string(),
        "  Type\tReason\tAge\tFrom\tMessage".to_string(),
        "  ----\t------\t----\t----\t-------".to_string(),
    ];
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
        let (kind, reason) = (event.text(&["type"]), event.text(&["reason"]));
        let message = event.text(&["message"]).trim().replace(['\n', '\t'], " ");
        lines.push(format!("  {kind}\t{reason}\t{age}\t{source}\t{message}"));
    }
    lines
}

fn generic(res: &Res, object: &Value) -> Vec<String> {
    let mut lines = vec![format!("Name:\t{}", object.name()), format!("Namespace:\t{}", object.namespace())];
    lines.extend(marks("", "Labels", object.at(&["metadata", "labels"])));
    lines.extend(marks("", "Annotations", object.at(&["metadata", "annotations"])));
    lines.push(format!("API Version:\t{}", res.api_version()));
    lines.push(format!("Kind:\t{}", res.kind));
    let mut rest = object.as_object().cloned().unwrap_or_default();
    rest.retain(|name, _| name != "apiVersion" && name != "kind");
    if let Some(meta) = rest.get_mut("metadata").and_then(Value::as_object_mut) {
        for hidden in ["name", "namespace", "labels", "annotations", "managedFields"] {
            meta.remove(hidden);
        }
    }
    fields(&rest, 0, &mut lines);
    lines
}

/// Labels or annotations below each other.
pub fn marks(indent: &str, name: &str, map: Option<&Value>) -> Vec<String> {
    let entry = |(k, v): (&String, &Value)| {
        let sign = if name == "Annotations" { ": " } else { "=" };
        format!("{k}{sign}{}", shown(v).trim_end().replace(['\n', '\t'], " "))
    };
    let entries = map.and_then(Value::as_object).into_iter().flatten();
    let shown: Vec<String> = entries.filter(|(k, _)| !k.ends_with("last-applied-configuration")).map(entry).collect();
    if shown.is_empty() {
        return vec![format!("{indent}{name}:\t<none>")];
    }
    let head = |at: usize| if at == 0 { format!("{name}:") } else { String::new() };
    shown.iter().enumerate().map(|(at, text)| format!("{indent}{}\t{text}", head(at))).collect()
}

/// Fields sorted by name, nested ones indented.
pub fn fields(map: &Map<String, Value>, depth: usize, lines: &mut Vec<String>) {
    if depth > DEPTH_MAX {
        return;
    }
    let indent = "  ".repeat(depth);
    for (name, value) in map {
        let name = label(name);
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
                        leaf => lines.push(format!("{indent}  {}", shown(leaf))),
                    }
                }
            }
            leaf => lines.push(format!("{indent}{name}:\t{}", shown(leaf).replace(['\n', '\t'], " "))),
        }
    }
}

/// `readyReplicas` becomes `Ready Replicas`; what is not only letters stays.
fn label(name: &str) -> String {
    if !name.chars().all(|c| c.is_alphabetic() || c == '-') {
        return name.to_string();
    }
    let chars: Vec<char> = name.chars().collect();
    let mut words: Vec<String> = Vec::new();
    for (at, c) in chars.iter().enumerate() {
        let after_small = at > 0 && chars[at - 1].is_lowercase();
        let before_small =
            at > 0 && chars[at - 1].is_uppercase() && chars.get(at + 1).is_some_and(|n| n.is_lowercase());
        let begins = at == 0 || (c.is_uppercase() && (after_small || before_small));
        match words.last_mut() {
            Some(word) if !begins => word.push(*c),
            _ => words.push(c.to_uppercase().collect()),
        }
    }
    let acronym = |w: &String| ["API", "URL", "UID", "OSB", "GUID"].contains(&w.to_uppercase().as_str());
    let words: Vec<String> = words.into_iter().map(|w| if acronym(&w) { w.to_uppercase() } else { w }).collect();
    words.join(" ")
}

/// `Thu, 01 Jan 2026 00:00:00 +0000`.
pub fn long_time(stamp: Option<&Value>) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let Some(time) = stamp.and_then(Value::as_str).and_then(SimTime::parse_rfc3339) else {
        return "<unset>".to_string();
    };
    let text = time.rfc3339();
    let day = DAYS[(time.unix_secs() / 86_400 % 7) as usize];
    let month = text[5..7].parse::<usize>().ok().and_then(|m| MONTHS.get(m.wrapping_sub(1))).unwrap_or(&"");
    format!("{day}, {} {month} {} {} +0000", &text[8..10], &text[..4], &text[11..19])
}
