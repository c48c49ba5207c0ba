//! Reading objects out of the store in the version that was asked for.

use super::call::Call;
use super::{ApiServer, Outcome};
use crate::api::crd::{Definition, convert};
use crate::api::message::Response;
use crate::api::resource::{Resource, Source};
use crate::api::schema;
use crate::api::status::ApiStatus;
use crate::object::{Object, ObjectView};
use crate::store::Stored;
use serde_json::Value;
use std::sync::Arc;

impl ApiServer {
    pub(super) fn get(&mut self, call: &mut Call) -> Outcome<Response> {
        self.check_revision_reached(call.request.param("resourceVersion").unwrap_or(""))?;
        let stored = self.store.get(&call.resource.group_resource(), &call.key()).ok_or_else(|| call.not_found())?;
        Ok(Response::ok(200, present(&call.resource, stored)?))
    }

    /// Refuses to read a revision that has not been reached.
    pub(super) fn check_revision_reached(&self, text: &str) -> Outcome<()> {
        let current = self.store.revision();
        match text.parse::<u64>() {
            Ok(wanted) if wanted > current => Err(ApiStatus::too_large_revision(wanted, current)),
            Err(_) if !text.is_empty() => {
                Err(ApiStatus::bad_request(format!("strconv.ParseUint: parsing {text:?}: invalid syntax")))
            }
            _ => Ok(()),
        }
    }
}

/// An object as the store holds it, in the version of `resource`.
pub fn present(resource: &Resource, stored: &Stored) -> Outcome<Object> {
    let Source::Custom(definition, version) = &resource.source else { return Ok(stored.object.clone()) };
    let wanted = &definition.versions[*version].name;
    let held = stored.object.gvk().version;
    if stored.shape == definition.shape && *held == **wanted {
        return Ok(stored.object.clone());
    }
    let mut value = Value::clone(&stored.object);
    let Some(held) = definition.versions.iter().find(|v| *v.name == *held) else {
        return Err(ApiStatus::plain(format!("request to convert CR from an invalid group/version: {held}")));
    };
    if let Some(schema) = &held.schema {
        schema::default(schema, &mut value);
    }
    if held.name != *wanted {
        value = convert::convert(definition, wanted, value)?;
    }
    shape(definition, *version, &mut value);
    Ok(Arc::new(value))
}

/// Drops what a version does not know.
pub fn shape(definition: &Definition, version: usize, value: &mut Value) {
    if let Some(schema) = &definition.versions[version].schema {
        schema::prune(schema, value);
        schema::drop_nulls(schema, value);
    }
}
