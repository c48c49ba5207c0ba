//! Defaults and faults of roles and bindings.
//!
//! Mirrors kubernetes `pkg/apis/rbac/{v1/defaults.go,validation/validation.go}`.

use super::GROUP;
use crate::api::schema::field::FieldError;
use crate::object::{self, ObjectView};
use serde_json::Value;

/// Subjects and the role of a binding are of the group of the kinds unless they say otherwise.
pub fn default_binding(binding: &mut Value) {
    if binding.get("roleRef").is_some_and(Value::is_object) && binding.text(&["roleRef", "apiGroup"]).is_empty() {
        object::set(binding, &["roleRef", "apiGroup"], Value::from(GROUP));
    }
    for subject in binding.get_mut("subjects").and_then(Value::as_array_mut).into_iter().flatten() {
        if subject.is_object()
            && matches!(subject.text(&["kind"]), "User" | "Group")
            && subject.text(&["apiGroup"]).is_empty()
        {
            object::set(subject, &["apiGroup"], Value::from(GROUP));
        }
    }
}

fn rules(role: &Value, namespaced: bool) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (index, rule) in role.list(&["rules"]).iter().enumerate() {
        let at = |field: &str| format!("rules[{index}].{field}");
        let none = |field: &str| rule.list(&[field]).is_empty();
        if none("verbs") {
            errors.push(FieldError::required(at("verbs"), "verbs must contain at least one value"));
        }
        if !none("nonResourceURLs") {
            if namespaced {
                let why = "namespaced rules cannot apply to non-resource URLs";
                errors.push(FieldError::invalid(at("nonResourceURLs"), &rule["nonResourceURLs"], why));
            }
            if !none("apiGroups") || !none("resources") || !none("resourceNames") {
                let why = "rules cannot apply to both regular resources and non-resource URLs";
                errors.push(FieldError::invalid(at("nonResourceURLs"), &rule["nonResourceURLs"], why));
            }
            continue;
        }
        if none("apiGroups") {
            let why = "resource rules must supply at least one api group";
            errors.push(FieldError::required(at("apiGroups"), why));
        }
        if none("resources") {
            errors.push(FieldError::required(at("resources"), "resource rules must supply at least one resource"));
        }
    }
    errors
}

pub fn role(role: &Value) -> Vec<FieldError> {
    rules(role, true)
}

pub fn cluster_role(role: &Value) -> Vec<FieldError> {
    let mut errors = rules(role, false);
    if let Some(rule) = role.get("aggregationRule").filter(|r| !r.is_null())
        && rule.list(&["clusterRoleSelectors"]).is_empty()
    {
        let why = "at least one clusterRoleSelector required if aggregationRule is non-nil";
        errors.push(FieldError::required("aggregationRule.clusterRoleSelectors", why));
    }
    errors
}

pub fn role_binding(object: &Value) -> Vec<FieldError> {
    binding(object, &["Role", "ClusterRole"], true)
}

pub fn cluster_role_binding(object: &Value) -> Vec<FieldError> {
    binding(object, &["ClusterRole"], false)
}

fn binding(object: &Value, kinds: &[&str], namespaced: bool) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let text = |field: &str| object.text(&["roleRef", field]);
    if text("apiGroup") != GROUP {
        errors.push(FieldError::not_supported("roleRef.apiGroup", &Value::from(text("apiGroup")), &[GROUP]));
    }
    if !kinds.contains(&text("kind")) {
        errors.push(FieldError::not_supported("roleRef.kind", &Value::from(text("kind")), kinds));
    }
    if text("name").is_empty() {
        errors.push(FieldError::required("roleRef.name", ""));
    }
    for (index, subject) in object.list(&["subjects"]).iter().enumerate() {
        subject_faults(subject, &format!("subjects[{index}]"), namespaced, &mut errors);
    }
    errors
}

fn subject_faults(subject: &Value, at: &str, namespaced: bool, errors: &mut Vec<FieldError>) {
    let group = subject.text(&["apiGroup"]);
    if subject.text(&["name"]).is_empty() {
        errors.push(FieldError::required(format!("{at}.name"), ""));
    }
    let supported = match subject.text(&["kind"]) {
        "ServiceAccount" => {
            if !namespaced && subject.text(&["namespace"]).is_empty() {
                errors.push(FieldError::required(format!("{at}.namespace"), ""));
            }
            ""
        }
        "User" | "Group" => GROUP,
        kind => {
            let kinds = ["ServiceAccount", "User", "Group"];
            errors.push(FieldError::not_supported(format!("{at}.kind"), &Value::from(kind), &kinds));
            return;
        }
    };
    if group != supported {
        errors.push(FieldError::not_supported(format!("{at}.apiGroup"), &Value::from(group), &[supported]));
    }
}

fn fixed_role(new: &Value, old: &Value, errors: &mut Vec<FieldError>) {
    if new.get("roleRef") != old.get("roleRef") {
        errors.push(FieldError::invalid("roleRef", &new["roleRef"], "cannot change roleRef"));
    }
}

pub fn role_binding_update(new: &Value, old: &Value) -> Vec<FieldError> {
    let mut errors = role_binding(new);
    fixed_role(new, old, &mut errors);
    errors
}

pub fn cluster_role_binding_update(new: &Value, old: &Value) -> Vec<FieldError> {
    let mut errors = cluster_role_binding(new);
    fixed_role(new, old, &mut errors);
    errors
}
