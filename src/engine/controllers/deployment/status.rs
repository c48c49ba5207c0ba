//! What a Deployment says of itself, and what it forgets once its rollout is over.

use super::progress::{self, AVAILABLE};
use super::{Pass, count, deployments, replica_sets, revision_of, spec_replicas};
use crate::object::ObjectView;
use crate::process::context::{Action, Context, Expect, Stop};
use serde_json::{Value, json};

/// Counts, judges and writes the status.
pub fn write(cx: &mut Context, pass: &mut Pass) -> Result<Action, Stop> {
    let now = cx.now();
    let before = pass.deployment.get("status").cloned().unwrap_or_else(|| json!({}));
    let sum = |field: &str| pass.sets.iter().map(|s| count(s, field)).sum::<i64>();
    let updated = pass.new.map_or(0, |i| count(&pass.sets[i], "replicas"));
    let (replicas, ready, available) = (sum("replicas"), sum("readyReplicas"), sum("availableReplicas"));
    let mut after =
        json!({"observedGeneration": pass.deployment.generation(), "terminatingReplicas": sum("terminatingReplicas")});
    let counts = [
        ("replicas", replicas),
        ("updatedReplicas", updated),
        ("readyReplicas", ready),
        ("availableReplicas", available),
        ("unavailableReplicas", (pass.total() - available).max(0)),
        ("collisionCount", pass.status.int(&["collisionCount"]).unwrap_or(0)),
    ];
    for (field, n) in counts.into_iter().filter(|(_, n)| *n != 0) {
        after[field] = Value::from(n);
    }
    let least = spec_replicas(&pass.deployment) - super::scale::bounds(&pass.deployment).1;
    if available >= least {
        let text = "Deployment has minimum availability.";
        progress::set(pass, now, AVAILABLE, "True", "MinimumReplicasAvailable", text);
    } else {
        let text = "Deployment does not have minimum availability.";
        progress::set(pass, now, AVAILABLE, "False", "MinimumReplicasUnavailable", text);
    }
    let mut again = None;
    if !pass.deployment.deleting() {
        again = progress::judge(pass, &before, &after, now);
        forget(cx, pass, &after)?;
    }
    after["conditions"] = pass.status["conditions"].clone();
    if after != before {
        let mut new = Value::clone(&pass.deployment);
        new["status"] = after;
        cx.update_status(&deployments(), new).or_not_found()?;
    }
    Ok(again.map_or_else(Action::done, Action::after))
}

/// Deletes the oldest empty sets above the limit, once the rollout is over.
fn forget(cx: &mut Context, pass: &Pass, after: &Value) -> Result<(), Stop> {
    let limit = pass.deployment.int(&["spec", "revisionHistoryLimit"]).unwrap_or(10);
    if !progress::complete(pass, after) {
        return Ok(());
    }
    let mut olds = pass.olds();
    olds.sort_by_key(|i| revision_of(&pass.sets[*i]));
    let surplus = (olds.len() as i64 - limit.max(0)).max(0) as usize;
    for index in olds.into_iter().take(surplus) {
        let set = &pass.sets[index];
        let seen = count(set, "observedGeneration") >= set.generation();
        if count(set, "replicas") == 0 && spec_replicas(set) == 0 && seen && !set.deleting() {
            cx.delete(&replica_sets(), &set.key(), Value::Null).or_not_found()?;
        }
    }
    Ok(())
}
