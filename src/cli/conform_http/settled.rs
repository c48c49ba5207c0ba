//! Comparing what was observed when a cluster settled: changes and the objects that are left.

use super::tokens::Tokens;
use serde_json::Value;

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

/// The first difference between a recorded and a played observation.
pub fn difference(step: &Value, recorded: &Value, played: &Value, tokens: &mut Tokens) -> Option<String> {
    let ignored: Vec<Value> = list(&step["ignore"]);
    let seen =
        |v: &Value| -> Vec<Value> { list(&v["changes"]).into_iter().filter(|c| !ignored.contains(&c[1])).collect() };
    let unordered = step["unordered"] == true;
    changes(&seen(recorded), &seen(played), unordered, tokens)
        .or_else(|| objects(&recorded["objects"], &played["objects"], &ignored, tokens))
}

fn changes(recorded: &[Value], played: &[Value], unordered: bool, tokens: &mut Tokens) -> Option<String> {
    let mut kinds: Vec<&Value> = recorded.iter().chain(played).map(|c| &c[1]).collect();
    kinds.sort_by_key(|k| k.to_string());
    kinds.dedup();
    // Revisions are bound by the objects that are called after them.
    kinds.sort_by_key(|k| !matches!(k.as_str(), Some("ControllerRevision" | "ReplicaSet")));
    for kind in kinds {
        let of = |all: &[Value]| -> Vec<Value> { all.iter().filter(|c| c[1] == *kind).cloned().collect() };
        let (want, got) = (of(recorded), of(played));
        // Bursts of a controller that works in parallel have no order.
        let burst = kind == "ReplicaSet" || want.iter().any(|c| c[2].as_str().is_some_and(|n| n.ends_with('*')));
        let found = if unordered || burst {
            as_set("changes", &want, &got, tokens)
        } else {
            tokens.difference("changes", &Value::from(want.clone()), &Value::from(got.clone()))
        };
        if found.is_some() {
            let (want, got) = (Value::from(want), Value::from(got));
            return Some(format!("changes: recorded {want}, played {got}"));
        }
    }
    None
}

/// Finds a partner for each recorded value.
fn as_set(at: &str, recorded: &[Value], played: &[Value], tokens: &mut Tokens) -> Option<String> {
    let mut left: Vec<&Value> = played.iter().collect();
    for want in recorded {
        let mut first = None;
        let partner = left.iter().position(|got| {
            let mut trial = tokens.clone();
            let found = trial.difference(at, want, got);
            let fits = found.is_none();
            if fits {
                *tokens = trial;
            } else if first.is_none() || want["name"] == got["name"] {
                first = found;
            }
            fits
        });
        match partner {
            Some(index) => drop(left.remove(index)),
            None => return Some(first.unwrap_or_else(|| format!("{at}: recorded {want}, played nothing of the kind"))),
        }
    }
    left.first().map(|extra| format!("{at}: recorded nothing, played {extra}"))
}

fn objects(recorded: &Value, played: &Value, ignored: &[Value], tokens: &mut Tokens) -> Option<String> {
    let kinds =
        ["ControllerRevision", "ReplicaSet", "Deployment", "StatefulSet", "Pod", "PersistentVolumeClaim", "ConfigMap"];
    let mut all: Vec<String> = kinds.map(str::to_string).to_vec();
    for value in [recorded, played] {
        let more = value.as_object().into_iter().flatten().map(|(kind, _)| kind.clone());
        let more: Vec<String> = more.filter(|k| !all.contains(k)).collect();
        all.extend(more);
    }
    all.iter().filter(|kind| !ignored.contains(&Value::from(kind.as_str()))).find_map(|kind| {
        as_set(&format!("objects.{kind}"), &list(&recorded[kind.as_str()]), &list(&played[kind.as_str()]), tokens)
    })
}
