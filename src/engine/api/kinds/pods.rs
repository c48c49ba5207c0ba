//! Defaults of pods and of templates of pods, and what the workloads that carry one may not be.
//!
//! From kubernetes `pkg/apis/{core,apps}/v1/defaults.go` and `pkg/apis/apps/validation/validation.go`.
//!
//! Divergence from Kubernetes: of a volume only the fields are filled that pods of the model use.

use super::apps::fill;
use crate::api::schema::field::FieldError;
use crate::api::selector::LabelSelector;
use crate::object::ObjectView;
use serde_json::{Value, json};

fn pull_policy(image: &str) -> &'static str {
    let name = image.rsplit('/').next().unwrap_or(image);
    let latest = !name.contains('@') && name.rsplit_once(':').is_none_or(|(_, tag)| tag == "latest");
    if latest { "Always" } else { "IfNotPresent" }
}

fn default_probe(probe: &mut Value) {
    for (field, value) in
        [("timeoutSeconds", 1), ("periodSeconds", 10), ("successThreshold", 1), ("failureThreshold", 3)]
    {
        fill(probe, &[field], json!(value));
    }
    if probe.get("httpGet").is_some_and(Value::is_object) {
        fill(probe, &["httpGet", "path"], json!("/"));
        fill(probe, &["httpGet", "scheme"], json!("HTTP"));
    }
}

fn default_container(container: &mut Value) {
    if !container.is_object() {
        return;
    }
    let policy = pull_policy(container.text(&["image"]));
    fill(container, &["imagePullPolicy"], json!(policy));
    fill(container, &["terminationMessagePath"], json!("/dev/termination-log"));
    fill(container, &["terminationMessagePolicy"], json!("File"));
    fill(container, &["resources"], json!({}));
    for port in container.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
        if port.is_object() {
            fill(port, &["protocol"], json!("TCP"));
        }
    }
    for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
        if let Some(probe) = container.get_mut(probe).filter(|p| p.is_object()) {
            default_probe(probe);
        }
    }
}

fn default_spec(spec: &mut Value) {
    if !spec.is_object() {
        return;
    }
    for list in ["containers", "initContainers"] {
        spec.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten().for_each(default_container);
    }
    for volume in spec.get_mut("volumes").and_then(Value::as_array_mut).into_iter().flatten() {
        for source in ["configMap", "secret"] {
            if let Some(source) = volume.get_mut(source).filter(|s| s.is_object()) {
                fill(source, &["defaultMode"], json!(420));
            }
        }
    }
    fill(spec, &["dnsPolicy"], json!("ClusterFirst"));
    fill(spec, &["restartPolicy"], json!("Always"));
    fill(spec, &["schedulerName"], json!("default-scheduler"));
    fill(spec, &["securityContext"], json!({}));
    fill(spec, &["terminationGracePeriodSeconds"], json!(30));
}

pub fn default_pod(pod: &mut Value) {
    if let Some(spec) = pod.get_mut("spec").filter(|s| s.is_object()) {
        default_spec(spec);
        fill(spec, &["enableServiceLinks"], json!(true));
    }
}

/// The template of a workload.
pub fn default_template(workload: &mut Value) {
    if let Some(spec) = workload.get_mut("spec").and_then(|s| s.get_mut("template")).and_then(|t| t.get_mut("spec")) {
        default_spec(spec);
    }
}

/// What all three workloads share.
fn validate_common(object: &Value, faults: &mut Vec<FieldError>) {
    for field in ["replicas", "minReadySeconds", "revisionHistoryLimit"] {
        if object.int(&["spec", field]).is_some_and(|n| n < 0) {
            let why = "must be greater than or equal to 0";
            faults.push(FieldError::invalid(format!("spec.{field}"), &object["spec"][field], why));
        }
    }
    let selector = LabelSelector::from_object(object.at(&["spec", "selector"]).unwrap_or(&Value::Null));
    let labels = object.at(&["spec", "template", "metadata", "labels"]);
    if !selector.matches(labels.and_then(Value::as_object)) {
        let why = "`selector` does not match template `labels`";
        let labels = labels.unwrap_or(&Value::Null);
        faults.push(FieldError::invalid("spec.template.metadata.labels", labels, why));
    }
    let policy = object.text(&["spec", "template", "spec", "restartPolicy"]);
    if !matches!(policy, "Always" | "") {
        faults.push(FieldError::not_supported("spec.template.spec.restartPolicy", &json!(policy), &["Always"]));
    }
}

/// A ReplicaSet or a StatefulSet.
pub fn validate_set(set: &Value) -> Vec<FieldError> {
    let mut faults = Vec::new();
    validate_common(set, &mut faults);
    faults
}

const BAD_PERCENT: &str = "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', \
                           regex used for validation is '[0-9]+%')";

enum Amount {
    Count(i64),
    Percent(i64),
    Bad,
}

fn amount(value: Option<&Value>) -> Amount {
    match value {
        None | Some(Value::Null) => Amount::Count(0),
        Some(Value::Number(n)) => n.as_i64().map_or(Amount::Bad, Amount::Count),
        Some(Value::String(text)) => {
            text.strip_suffix('%').and_then(|p| p.parse().ok()).map_or(Amount::Bad, Amount::Percent)
        }
        Some(_) => Amount::Bad,
    }
}

fn validate_rolling(deployment: &Value, faults: &mut Vec<FieldError>) {
    let at = |field: &str| deployment.at(&["spec", "strategy", "rollingUpdate", field]);
    let mut zeros = 0;
    for field in ["maxUnavailable", "maxSurge"] {
        let path = format!("spec.strategy.rollingUpdate.{field}");
        let value = at(field).cloned().unwrap_or_default();
        match amount(at(field)) {
            Amount::Bad => {
                faults.push(FieldError::invalid(&path, &value, BAD_PERCENT));
            }
            Amount::Count(n) | Amount::Percent(n) if n < 0 => {
                faults.push(FieldError::invalid(&path, &value, "must be greater than or equal to 0"));
            }
            Amount::Percent(n) if n > 100 && field == "maxUnavailable" => {
                faults.push(FieldError::invalid(&path, &value, "must not be greater than 100%"));
            }
            Amount::Count(0) | Amount::Percent(0) => zeros += 1,
            _ => {}
        }
    }
    if zeros == 2 {
        let value = at("maxUnavailable").cloned().unwrap_or_default();
        let why = "may not be 0 when `maxSurge` is 0";
        faults.push(FieldError::invalid("spec.strategy.rollingUpdate.maxUnavailable", &value, why));
    }
}

pub fn validate_deployment(deployment: &Value) -> Vec<FieldError> {
    let mut faults = Vec::new();
    validate_common(deployment, &mut faults);
    match deployment.text(&["spec", "strategy", "type"]) {
        "Recreate" if deployment.at(&["spec", "strategy", "rollingUpdate"]).is_some_and(|r| !r.is_null()) => {
            let why = "may not be specified when strategy `type` is 'Recreate'";
            faults.push(FieldError::forbidden("spec.strategy.rollingUpdate", why));
        }
        "Recreate" => {}
        "RollingUpdate" => validate_rolling(deployment, &mut faults),
        other => {
            let known = ["Recreate", "RollingUpdate"];
            faults.push(FieldError::not_supported("spec.strategy.type", &json!(other), &known));
        }
    }
    let least = deployment.int(&["spec", "minReadySeconds"]).unwrap_or(0);
    if let Some(deadline) = deployment.int(&["spec", "progressDeadlineSeconds"]).filter(|d| *d <= least) {
        let why = "must be greater than minReadySeconds";
        faults.push(FieldError::invalid("spec.progressDeadlineSeconds", &json!(deadline), why));
    }
    faults
}

/// A selector stays as it was made.
fn selector_stays(new: &Value, old: &Value) -> Option<FieldError> {
    let selector = |v: &Value| v.at(&["spec", "selector"]).cloned().unwrap_or_default();
    let changed = selector(new) != selector(old);
    changed.then(|| FieldError::invalid("spec.selector", &selector(new), "field is immutable"))
}

pub fn validate_deployment_update(new: &Value, old: &Value) -> Vec<FieldError> {
    validate_deployment(new).into_iter().chain(selector_stays(new, old)).collect()
}

pub fn validate_replica_set_update(new: &Value, old: &Value) -> Vec<FieldError> {
    validate_set(new).into_iter().chain(selector_stays(new, old)).collect()
}

/// What of the spec of a StatefulSet may change (`ValidateStatefulSetUpdate`).
const MAY_CHANGE: [&str; 7] = [
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
];

pub fn validate_stateful_set_update(new: &Value, old: &Value) -> Vec<FieldError> {
    let fixed = |v: &Value| {
        let mut spec = v.get("spec").and_then(Value::as_object).cloned().unwrap_or_default();
        spec.retain(|field, value| !MAY_CHANGE.contains(&field.as_str()) && !value.is_null());
        spec
    };
    let mut faults = validate_set(new);
    if fixed(new) != fixed(old) {
        let why = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', \
                   'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
        faults.push(FieldError::forbidden("spec", why));
    }
    faults
}

/// Counts do not contradict each other (`ValidateStatefulSetStatus`).
pub fn validate_stateful_set_status(new: &Value, _old: &Value) -> Vec<FieldError> {
    let count = |field: &str| new.int(&["status", field]).unwrap_or(0);
    let mut faults = Vec::new();
    for (part, whole) in [
        ("readyReplicas", "replicas"),
        ("currentReplicas", "replicas"),
        ("updatedReplicas", "replicas"),
        ("availableReplicas", "replicas"),
        ("availableReplicas", "readyReplicas"),
    ] {
        if count(part) > count(whole) {
            let why = format!("cannot be greater than status.{whole}");
            faults.push(FieldError::invalid(format!("status.{part}"), &json!(count(part)), why));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_without_a_tag_is_always_pulled() {
        let policies = ["web", "web:latest", "host:5000/web", "web:1", "web@sha256:0"].map(pull_policy);
        assert_eq!(policies, ["Always", "Always", "Always", "IfNotPresent", "IfNotPresent"]);
    }
}
