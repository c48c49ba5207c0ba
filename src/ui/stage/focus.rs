//! Which loop is drawn large: the controller of the operator process that worked last.

use engine::event::ControllerId;
use engine::scene::{ControllerView, Scene};

/// The process whose loop is drawn, when the run has no operator.
const OTHERWISE: &str = "kube-controller-manager";
pub const OPERATOR: &str = "operator";

/// The process whose loop is drawn.
#[must_use]
pub fn process(scene: &Scene) -> &'static str {
    if scene.processes.contains_key(OPERATOR) { OPERATOR } else { OTHERWISE }
}

/// The controller drawn, with its state.
#[must_use]
pub fn controller(scene: &Scene) -> Option<(&ControllerId, &ControllerView)> {
    let focus = process(scene);
    let last = |view: &ControllerView| view.workers.values().map(|w| (w.running, w.started)).max();
    let mine = scene.controllers.iter().filter(|(id, _)| &*id.process == focus);
    mine.max_by_key(|(id, view)| (last(view), std::cmp::Reverse((*id).clone())))
}
