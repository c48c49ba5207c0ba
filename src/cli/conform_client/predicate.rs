//! Kind `predicate`, and the events it shares with kind `handler`.

use super::read::{flag, list, text};
use engine::controller::predicate::Predicate;
use engine::controller::trigger::{Trigger, TriggerKind};
use engine::object::Object;
use serde_json::{Map, Value, json};

pub fn play(input: &Value) -> Result<Value, String> {
    let predicate = predicate(input.get("predicate").unwrap_or(&Value::Null), 0)?;
    let pass: Result<Vec<bool>, String> =
        list(input, "events").iter().map(|event| Ok(predicate.passes(&trigger(event)?))).collect();
    Ok(json!({"pass": pass?}))
}

/// Deeper nesting than any real set-up is refused.
const DEPTH_MAX: usize = 64;

fn predicate(spec: &Value, depth: usize) -> Result<Predicate, String> {
    if depth > DEPTH_MAX {
        return Err("predicates nested too deeply".to_string());
    }
    let all =
        |field| list(spec, field).iter().map(|inner| predicate(inner, depth + 1)).collect::<Result<Vec<_>, String>>();
    Ok(match spec.as_str() {
        Some("ResourceVersionChanged") => Predicate::ResourceVersionChanged,
        Some("GenerationChanged") => Predicate::GenerationChanged,
        Some("LabelChanged") => Predicate::LabelChanged,
        Some("AnnotationChanged") => Predicate::AnnotationChanged,
        Some(other) => return Err(format!("unknown predicate {other:?}")),
        None if spec.get("and").is_some() => Predicate::And(all("and")?),
        None if spec.get("or").is_some() => Predicate::Or(all("or")?),
        None if spec.get("not").is_some() => Predicate::Not(Box::new(predicate(&spec["not"], depth + 1)?)),
        None if spec.get("label_selector").is_some() => {
            let wanted = spec["label_selector"].as_object().into_iter().flatten();
            Predicate::LabelSelector(
                wanted.map(|(name, value)| (name.clone(), value.as_str().unwrap_or("").to_string())).collect(),
            )
        }
        None if spec.get("only_types").is_some() => {
            let kinds = list(spec, "only_types").iter().map(|kind| kind_of(kind.as_str().unwrap_or("")));
            Predicate::OnlyKinds(kinds.collect::<Result<_, _>>()?)
        }
        None => return Err(format!("unknown predicate {spec}")),
    })
}

fn kind_of(word: &str) -> Result<TriggerKind, String> {
    Ok(match word {
        "create" => TriggerKind::Create,
        "update" => TriggerKind::Update,
        "delete" => TriggerKind::Delete,
        "generic" => TriggerKind::Generic,
        other => return Err(format!("unknown event type {other:?}")),
    })
}

/// Reads one event.
pub fn trigger(event: &Value) -> Result<Trigger, String> {
    let object = |field: &str| event.get(field).filter(|o| o.is_object()).map(object);
    Ok(match kind_of(text(event, "type"))? {
        TriggerKind::Create => {
            Trigger::Create { object: object("object"), is_in_initial_list: flag(event, "isInInitialList") }
        }
        TriggerKind::Update => Trigger::Update { old: object("old"), new: object("new") },
        TriggerKind::Delete => Trigger::Delete { object: object("object"), tombstone: flag(event, "tombstone") },
        TriggerKind::Generic => Trigger::Generic { object: object("object") },
    })
}

/// An object whose metadata is written flat.
pub fn object(flat: &Value) -> Object {
    let mut object = Map::new();
    let mut metadata = Map::new();
    for (field, value) in flat.as_object().into_iter().flatten() {
        let place = if matches!(field.as_str(), "apiVersion" | "kind") { &mut object } else { &mut metadata };
        place.insert(field.clone(), value.clone());
    }
    object.insert("metadata".to_string(), Value::Object(metadata));
    Object::new(Value::Object(object))
}
