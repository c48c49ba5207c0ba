//! How the metadata of every kind merges.
//!
//! From apimachinery `pkg/apis/meta/v1/types.go`: finalizers are a set, owner references a map by uid, labels and annotations maps.

use crate::api::schema::structural::Structural;
use serde_json::json;
use std::sync::Arc;

/// The schema of `metadata`, for merging only.
#[must_use]
pub fn metadata_schema() -> Arc<Structural> {
    let text = json!({"type": "string"});
    let texts = json!({"type": "object", "additionalProperties": {"type": "string"}});
    let owner = json!({"type": "object", "x-kubernetes-map-type": "atomic", "properties": {
        "apiVersion": text, "kind": text, "name": text, "uid": text,
        "controller": {"type": "boolean"}, "blockOwnerDeletion": {"type": "boolean"}}});
    let schema = json!({"type": "object", "properties": {
        "name": text, "generateName": text, "namespace": text, "uid": text, "resourceVersion": text, "selfLink": text,
        "generation": {"type": "integer"}, "creationTimestamp": text, "deletionTimestamp": text,
        "deletionGracePeriodSeconds": {"type": "integer"}, "labels": texts, "annotations": texts,
        "finalizers": {"type": "array", "items": text, "x-kubernetes-list-type": "set"},
        "ownerReferences": {"type": "array", "items": owner, "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["uid"]},
        "managedFields": {"type": "array", "items": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}});
    Structural::parse(&schema).unwrap_or_default()
}
