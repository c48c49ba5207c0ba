//! What a cluster is made of: nodes, controllers, operators, knobs.

use super::World;
use crate::api::message::{Method, Request, User};
use crate::api::server::Profile;
use crate::event::ProcessId;
use crate::knobs::Knobs;
use crate::process::Process;
use crate::process::controller::Controller;
use crate::rng::Rng;
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Everything a run starts from, apart from its commands.
#[derive(Clone, Debug)]
pub struct ClusterSpec {
    pub seed: u64,
    pub profile: Profile,
    pub nodes: Vec<String>,
    /// Names of operators in the operator process; see [`crate::operators`].
    pub operators: Vec<String>,
    /// Built-in controllers that are switched off.
    pub off: BTreeSet<String>,
    pub knobs: Knobs,
}

impl Default for ClusterSpec {
    fn default() -> Self {
        ClusterSpec {
            seed: 1,
            profile: Profile::default(),
            nodes: ["node-a", "node-b", "node-c"].map(str::to_string).to_vec(),
            operators: Vec::new(),
            off: BTreeSet::new(),
            knobs: Knobs::default(),
        }
    }
}

/// A member of `system:masters`: everything is allowed.
pub fn admin() -> User {
    User { name: "admin".into(), groups: vec!["system:masters".into(), "system:authenticated".into()] }
}

pub(super) fn component(name: &str) -> User {
    User { name: name.into(), groups: vec!["system:masters".into(), "system:authenticated".into()] }
}

impl World {
    pub(super) fn populate(&mut self, spec: &ClusterSpec, seed: &Rng) {
        self.add_process(
            "kube-controller-manager",
            component("system:kube-controller-manager"),
            crate::controllers::manager(),
            spec,
            seed,
        );
        self.add_process(
            "kube-scheduler",
            component("system:kube-scheduler"),
            crate::controllers::scheduler(),
            spec,
            seed,
        );
        for node in &spec.nodes {
            let user = component(&format!("system:node:{node}"));
            self.add_process(&format!("kubelet/{node}"), user, crate::controllers::kubelet(node), spec, seed);
        }
        self.add_operators();
        for node in &spec.nodes {
            self.ask(&node_request(node));
        }
        let ids: Vec<ProcessId> = self.processes.keys().cloned().collect();
        for id in ids {
            self.start_process(&id, "the cluster starts");
        }
    }

    fn add_process(&mut self, id: &str, user: User, program: Vec<Arc<dyn Controller>>, spec: &ClusterSpec, seed: &Rng) {
        let program: Vec<_> = program.into_iter().filter(|c| !spec.off.contains(c.name())).collect();
        if program.is_empty() {
            return;
        }
        let id: ProcessId = id.into();
        self.processes.insert(id.clone(), Process::new(id.clone(), user, program, seed.fork(&id)));
    }
}

/// The node as its kubelet registers it.
fn node_request(name: &str) -> Request {
    let node = json!({"apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {"capacity": {"pods": "110"}, "allocatable": {"pods": "110"},
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "kubelet is posting ready status"}]}});
    let mut request = Request::new(Method::Post, "/api/v1/nodes").body(node);
    request.user = admin();
    request
}
