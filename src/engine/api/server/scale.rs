//! `/scale`: the number of replicas, without the rest of the object.

use super::body;
use super::call::Call;
use super::{ApiServer, Outcome};
use crate::api::crd::Scale;
use crate::api::message::{Method, Response};
use crate::api::patch;
use crate::api::resource::{Resource, Source};
use crate::api::schema::field::FieldError;
use crate::api::selector::LabelSelector;
use crate::api::status::ApiStatus;
use crate::object::{self, Object, ObjectView};
use serde_json::{Value, json};
use std::sync::Arc;

fn paths(resource: &Resource) -> Scale {
    match &resource.source {
        Source::Custom(definition, version) => definition.versions[*version].scale.clone().unwrap_or_default(),
        Source::BuiltIn(_) => Scale {
            spec_replicas: ".spec.replicas".to_string(),
            status_replicas: ".status.replicas".to_string(),
            label_selector: String::new(),
        },
    }
}

fn parts(path: &str) -> Vec<&str> {
    path.trim_start_matches('.').split('.').collect()
}

impl ApiServer {
    pub(super) fn scale(&mut self, call: &mut Call) -> Outcome<Response> {
        let Some(live) = self.live(call)? else { return Err(call.not_found()) };
        let shown = scale_of(call, &live);
        let wanted = match call.request.method {
            Method::Get => return Ok(Response::ok(200, Arc::new(shown?))),
            Method::Put => body::parse(&call.request.body, false)?.0,
            Method::Patch => {
                let (change, _) = body::parse(&call.request.body, false)?;
                let mut value = shown?;
                if change.is_array() {
                    value = patch::json::apply(&value, &change)?;
                } else {
                    patch::merge::merge(&mut value, &change);
                }
                value
            }
            _ => return Err(ApiStatus::method_not_allowed(&call.resource.group_resource(), call.verb())),
        };
        let replicas = wanted.int(&["spec", "replicas"]).unwrap_or(0);
        if replicas < 0 {
            let why = "must be greater than or equal to 0";
            let error = FieldError::invalid("spec.replicas", &Value::from(replicas), why);
            return Err(ApiStatus::invalid("Scale", "autoscaling", call.path.name, &[error]));
        }
        let said = wanted.resource_version();
        if !said.is_empty() {
            super::update::check_revision(call, said, &live)?;
        }
        let mut new = Value::clone(&live);
        let scale = paths(&call.resource);
        object::set(&mut new, &parts(&scale.spec_replicas), Value::from(replicas));
        self.track_update(call, &live, &mut new);
        let response = self.replace(call, new, &live)?;
        let after = scale_of(call, &response.body)?;
        Ok(Response::ok(200, Arc::new(after)))
    }
}

fn scale_of(call: &Call, live: &Object) -> Outcome<Value> {
    let scale = paths(&call.resource);
    let Some(replicas) = live.int(&parts(&scale.spec_replicas)) else {
        return Err(ApiStatus::internal(format!("the spec replicas field {:?} does not exist", scale.spec_replicas)));
    };
    // Zero is left out, as the typed object does.
    let spec = if replicas == 0 { json!({}) } else { json!({"replicas": replicas}) };
    let mut metadata = json!({});
    for field in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
        if let Some(value) = live.at(&["metadata", field]) {
            metadata[field] = value.clone();
        }
    }
    let mut status = json!({"replicas": live.int(&parts(&scale.status_replicas)).unwrap_or(0)});
    let selector = match (&call.resource.source, live.at(&["spec", "selector"])) {
        (Source::BuiltIn(_), Some(selector)) => LabelSelector::from_object(selector).to_string(),
        _ if !scale.label_selector.is_empty() => live.text(&parts(&scale.label_selector)).to_string(),
        _ => String::new(),
    };
    if !selector.is_empty() {
        status["selector"] = Value::from(selector);
    }
    Ok(json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": metadata,
        "spec": spec, "status": status}))
}
