//! The kitchen: an order wants dishes, the cook makes one a pass until the plate shows what was asked for.

use crate::event::Phase;
use crate::ids::{Gvr, Key};
use crate::object::ObjectView;
use crate::operators::support::write_status;
use crate::process::context::{Action, Context, Stop};
use crate::process::controller::{Controller, Handler, Source};
use serde_json::json;

/// Operator of `KitchenOrder`.
pub struct Kitchen;

fn orders() -> Gvr {
    Gvr::new("scope.dev", "v1", "kitchenorders")
}

impl Controller for Kitchen {
    fn name(&self) -> &'static str {
        "kitchenorder"
    }

    fn sources(&self) -> Vec<Source> {
        vec![Source::new(orders(), Handler::ForObject)]
    }

    fn reconcile(&self, cx: &mut Context, key: &Key) -> Result<Action, Stop> {
        cx.at(Phase::Observe, "get", "");
        let Some(order) = cx.get(&orders(), key) else {
            cx.no_write("the order is gone");
            return Ok(Action::done());
        };
        if order.deleting() {
            cx.no_write("the guest has left");
            return Ok(Action::done());
        }
        let wanted = order.int(&["spec", "dishes"]).unwrap_or(0);
        let prepared = order.int(&["status", "prepared"]).unwrap_or(0);
        cx.at(Phase::Diff, "compare", format!("want {wanted} · prepared {prepared}"));
        if prepared == wanted && order.at(&["status", "prepared"]).is_some() {
            cx.no_write(format!("{prepared} of {wanted}: nothing to do"));
            return Ok(Action::done());
        }
        let next = prepared + (wanted - prepared).signum();
        cx.at(Phase::Act, "cook", format!("{prepared} → {next}"));
        let mut status = order.at(&["status"]).cloned().unwrap_or_else(|| json!({}));
        status["prepared"] = json!(next);
        status["observedGeneration"] = json!(order.generation());
        cx.at(Phase::Status, "status", format!("prepared {next}"));
        write_status(cx, &orders(), &order, status)?;
        Ok(Action::done())
    }
}
