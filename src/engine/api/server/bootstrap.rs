//! What a new cluster has in it.

use super::ApiServer;
use crate::api::meta;
use crate::ids::{GroupResource, Key};
use crate::time::SimTime;
use serde_json::json;

const NAMESPACES: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];

impl ApiServer {
    pub(super) fn bootstrap(&mut self) {
        let namespaces = GroupResource::new("", "namespaces");
        for name in NAMESPACES {
            let uid = meta::uid(&mut self.rng);
            let object = json!({"apiVersion": "v1", "kind": "Namespace",
                "metadata": {"name": name, "uid": uid, "creationTimestamp": SimTime::ZERO.rfc3339(),
                    "labels": {"kubernetes.io/metadata.name": name}},
                "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}});
            self.store.put(SimTime::ZERO, &namespaces, &Key::new("", name), object, 0, &"system:apiserver".into());
        }
    }
}
