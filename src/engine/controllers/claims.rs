//! Volume claims: each gets a volume of its own as soon as it is seen.

use super::core;
use crate::event::Phase;
use crate::ids::Key;
use crate::object::ObjectView;
use crate::process::context::{Action, Context, Expect, Stop};
use crate::process::controller::{Controller, Handler, Source};
use serde_json::json;

pub struct Claims;

impl Controller for Claims {
    fn name(&self) -> &'static str {
        "persistentvolume-binder"
    }

    fn sources(&self) -> Vec<Source> {
        vec![Source::new(core("persistentvolumeclaims"), Handler::ForObject)]
    }

    fn reconcile(&self, cx: &mut Context, key: &Key) -> Result<Action, Stop> {
        let Some(claim) = cx.get(&core("persistentvolumeclaims"), key) else { return Ok(Action::done()) };
        if claim.text(&["status", "phase"]) == "Bound" || claim.deleting() {
            return Ok(Action::done());
        }
        cx.at(Phase::Act, "bind", claim.name());
        let status = json!({"phase": "Bound", "accessModes": claim.at(&["spec", "accessModes"]),
            "capacity": claim.at(&["spec", "resources", "requests"])});
        cx.patch(&core("persistentvolumeclaims"), key, "status", json!({"status": status})).or_not_found()?;
        Ok(Action::done())
    }
}
