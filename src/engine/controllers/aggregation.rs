//! Cluster roles that are the sum of others: their rules are those of every role their selectors match.
//!
//! Mirrors `pkg/controller/clusterroleaggregation/clusterroleaggregation_controller.go`.
//!
//! Divergence from Kubernetes: rules are written by a merge patch and not by server-side apply.

use crate::api::rbac::GROUP;
use crate::api::selector::LabelSelector;
use crate::event::Phase;
use crate::ids::{Gvr, Key};
use crate::object::{Object, ObjectView};
use crate::process::context::{Action, Context, Expect, Stop};
use crate::process::controller::{Caches, Controller, Handler, Notice, Source};
use crate::process::memory::Memory;
use serde_json::{Value, json};

pub struct Aggregation;

fn roles() -> Gvr {
    Gvr::new(GROUP, "v1", "clusterroles")
}

fn selectors(role: &Object) -> Vec<LabelSelector> {
    role.list(&["aggregationRule", "clusterRoleSelectors"]).iter().map(LabelSelector::from_object).collect()
}

impl Controller for Aggregation {
    fn name(&self) -> &'static str {
        "clusterrole-aggregation-controller"
    }

    fn sources(&self) -> Vec<Source> {
        vec![Source::new(roles(), Handler::Map)]
    }

    /// Any role may be a part of any sum.
    fn map(&self, _gvr: &Gvr, _notice: &Notice, caches: &dyn Caches, _memory: &mut Memory) -> Vec<Key> {
        let all = caches.list(&roles(), "");
        all.iter().filter(|r| !selectors(r).is_empty()).map(|r| r.key()).collect()
    }

    fn reconcile(&self, cx: &mut Context, key: &Key) -> Result<Action, Stop> {
        let Some(sum) = cx.get(&roles(), key) else { return Ok(Action::done()) };
        let selectors = selectors(&sum);
        if selectors.is_empty() {
            return Ok(Action::done());
        }
        let all = cx.list(&roles(), "");
        let mut rules: Vec<Value> = Vec::new();
        for selector in &selectors {
            let mut parts: Vec<&Object> =
                all.iter().filter(|r| r.name() != sum.name() && selector.matches_object(r)).collect();
            parts.sort_by_key(|r| r.name().to_string());
            for rule in parts.iter().flat_map(|r| r.list(&["rules"])) {
                if !rules.contains(rule) {
                    rules.push(rule.clone());
                }
            }
        }
        if sum.list(&["rules"]) == rules.as_slice() {
            cx.no_write("the rules are the sum already");
            return Ok(Action::done());
        }
        cx.at(Phase::Act, "sum up", sum.name());
        cx.patch(&roles(), key, "", json!({"rules": rules})).or_not_found()?;
        Ok(Action::done())
    }
}
