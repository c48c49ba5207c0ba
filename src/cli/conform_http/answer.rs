//! Comparing one answer with its recording.

use super::path;
use super::tokens::Tokens;
use engine::api::message::{Response, WatchEvent};
use serde_json::{Map, Value, json};

/// Ownership of fields is left out of recordings.
fn without_managed_fields(mut value: Value) -> Value {
    fn strip(value: &mut Value) {
        if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.remove("managedFields");
        }
        for item in value.get_mut("items").and_then(Value::as_array_mut).into_iter().flatten() {
            strip(item);
        }
    }
    strip(&mut value);
    value
}

fn picked(recorded: &Map<String, Value>, body: &Value, tokens: &mut Tokens) -> Option<String> {
    recorded.iter().find_map(|(field, value)| tokens.difference(field, value, &path::get(body, field)))
}

/// Sorted pairs of reason and field.
fn causes(body: &Value) -> Value {
    let text = |c: &Value, field: &str| c[field].as_str().unwrap_or("").to_string();
    let list = body["details"]["causes"].as_array().cloned().unwrap_or_default();
    let mut pairs: Vec<(String, String)> = list.iter().map(|c| (text(c, "reason"), text(c, "field"))).collect();
    pairs.sort();
    json!(pairs)
}

/// The first difference of an answer.
pub fn response(recorded: &Value, played: &Response, tokens: &mut Tokens) -> Option<String> {
    let body = &*played.body;
    if recorded["code"] != json!(played.code) {
        return Some(format!("code: recorded {}, played {} {body}", recorded["code"], played.code));
    }
    let warnings = recorded.get("warnings").and_then(Value::as_u64).unwrap_or(0);
    if warnings != played.warnings.len() as u64 {
        return Some(format!("warnings: recorded {warnings}, played {:?}", played.warnings));
    }
    if recorded.get("text").is_some() {
        let page = body.is_string() || body["message"] == "the server could not find the requested resource";
        return (!page).then(|| format!("body: recorded plain text, played {body}"));
    }
    if let Some(status) = recorded.get("status") {
        let same = body["kind"] == "Status" && body["status"] == *status;
        return (!same).then(|| format!("body: recorded a Status {status}, played {body}"));
    }
    if let Some(whole) = recorded.get("body") {
        return tokens.difference("body", whole, &without_managed_fields(body.clone()));
    }
    if let Some(fields) = recorded.get("picked").and_then(Value::as_object) {
        return picked(fields, &without_managed_fields(body.clone()), tokens);
    }
    let reason = body.get("reason").cloned().unwrap_or_else(|| json!(""));
    if let Some(wanted) = recorded.get("reason").filter(|r| **r != reason) {
        return Some(format!("reason: recorded {wanted}, played {reason}: {}", body["message"]));
    }
    let (wanted, found) = (recorded.get("causes").cloned().unwrap_or_else(|| json!([])), causes(body));
    (wanted != found).then(|| format!("causes: recorded {wanted}, played {found}: {}", body["message"]))
}

/// The first difference of the events of a watch.
pub fn events(recorded: &Value, played: &[WatchEvent], tokens: &mut Tokens) -> Option<String> {
    let recorded = recorded["events"].as_array().cloned().unwrap_or_default();
    for (index, (want, got)) in recorded.iter().zip(played).enumerate() {
        let kind = json!(got.kind);
        if want["type"] != kind {
            return Some(format!("events[{index}].type: recorded {}, played {kind} {}", want["type"], got.object));
        }
        let at = format!("events[{index}]");
        let object = without_managed_fields(Value::clone(&got.object));
        let found = if let Some(whole) = want.get("object") {
            tokens.difference(&at, whole, &object)
        } else if let Some(fields) = want.get("picked").and_then(Value::as_object) {
            picked(fields, &object, tokens).map(|why| format!("{at} {why}"))
        } else {
            ["code", "reason"].iter().find_map(|f| {
                let (a, b) = (want.get(*f).unwrap_or(&Value::Null), object.get(*f).unwrap_or(&Value::Null));
                (a != b).then(|| format!("{at}.{f}: recorded {a}, played {b}"))
            })
        };
        if found.is_some() {
            return found;
        }
    }
    let kinds: Vec<String> = played.iter().map(|e| json!(e.kind).to_string()).collect();
    (recorded.len() != played.len())
        .then(|| format!("events: recorded {}, played {}: {kinds:?}", recorded.len(), played.len()))
}
