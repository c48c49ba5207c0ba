//! PATCH: four formats, one way through: the patched object goes where a PUT goes.

use super::body::{self, decode, report};
use super::call::{Call, FieldValidation};
use super::update::check_revision;
use super::write::write_of;
use super::{ApiServer, Outcome};
use crate::api::apply;
use crate::api::message::{Response, Stage};
use crate::api::meta;
use crate::api::patch;
use crate::api::schema::field::FieldError;
use crate::api::status::ApiStatus;
use crate::ids::GroupResource;
use crate::object::{self, Object, ObjectView};
use serde_json::{Value, json};

/// Operations of one JSON patch (apiserver `handlers/patch.go`).
const OPERATIONS_MAX: usize = 10_000;

/// The formats by their media types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Json,
    Merge,
    Strategic,
    Apply,
}

impl Format {
    fn of(call: &Call) -> Outcome<Self> {
        let media = call.request.content_type.split(';').next().unwrap_or("").trim();
        match media {
            "application/json-patch+json" => Ok(Format::Json),
            "application/merge-patch+json" => Ok(Format::Merge),
            "application/strategic-merge-patch+json" if call.resource.built_in_kind().is_some() => {
                Ok(Format::Strategic)
            }
            "application/apply-patch+yaml" | "application/apply-patch+json" => Ok(Format::Apply),
            _ => Err(ApiStatus::new(
                415,
                "UnsupportedMediaType",
                "the body of the request was in an unknown format - accepted media types include: \
                 application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
            )),
        }
    }
}

impl ApiServer {
    pub(super) fn patch(&mut self, call: &mut Call) -> Outcome<Response> {
        let format = Format::of(call)?;
        self.check_patch_options(call, format)?;
        let (patch, twice) = body::parse(&call.request.body, format == Format::Apply)?;
        call.passed(Stage::Decode, None, &patch);
        if format == Format::Apply {
            return self.apply(call, &patch, &twice);
        }
        let Some(live) = self.live(call)? else { return Err(call.not_found()) };
        let mut new = match format {
            Format::Json => {
                if patch.as_array().is_some_and(|l| l.len() > OPERATIONS_MAX) {
                    return Err(ApiStatus::new(413, "RequestEntityTooLarge", too_many(&patch)));
                }
                patch::json::apply(&live, &patch)?
            }
            Format::Strategic => patch::strategic::apply(&live, &patch, &patch::known::schema())?,
            _ => {
                let mut value = Value::clone(&live);
                patch::merge::merge(&mut value, &patch);
                value
            }
        };
        self.check_patched(call, &new, &live)?;
        let unknown = decode_patched(call, &mut new)?;
        report_patched(call, &unknown, &twice)?;
        self.track_update(call, &live, &mut new);
        self.replace(call, new, &live)
    }

    fn check_patch_options(&self, call: &Call, format: Format) -> Outcome<()> {
        let mut errors = Vec::new();
        if format == Format::Apply && call.request.param("fieldManager").unwrap_or("").is_empty() {
            errors.push(FieldError::required("fieldManager", "is required for apply patch"));
        }
        if format != Format::Apply && call.request.param("force").is_some() {
            errors.push(FieldError::forbidden("force", "may not be specified for non-apply patch"));
        }
        if errors.is_empty() { Ok(()) } else { Err(ApiStatus::invalid("PatchOptions", "meta.k8s.io", "", &errors)) }
    }

    fn check_patched(&self, call: &Call, new: &Value, live: &Object) -> Outcome<()> {
        for field in ["apiVersion", "kind"] {
            if new.get(field) != live.get(field) {
                let value = new.get(field).cloned().unwrap_or(Value::Null);
                let error = FieldError::invalid(field, &value, "must not be changed by a patch");
                return Err(call.invalid(call.path.name, &[error]));
            }
        }
        if new.name() != live.name() {
            return Err(ApiStatus::bad_request(format!(
                "the name of the object ({}) does not match the name on the URL ({})",
                new.name(),
                live.name()
            )));
        }
        if new.namespace() != live.namespace() {
            return Err(ApiStatus::bad_request(
                "the namespace of the provided object does not match the namespace sent on the request",
            ));
        }
        match new.resource_version() {
            "" | "0" => Ok(()),
            said => check_revision(call, said, live),
        }
    }

    /// Server-side apply.
    fn apply(&mut self, call: &mut Call, config: &Value, twice: &[String]) -> Outcome<Response> {
        if !twice.is_empty() {
            return Err(ApiStatus::bad_request(format!("error decoding YAML: duplicate field {:?}", twice[0])));
        }
        let live = self.live(call)?;
        let seed = json!({"apiVersion": call.resource.api_version(), "kind": &*call.resource.kind,
            "metadata": {"name": call.path.name, "namespace": call.namespace()}});
        self.check_applied(call, config, live.as_ref())?;
        let time = call.now.rfc3339();
        let api_version = call.resource.api_version();
        let write = write_of(call, &api_version, &time);
        let mut new = apply::apply(
            live.as_deref().or(Some(&seed)).filter(|_| live.is_some()),
            config,
            &write,
            call.flag("force"),
        )?;
        let unknown = decode_patched(call, &mut new)?;
        report(call, &unknown, &[])?;
        match live {
            Some(live) => {
                meta::keep(&mut new, &live, "resourceVersion");
                self.replace(call, new, &live)
            }
            None if !call.path.subresource.is_empty() => Err(call.not_found()),
            None => {
                object::remove(&mut new, &["metadata", "resourceVersion"]);
                object::set(&mut new, &["metadata", "name"], Value::from(call.path.name));
                self.authorize_also(call, "create")?;
                super::create::place(call, &mut new)?;
                self.create_object(call, new)
            }
        }
    }

    fn check_applied(&self, call: &Call, config: &Value, live: Option<&Object>) -> Outcome<()> {
        if config.kind() != &*call.resource.kind {
            return Err(ApiStatus::bad_request(format!(
                "{}, Kind={} is not the expected kind {}",
                config.text(&["apiVersion"]),
                config.kind(),
                call.resource.kind
            )));
        }
        let name = config.name();
        if !name.is_empty() && name != call.path.name {
            return Err(ApiStatus::bad_request(format!(
                "the name of the object ({name}) does not match the name on the URL ({})",
                call.path.name
            )));
        }
        let id: GroupResource = call.resource.group_resource();
        match live {
            Some(live) if !config.resource_version().is_empty() => {
                check_revision(call, config.resource_version(), live)
            }
            None if !config.uid().is_empty() => {
                let why = format!(
                    "uid mismatch: the provided object specified uid {}, and no existing object was found",
                    config.uid()
                );
                Err(ApiStatus::conflict(&id, call.path.name, &why))
            }
            _ => Ok(()),
        }
    }
}

fn too_many(patch: &Value) -> String {
    let count = patch.as_array().map_or(0, Vec::len);
    format!("The allowed maximum operations in a JSON patch is {OPERATIONS_MAX}, got {count}")
}

/// A patched object that its kind cannot read is the patch's fault.
fn decode_patched(call: &mut Call, new: &mut Value) -> Outcome<Vec<String>> {
    decode(call, new).map_err(|status| {
        let error = FieldError::invalid_text("patch", "", status.message);
        call.invalid(call.path.name, &[error])
    })
}

/// Under Strict, what a patch brings in unknown is 422 at `patch`.
fn report_patched(call: &mut Call, unknown: &[String], twice: &[String]) -> Outcome<()> {
    match report(call, unknown, twice) {
        Err(status) if call.field_validation == FieldValidation::Strict => {
            let error = FieldError::invalid_text("patch", "", status.message);
            Err(call.invalid(call.path.name, &[error]))
        }
        other => other,
    }
}
