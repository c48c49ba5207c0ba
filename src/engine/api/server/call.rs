//! One request on its way through the server: address, options, warnings and the stages it passed.

use super::{Outcome, Trace};
use crate::api::message::{Method, Request, Stage, StageStep};
use crate::api::resource::Resource;
use crate::api::route::ResourcePath;
use crate::api::schema::field::FieldError;
use crate::api::status::ApiStatus;
use crate::ids::Key;
use crate::time::SimTime;
use serde_json::Value;
use std::sync::Arc;

/// What to do with fields nobody knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldValidation {
    Ignore,
    Warn,
    Strict,
}

/// One request with what was read out of it.
pub struct Call<'a> {
    pub now: SimTime,
    pub request: &'a Request,
    pub path: &'a ResourcePath<'a>,
    pub resource: Arc<Resource>,
    pub dry_run: bool,
    pub field_validation: FieldValidation,
    pub warnings: Vec<String>,
    pub stages: Vec<StageStep>,
    traced: bool,
}

impl<'a> Call<'a> {
    pub fn new(
        now: SimTime,
        request: &'a Request,
        path: &'a ResourcePath<'a>,
        resource: Arc<Resource>,
        trace: Trace,
    ) -> Outcome<Self> {
        if !path.namespace.is_empty() && !resource.namespaced && !resource.is("", "namespaces") {
            return Err(ApiStatus::page_not_found());
        }
        if path.namespace.is_empty() && !path.name.is_empty() && resource.namespaced {
            return Err(ApiStatus::page_not_found());
        }
        let everywhere = path.namespace.is_empty() && resource.namespaced && path.name.is_empty();
        if everywhere && request.method != Method::Get && !resource.is_review() {
            // Across namespaces one can only look.
            return Err(match resource.built_in_kind() {
                Some(_) => ApiStatus::not_allowed_here(),
                None => ApiStatus::page_not_found(),
            });
        }
        let traced = match trace {
            Trace::Nobody => false,
            Trace::People => request.agent.starts_with("kubectl"),
            Trace::Everybody => true,
        };
        let mut call = Call {
            now,
            request,
            path,
            resource,
            dry_run: false,
            field_validation: FieldValidation::Warn,
            warnings: Vec::new(),
            stages: Vec::new(),
            traced,
        };
        call.read_options()?;
        Ok(call)
    }

    fn read_options(&mut self) -> Outcome<()> {
        if self.request.method == Method::Get {
            return Ok(());
        }
        let mut errors = Vec::new();
        match self.request.param("fieldValidation").unwrap_or("") {
            "" | "Warn" => {}
            "Ignore" => self.field_validation = FieldValidation::Ignore,
            "Strict" => self.field_validation = FieldValidation::Strict,
            other => {
                let known = ["Ignore", "Strict", "Warn"];
                errors.push(FieldError::not_supported("fieldValidation", &Value::from(other), &known));
            }
        }
        let dry: Vec<&str> =
            self.request.query.iter().filter(|(n, _)| n == "dryRun").map(|(_, v)| v.as_str()).collect();
        match dry.as_slice() {
            [] | [""] => {}
            ["All"] => self.dry_run = true,
            [other, ..] => errors.push(FieldError::not_supported("dryRun", &Value::from(*other), &["All"])),
        }
        let manager = self.request.param("fieldManager").unwrap_or("");
        if manager.chars().count() > FIELD_MANAGER_MAX {
            errors.push(FieldError::too_long("fieldManager", FIELD_MANAGER_MAX));
        } else if manager.chars().any(char::is_control) {
            errors.push(FieldError::invalid_text("fieldManager", manager, "should only contain printable characters"));
        }
        if errors.is_empty() {
            Ok(())
        } else {
            Err(ApiStatus::invalid(self.options_kind(), "meta.k8s.io", "", &errors))
        }
    }

    fn options_kind(&self) -> &'static str {
        match self.request.method {
            Method::Put => "UpdateOptions",
            Method::Patch => "PatchOptions",
            Method::Delete => "DeleteOptions",
            Method::Get | Method::Post => "CreateOptions",
        }
    }

    pub fn flag(&self, name: &str) -> bool {
        super::authorize::flag(self.request, name)
    }

    /// The verb as access rules and texts know it.
    pub fn verb(&self) -> &'static str {
        super::authorize::verb(self.request, self.path)
    }

    pub fn has_subresource(&self) -> bool {
        match self.path.subresource {
            "" => true,
            "status" => self.resource.has_status,
            "scale" => self.resource.has_scale,
            _ => false,
        }
    }

    /// Whether the request goes to `/status`.
    pub fn to_status(&self) -> bool {
        self.path.subresource == "status"
    }

    /// The namespace of the object: none for cluster-scoped kinds.
    pub fn namespace(&self) -> &'a str {
        if self.resource.namespaced { self.path.namespace } else { "" }
    }

    pub fn key(&self) -> Key {
        Key::new(self.namespace(), self.path.name)
    }

    pub fn not_found(&self) -> ApiStatus {
        ApiStatus::not_found(&self.resource.group_resource(), self.path.name)
    }

    pub fn invalid(&self, name: &str, errors: &[FieldError]) -> ApiStatus {
        ApiStatus::invalid(&self.resource.kind, &self.resource.gvr.group, name, errors)
    }

    /// Who wrote, as managed fields say it.
    pub fn manager(&self) -> &str {
        let named = self.request.param("fieldManager").filter(|m| !m.is_empty());
        named.unwrap_or_else(|| self.request.agent.split('/').next().unwrap_or("unknown"))
    }

    /// Notes that a stage was passed; `before` is what went in, if the stage could change it.
    pub fn passed(&mut self, stage: Stage, before: Option<&Value>, after: &Value) {
        if self.traced {
            let changed = before.is_none_or(|b| b != after);
            let after = changed.then(|| Arc::new(after.clone()));
            self.stages.push(StageStep { stage, after, refused: None });
        }
    }

    /// A copy to hold a stage against, made only for those who look.
    pub fn snapshot(&self, value: &Value) -> Option<Value> {
        self.traced.then(|| value.clone())
    }

    /// Notes which stage refused the request: the one after the last it passed.
    pub fn refuse(&mut self, status: &ApiStatus) {
        if !self.traced {
            return;
        }
        let stage = match (self.stages.last().map(|s| s.stage), status.code) {
            (_, 401) => Stage::Authenticate,
            (None | Some(Stage::Authenticate), 403) => Stage::Authorize,
            (_, 422) => Stage::Validate,
            (None | Some(Stage::Authenticate | Stage::Authorize), _) => Stage::Decode,
            (Some(Stage::Decode | Stage::Prune | Stage::Default), _) => Stage::Admit,
            _ => Stage::Store,
        };
        self.stages.push(StageStep { stage, after: None, refused: Some(status.message.clone()) });
    }
}

/// Longest field manager (apimachinery `pkg/apis/meta/v1/validation`).
const FIELD_MANAGER_MAX: usize = 128;
