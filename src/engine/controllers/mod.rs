//! The controllers that come with a cluster, on the same informers and queues as every operator.
//!
//! Divergence from Kubernetes: DaemonSets and Jobs are not run; the scheduler
//! knows readiness, cordons and the number of pods, no resources; a volume claim is bound as soon as it is seen.

mod aggregation;
mod claim;
mod claims;
mod consistency;
mod deployment;
mod garbage;
mod kubelet;
mod namespace;
mod node_lifecycle;
mod replicaset;
mod scheduler;
mod statefulset;

use crate::ids::Gvr;
use crate::process::controller::Controller;
use std::sync::Arc;

/// What runs in kube-controller-manager.
#[must_use]
pub fn manager() -> Vec<Arc<dyn Controller>> {
    vec![
        Arc::new(garbage::Garbage),
        Arc::new(namespace::Namespaces),
        Arc::new(node_lifecycle::NodeLifecycle),
        Arc::new(claims::Claims),
        Arc::new(aggregation::Aggregation),
        Arc::new(statefulset::StatefulSets),
        Arc::new(replicaset::ReplicaSets),
        Arc::new(deployment::Deployments),
        Arc::new(claims::Protection),
    ]
}

/// What runs in kube-scheduler.
#[must_use]
pub fn scheduler() -> Vec<Arc<dyn Controller>> {
    vec![Arc::new(scheduler::Scheduler)]
}

/// What runs on a node.
#[must_use]
pub fn kubelet(node: &str) -> Vec<Arc<dyn Controller>> {
    vec![Arc::new(kubelet::Pods::on(node)), Arc::new(kubelet::Heartbeat::of(node))]
}

/// A resource of the core group.
fn core(plural: &str) -> Gvr {
    Gvr::new("", "v1", plural)
}
