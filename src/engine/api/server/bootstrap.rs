//! What a new cluster has in it.

use super::ApiServer;
use crate::api::meta;
use crate::api::rbac;
use crate::ids::{GroupResource, Key};
use crate::time::SimTime;
use serde_json::{Value, json};

const NAMESPACES: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];

impl ApiServer {
    pub(super) fn bootstrap(&mut self) {
        for name in NAMESPACES {
            let object = json!({"apiVersion": "v1", "kind": "Namespace",
                "metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name}},
                "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}});
            self.plant("", "namespaces", name, object);
        }
        for (plural, object) in rbac::bootstrap::objects() {
            let name = object["metadata"]["name"].as_str().unwrap_or("").to_string();
            self.plant(rbac::GROUP, plural, &name, object);
        }
    }

    fn plant(&mut self, group: &str, plural: &str, name: &str, mut object: Value) {
        object["metadata"]["uid"] = Value::from(meta::uid(&mut self.rng));
        object["metadata"]["creationTimestamp"] = Value::from(SimTime::ZERO.rfc3339());
        let resource = GroupResource::new(group, plural);
        self.store.put(SimTime::ZERO, &resource, &Key::new("", name), object, 0, &"system:apiserver".into());
    }
}
