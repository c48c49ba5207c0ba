//! What a Redis cluster is made of.

use crate::object::{Object, ObjectView};
use crate::operators::support::controller_reference;
use serde_json::{Value, json};

fn metadata(cluster: &Object, name: &str) -> Value {
    json!({
        "name": name, "namespace": cluster.namespace(),
        "labels": {"app.kubernetes.io/name": "redis", "scope.dev/cluster": cluster.name()},
        "ownerReferences": controller_reference(cluster),
    })
}

/// Headless: each pod gets a name of its own.
pub fn service(cluster: &Object) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Service", "metadata": metadata(cluster, cluster.name()),
        "spec": {"clusterIP": "None", "selector": {"scope.dev/cluster": cluster.name()},
            "ports": [{"name": "redis", "port": 6379}]},
    })
}

pub fn config(cluster: &Object) -> Value {
    let replicas = cluster.int(&["spec", "replicas"]).unwrap_or(1);
    let text = format!("maxmemory-policy allkeys-lru\nmin-replicas-to-write {}\n", (replicas - 1).clamp(0, 1));
    json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata(cluster, cluster.name()),
        "data": {"redis.conf": text},
    })
}

/// Not owned: the data outlives the pod and the cluster.
pub fn claim(cluster: &Object, ordinal: usize) -> Value {
    let storage = cluster.at(&["spec", "storage"]).cloned().unwrap_or_else(|| json!("1Gi"));
    json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": format!("data-{}-{ordinal}", cluster.name()), "namespace": cluster.namespace(),
            "labels": {"scope.dev/cluster": cluster.name()}},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": storage}}},
    })
}

pub fn pod(cluster: &Object, ordinal: usize) -> Value {
    let name = format!("{}-{ordinal}", cluster.name());
    let mut metadata = metadata(cluster, &name);
    metadata["labels"]["scope.dev/ordinal"] = json!(ordinal.to_string());
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": metadata,
        "spec": {
            "hostname": name, "subdomain": cluster.name(),
            "containers": [{"name": "redis", "image": cluster.text(&["spec", "image"]),
                "ports": [{"name": "redis", "containerPort": 6379}],
                "volumeMounts": [{"name": "data", "mountPath": "/data"}]}],
            "volumes": [{"name": "data",
                "persistentVolumeClaim": {"claimName": format!("data-{}-{ordinal}", cluster.name())}}],
        },
    })
}
