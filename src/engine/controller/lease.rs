//! The record of who leads, and the Lease object that carries it: client-go `tools/leaderelection/resourcelock`.
//!
//! Divergence from Kubernetes: none known.

use crate::object::{Object, ObjectView, set};
use crate::time::SimTime;
use serde_json::{Value, json};

/// What a lease says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeaseRecord {
    /// Empty: released.
    pub holder: String,
    pub duration_s: u64,
    pub acquired: SimTime,
    pub renewed: SimTime,
    pub transitions: i64,
}

impl LeaseRecord {
    #[must_use]
    pub fn read(lease: &Object) -> Self {
        let time = |field| SimTime::parse_rfc3339(lease.text(&["spec", field])).unwrap_or_default();
        let number = |field| lease.int(&["spec", field]).unwrap_or(0);
        LeaseRecord {
            holder: lease.text(&["spec", "holderIdentity"]).to_string(),
            duration_s: u64::try_from(number("leaseDurationSeconds")).unwrap_or(0),
            acquired: time("acquireTime"),
            renewed: time("renewTime"),
            transitions: number("leaseTransitions"),
        }
    }

    fn spec(&self) -> Value {
        json!({"holderIdentity": self.holder, "leaseDurationSeconds": self.duration_s,
            "acquireTime": self.acquired.rfc3339_micro(), "renewTime": self.renewed.rfc3339_micro(),
            "leaseTransitions": self.transitions})
    }

    /// A new Lease with this record.
    #[must_use]
    pub fn create(&self, namespace: &str, name: &str) -> Value {
        json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": {"namespace": namespace, "name": name}, "spec": self.spec()})
    }

    /// `lease` with this record in it, for an update with its version.
    #[must_use]
    pub fn update(&self, lease: &Object) -> Value {
        let mut changed = Value::clone(lease);
        set(&mut changed, &["spec"], self.spec());
        changed
    }

    /// Electors compare records as they would read in JSON, with times cut to seconds.
    #[must_use]
    pub fn comparable(&self) -> Self {
        let cut = |at: SimTime| SimTime(at.0 / 1_000_000 * 1_000_000);
        LeaseRecord { acquired: cut(self.acquired), renewed: cut(self.renewed), ..self.clone() }
    }
}
