//! `bench deployment N`: the cost of bringing N pods of a Deployment up.

use super::{peak_mb, round, start};
use engine::object::Object;
use engine::scenario::Scenario;
use engine::time::{SimTime, Span};
use serde_json::{Value, json};
use std::fs;

/// Pods that a node takes, as a kubelet's default is.
const PODS_PER_NODE: usize = 110;
/// Virtual time after which a roll-out has failed.
const ROLLOUT_MAX: SimTime = SimTime(3_600_000_000);

/// From apply until all pods of a Deployment are ready.
pub fn deployment(pods: usize) -> Result<Value, String> {
    let nodes = pods.div_ceil(PODS_PER_NODE).max(3);
    let text = format!(
        "apiVersion: operatorscope.dev/v1alpha1\nkind: Scenario\nmetadata: {{name: deployment}}\nspec:\n  title: {{en: Deployment, zh: Deployment}}\n  cluster: {{nodes: {nodes}}}\n  until: 1h\n  manifests: |\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {{name: web, namespace: default}}\n    spec:\n      replicas: {pods}\n      selector: {{matchLabels: {{app: web}}}}\n      template:\n        metadata: {{labels: {{app: web}}}}\n        spec:\n          containers:\n          - {{name: web, image: \"web:1\"}}\n"
    );
    let scenario = Scenario::parse(&text).map_err(|e| e.to_string())?;
    let mut world = start(&scenario);
    let (mut records, mut cpu_ms) = (0, 0.0);
    let mut until = SimTime::ZERO;
    while until < ROLLOUT_MAX {
        until += Span::secs(1);
        // Only the model is measured, not the look at what it has done.
        let before = cpu();
        while world.next_at().is_some_and(|at| at <= until) {
            records += world.step().unwrap_or_default().len();
        }
        cpu_ms += cpu() - before;
        if world.objects().any(|object| ready(object, pods)) {
            return Ok(
                json!({"pods": pods, "cpu_ms": round(cpu_ms), "records": records, "virtual_s": until.0 / 1_000_000,
                "peak_mb": peak_mb(), "cpu_ms_per_pod": round(cpu_ms / pods.max(1) as f64)}),
            );
        }
    }
    Err(format!("after an hour of virtual time the {pods} pods are not ready"))
}

fn ready(object: &Object, pods: usize) -> bool {
    object["kind"] == "Deployment" && object["status"]["readyReplicas"] == json!(pods)
}

/// CPU time of this process in ms, as Linux counts it.
fn cpu() -> f64 {
    let text = fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or_default() / 1e6
}
