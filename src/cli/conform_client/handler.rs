//! Kind `handler`.

use super::predicate::trigger;
use super::read::{flag, list, text};
use engine::controller::handler::{EnqueueHandler, OwnerKind, group_version};
use engine::ids::Key;
use engine::object::{Object, ObjectView};
use serde_json::{Value, json};

pub fn play(input: &Value) -> Result<Value, String> {
    let spec = input.get("handler").unwrap_or(&Value::Null);
    let handler = match text(spec, "type") {
        "for_object" => EnqueueHandler::ForObject,
        "for_owner" => EnqueueHandler::ForOwner(owner(spec)),
        "map_by_label" => EnqueueHandler::Map,
        other => return Err(format!("unknown handler {other:?}")),
    };
    let by_label = |object: &Object| {
        let name = object.label(text(spec, "by_label")).filter(|name| !name.is_empty());
        name.map(|name| vec![Key::new(object.namespace(), name)]).unwrap_or_default()
    };
    let mut requests = Vec::new();
    for event in list(input, "events") {
        let mut added = handler.enqueue(&trigger(event)?, &by_label);
        added.sort();
        let of = |(key, priority): (Key, Option<i64>)| json!({"namespace": &*key.namespace, "name": &*key.name, "priority": priority.unwrap_or(0)});
        requests.push(added.into_iter().map(of).collect::<Vec<_>>());
    }
    Ok(json!({"requests": requests}))
}

fn owner(spec: &Value) -> OwnerKind {
    let (group, _) = group_version(text(spec, "owner_apiVersion")).unwrap_or_default();
    let served = list(spec, "served_versions").iter().filter_map(Value::as_str).map(str::to_string);
    OwnerKind {
        group: group.to_string(),
        kind: text(spec, "owner_kind").to_string(),
        served_versions: Some(served.collect()),
        cluster_scoped: flag(spec, "owner_cluster_scoped"),
        only_controller: flag(spec, "only_controller_owner"),
    }
}
