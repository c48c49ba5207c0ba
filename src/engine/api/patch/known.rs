//! How the lists of built-in kinds take a strategic merge patch.
//!
//! From the `patchStrategy` and `patchMergeKey` tags of the API types (`k8s.io/api`), which agree among kinds wherever a
//! field of one name occurs, so one tree of names serves all.
//!
//! Divergence from Kubernetes: only the lists that occur in the kinds of the model are here.

use super::strategic::{PatchSchema, Strategy};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Lists of objects in a pod and the key they merge by.
const POD_LISTS: [(&str, &str); 8] = [
    ("containers", "name"),
    ("initContainers", "name"),
    ("ephemeralContainers", "name"),
    ("volumes", "name"),
    ("imagePullSecrets", "name"),
    ("hostAliases", "ip"),
    ("topologySpreadConstraints", "topologyKey"),
    ("resourceClaims", "name"),
];
/// The same in a container.
const CONTAINER_LISTS: [(&str, &str); 4] =
    [("env", "name"), ("ports", "containerPort"), ("volumeMounts", "mountPath"), ("volumeDevices", "devicePath")];

fn object(fields: Vec<(&str, PatchSchema)>) -> PatchSchema {
    let fields: BTreeMap<String, Arc<PatchSchema>> =
        fields.into_iter().map(|(name, schema)| (name.to_string(), Arc::new(schema))).collect();
    PatchSchema { fields, ..PatchSchema::default() }
}

fn merging(key: &str, items: PatchSchema) -> PatchSchema {
    PatchSchema { strategy: Strategy::MergeBy(key.to_string()), items: Some(Arc::new(items)), ..PatchSchema::default() }
}

fn values() -> PatchSchema {
    PatchSchema { strategy: Strategy::MergeValues, ..PatchSchema::default() }
}

fn metadata() -> PatchSchema {
    object(vec![("finalizers", values()), ("ownerReferences", merging("uid", PatchSchema::default()))])
}

fn pod_spec() -> Vec<(&'static str, PatchSchema)> {
    let container =
        || object(CONTAINER_LISTS.iter().map(|(f, key)| (*f, merging(key, PatchSchema::default()))).collect());
    POD_LISTS
        .iter()
        .map(|(field, key)| {
            let items = if field.ends_with("ontainers") { container() } else { PatchSchema::default() };
            (*field, merging(key, items))
        })
        .collect()
}

/// The strategies of all built-in kinds together.
#[must_use]
pub fn schema() -> PatchSchema {
    let template = || object(vec![("metadata", metadata()), ("spec", object(pod_spec()))]);
    let job = object(vec![("metadata", metadata()), ("spec", object(vec![("template", template())]))]);
    let mut spec = pod_spec();
    spec.push(("template", template()));
    spec.push(("jobTemplate", job));
    spec.push(("ports", merging("port", PatchSchema::default())));
    let status = object(vec![("conditions", merging("type", PatchSchema::default()))]);
    object(vec![
        ("metadata", metadata()),
        ("spec", object(spec)),
        ("status", status),
        ("secrets", merging("name", PatchSchema::default())),
        ("imagePullSecrets", merging("name", PatchSchema::default())),
    ])
}
