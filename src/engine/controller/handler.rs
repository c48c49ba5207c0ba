//! What an event enqueues: controller-runtime `pkg/handler`.
//!
//! Guarantees: each key once an event; the low priority where the event says nothing new.
//!
//! Divergence from Kubernetes: keys come in order, where the real owner handler walks a random map.

use super::trigger::Trigger;
use crate::ids::Key;
use crate::object::{Object, ObjectView};
use serde_json::Value;

/// controller-runtime `pkg/handler/eventhandler.go`: priority of the initial list and of repetitions.
pub const LOW_PRIORITY: i64 = -100;

/// How events become keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnqueueHandler {
    /// The object itself.
    ForObject,
    /// Its owners of one kind.
    ForOwner(OwnerKind),
    /// What the map function says of each object.
    Map,
}

/// The owners that a [`EnqueueHandler::ForOwner`] looks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerKind {
    pub group: String,
    pub kind: String,
    /// Versions in which the server serves the kind; None: any.
    pub served_versions: Option<Vec<String>>,
    pub cluster_scoped: bool,
    /// Look at the controlling owner only.
    pub only_controller: bool,
}

/// A key to add and the priority to add it with; None: none given.
pub type Enqueued = (Key, Option<i64>);

impl EnqueueHandler {
    /// The keys to add for `trigger`. `map` is asked by [`EnqueueHandler::Map`] only.
    pub fn enqueue(&self, trigger: &Trigger, map: &dyn Fn(&Object) -> Vec<Key>) -> Vec<Enqueued> {
        let priority = trigger.is_repetition().then_some(LOW_PRIORITY);
        let keys = match self {
            // The old object counts only where the new one is missing.
            EnqueueHandler::ForObject => {
                let newest = trigger.objects().last();
                newest.map(|object| vec![object.key()]).unwrap_or_default()
            }
            EnqueueHandler::ForOwner(owner) => {
                let mut keys: Vec<Key> = trigger.objects().flat_map(|object| owner.keys(object)).collect();
                keys.sort();
                keys
            }
            EnqueueHandler::Map => trigger.objects().flat_map(map).collect(),
        };
        let mut seen: Vec<Enqueued> = Vec::new();
        for key in keys {
            if !seen.iter().any(|(other, _)| *other == key) {
                seen.push((key, priority));
            }
        }
        seen
    }
}

impl OwnerKind {
    fn keys(&self, object: &Object) -> Vec<Key> {
        let mut keys = Vec::new();
        let references: Vec<&Value> = if self.only_controller {
            object.controller_ref().into_iter().collect()
        } else {
            object.owner_references().iter().collect()
        };
        for reference in references {
            let api_version = reference.text(&["apiVersion"]);
            // One reference that cannot be understood hides the ones after it, as in the real handler.
            let Some((group, version)) = group_version(api_version) else { break };
            if reference.kind() != self.kind || group != self.group {
                continue;
            }
            if self.served_versions.as_ref().is_some_and(|served| !served.iter().any(|v| v == version)) {
                break;
            }
            let namespace = if self.cluster_scoped { "" } else { object.namespace() };
            keys.push(Key::new(namespace, reference.text(&["name"])));
        }
        keys
    }
}

/// Splits `group/version`; None if there is more than one slash.
#[must_use]
pub fn group_version(api_version: &str) -> Option<(&str, &str)> {
    match api_version.split_once('/') {
        None => Some(("", api_version)),
        Some((_, version)) if version.contains('/') => None,
        Some(parts) => Some(parts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn owned(owners: Value) -> Object {
        Object::new(json!({"metadata": {"namespace": "shop", "name": "p", "ownerReferences": owners}}))
    }

    fn replica_sets(version: &[&str]) -> EnqueueHandler {
        EnqueueHandler::ForOwner(OwnerKind {
            group: "apps".into(),
            kind: "ReplicaSet".into(),
            served_versions: Some(version.iter().map(ToString::to_string).collect()),
            cluster_scoped: false,
            only_controller: true,
        })
    }

    #[test]
    fn a_change_of_owner_enqueues_both() {
        let reference =
            |name| json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": name, "controller": true}]);
        let trigger = Trigger::Update { old: Some(owned(reference("r2"))), new: Some(owned(reference("r1"))) };
        let keys = replica_sets(&["v1"]).enqueue(&trigger, &|_| vec![]);
        assert_eq!(keys.len(), 2);
        assert_eq!(&*keys[0].0.name, "r1");
    }

    #[test]
    fn the_version_of_the_reference_is_ignored_if_it_is_served() {
        let old = json!([{"apiVersion": "apps/v1beta1", "kind": "ReplicaSet", "name": "r", "controller": true}]);
        let trigger = Trigger::Create { object: Some(owned(old)), is_in_initial_list: false };
        assert_eq!(replica_sets(&["v1", "v1beta1"]).enqueue(&trigger, &|_| vec![]).len(), 1);
        assert_eq!(replica_sets(&["v1"]).enqueue(&trigger, &|_| vec![]).len(), 0);
    }

    #[test]
    fn repetitions_get_the_low_priority() {
        let at = |rv: &str| Some(Object::new(json!({"metadata": {"name": "a", "resourceVersion": rv}})));
        let first = |trigger| EnqueueHandler::ForObject.enqueue(&trigger, &|_| vec![])[0].1;
        assert_eq!(first(Trigger::Create { object: at("1"), is_in_initial_list: true }), Some(LOW_PRIORITY));
        assert_eq!(first(Trigger::Create { object: at("1"), is_in_initial_list: false }), None);
        assert_eq!(first(Trigger::Update { old: at("1"), new: at("1") }), Some(LOW_PRIORITY));
        assert_eq!(first(Trigger::Update { old: at("1"), new: at("2") }), None);
    }

    #[test]
    fn a_map_function_sees_old_and_new_and_each_key_counts_once() {
        let object = |tier: &str| Some(Object::new(json!({"metadata": {"name": "a", "labels": {"tier": tier}}})));
        let map = |o: &Object| vec![Key::new("", o.label("tier").unwrap_or("")), Key::new("", "all")];
        let keys = EnqueueHandler::Map.enqueue(&Trigger::Update { old: object("web"), new: object("db") }, &map);
        let names: Vec<&str> = keys.iter().map(|(key, _)| &*key.name).collect();
        assert_eq!(names, ["web", "all", "db"]);
    }
}
