//! Access reviews: a question about what somebody may do, answered and not stored.

use super::call::Call;
use super::{ApiServer, Outcome};
use crate::api::message::{Response, User};
use crate::api::rbac::{self, Attributes};
use crate::api::schema::field::FieldError;
use crate::object::{self, ObjectView};
use serde_json::{Value, json};
use std::sync::Arc;

impl ApiServer {
    pub(super) fn review(&mut self, call: &mut Call) -> Outcome<Response> {
        let mut answer = self.body(call)?;
        let errors = faults(call, &answer);
        if !errors.is_empty() {
            return Err(call.invalid(answer.name(), &errors));
        }
        let who = if answer.kind().starts_with("Self") {
            rbac::authenticated(&call.request.user)
        } else {
            let groups = answer.list(&["spec", "groups"]).iter().filter_map(Value::as_str).map(Arc::from).collect();
            User { name: answer.text(&["spec", "user"]).into(), groups }
        };
        let status = if answer.kind() == "SelfSubjectRulesReview" {
            self.rules_status(&who, answer.text(&["spec", "namespace"]))
        } else {
            let verdict = rbac::allows(&self.store, &who, &asked(&answer));
            let mut status = json!({"allowed": verdict.allowed});
            if !verdict.reason.is_empty() {
                status["reason"] = Value::from(verdict.reason);
            }
            status
        };
        object::set(&mut answer, &["status"], status);
        Ok(Response::ok(201, Arc::new(answer)))
    }

    fn rules_status(&self, who: &User, namespace: &str) -> Value {
        let (mut resources, mut urls) = (Vec::new(), Vec::new());
        for grant in rbac::rules_of(&self.store, who, namespace).grants {
            let list = if grant.rule.urls.is_empty() { &mut resources } else { &mut urls };
            list.push(grant.rule.to_value());
        }
        json!({"resourceRules": resources, "nonResourceRules": urls, "incomplete": false})
    }
}

fn asked(review: &Value) -> Attributes {
    let text = |field: &str| review.text(&["spec", "resourceAttributes", field]).to_string();
    let url = review.text(&["spec", "nonResourceAttributes", "path"]);
    if !url.is_empty() {
        let verb = review.text(&["spec", "nonResourceAttributes", "verb"]).to_string();
        return Attributes { verb, url: url.to_string(), ..Attributes::default() };
    }
    Attributes {
        verb: text("verb"),
        group: text("group"),
        resource: text("resource"),
        subresource: text("subresource"),
        namespace: text("namespace"),
        name: text("name"),
        url: String::new(),
    }
}

/// Mirrors kubernetes `pkg/apis/authorization/validation/validation.go`.
fn faults(call: &Call, review: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let kind = review.kind();
    if kind == "SelfSubjectRulesReview" {
        if review.text(&["spec", "namespace"]).is_empty() {
            errors.push(FieldError::required("spec.namespace", "namespace is required"));
        }
        return errors;
    }
    let set = |field: &str| review.at(&["spec", field]).is_some_and(|v| !v.is_null());
    let (resource, url) = (set("resourceAttributes"), set("nonResourceAttributes"));
    if resource == url {
        let why = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
        errors.push(FieldError::invalid("spec.resourceAttributes", &Value::Null, why));
    }
    let nobody = review.text(&["spec", "user"]).is_empty() && review.list(&["spec", "groups"]).is_empty();
    if !kind.starts_with("Self") && nobody {
        errors.push(FieldError::invalid_text("spec.user", "", "at least one of user or group must be specified"));
    }
    if kind == "LocalSubjectAccessReview" && resource {
        let asked = review.text(&["spec", "resourceAttributes", "namespace"]);
        if asked != call.namespace() {
            let at = "spec.resourceAttributes.namespace";
            errors.push(FieldError::invalid_text(at, asked, "must match metadata.namespace"));
        }
    }
    errors
}
