//! The bucket as it stands outside the cluster, where no owner reference reaches: it carries the uid of its owner instead.

use crate::api::message::Method;
use crate::object::{Object, ObjectView};
use crate::process::context::{Context, Expect, Stop};
use serde_json::{Value, json};

/// The name outside. It follows from the resource alone, so that a second try finds what the first one made.
pub fn name(bucket: &Object) -> String {
    match bucket.text(&["spec", "bucketName"]) {
        "" => format!("{}-{}", bucket.namespace(), bucket.name()),
        name => name.to_string(),
    }
}

fn path(bucket: &Object) -> String {
    format!("/buckets/{}", name(bucket))
}

/// What should be there.
pub fn wanted(bucket: &Object) -> Value {
    json!({
        "owner": bucket.uid(),
        "region": bucket.at(&["spec", "region"]),
        "versioning": bucket.at(&["spec", "versioning"]),
    })
}

pub fn read(cx: &mut Context, bucket: &Object) -> Result<Option<Object>, Stop> {
    cx.outside(Method::Get, &path(bucket), Value::Null).or_not_found()
}

pub fn write(cx: &mut Context, bucket: &Object, thing: Value) -> Result<Object, Stop> {
    cx.outside(Method::Post, &path(bucket), thing)
}

pub fn delete(cx: &mut Context, bucket: &Object) -> Result<(), Stop> {
    cx.outside(Method::Delete, &path(bucket), Value::Null).or_not_found().map(|_| ())
}
