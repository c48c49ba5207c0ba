//! Which events pass: controller-runtime `pkg/predicate/predicate.go`.
//!
//! Divergence from Kubernetes: none known.

use super::trigger::{Trigger, TriggerKind};
use crate::object::{Object, ObjectView};
use serde_json::Value;
use std::collections::BTreeMap;

/// A filter in front of a handler. The four change predicates judge updates only; everything else passes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Predicate {
    ResourceVersionChanged,
    GenerationChanged,
    LabelChanged,
    AnnotationChanged,
    /// Of nothing: passes.
    And(Vec<Predicate>),
    /// Of nothing: drops.
    Or(Vec<Predicate>),
    Not(Box<Predicate>),
    /// Judges the present labels only, so an object that loses them is not seen.
    LabelSelector(BTreeMap<String, String>),
    OnlyKinds(Vec<TriggerKind>),
}

impl Predicate {
    #[must_use]
    pub fn passes(&self, trigger: &Trigger) -> bool {
        match self {
            Predicate::ResourceVersionChanged => {
                changed(trigger, |old, new| old.resource_version() != new.resource_version())
            }
            Predicate::GenerationChanged => changed(trigger, |old, new| old.generation() != new.generation()),
            Predicate::LabelChanged => changed(trigger, |old, new| differ(old, new, "labels")),
            Predicate::AnnotationChanged => changed(trigger, |old, new| differ(old, new, "annotations")),
            Predicate::And(all) => all.iter().all(|p| p.passes(trigger)),
            Predicate::Or(any) => any.iter().any(|p| p.passes(trigger)),
            Predicate::Not(inner) => !inner.passes(trigger),
            Predicate::LabelSelector(wanted) => trigger
                .present()
                .is_some_and(|object| wanted.iter().all(|(name, value)| object.label(name) == Some(value.as_str()))),
            Predicate::OnlyKinds(kinds) => kinds.contains(&trigger.kind()),
        }
    }
}

fn changed(trigger: &Trigger, judge: impl Fn(&Object, &Object) -> bool) -> bool {
    match trigger {
        Trigger::Update { old: Some(old), new: Some(new) } => judge(old, new),
        // There is nothing to compare.
        Trigger::Update { .. } => false,
        Trigger::Create { .. } | Trigger::Delete { .. } | Trigger::Generic { .. } => true,
    }
}

fn differ(old: &Object, new: &Object, field: &str) -> bool {
    // An absent map and an empty one are equal.
    let map = |object: &Object| {
        object.at(&["metadata", field]).and_then(Value::as_object).filter(|map| !map.is_empty()).cloned()
    };
    map(old) != map(new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn update(old: Value, new: Value) -> Trigger {
        Trigger::Update { old: Some(Object::new(old)), new: Some(Object::new(new)) }
    }

    #[test]
    fn a_status_write_is_dropped_and_a_restart_passes() {
        let predicate = Predicate::GenerationChanged;
        let object = json!({"metadata": {"generation": 1, "resourceVersion": "1"}});
        let written = json!({"metadata": {"generation": 1, "resourceVersion": "2"}, "status": {"x": 1}});
        assert!(!predicate.passes(&update(object.clone(), written)));
        assert!(predicate.passes(&Trigger::Create { object: Some(Object::new(object)), is_in_initial_list: true }));
    }

    #[test]
    fn not_generation_changed_also_drops_creates_and_deletes() {
        let predicate = Predicate::Not(Box::new(Predicate::GenerationChanged));
        assert!(!predicate.passes(&Trigger::Create { object: None, is_in_initial_list: false }));
        assert!(!predicate.passes(&Trigger::Delete { object: None, tombstone: false }));
    }

    #[test]
    fn deep_nesting_is_only_as_deep_as_it_was_built() {
        let nested = (0..500).fold(Predicate::GenerationChanged, |p, _| Predicate::Not(Box::new(p)));
        assert!(nested.passes(&Trigger::Generic { object: None }));
    }
}
