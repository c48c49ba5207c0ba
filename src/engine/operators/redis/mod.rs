//! A Redis cluster whose operator keeps the pods itself: one ordinal at a time, highest first when the image
//! changes, a claim for each ordinal that outlives its pod, and a backup before it lets go.

mod children;

use crate::api::message::Method;
use crate::event::Phase;
use crate::ids::{Gvr, Key};
use crate::object::{Object, ObjectView};
use crate::operators::support::{add_finalizer, beside, remove_finalizer, set_condition, write_status};
use crate::process::context::{Action, Context, Expect, Stop};
use crate::process::controller::{Controller, Handler, Source};
use children::{claim, config, pod, service};
use serde_json::{Value, json};

/// Operator of `RedisCluster`.
pub struct Redis;

/// Held until the last backup is safe.
pub const FINALIZER: &str = "scope.dev/backup";

fn clusters() -> Gvr {
    Gvr::new("scope.dev", "v1", "redisclusters")
}
fn core(resource: &str) -> Gvr {
    Gvr::new("", "v1", resource)
}

/// Where a pass left the cluster, for the status.
struct Standing {
    ready: usize,
    reason: &'static str,
    message: String,
}

impl Controller for Redis {
    fn name(&self) -> &'static str {
        "rediscluster"
    }

    fn sources(&self) -> Vec<Source> {
        let owned = || Handler::ForOwner { group: "scope.dev", kind: "RedisCluster", any_owner: false };
        vec![
            Source::new(clusters(), Handler::ForObject),
            Source::new(core("pods"), owned()),
            Source::new(core("services"), owned()),
            Source::new(core("configmaps"), owned()),
        ]
    }

    fn reconcile(&self, cx: &mut Context, key: &Key) -> Result<Action, Stop> {
        cx.at(Phase::Observe, "get", "");
        let Some(cluster) = cx.get(&clusters(), key) else {
            cx.no_write("the cluster is gone");
            return Ok(Action::done());
        };
        if cluster.deleting() {
            return finalize(cx, &cluster);
        }
        if !cluster.finalizers().contains(&FINALIZER) {
            cx.at(Phase::Act, "finalizer", FINALIZER);
            add_finalizer(cx, &clusters(), &cluster, FINALIZER)?;
            // The patch comes back as an event, with the version that the next write needs.
            return Ok(Action::done());
        }
        ensure_surroundings(cx, &cluster)?;
        let standing = next_step(cx, &cluster)?;
        report(cx, &cluster, &standing)?;
        Ok(Action::done())
    }
}

/// The backup first; only then the finalizer goes, and the cluster with it.
fn finalize(cx: &mut Context, cluster: &Object) -> Result<Action, Stop> {
    if !cluster.finalizers().contains(&FINALIZER) {
        cx.no_write("others hold it back");
        return Ok(Action::done());
    }
    cx.at(Phase::Act, "backup", cluster.name());
    let path = format!("/backups/{}/{}", cluster.namespace(), cluster.name());
    cx.outside(Method::Post, &path, json!({"of": cluster.uid(), "replicas": cluster.at(&["spec", "replicas"])}))?;
    cx.at(Phase::Act, "release", FINALIZER);
    remove_finalizer(cx, &clusters(), cluster, FINALIZER).or_not_found()?;
    Ok(Action::done())
}

fn ensure_surroundings(cx: &mut Context, cluster: &Object) -> Result<(), Stop> {
    let key = cluster.key();
    if cx.get(&core("services"), &key).is_none() {
        cx.at(Phase::Act, "service", cluster.name());
        cx.create(&core("services"), service(cluster)).or_already_exists()?;
    }
    let wanted = config(cluster);
    match cx.get(&core("configmaps"), &key) {
        None => {
            cx.at(Phase::Act, "config", cluster.name());
            cx.create(&core("configmaps"), wanted).or_already_exists()?;
        }
        Some(live) if live.at(&["data"]) != wanted.at(&["data"]) => {
            cx.at(Phase::Act, "config", cluster.name());
            cx.patch(&core("configmaps"), &key, "", json!({"data": wanted["data"]}))?;
        }
        Some(_) => {}
    }
    Ok(())
}

/// Does at most one thing to the pods, then says where they stand.
fn next_step(cx: &mut Context, cluster: &Object) -> Result<Standing, Stop> {
    let replicas = usize::try_from(cluster.int(&["spec", "replicas"]).unwrap_or(1)).unwrap_or(0);
    let pods = cx.owned_by(&core("pods"), cluster.uid());
    let ready = pods.iter().filter(|p| is_ready(p)).count();
    cx.at(Phase::Diff, "compare", format!("want {replicas} · ready {ready} · pods {}", pods.len()));
    let stand = |reason, message: String| Ok(Standing { ready, reason, message });
    for ordinal in 0..replicas {
        let name = format!("{}-{ordinal}", cluster.name());
        match pods.iter().find(|p| p.name() == name) {
            None => {
                cx.at(Phase::Act, "create", name.clone());
                create_ordinal(cx, cluster, ordinal)?;
                return stand("Creating", format!("{name} was created"));
            }
            Some(pod) if pod.deleting() => {
                cx.no_write(format!("{name} is terminating: wait"));
                return stand("Terminating", format!("{name} is terminating"));
            }
            Some(pod) if !is_ready(pod) && outdated(pod, cluster) => {
                cx.at(Phase::Act, "replace", name.clone());
                cx.delete(&core("pods"), &pod.key(), Value::Null).or_not_found()?;
                return stand("Updating", format!("{name} could not start and is replaced"));
            }
            Some(pod) if !is_ready(pod) => {
                cx.at(Phase::Diff, "wait", name.clone());
                cx.no_write(format!("{name} is not Ready: wait"));
                return stand("WaitingForOrdinal", format!("{name} is not Ready"));
            }
            Some(_) => {}
        }
    }
    if let Some(surplus) = pods.iter().filter(|p| ordinal(p).is_none_or(|n| n >= replicas)).max_by_key(|p| ordinal(p)) {
        return remove_surplus(cx, surplus, ready);
    }
    if let Some(old) = pods.iter().filter(|p| outdated(p, cluster)).max_by_key(|p| ordinal(p)) {
        cx.at(Phase::Act, "replace", old.name());
        cx.delete(&core("pods"), &old.key(), Value::Null).or_not_found()?;
        return stand("Updating", format!("{} gets the new image", old.name()));
    }
    cx.no_write(format!("{ready} of {replicas} are Ready: nothing to do"));
    stand("AllReady", format!("{ready} of {replicas} are Ready"))
}

fn remove_surplus(cx: &mut Context, pod: &Object, ready: usize) -> Result<Standing, Stop> {
    let name = pod.name();
    if pod.deleting() {
        cx.no_write(format!("{name} is terminating: wait"));
    } else {
        cx.at(Phase::Act, "remove", name);
        cx.delete(&core("pods"), &pod.key(), Value::Null).or_not_found()?;
    }
    Ok(Standing { ready, reason: "ScalingDown", message: format!("{name} is removed") })
}

/// The claim first, so that a pod never comes up with an empty jar where a full one exists.
fn create_ordinal(cx: &mut Context, cluster: &Object, ordinal: usize) -> Result<(), Stop> {
    let wanted = claim(cluster, ordinal);
    let key = beside(cluster, wanted.name());
    if cx.live_get(&core("persistentvolumeclaims"), &key).or_not_found()?.is_none() {
        cx.create(&core("persistentvolumeclaims"), wanted).or_already_exists()?;
    }
    cx.create(&core("pods"), pod(cluster, ordinal)).or_already_exists()?;
    Ok(())
}

fn report(cx: &mut Context, cluster: &Object, standing: &Standing) -> Result<(), Stop> {
    let now = cx.now();
    let mut conditions = cluster.list(&["status", "conditions"]).to_vec();
    let ready = standing.reason == "AllReady";
    set_condition(&mut conditions, now, "Ready", ready, standing.reason, &standing.message);
    let status = json!({
        "readyReplicas": standing.ready,
        "observedGeneration": cluster.generation(),
        "conditions": conditions,
    });
    cx.at(Phase::Status, "status", standing.message.clone());
    write_status(cx, &clusters(), cluster, status)?;
    Ok(())
}

fn is_ready(pod: &Object) -> bool {
    !pod.deleting() && pod.condition("Ready") == "True"
}

fn ordinal(pod: &Object) -> Option<usize> {
    pod.name().rsplit_once('-')?.1.parse().ok()
}

fn outdated(pod: &Object, cluster: &Object) -> bool {
    let image = pod.list(&["spec", "containers"]).first().map_or("", |c| c.text(&["image"]));
    image != cluster.text(&["spec", "image"])
}
