//! Defaults and first status of pods, claims and stateful sets.
//!
//! From kubernetes `pkg/apis/{core,apps}/v1/defaults.go`, cut to what the controllers of the model read.

use super::pods::default_template;
use crate::object::{self, ObjectView};
use serde_json::{Value, json};

pub(super) fn fill(object: &mut Value, path: &[&str], value: Value) {
    if object.at(path).is_none_or(Value::is_null) {
        object::set(object, path, value);
    }
}

/// `pkg/apis/apps/v1/defaults.go`, SetDefaults_StatefulSet.
pub fn default_stateful_set(set: &mut Value) {
    if !set.get("spec").is_some_and(Value::is_object) {
        return;
    }
    default_template(set);
    fill(set, &["spec", "podManagementPolicy"], json!("OrderedReady"));
    if set.text(&["spec", "updateStrategy", "type"]).is_empty() {
        object::set(set, &["spec", "updateStrategy", "type"], json!("RollingUpdate"));
        fill(set, &["spec", "updateStrategy", "rollingUpdate", "partition"], json!(0));
    } else if set.at(&["spec", "updateStrategy", "rollingUpdate"]).is_some_and(Value::is_object) {
        fill(set, &["spec", "updateStrategy", "rollingUpdate", "partition"], json!(0));
    }
    for when in ["whenDeleted", "whenScaled"] {
        fill(set, &["spec", "persistentVolumeClaimRetentionPolicy", when], json!("Retain"));
    }
    fill(set, &["spec", "replicas"], json!(1));
    fill(set, &["spec", "revisionHistoryLimit"], json!(10));
    // The gate of `maxUnavailable` is off: the field is dropped on write.
    object::remove(set, &["spec", "updateStrategy", "rollingUpdate", "maxUnavailable"]);
}

/// `pkg/apis/apps/v1/defaults.go`, SetDefaults_Deployment.
pub fn default_deployment(deployment: &mut Value) {
    if !deployment.get("spec").is_some_and(Value::is_object) {
        return;
    }
    default_template(deployment);
    fill(deployment, &["spec", "replicas"], json!(1));
    if deployment.text(&["spec", "strategy", "type"]).is_empty() {
        object::set(deployment, &["spec", "strategy", "type"], json!("RollingUpdate"));
    }
    if deployment.text(&["spec", "strategy", "type"]) == "RollingUpdate" {
        fill(deployment, &["spec", "strategy", "rollingUpdate", "maxUnavailable"], json!("25%"));
        fill(deployment, &["spec", "strategy", "rollingUpdate", "maxSurge"], json!("25%"));
    }
    fill(deployment, &["spec", "revisionHistoryLimit"], json!(10));
    fill(deployment, &["spec", "progressDeadlineSeconds"], json!(600));
}

/// A change of annotations counts too (`pkg/registry/apps/deployment/strategy.go`).
pub fn update_deployment(new: &mut Value, old: &Value) {
    if new.at(&["metadata", "annotations"]) != old.at(&["metadata", "annotations"]) {
        object::set(new, &["metadata", "generation"], Value::from(old.generation() + 1));
    }
}

pub fn default_replica_set(set: &mut Value) {
    if set.get("spec").is_some_and(Value::is_object) {
        fill(set, &["spec", "replicas"], json!(1));
        default_template(set);
    }
}

/// A new pod waits (`pkg/registry/core/pod/strategy.go`).
pub fn prepare_pod(pod: &mut Value) {
    object::set(pod, &["status", "phase"], json!("Pending"));
}

/// A new claim waits, and is kept while it is used (admission `storageobjectinuseprotection`).
pub fn prepare_claim(claim: &mut Value) {
    object::set(claim, &["status", "phase"], json!("Pending"));
    let mut finalizers = claim.list(&["metadata", "finalizers"]).to_vec();
    let kept = json!("kubernetes.io/pvc-protection");
    if !finalizers.contains(&kept) {
        finalizers.push(kept);
        object::set(claim, &["metadata", "finalizers"], Value::from(finalizers));
    }
}
