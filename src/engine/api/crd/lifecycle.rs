//! What the server's own controllers do about a definition next: accept names, establish, clean up.
//!
//! Mirrors apiextensions `pkg/controller/{status,establish,apiapproval,finalizer}`. Pure functions over stored definitions;
//! the server carries out what they say.

use super::names;
use super::validate::bundle_is_good;
use crate::object::{self, ObjectView};
use crate::time::{SimTime, Span};
use serde_json::{Value, json};

pub const NAMES_ACCEPTED: &str = "NamesAccepted";
pub const ESTABLISHED: &str = "Established";
pub const TERMINATING: &str = "Terminating";
const APPROVED: &str = "KubernetesAPIApprovalPolicyConformant";
const APPROVAL_ANNOTATION: &str = "api-approved.kubernetes.io";
/// Keeps a dying definition until its objects are gone.
pub const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";
/// How long one of these controllers takes to act on what it sees; ours, about what a quiet cluster shows.
pub const REACTION: Span = Span::millis(20);
/// How often left-over objects are looked for (`crd_finalizer.go`).
pub const POLL: Span = Span::secs(5);

/// The next step in the life of a definition.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Write this object.
    Write(Box<Value>),
    /// Delete its objects; `in_progress` already says so when this is a later round.
    CleanUp,
    /// Nothing, until something changes.
    Rest,
}

/// The next step of `definition`, given all definitions there are.
pub fn next<'a>(definition: &Value, all: impl Iterator<Item = &'a Value>, now: SimTime) -> Step {
    let dying = definition.deleting() && definition.finalizers().contains(&CLEANUP);
    let changed =
        accept_names(definition, all, now).or_else(|| establish(definition, now)).or_else(|| approve(definition, now));
    if let Some(new) = changed {
        return Step::Write(Box::new(new));
    }
    if !dying {
        return Step::Rest;
    }
    if condition_reason(definition, TERMINATING) == "InstanceDeletionPending" {
        let mut new = definition.clone();
        in_progress(&mut new, now);
        return Step::Write(Box::new(new));
    }
    Step::CleanUp
}

/// Says that objects are being deleted.
pub fn in_progress(object: &mut Value, now: SimTime) {
    let message = "CustomResource deletion is in progress";
    set_condition(object, now, TERMINATING, true, "InstanceDeletionInProgress", message);
}

/// Says that deleting objects failed.
pub fn failed(object: &mut Value, now: SimTime, why: &str) {
    let message = format!("could not list instances: {why}");
    set_condition(object, now, TERMINATING, true, "InstanceDeletionFailed", &message);
}

/// Says that no object is left, and lets go of the definition.
pub fn completed(object: &mut Value, now: SimTime) {
    set_condition(object, now, TERMINATING, false, "InstanceDeletionCompleted", "removed all instances");
    let left: Vec<Value> =
        object.list(&["metadata", "finalizers"]).iter().filter(|f| f.as_str() != Some(CLEANUP)).cloned().collect();
    if left.is_empty() {
        object::remove(object, &["metadata", "finalizers"]);
    } else {
        object::set(object, &["metadata", "finalizers"], Value::from(left));
    }
}

fn accept_names<'a>(definition: &Value, all: impl Iterator<Item = &'a Value>, now: SimTime) -> Option<Value> {
    let accepted = names::accept(definition, all);
    let mut new = definition.clone();
    object::set(&mut new, &["status", "acceptedNames"], accepted.names);
    match accepted.conflict {
        None => set_condition(&mut new, now, NAMES_ACCEPTED, true, "NoConflicts", "no conflicts found"),
        Some((reason, message)) => set_condition(&mut new, now, NAMES_ACCEPTED, false, reason, &message),
    }
    let fresh = definition.condition(ESTABLISHED).is_empty();
    let unsettled = fresh || condition_reason(definition, ESTABLISHED) == "NotAccepted";
    if new.condition(NAMES_ACCEPTED) == "True" && unsettled {
        set_condition(&mut new, now, ESTABLISHED, false, "Installing", "the initial names have been accepted");
    } else if fresh {
        set_condition(&mut new, now, ESTABLISHED, false, "NotAccepted", "not all names are accepted");
    }
    (new != *definition).then_some(new)
}

fn establish(definition: &Value, now: SimTime) -> Option<Value> {
    if definition.condition(NAMES_ACCEPTED) != "True" || definition.condition(ESTABLISHED) == "True" {
        return None;
    }
    let mut new = definition.clone();
    if bundle_valid(definition) {
        set_condition(&mut new, now, ESTABLISHED, true, "InitialNamesAccepted", "the initial names have been accepted");
    } else {
        let message = "The conversion webhook CABundle is invalid";
        set_condition(&mut new, now, ESTABLISHED, false, "InvalidCABundle", message);
    }
    (new != *definition).then_some(new)
}

/// Groups of the project itself carry the word of a reviewer.
fn approve(definition: &Value, now: SimTime) -> Option<Value> {
    let group = definition.text(&["spec", "group"]);
    let protected = ["k8s.io", "kubernetes.io"]
        .iter()
        .any(|d| group == *d || group.strip_suffix(d).is_some_and(|g| g.ends_with('.')));
    if !protected {
        return None;
    }
    let said = definition.annotation(APPROVAL_ANNOTATION).unwrap_or("");
    let (status, reason, message) = match said {
        "" => (
            false,
            "MissingAnnotation",
            format!("protected groups must have approval annotation {APPROVAL_ANNOTATION:?}"),
        ),
        said if said.starts_with("unapproved") => (false, "UnapprovedAnnotation", format!("not approved: {said:?}")),
        said if said.contains("://") => (true, "ApprovedAnnotation", format!("approved in {said}")),
        said => (false, "InvalidAnnotation", format!("{said:?} is no URL")),
    };
    let mut new = definition.clone();
    set_condition(&mut new, now, APPROVED, status, reason, &message);
    (new != *definition).then_some(new)
}

/// The reason word of a condition.
#[must_use]
pub fn condition_reason<'a>(object: &'a Value, kind: &str) -> &'a str {
    let found = object.list(&["status", "conditions"]).iter().find(|c| c.text(&["type"]) == kind);
    found.map_or("", |c| c.text(&["reason"]))
}

/// Sets a condition; its time moves only when its status does.
pub fn set_condition(object: &mut Value, now: SimTime, kind: &str, status: bool, reason: &str, message: &str) {
    let status = if status { "True" } else { "False" };
    let mut conditions = object.list(&["status", "conditions"]).to_vec();
    let at = conditions.iter().position(|c| c.text(&["type"]) == kind);
    let since = at.map(|i| &conditions[i]).filter(|c| c.text(&["status"]) == status);
    let since = since.and_then(|c| c.get("lastTransitionTime")).cloned().unwrap_or_else(|| Value::from(now.rfc3339()));
    let condition =
        json!({"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": since});
    match at {
        Some(i) => conditions[i] = condition,
        None => conditions.push(condition),
    }
    object::set(object, &["status", "conditions"], Value::from(conditions));
}

/// Whether the certificates of a conversion webhook can be read; a definition without any is fine.
#[must_use]
pub fn bundle_valid(definition: &Value) -> bool {
    if definition.text(&["spec", "conversion", "strategy"]) != "Webhook" {
        return true;
    }
    definition.at(&["spec", "conversion", "webhook", "clientConfig", "caBundle"]).is_none_or(bundle_is_good)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crd() -> Value {
        json!({"metadata": {"name": "ws.g.x"}, "spec": {"group": "g.x",
            "names": {"plural": "ws", "singular": "w", "kind": "W", "listKind": "WL"}}, "status": {}})
    }

    fn run(mut object: Value) -> Vec<Value> {
        let mut seen = Vec::new();
        while let Step::Write(new) = next(&object.clone(), [].into_iter(), SimTime::ZERO) {
            object = *new;
            seen.push(object.clone());
        }
        seen
    }

    #[test]
    fn names_are_accepted_before_the_definition_is_established() {
        let seen = run(crd());
        assert_eq!(seen.len(), 2);
        assert_eq!(condition_reason(&seen[0], ESTABLISHED), "Installing");
        assert_eq!(condition_reason(&seen[1], ESTABLISHED), "InitialNamesAccepted");
    }

    #[test]
    fn a_bad_bundle_keeps_a_definition_from_being_established() {
        let mut object = crd();
        object["spec"]["conversion"] =
            json!({"strategy": "Webhook", "webhook": {"clientConfig": {"caBundle": "bm90IGEgY2VydA=="}}});
        let last = run(object).pop().unwrap();
        assert_eq!(condition_reason(&last, ESTABLISHED), "InvalidCABundle");
        assert_eq!(last.condition(NAMES_ACCEPTED), "True");
    }
}
