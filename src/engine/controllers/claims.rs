//! Volume claims: each gets a volume of its own as soon as it is seen.

use super::core;
use crate::api::message::{Method, Request};
use crate::event::Phase;
use crate::ids::{Gvr, Key};
use crate::object::{Object, ObjectView};
use crate::process::context::{Action, Context, Expect, Stop};
use crate::process::controller::{Caches, Controller, Handler, Notice, Source};
use crate::process::memory::Memory;
use serde_json::{Value, json};

/// Lets go of a deleted claim that no pod uses (`pkg/controller/volume/pvcprotection`).
pub struct Protection;

const PROTECTED: &str = "kubernetes.io/pvc-protection";

impl Controller for Protection {
    fn name(&self) -> &'static str {
        "persistentvolumeclaim-protection-controller"
    }

    fn sources(&self) -> Vec<Source> {
        vec![Source::new(core("persistentvolumeclaims"), Handler::ForObject), Source::new(core("pods"), Handler::Map)]
    }

    fn map(&self, _gvr: &Gvr, notice: &Notice, _caches: &dyn Caches, _memory: &mut Memory) -> Vec<Key> {
        let pod = notice.object();
        used(pod).map(|claim| Key::new(pod.namespace(), claim)).collect()
    }

    fn reconcile(&self, cx: &mut Context, key: &Key) -> Result<Action, Stop> {
        let Some(claim) = cx.get(&core("persistentvolumeclaims"), key) else { return Ok(Action::done()) };
        if !claim.deleting() || !claim.finalizers().contains(&PROTECTED) {
            return Ok(Action::done());
        }
        let list: Object = cx.send(Request::new(Method::Get, core("pods").collection(&key.namespace)))?;
        if list.list(&["items"]).iter().any(|pod| used(pod).any(|name| name == &*key.name)) {
            return Ok(Action::done());
        }
        let kept: Vec<&str> = claim.finalizers().into_iter().filter(|f| *f != PROTECTED).collect();
        cx.patch(&core("persistentvolumeclaims"), key, "", json!({"metadata": {"finalizers": kept}})).or_not_found()?;
        Ok(Action::done())
    }
}

/// The claims a pod mounts.
fn used(pod: &Value) -> impl Iterator<Item = &str> {
    let volumes = pod.list(&["spec", "volumes"]).iter();
    volumes.map(|v| v.text(&["persistentVolumeClaim", "claimName"])).filter(|name| !name.is_empty())
}

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
