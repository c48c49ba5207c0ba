//! StatefulSets: pods with names, one after the other.
//!
//! Mirrors `pkg/controller/statefulset/{stateful_set,stateful_set_control,stateful_set_utils}.go` (v1.36): [`revision`] finds
//! the revisions, [`identity`] makes pods and claims, this file decides what happens next.
//!
//! Divergence from Kubernetes: pods, claims and revisions are read from the server at the start of each pass, so a late cache
//! never leads astray; the parallel policy does its work in order; `maxUnavailable` is not looked at, as with its gate off.

mod identity;
mod revision;
mod status;

use super::core;
use crate::api::selector::LabelSelector;
use crate::controller::owner_reference::{Owner, is_controlled_by};
use crate::event::Phase;
use crate::ids::{Gvr, Key};
use crate::object::{self, Object, ObjectView};
use crate::process::context::{Action, Context, Expect, Stop};
use crate::process::controller::{Caches, Controller, Handler, Notice, Source};
use crate::process::memory::Memory;
use crate::time::{SimTime, Span};
use revision::Revisions;
use serde_json::{Value, json};

pub struct StatefulSets;

fn sets() -> Gvr {
    Gvr::new("apps", "v1", "statefulsets")
}

fn selects(set: &Value, object: &Value) -> bool {
    LabelSelector::from_object(set.at(&["spec", "selector"]).unwrap_or(&Value::Null)).matches_object(object)
}

impl Controller for StatefulSets {
    fn name(&self) -> &'static str {
        "statefulset-controller"
    }

    fn sources(&self) -> Vec<Source> {
        vec![Source::new(sets(), Handler::ForObject), Source::new(core("pods"), Handler::Map)]
    }

    fn map(&self, _gvr: &Gvr, notice: &Notice, caches: &dyn Caches, _memory: &mut Memory) -> Vec<Key> {
        let pod = notice.object();
        let owners = |o: &Object| o.controller_ref().filter(|r| r.text(&["kind"]) == "StatefulSet").cloned();
        let mut keys: Vec<Key> = owners(pod).iter().map(|r| Key::new(pod.namespace(), r.text(&["name"]))).collect();
        if let Notice::Update { old, .. } = notice {
            keys.extend(owners(old).iter().map(|r| Key::new(old.namespace(), r.text(&["name"]))));
        }
        if pod.controller_ref().is_none() {
            let all = caches.list(&sets(), pod.namespace());
            keys.extend(all.iter().filter(|s| selects(s, pod)).map(|s| s.key()));
        }
        keys
    }

    fn reconcile(&self, cx: &mut Context, key: &Key) -> Result<Action, Stop> {
        let Some(set) = cx.live_get(&sets(), key).or_not_found()? else { return Ok(Action::done()) };
        let pods = claim_pods(cx, &set)?;
        let revisions = revision::find(cx, &set, &pods)?;
        let now = cx.now();
        let mut done = Ok(());
        if !set.deleting() {
            done = Sync { set: &set, revisions: &revisions, now }.run(cx, &pods);
            if matches!(done, Err(Stop::Pending)) {
                return done.map(|()| Action::done());
            }
        }
        let wanted = status::of(&set, &revisions, &pods, now);
        if Some(&wanted) != set.get("status") {
            let mut new = Value::clone(&set);
            new["status"] = wanted;
            cx.update_status(&sets(), new).or_not_found()?;
        }
        done?;
        revision::truncate(cx, &set, &revisions, &pods)?;
        Ok(pods.iter().filter_map(|p| available_in(&set, p, now)).min().map_or_else(Action::done, Action::after))
    }
}

/// The pods of the set: those it owns, and orphans that fit; those that no longer fit are let go of.
fn claim_pods(cx: &mut Context, set: &Object) -> Result<Vec<Object>, Stop> {
    let list: Object = cx.send(crate::api::message::Request::new(
        crate::api::message::Method::Get,
        core("pods").collection(set.namespace()),
    ))?;
    let mut pods = Vec::new();
    for pod in list.list(&["items"]) {
        let member = selects(set, pod) && identity::ordinal(set, pod.name()).is_some();
        let mine = is_controlled_by(pod, set.uid());
        let orphan = pod.controller_ref().is_none() && !pod.deleting() && !set.deleting();
        let mut pod = std::sync::Arc::new(pod.clone());
        if member && orphan {
            cx.at(Phase::Act, "adopt", pod.name());
            let mut reference = Owner::of(set).reference();
            reference["controller"] = json!(true);
            reference["blockOwnerDeletion"] = json!(true);
            let mut all = pod.owner_references().to_vec();
            all.push(reference);
            let patch = json!({"metadata": {"ownerReferences": all, "uid": pod.uid()}});
            match cx.patch(&core("pods"), &pod.key(), "", patch).or_not_found()? {
                Some(adopted) => pod = adopted,
                None => continue,
            }
        } else if mine && !member {
            if !set.deleting() {
                cx.at(Phase::Act, "release", pod.name());
                let kept: Vec<&Value> =
                    pod.owner_references().iter().filter(|r| r.text(&["uid"]) != set.uid()).collect();
                let patch = json!({"metadata": {"ownerReferences": kept, "uid": pod.uid()}});
                cx.patch(&core("pods"), &pod.key(), "", patch).or_not_found()?;
            }
            continue;
        }
        if member && (mine || orphan) {
            pods.push(pod);
        }
    }
    pods.sort_by_key(|p| identity::ordinal(set, p.name()));
    Ok(pods)
}

fn created(pod: &Value) -> bool {
    !pod.text(&["status", "phase"]).is_empty()
}

fn ready(pod: &Value) -> bool {
    pod.text(&["status", "phase"]) == "Running" && pod.condition("Ready") == "True"
}

/// How long until a ready pod is available; `None` when it is, or is not ready.
fn available_in(set: &Value, pod: &Value, now: SimTime) -> Option<Span> {
    let least = Span::secs(set.int(&["spec", "minReadySeconds"]).unwrap_or(0).max(0) as u64);
    if pod.condition("Ready") != "True" {
        return None;
    }
    let condition = pod.list(&["status", "conditions"]).iter().find(|c| c.text(&["type"]) == "Ready")?;
    if condition.text(&["lastTransitionTime"]) < SimTime::ZERO.rfc3339().as_str() {
        return None;
    }
    let since = SimTime::parse_rfc3339(condition.text(&["lastTransitionTime"])).unwrap_or(SimTime::ZERO);
    let left = Span((since + least).0.saturating_sub(now.0));
    (left > Span::ZERO).then_some(left)
}

fn available(set: &Value, pod: &Value, now: SimTime) -> bool {
    pod.condition("Ready") == "True" && available_in(set, pod, now).is_none()
}

/// Whether the pass goes on.
#[derive(PartialEq, Eq)]
enum Next {
    On,
    Halt,
}

struct Sync<'a> {
    set: &'a Object,
    revisions: &'a Revisions,
    now: SimTime,
}

impl Sync<'_> {
    fn monotonic(&self) -> bool {
        self.set.text(&["spec", "podManagementPolicy"]) != "Parallel"
    }

    fn run(&self, cx: &mut Context, pods: &[Object]) -> Result<(), Stop> {
        let start = self.set.int(&["spec", "ordinals", "start"]).unwrap_or(0);
        let count = self.set.int(&["spec", "replicas"]).unwrap_or(1);
        let wanted = start..start + count;
        let at = |ordinal: i64| pods.iter().find(|p| identity::ordinal(self.set, p.name()) == Some(ordinal));
        let condemned: Vec<&Object> = pods
            .iter()
            .rev()
            .filter(|p| identity::ordinal(self.set, p.name()).is_some_and(|o| !wanted.contains(&o)))
            .collect();
        let unavailable = |p: &Object| !available(self.set, p, self.now) || p.deleting();
        let first = wanted
            .clone()
            .find_map(|o| match at(o) {
                Some(pod) if unavailable(pod) => Some(Some(pod.name())),
                Some(_) => None,
                None => Some(None),
            })
            .unwrap_or_else(|| condemned.iter().rev().find(|p| unavailable(p)).map(|p| p.name()));
        for ordinal in wanted.clone() {
            if self.replica(cx, ordinal, at(ordinal))? == Next::Halt && self.monotonic() {
                return Ok(());
            }
        }
        for pod in &condemned {
            identity::own_claims(cx, self.set, pod, true)?;
        }
        for pod in condemned {
            if self.condemn(cx, pod, first)? == Next::Halt && self.monotonic() {
                return Ok(());
            }
        }
        self.roll(cx, wanted, &at)
    }

    /// One pod of the wanted range.
    fn replica(&self, cx: &mut Context, ordinal: i64, pod: Option<&Object>) -> Result<Next, Stop> {
        let Some(pod) = pod else {
            let made = identity::pod(self.set, self.revisions.for_new(self.set, ordinal), ordinal);
            if !identity::make_claims(cx, self.set, &made)? {
                return Ok(Next::Halt);
            }
            cx.at(Phase::Act, "create", made.name());
            let name = made.name().to_string();
            let pod = cx.create(&core("pods"), made)?;
            identity::own_claims(cx, self.set, &pod, false)?;
            cx.event(
                self.set,
                false,
                "SuccessfulCreate",
                format!("create Pod {name} in StatefulSet {} successful", self.set.name()),
            );
            return Ok(Next::Halt);
        };
        if matches!(pod.text(&["status", "phase"]), "Failed" | "Succeeded") {
            if !pod.deleting() {
                self.delete(cx, pod)?;
            }
            return Ok(Next::Halt);
        }
        if pod.text(&["status", "phase"]) == "Pending" {
            identity::make_claims(cx, self.set, pod)?;
        }
        let holds = pod.deleting() || !ready(pod) || !available(self.set, pod, self.now);
        if self.monotonic() && holds {
            return Ok(Next::Halt);
        }
        identity::repair(cx, self.set, pod)?;
        identity::own_claims(cx, self.set, pod, false)?;
        Ok(Next::On)
    }

    fn condemn(&self, cx: &mut Context, pod: &Object, first: Option<&str>) -> Result<Next, Stop> {
        if pod.deleting() {
            return Ok(Next::Halt);
        }
        let healthy = ready(pod) && available(self.set, pod, self.now);
        if self.monotonic() && !healthy && first != Some(pod.name()) {
            return Ok(Next::Halt);
        }
        self.delete(cx, pod)?;
        Ok(Next::Halt)
    }

    /// Replaces pods of old revisions, the highest first.
    fn roll<'p>(
        &self,
        cx: &mut Context,
        wanted: std::ops::Range<i64>,
        at: &dyn Fn(i64) -> Option<&'p Object>,
    ) -> Result<(), Stop> {
        if self.set.text(&["spec", "updateStrategy", "type"]) == "OnDelete" {
            return Ok(());
        }
        let partition = self.set.int(&["spec", "updateStrategy", "rollingUpdate", "partition"]).unwrap_or(0);
        for ordinal in (wanted.start + partition..wanted.end).rev() {
            let Some(pod) = at(ordinal) else { return Ok(()) };
            let old = pod.label("controller-revision-hash") != Some(self.revisions.update.name());
            if old && !pod.deleting() {
                return self.delete(cx, pod);
            }
            if !available(self.set, pod, self.now) || pod.deleting() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn delete(&self, cx: &mut Context, pod: &Object) -> Result<(), Stop> {
        cx.at(Phase::Act, "delete", pod.name());
        cx.delete(&core("pods"), &pod.key(), json!({"preconditions": {"uid": pod.uid()}})).or_not_found()?;
        let text = format!("delete Pod {} in StatefulSet {} successful", pod.name(), self.set.name());
        cx.event(self.set, false, "SuccessfulDelete", text);
        Ok(())
    }
}

/// Puts a reference to the set into an object made for it.
fn owned(mut object: Value, set: &Object) -> Value {
    let mut reference = Owner::of(set).reference();
    reference["controller"] = json!(true);
    reference["blockOwnerDeletion"] = json!(true);
    object::set(&mut object, &["metadata", "ownerReferences"], json!([reference]));
    object
}
