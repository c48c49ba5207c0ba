//! Deployments: one ReplicaSet a template, scaled against each other.
//!
//! Mirrors `pkg/controller/deployment/{sync,rolling,recreate,progress}.go` and `util/deployment_util.go`.
//!
//! Divergence from Kubernetes: none known.

pub mod hash;
mod progress;
mod scale;
mod status;

use super::claim::{Claim, candidates, controlled_by};
use super::core;
use super::replicaset::{owner_keys, replica_sets, selector_of};
use crate::event::Phase;
use crate::ids::{Gvr, Key};
use crate::object::{self, Object, ObjectView};
use crate::process::context::{Action, Context, Expect, Stop};
use crate::process::controller::{Caches, Controller, Handler, Notice, Source};
use crate::process::memory::Memory;
use serde_json::{Value, json};
use std::sync::Arc;

pub const REVISION: &str = "deployment.kubernetes.io/revision";
const HISTORY: &str = "deployment.kubernetes.io/revision-history";
pub const DESIRED: &str = "deployment.kubernetes.io/desired-replicas";
pub const MAX: &str = "deployment.kubernetes.io/max-replicas";
/// Annotations of a Deployment that its ReplicaSets do not take over.
const OWN: [&str; 5] = ["kubectl.kubernetes.io/last-applied-configuration", REVISION, HISTORY, DESIRED, MAX];

pub struct Deployments;

fn deployments() -> Gvr {
    Gvr::new("apps", "v1", "deployments")
}

pub fn spec_replicas(object: &Value) -> i64 {
    object.int(&["spec", "replicas"]).unwrap_or(1)
}

pub fn count(set: &Value, field: &str) -> i64 {
    set.int(&["status", field]).unwrap_or(0)
}

pub fn revision_of(object: &Value) -> i64 {
    object.annotation(REVISION).and_then(|r| r.parse().ok()).unwrap_or(0)
}

/// The Deployment of one pass with its sets, the oldest first.
pub struct Pass {
    pub deployment: Object,
    pub sets: Vec<Object>,
    /// Index of the set with the present template.
    pub new: Option<usize>,
    /// The status as conditions were changed on the way.
    pub status: Value,
}

impl Pass {
    pub fn total(&self) -> i64 {
        self.sets.iter().map(|s| spec_replicas(s)).sum()
    }
    pub fn olds(&self) -> Vec<usize> {
        (0..self.sets.len()).filter(|i| Some(*i) != self.new).collect()
    }
    pub fn recreate(&self) -> bool {
        self.deployment.text(&["spec", "strategy", "type"]) == "Recreate"
    }
    pub fn paused(&self) -> bool {
        self.deployment.at(&["spec", "paused"]) == Some(&json!(true))
    }
}

impl Controller for Deployments {
    fn name(&self) -> &'static str {
        "deployment-controller"
    }

    fn sources(&self) -> Vec<Source> {
        vec![
            Source::new(deployments(), Handler::ForObject),
            Source::new(replica_sets(), Handler::Map),
            Source::new(core("pods"), Handler::Map),
        ]
    }

    fn map(&self, gvr: &Gvr, notice: &Notice, caches: &dyn Caches, _memory: &mut Memory) -> Vec<Key> {
        if *gvr == replica_sets() {
            return owner_keys(notice, "Deployment", &deployments(), caches);
        }
        // Only Recreate waits for pods to go.
        let pod = notice.object();
        let gone = matches!(notice, Notice::Delete { .. });
        let set = pod.controller_ref().filter(|r| gone && r.text(&["kind"]) == "ReplicaSet");
        let set = set.and_then(|r| caches.get(&replica_sets(), &Key::new(pod.namespace(), r.text(&["name"]))));
        let owner = set.as_ref().and_then(|s| s.controller_ref());
        owner.map(|r| Key::new(pod.namespace(), r.text(&["name"]))).into_iter().collect()
    }

    fn reconcile(&self, cx: &mut Context, key: &Key) -> Result<Action, Stop> {
        let Some(deployment) = cx.get(&deployments(), key) else { return Ok(Action::done()) };
        let (selector, known) = (selector_of(&deployment), candidates(cx, &replica_sets(), &deployment));
        let fits = |set: &Value| selector.matches_object(set);
        let claim = Claim { owners: &deployments(), owner: &deployment, gvr: &replica_sets(), fits: &fits };
        let mut sets = claim.make(cx, known)?;
        sets.sort_by_key(|s| {
            let created = s.text(&["metadata", "creationTimestamp"]).to_string();
            (created, revision_of(s), s.name().to_string())
        });
        let template = hash::bare(deployment.at(&["spec", "template"]).unwrap_or(&Value::Null));
        let same = |s: &Object| hash::bare(s.at(&["spec", "template"]).unwrap_or(&Value::Null)) == template;
        let new = sets.iter().position(same);
        let status = deployment.get("status").cloned().unwrap_or_else(|| json!({}));
        let mut pass = Pass { deployment, sets, new, status };
        if pass.deployment.deleting() {
            return status::write(cx, &mut pass);
        }
        progress::note_pause(cx, &mut pass);
        let resized = pass
            .sets
            .iter()
            .filter(|s| spec_replicas(s) > 0)
            .any(|s| s.annotation(DESIRED).is_some_and(|d| d != spec_replicas(&pass.deployment).to_string()));
        if pass.paused() || resized {
            find_new(cx, &mut pass, false)?;
            scale::proportionally(cx, &mut pass)?;
        } else if pass.recreate() {
            recreate(cx, &mut pass)?;
        } else {
            find_new(cx, &mut pass, true)?;
            if !scale::new_set(cx, &mut pass)? {
                scale::old_sets(cx, &mut pass)?;
            }
        }
        status::write(cx, &mut pass)
    }
}

fn recreate(cx: &mut Context, pass: &mut Pass) -> Result<(), Stop> {
    find_new(cx, pass, false)?;
    let mut scaled = false;
    for old in pass.olds() {
        scaled |= scale::set(cx, pass, old, 0)?;
    }
    if scaled {
        return Ok(());
    }
    for old in pass.olds() {
        let pods = cx.owned_by(&core("pods"), pass.sets[old].uid());
        if pods.iter().any(|pod| !matches!(pod.text(&["status", "phase"]), "Succeeded" | "Failed")) {
            return Ok(());
        }
    }
    find_new(cx, pass, true)?;
    scale::new_set(cx, pass)?;
    Ok(())
}

/// Brings the annotations of the new set up to date, or makes the set.
fn find_new(cx: &mut Context, pass: &mut Pass, make: bool) -> Result<(), Stop> {
    let highest = pass.olds().iter().map(|i| revision_of(&pass.sets[*i])).max().unwrap_or(0);
    let revision = highest + 1;
    let Some(index) = pass.new else {
        if make {
            make_new(cx, pass, revision)?;
        }
        return Ok(());
    };
    let set = pass.sets[index].clone();
    let mut annotations = set.at(&["metadata", "annotations"]).cloned().unwrap_or_else(|| json!({}));
    copy_annotations(&pass.deployment, &mut annotations);
    let former = revision_of(&set);
    let revision = former.max(revision);
    if former < revision {
        annotations[REVISION] = Value::from(revision.to_string());
        if former > 0 {
            let before = set.annotation(HISTORY).unwrap_or("");
            let text = if before.is_empty() { former.to_string() } else { format!("{before},{former}") };
            annotations[HISTORY] = Value::from(text);
        }
    }
    if Some(&annotations) != set.at(&["metadata", "annotations"]) {
        let mut new = Value::clone(&set);
        object::set(&mut new, &["metadata", "annotations"], annotations);
        pass.sets[index] = cx.update(&replica_sets(), new)?;
    }
    let now = cx.now();
    if pass.status.condition_reason(progress::PROGRESSING).is_empty() {
        let text = format!("Found new replica set {:?}", set.name());
        progress::set(pass, now, progress::PROGRESSING, "True", "FoundNewReplicaSet", &text);
    }
    note_revision(cx, pass, revision)
}

fn copy_annotations(deployment: &Object, into: &mut Value) {
    let own = deployment.at(&["metadata", "annotations"]).and_then(Value::as_object);
    for (name, value) in own.into_iter().flatten().filter(|(name, _)| !OWN.contains(&name.as_str())) {
        into[name] = value.clone();
    }
}

fn note_revision(cx: &mut Context, pass: &mut Pass, revision: i64) -> Result<(), Stop> {
    if pass.deployment.annotation(REVISION) == Some(&revision.to_string()) {
        return Ok(());
    }
    // Written through `/status`, which leaves the generation alone.
    let mut new = Value::clone(&pass.deployment);
    object::set(&mut new, &["metadata", "annotations", REVISION], Value::from(revision.to_string()));
    new["status"] = pass.status.clone();
    pass.deployment = cx.update_status(&deployments(), new)?;
    Ok(())
}

fn make_new(cx: &mut Context, pass: &mut Pass, revision: i64) -> Result<(), Stop> {
    let deployment = pass.deployment.clone();
    let collisions = pass.status.int(&["collisionCount"]).unwrap_or(0);
    let mut template = deployment.at(&["spec", "template"]).cloned().unwrap_or_else(|| json!({}));
    let hash = hash::of(&template, collisions);
    object::set(&mut template, &["metadata", "labels", "pod-template-hash"], Value::from(hash.as_str()));
    let mut selector = deployment.at(&["spec", "selector"]).cloned().unwrap_or_else(|| json!({}));
    object::set(&mut selector, &["matchLabels", "pod-template-hash"], Value::from(hash.as_str()));
    let wanted = spec_replicas(&deployment);
    let (surge, _) = scale::bounds(&deployment);
    let room = (wanted + surge - pass.total()).max(0);
    let replicas = if pass.recreate() { wanted } else { room.min(wanted) };
    let mut annotations =
        json!({REVISION: revision.to_string(), DESIRED: wanted.to_string(), MAX: (wanted + surge).to_string()});
    copy_annotations(&deployment, &mut annotations);
    let name = format!("{}-{hash}", deployment.name());
    let set = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": {"name": name, "namespace": deployment.namespace(), "labels": template["metadata"]["labels"],
            "annotations": annotations, "ownerReferences": [controlled_by(&deployment)]},
        "spec": {"replicas": replicas, "minReadySeconds": deployment.int(&["spec", "minReadySeconds"]).unwrap_or(0),
            "selector": selector, "template": template}});
    cx.at(Phase::Act, "new replica set", name.clone());
    let bare = hash::bare(&template);
    let key = set.key();
    let made = match cx.create(&replica_sets(), set).or_already_exists()? {
        Some(made) => Some(made),
        // The name is taken: by an own set that the cache had not shown, or by somebody else's.
        None => {
            let Some(there) = cx.get(&replica_sets(), &key) else {
                return Err(Stop::Failed(format!("replicaset.apps {:?} not found", key.to_string())));
            };
            let own = there.controller_ref().is_some_and(|r| r.text(&["uid"]) == deployment.uid());
            let same = hash::bare(there.at(&["spec", "template"]).unwrap_or(&Value::Null)) == bare;
            (own && same).then_some(there)
        }
    };
    let Some(made) = made else {
        // Somebody else has the name: the next pass tries another hash.
        pass.status["collisionCount"] = Value::from(collisions + 1);
        let mut new = Value::clone(&deployment);
        new["status"] = pass.status.clone();
        cx.update_status(&deployments(), new)?;
        return Err(Stop::Failed(format!("replica set {name:?} already exists")));
    };
    cx.event(&deployment, false, "ScalingReplicaSet", format!("Scaled up replica set {name} from 0 to {replicas}"));
    pass.sets.push(made);
    pass.new = Some(pass.sets.len() - 1);
    let now = cx.now();
    let text = format!("Created new replica set {name:?}");
    progress::set(pass, now, progress::PROGRESSING, "True", "NewReplicaSetCreated", &text);
    note_revision(cx, pass, revision)
}

/// Reading conditions of a status that stands alone.
pub trait StatusView {
    fn condition_reason(&self, kind: &str) -> &str;
}
impl StatusView for Value {
    fn condition_reason(&self, kind: &str) -> &str {
        self.list(&["conditions"]).iter().find(|c| c.text(&["type"]) == kind).map_or("", |c| c.text(&["reason"]))
    }
}

/// A set after a write.
pub fn replace(pass: &mut Pass, index: usize, set: Object) {
    pass.sets[index] = Arc::clone(&set);
}
