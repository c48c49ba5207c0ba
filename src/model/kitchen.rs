//! What the kitchen's drawings show, read from the same picture as the boxes.

use engine::event::{Outcome, ProcessState};
use engine::object::{Object, ObjectView};
use engine::scene::{ControllerView, Scene};

/// What the chef is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hand {
    Cooking,
    Resting,
    /// The last pass failed.
    Spoilt,
    /// The process does not run.
    Away,
}

#[must_use]
pub fn hand(process: Option<&ProcessState>, view: Option<&ControllerView>) -> Hand {
    if process.is_some_and(|state| *state != ProcessState::Running) {
        return Hand::Away;
    }
    let Some(view) = view else { return Hand::Resting };
    if view.workers.values().any(|worker| worker.running) {
        return Hand::Cooking;
    }
    match view.last {
        Some(Outcome::Failed { .. } | Outcome::Terminal { .. } | Outcome::Panicked { .. }) => Hand::Spoilt,
        _ => Hand::Resting,
    }
}

/// An object that is being deleted and what still holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closing {
    pub name: String,
    pub left: Vec<String>,
}

/// The first object that waits for its finalizers.
#[must_use]
pub fn closing(scene: &Scene) -> Option<Closing> {
    let all = scene.objects.values().flat_map(|objects| objects.values());
    all.filter(|object| object.deleting()).find_map(|object| {
        let left: Vec<String> =
            object.list(&["metadata", "finalizers"]).iter().filter_map(|f| f.as_str().map(str::to_string)).collect();
        let name = format!("{}/{}", object.kind(), object.name());
        (!left.is_empty()).then_some(Closing { name, left })
    })
}

/// Kinds that the reader's definitions added.
#[must_use]
pub fn menu(scene: &Scene) -> Vec<String> {
    let definitions = scene.of("apiextensions.k8s.io", "customresourcedefinitions");
    definitions.map(|(_, definition)| definition.text(&["spec", "names", "kind"]).to_string()).collect()
}

/// Keeps something of its own: a claim that outlives the pod.
#[must_use]
pub fn keeps(pod: &Object) -> bool {
    pod.list(&["spec", "volumes"]).iter().any(|volume| volume.get("persistentVolumeClaim").is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::ids::{GroupResource, Key};
    use serde_json::json;
    use std::sync::Arc;

    fn scene_with(resource: GroupResource, object: serde_json::Value) -> Scene {
        let mut scene = Scene::default();
        let key = Key::new("default", object.name());
        let kind = [(key, Arc::new(object))].into_iter().collect();
        Arc::make_mut(&mut scene.objects).insert(resource, Arc::new(kind));
        scene
    }

    #[test]
    fn the_checklist_hangs_only_while_finalizers_hold_what_is_being_deleted() {
        let of = |metadata| {
            closing(&scene_with(GroupResource::new("x.dev", "things"), json!({"kind": "Thing", "metadata": metadata})))
        };
        assert_eq!(of(json!({"name": "a", "finalizers": ["x.dev/backup"]})), None);
        assert_eq!(of(json!({"name": "a", "deletionTimestamp": "2026-01-01T00:00:00Z"})), None);
        let held = json!({"name": "a", "deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["x.dev/backup"]});
        assert_eq!(of(held), Some(Closing { name: "Thing/a".into(), left: vec!["x.dev/backup".into()] }));
    }

    #[test]
    fn the_menu_lists_the_kinds_that_definitions_add() {
        let resource = GroupResource::new("apiextensions.k8s.io", "customresourcedefinitions");
        let scene = scene_with(resource, json!({"metadata": {"name": "t"}, "spec": {"names": {"kind": "Thing"}}}));
        assert_eq!(menu(&scene), ["Thing"]);
    }

    #[test]
    fn the_chef_rests_cooks_spoils_or_is_away() {
        assert_eq!(hand(Some(&ProcessState::Running), None), Hand::Resting);
        assert_eq!(hand(Some(&ProcessState::Down), None), Hand::Away);
        let mut view = ControllerView {
            last: Some(Outcome::Failed { code: 409, message: "conflict".into() }),
            ..ControllerView::default()
        };
        assert_eq!(hand(Some(&ProcessState::Running), Some(&view)), Hand::Spoilt);
        view.last = Some(Outcome::Done);
        assert_eq!(hand(Some(&ProcessState::Running), Some(&view)), Hand::Resting);
    }

    #[test]
    fn a_pod_with_a_claim_has_a_jar() {
        assert!(keeps(&Arc::new(json!({"spec": {"volumes": [{"name": "data", "persistentVolumeClaim": {}}]}}))));
        assert!(!keeps(&Arc::new(json!({"spec": {"volumes": [{"name": "data", "emptyDir": {}}]}}))));
    }
}
