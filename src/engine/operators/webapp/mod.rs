//! A web application: one resource asks for a Service and for pods, and a new image may be tried on some of them first.
//!
//! Flow: the plan says which image runs on how many pods of the stable and of the canary track; every child is made or
//! mended to match; the status sums up what the children report. Only the reader's spec ends a trial, by `decision`.

mod children;
mod plan;

use crate::event::Phase;
use crate::ids::{Gvr, Key};
use crate::object::{Object, ObjectView};
use crate::operators::support::{beside, dismiss, ensure, set_condition, write_status};
use crate::process::context::{Action, Context, Stop};
use crate::process::controller::{Controller, Handler, Source};
use children::{Track, deployment, service};
use plan::{Plan, Trial, rolled_out};
use serde_json::json;

/// Operator of `WebApp`.
pub struct WebApps;

fn apps() -> Gvr {
    Gvr::new("scope.dev", "v1", "webapps")
}
fn deployments() -> Gvr {
    Gvr::new("apps", "v1", "deployments")
}
fn services() -> Gvr {
    Gvr::new("", "v1", "services")
}

impl Controller for WebApps {
    fn name(&self) -> &'static str {
        "webapp"
    }

    fn sources(&self) -> Vec<Source> {
        let owned = || Handler::ForOwner { group: "scope.dev", kind: "WebApp", any_owner: false };
        vec![
            Source::new(apps(), Handler::ForObject),
            Source::new(deployments(), owned()),
            Source::new(services(), owned()),
        ]
    }

    fn reconcile(&self, cx: &mut Context, key: &Key) -> Result<Action, Stop> {
        cx.at(Phase::Observe, "get", "");
        let Some(app) = cx.get(&apps(), key) else {
            cx.no_write("the application is gone");
            return Ok(Action::done());
        };
        if app.deleting() {
            cx.no_write("it is going, and the garbage collector takes its children along");
            return Ok(Action::done());
        }
        let stable = cx.get(&deployments(), &beside(&app, &Track::Stable.name(&app)));
        let plan = Plan::of(&app, stable.as_ref());
        let note = format!("{} · stable {} · canary {}", plan.trial.word(), plan.stable, plan.canary);
        cx.at(Phase::Diff, "plan", note);
        ensure(cx, &services(), &app, service(&app))?;
        let wanted = deployment(&app, Track::Stable, &plan.stable_image, plan.stable);
        let stable = ensure(cx, &deployments(), &app, wanted)?;
        let canary = if plan.canary > 0 {
            let wanted = deployment(&app, Track::Canary, &plan.canary_image, plan.canary);
            ensure(cx, &deployments(), &app, wanted)?
        } else {
            dismiss(cx, &deployments(), &beside(&app, &Track::Canary.name(&app)))?;
            None
        };
        report(cx, &app, &plan, stable.as_ref(), canary.as_ref())?;
        Ok(Action::done())
    }
}

/// Sums up the children: ready when each track runs what the plan says, and nothing else.
fn report(
    cx: &mut Context,
    app: &Object,
    plan: &Plan,
    stable: Option<&Object>,
    canary: Option<&Object>,
) -> Result<(), Stop> {
    let ready = |track: Option<&Object>| track.and_then(|d| d.int(&["status", "readyReplicas"])).unwrap_or(0);
    let full = |track: Option<&Object>, pods: i64| track.is_some_and(|d| rolled_out(d, pods));
    let (stable_ready, canary_ready) = (ready(stable), ready(canary));
    let (reason, message) = if !full(stable, plan.stable) {
        ("WaitingForStable", format!("{stable_ready} of {} stable pods are ready", plan.stable))
    } else if plan.canary > 0 && !full(canary, plan.canary) {
        ("WaitingForCanary", format!("{canary_ready} of {} canary pods are ready", plan.canary))
    } else {
        ("AllAvailable", format!("{} pods are available", plan.stable + plan.canary))
    };
    let before = app.text(&["status", "canary"]);
    if before != plan.trial.word() && plan.trial != Trial::None {
        let warning = plan.trial == Trial::Aborted;
        cx.event(app, warning, &format!("Canary{}", plan.trial.word()), plan.canary_image.as_str());
    }
    let now = cx.now();
    let mut conditions = app.list(&["status", "conditions"]).to_vec();
    set_condition(&mut conditions, now, "Ready", reason == "AllAvailable", reason, &message);
    let status = json!({
        "canary": plan.trial.word(),
        "stableImage": plan.stable_image,
        "stableReady": stable_ready,
        "canaryReady": canary_ready,
        "readyReplicas": stable_ready + canary_ready,
        "observedGeneration": app.generation(),
        "conditions": conditions,
    });
    cx.at(Phase::Status, "status", message.clone());
    if !write_status(cx, &apps(), app, status)? {
        cx.no_write(message);
    }
    Ok(())
}
