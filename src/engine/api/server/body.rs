//! Reading the body of a write: JSON or YAML, its kind, and what the kind makes of it.

use super::call::{Call, FieldValidation};
use super::{ApiServer, Outcome};
use crate::api::kinds;
use crate::api::message::{Body, Stage};
use crate::api::meta;
use crate::api::resource::{Resource, Source};
use crate::api::schema;
use crate::api::status::ApiStatus;
use crate::object::ObjectView;
use serde_json::Value;

/// The body as a value, with the paths of keys that came twice.
pub fn parse(body: &Body, yaml: bool) -> Outcome<(Value, Vec<String>)> {
    match body {
        Body::Empty => Err(ApiStatus::bad_request("the request has no body")),
        Body::Json(value) => Ok((Value::clone(value), Vec::new())),
        Body::Text(text) => schema::text::parse(text, yaml).map_err(ApiStatus::bad_request),
    }
}

/// Refuses a body of another kind or version than the address.
fn check_kind(resource: &Resource, body: &Value) -> Outcome<()> {
    let (version, kind) = (body.text(&["apiVersion"]), body.kind());
    if kind.is_empty() {
        return Err(ApiStatus::bad_request("Object 'Kind' is missing in body"));
    }
    let expected = resource.api_version();
    if version != expected {
        return Err(ApiStatus::bad_request(format!(
            "the API version in the data ({version}) does not match the expected API version ({expected})"
        )));
    }
    if kind != &*resource.kind {
        return Err(ApiStatus::bad_request(format!(
            "{version}, Kind={kind} is not the expected kind {}",
            resource.kind
        )));
    }
    Ok(())
}

impl ApiServer {
    /// The object that a POST or PUT sends, decoded as its kind.
    pub(super) fn body(&mut self, call: &mut Call) -> Outcome<Value> {
        let yaml = call.request.content_type.contains("yaml");
        let (mut value, twice) = parse(&call.request.body, yaml)?;
        if !value.is_object() {
            return Err(ApiStatus::bad_request("the body is not an object"));
        }
        // A built-in kind may leave its kind out; the address says it.
        if let (Some(_), Some(map)) = (call.resource.built_in_kind(), value.as_object_mut()) {
            map.entry("kind").or_insert_with(|| Value::from(&*call.resource.kind));
            map.entry("apiVersion").or_insert_with(|| Value::from(call.resource.api_version()));
        }
        check_kind(&call.resource, &value)?;
        call.passed(Stage::Decode, None, &value);
        let unknown = decode(call, &mut value)?;
        report(call, &unknown, &twice)?;
        Ok(value)
    }
}

/// Brings a value into the shape of its kind: unknown fields fall away, nulls too, defaults come in. Answers the paths
/// of what fell away.
pub fn decode(call: &mut Call, value: &mut Value) -> Outcome<Vec<String>> {
    let mut unknown = Vec::new();
    let before = call.snapshot(value);
    let resource = call.resource.clone();
    let wrong = |why: String| {
        let (version, kind) = (&resource.gvr.version, &resource.kind);
        ApiStatus::bad_request(format!("{kind} in version {version:?} cannot be handled as a {kind}: {why}"))
    };
    meta::decode(value, &mut unknown).map_err(wrong)?;
    match &resource.source {
        Source::BuiltIn(kind) => {
            kinds::typed::decode(kind.kind, value, &mut unknown).map_err(wrong)?;
            (kind.hooks.decode)(value, &mut unknown).map_err(wrong)?;
            call.passed(Stage::Prune, before.as_ref(), value);
            let before = call.snapshot(value);
            (kind.hooks.default)(value);
            call.passed(Stage::Default, before.as_ref(), value);
        }
        Source::Custom(..) => {
            if let Some(schema) = resource.schema() {
                schema::coerce_embedded(schema, value, &mut unknown).map_err(wrong)?;
                unknown.extend(schema::prune(schema, value));
                schema::drop_nulls(schema, value);
                call.passed(Stage::Prune, before.as_ref(), value);
                let before = call.snapshot(value);
                schema::default(schema, value);
                call.passed(Stage::Default, before.as_ref(), value);
            }
        }
    }
    if let Some(warning) = meta::dedup_owner_references(value) {
        call.warnings.push(warning);
    }
    Ok(unknown)
}

/// Says what fell away, as the request wants it said.
pub fn report(call: &mut Call, unknown: &[String], twice: &[String]) -> Outcome<()> {
    if unknown.is_empty() && twice.is_empty() {
        return Ok(());
    }
    let unknown = unknown.iter().map(|path| format!("unknown field {path:?}"));
    let texts: Vec<String> = unknown.chain(twice.iter().map(|path| format!("duplicate field {path:?}"))).collect();
    match call.field_validation {
        FieldValidation::Ignore => {}
        FieldValidation::Warn => call.warnings.extend(texts),
        FieldValidation::Strict => {
            let (kind, version) = (&call.resource.kind, &call.resource.gvr.version);
            return Err(ApiStatus::bad_request(format!(
                "{kind} in version {version:?} cannot be handled as a {kind}: strict decoding error: {}",
                texts.join(", ")
            )));
        }
    }
    Ok(())
}
