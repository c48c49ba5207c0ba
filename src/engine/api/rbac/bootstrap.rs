//! The roles and bindings every cluster starts with.
//!
//! From kubernetes `plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go`, cut to the kinds of the model.

use super::GROUP;
use serde_json::{Value, json};

const READ: [&str; 3] = ["get", "list", "watch"];
const WRITE: [&str; 5] = ["create", "delete", "deletecollection", "patch", "update"];
const ALL_VERBS: [&str; 8] = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
const CORE_READ: [&str; 10] = [
    "configmaps",
    "endpoints",
    "events",
    "namespaces",
    "persistentvolumeclaims",
    "persistentvolumeclaims/status",
    "pods",
    "pods/status",
    "serviceaccounts",
    "services",
];
const CORE_WRITE: [&str; 8] = [
    "configmaps",
    "events",
    "persistentvolumeclaims",
    "pods",
    "pods/eviction",
    "secrets",
    "serviceaccounts",
    "services",
];
const APPS: [&str; 8] = [
    "controllerrevisions",
    "daemonsets",
    "deployments",
    "deployments/scale",
    "replicasets",
    "replicasets/scale",
    "statefulsets",
    "statefulsets/scale",
];

fn role(name: &str, labels: Value, rules: Value) -> (&'static str, Value) {
    let object = json!({"apiVersion": format!("{GROUP}/v1"), "kind": "ClusterRole",
        "metadata": {"name": name, "labels": labels}, "rules": rules});
    ("clusterroles", object)
}

fn aggregated(name: &str, rules: Value) -> (&'static str, Value) {
    let label = format!("{GROUP}/aggregate-to-{name}");
    let (plural, mut object) = role(name, json!({"kubernetes.io/bootstrapping": "rbac-defaults"}), rules);
    object["aggregationRule"] = json!({"clusterRoleSelectors": [{"matchLabels": {label: "true"}}]});
    (plural, object)
}

fn binding(name: &str, role: &str, group: &str) -> (&'static str, Value) {
    let object = json!({"apiVersion": format!("{GROUP}/v1"), "kind": "ClusterRoleBinding",
        "metadata": {"name": name, "labels": {"kubernetes.io/bootstrapping": "rbac-defaults"}},
        "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": role},
        "subjects": [{"apiGroup": GROUP, "kind": "Group", "name": group}]});
    ("clusterrolebindings", object)
}

fn read_rules() -> Vec<Value> {
    vec![
        json!({"apiGroups": [""], "resources": CORE_READ, "verbs": READ}),
        json!({"apiGroups": ["apps"], "resources": APPS, "verbs": READ}),
        json!({"apiGroups": ["batch"], "resources": ["cronjobs", "jobs"], "verbs": READ}),
        json!({"apiGroups": ["policy"], "resources": ["poddisruptionbudgets"], "verbs": READ}),
    ]
}

fn write_rules() -> Vec<Value> {
    vec![
        json!({"apiGroups": [""], "resources": ["secrets"], "verbs": READ}),
        json!({"apiGroups": [""], "resources": CORE_WRITE, "verbs": WRITE}),
        json!({"apiGroups": ["apps"], "resources": APPS, "verbs": WRITE}),
        json!({"apiGroups": ["batch"], "resources": ["cronjobs", "jobs"], "verbs": WRITE}),
        json!({"apiGroups": ["policy"], "resources": ["poddisruptionbudgets"], "verbs": WRITE}),
        json!({"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ALL_VERBS}),
    ]
}

fn admin_rules() -> Vec<Value> {
    vec![
        json!({"apiGroups": ["authorization.k8s.io"], "resources": ["localsubjectaccessreviews"], "verbs": ["create"]}),
        json!({"apiGroups": [GROUP], "resources": ["rolebindings", "roles"], "verbs": ALL_VERBS}),
    ]
}

/// Plural and object of everything, in no particular order.
#[must_use]
pub fn objects() -> Vec<(&'static str, Value)> {
    let labels = |to: &[&str]| {
        let mut labels = json!({"kubernetes.io/bootstrapping": "rbac-defaults"});
        for name in to {
            labels[format!("{GROUP}/aggregate-to-{name}")] = Value::from("true");
        }
        labels
    };
    let (read, write, admin) = (read_rules(), write_rules(), admin_rules());
    let urls = [
        "/api",
        "/api/*",
        "/apis",
        "/apis/*",
        "/healthz",
        "/livez",
        "/openapi",
        "/openapi/*",
        "/readyz",
        "/version",
        "/version/",
    ];
    vec![
        role(
            "cluster-admin",
            labels(&[]),
            json!([
            {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}, {"nonResourceURLs": ["*"], "verbs": ["*"]}]),
        ),
        role(
            "system:basic-user",
            labels(&[]),
            json!([
            {"apiGroups": ["authorization.k8s.io"], "resources": ["selfsubjectaccessreviews", "selfsubjectrulesreviews"],
                "verbs": ["create"]},
            {"apiGroups": ["authentication.k8s.io"], "resources": ["selfsubjectreviews"], "verbs": ["create"]}]),
        ),
        role("system:discovery", labels(&[]), json!([{"nonResourceURLs": urls, "verbs": ["get"]}])),
        role("system:aggregate-to-view", labels(&["view"]), json!(read)),
        role("system:aggregate-to-edit", labels(&["edit"]), json!(write)),
        role("system:aggregate-to-admin", labels(&["admin"]), json!(admin)),
        aggregated("view", json!(read)),
        with_label(aggregated("edit", json!(write.iter().chain(&read).collect::<Vec<_>>())), "admin"),
        aggregated("admin", json!(admin.iter().chain(&write).chain(&read).collect::<Vec<_>>())),
        binding("cluster-admin", "cluster-admin", super::MASTERS),
        binding("system:basic-user", "system:basic-user", "system:authenticated"),
        binding("system:discovery", "system:discovery", "system:authenticated"),
    ]
}

/// Each of the three contains the one below it, by its label.
fn with_label((plural, mut object): (&'static str, Value), to: &str) -> (&'static str, Value) {
    object["metadata"]["labels"][format!("{GROUP}/aggregate-to-{to}")] = Value::from("true");
    (plural, object)
}
