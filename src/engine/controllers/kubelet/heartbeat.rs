//! The lease by which a node says that it is alive.

use crate::event::Phase;
use crate::ids::{Gvr, Key};
use crate::object::ObjectView;
use crate::process::context::{Action, Context, Expect, Stop};
use crate::process::controller::{Controller, Source};
use crate::time::Span;
use serde_json::{Value, json};

/// How often the lease is renewed (kubelet `nodeLeaseDurationSeconds` 40, a quarter of it).
const RENEW: Span = Span::secs(10);
const LEASE_SECS: i64 = 40;

/// Namespace of the leases of nodes.
pub const NAMESPACE: &str = "kube-node-lease";

pub fn leases() -> Gvr {
    Gvr::new("coordination.k8s.io", "v1", "leases")
}

/// Renews the lease of one node.
pub struct Heartbeat {
    node: String,
}

impl Heartbeat {
    #[must_use]
    pub fn of(node: &str) -> Self {
        Heartbeat { node: node.to_string() }
    }
}

impl Controller for Heartbeat {
    fn name(&self) -> &'static str {
        "node-lease"
    }

    fn sources(&self) -> Vec<Source> {
        Vec::new()
    }

    fn initial_keys(&self) -> Vec<Key> {
        vec![Key::new(NAMESPACE, &self.node)]
    }

    fn reconcile(&self, cx: &mut Context, key: &Key) -> Result<Action, Stop> {
        let now = cx.now();
        cx.at(Phase::Act, "renew", "");
        let spec =
            json!({"holderIdentity": self.node, "leaseDurationSeconds": LEASE_SECS, "renewTime": now.rfc3339_micro()});
        let renewed = cx.patch(&leases(), key, "", json!({"spec": spec.clone()})).or_not_found()?;
        if renewed.is_none() {
            let lease = json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                "metadata": {"name": self.node, "namespace": NAMESPACE}, "spec": spec});
            cx.create(&leases(), lease).or_already_exists()?;
        }
        self.say_ready(cx)?;
        Ok(Action::after(RENEW))
    }
}

impl Heartbeat {
    /// A node that was given up says that it is back.
    fn say_ready(&self, cx: &mut Context) -> Result<(), Stop> {
        let nodes = super::core("nodes");
        let key = Key::new("", &self.node);
        let node = cx.live_get(&nodes, &key)?;
        if node.condition("Ready") == "True" {
            return Ok(());
        }
        let mut conditions = node.list(&["status", "conditions"]).to_vec();
        let now = cx.now().rfc3339();
        conditions.retain(|c| c.text(&["type"]) != "Ready");
        conditions.push(json!({"type": "Ready", "status": "True", "reason": "KubeletReady", "lastTransitionTime": now,
            "lastHeartbeatTime": now, "message": "kubelet is posting ready status"}));
        cx.patch(&nodes, &key, "status", json!({"status": {"conditions": Value::from(conditions)}}))?;
        Ok(())
    }
}
