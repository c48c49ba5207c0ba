//! Failure as data: the `Status` object of the API, with its upstream codes and reasons.
//!
//! Constructors mirror apimachinery `pkg/api/errors/errors.go`.

use crate::ids::GroupResource;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// One cause of an `Invalid` answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    pub reason: String,
    pub message: String,
    pub field: String,
}

/// What a failed request is answered with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiStatus {
    pub code: u16,
    /// Empty where the real server leaves it empty.
    pub reason: String,
    pub message: String,
    pub name: String,
    pub group: String,
    /// `details.kind`: a kind for validation errors, a plural elsewhere.
    pub kind: String,
    pub uid: String,
    pub causes: Vec<Cause>,
    pub retry_after_s: Option<u32>,
}

impl ApiStatus {
    #[must_use]
    pub fn new(code: u16, reason: &str, message: impl Into<String>) -> Self {
        ApiStatus { code, reason: reason.to_string(), message: message.into(), ..ApiStatus::default() }
    }

    fn about(mut self, resource: &GroupResource, name: &str) -> Self {
        self.group = resource.group.to_string();
        self.kind = resource.resource.to_string();
        self.name = name.to_string();
        self
    }

    #[must_use]
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }
    #[must_use]
    pub fn forbidden(resource: &GroupResource, name: &str, why: &str) -> Self {
        let named = if name.is_empty() { resource.to_string() } else { format!("{resource} \"{name}\"") };
        Self::new(403, "Forbidden", format!("{named} is forbidden: {why}")).about(resource, name)
    }
    #[must_use]
    pub fn not_found(resource: &GroupResource, name: &str) -> Self {
        Self::new(404, "NotFound", format!("{resource} \"{name}\" not found")).about(resource, name)
    }
    #[must_use]
    pub fn method_not_allowed(resource: &GroupResource, verb: &str) -> Self {
        let message = format!("{verb} is not supported on resources of kind \"{resource}\"");
        Self::new(405, "MethodNotAllowed", message).about(resource, "")
    }
    #[must_use]
    pub fn already_exists(resource: &GroupResource, name: &str) -> Self {
        Self::new(409, "AlreadyExists", format!("{resource} \"{name}\" already exists")).about(resource, name)
    }
    #[must_use]
    pub fn conflict(resource: &GroupResource, name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {resource} \"{name}\": {why}");
        Self::new(409, "Conflict", message).about(resource, name)
    }
    /// The answer to an address nobody serves.
    #[must_use]
    pub fn page_not_found() -> Self {
        Self::new(404, "NotFound", "the server could not find the requested resource")
    }
    /// The answer to a method that an address does not take.
    #[must_use]
    pub fn not_allowed_here() -> Self {
        Self::new(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")
    }
    /// A read of a revision that the store has not reached.
    #[must_use]
    pub fn too_large_revision(wanted: u64, current: u64) -> Self {
        let message = format!("Timeout: Too large resource version: {wanted}, current: {current}");
        let cause = Cause {
            reason: "ResourceVersionTooLarge".to_string(),
            message: "Too large resource version".to_string(),
            field: String::new(),
        };
        ApiStatus { causes: vec![cause], retry_after_s: Some(1), ..Self::new(504, "Timeout", message) }
    }
    /// An error the server has no reason word for.
    #[must_use]
    pub fn plain(why: impl Into<String>) -> Self {
        Self::new(500, "", why)
    }
    #[must_use]
    pub fn internal(why: impl std::fmt::Display) -> Self {
        let cause = Cause { message: why.to_string(), ..Cause::default() };
        ApiStatus { causes: vec![cause], ..Self::new(500, "InternalError", format!("Internal error occurred: {why}")) }
    }

    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.code == 404
    }
    #[must_use]
    pub fn is_conflict(&self) -> bool {
        self.reason == "Conflict"
    }
    #[must_use]
    pub fn is_already_exists(&self) -> bool {
        self.reason == "AlreadyExists"
    }

    #[must_use]
    pub fn to_body(&self) -> Value {
        let mut details = Map::new();
        for (field, text) in [("name", &self.name), ("group", &self.group), ("kind", &self.kind), ("uid", &self.uid)] {
            if !text.is_empty() {
                details.insert(field.to_string(), Value::from(text.as_str()));
            }
        }
        if !self.causes.is_empty() {
            details.insert("causes".to_string(), json!(self.causes));
        }
        if let Some(seconds) = self.retry_after_s {
            details.insert("retryAfterSeconds".to_string(), Value::from(seconds));
        }
        let mut body = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": self.message, "code": self.code});
        if !self.reason.is_empty() {
            body["reason"] = Value::from(self.reason.as_str());
        }
        if !details.is_empty() {
            body["details"] = Value::Object(details);
        }
        body
    }

    /// Reads a `Status` body back; a body that is none keeps only the code.
    #[must_use]
    pub fn from_body(code: u16, body: &Value) -> Self {
        let text = |v: &Value, field: &str| v.get(field).and_then(Value::as_str).unwrap_or("").to_string();
        let details = body.get("details").unwrap_or(&Value::Null);
        let causes = details.get("causes").cloned().and_then(|c| serde_json::from_value(c).ok()).unwrap_or_default();
        ApiStatus {
            code,
            reason: text(body, "reason"),
            message: text(body, "message"),
            name: text(details, "name"),
            group: text(details, "group"),
            kind: text(details, "kind"),
            uid: text(details, "uid"),
            causes,
            retry_after_s: details.get("retryAfterSeconds").and_then(Value::as_u64).map(|s| s as u32),
        }
    }
}
