//! Owner references and finalizers: controller-runtime `pkg/controller/controllerutil/controllerutil.go`.
//!
//! Caveat, as in the real helpers: two references are of the same owner when group, kind and name agree. Neither the
//! version nor the uid is looked at.
//!
//! Divergence from Kubernetes: none known.

use super::handler::group_version;
use crate::object::{ObjectView, set};
use serde_json::{Value, json};

/// An owner as the helpers see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    pub api_version: String,
    pub kind: String,
    pub name: String,
    pub uid: String,
    /// Empty: cluster-wide.
    pub namespace: String,
}

impl Owner {
    #[must_use]
    pub fn of(object: &Value) -> Self {
        Owner {
            api_version: object.text(&["apiVersion"]).to_string(),
            kind: object.kind().to_string(),
            name: object.name().to_string(),
            uid: object.uid().to_string(),
            namespace: object.namespace().to_string(),
        }
    }

    fn is(&self, reference: &Value) -> bool {
        let groups = group_version(reference.text(&["apiVersion"])).zip(group_version(&self.api_version));
        groups.is_some_and(|((theirs, _), (own, _))| theirs == own)
            && reference.kind() == self.kind
            && reference.text(&["name"]) == self.name
    }

    #[must_use]
    pub fn reference(&self) -> Value {
        json!({"apiVersion": self.api_version, "kind": self.kind, "name": self.name, "uid": self.uid})
    }
}

/// Why a reference was not changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnerError {
    AlreadyOwned { object: String, kind: String, name: String },
    CrossNamespace { owner: String, object: String },
    NamespacedOwnerOfClusterObject { owner: String },
    NoOwnerReferences,
    ReferenceNotFound,
    NoControllerReference,
    NotTheController,
}

impl std::fmt::Display for OwnerError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            OwnerError::AlreadyOwned { object, kind, name } => {
                write!(f, "Object {object} is already owned by another {kind} controller {name}")
            }
            OwnerError::CrossNamespace { owner, object } => write!(
                f,
                "cross-namespace owner references are disallowed, owner's namespace {owner}, obj's namespace {object}"
            ),
            OwnerError::NamespacedOwnerOfClusterObject { owner } => {
                write!(f, "cluster-scoped resource must not have a namespace-scoped owner, owner's namespace {owner}")
            }
            OwnerError::NoOwnerReferences => f.write_str("the object does not have any owner references"),
            OwnerError::ReferenceNotFound => f.write_str("the object does not have an owner reference for the owner"),
            OwnerError::NoControllerReference => {
                f.write_str("the object does not have an owner reference with controller equals true")
            }
            OwnerError::NotTheController => f.write_str("the owner is not the controller of the object"),
        }
    }
}

fn validate(object: &Value, owner: &Owner) -> Result<(), OwnerError> {
    if owner.namespace.is_empty() || owner.namespace == object.namespace() {
        return Ok(());
    }
    let from = owner.namespace.clone();
    Err(if object.namespace().is_empty() {
        OwnerError::NamespacedOwnerOfClusterObject { owner: from }
    } else {
        OwnerError::CrossNamespace { owner: from, object: object.namespace().to_string() }
    })
}

/// Makes `owner` the controller of `object`.
///
/// # Errors
/// When another object is the controller, or the namespaces do not allow it.
pub fn set_controller_reference(object: &mut Value, owner: &Owner, block_deletion: bool) -> Result<(), OwnerError> {
    validate(object, owner)?;
    if let Some(existing) = object.controller_ref().filter(|existing| !owner.is(existing)) {
        return Err(OwnerError::AlreadyOwned {
            object: format!("{}/{}", object.namespace(), object.name()),
            kind: existing.kind().to_string(),
            name: existing.text(&["name"]).to_string(),
        });
    }
    let mut reference = owner.reference();
    reference["controller"] = json!(true);
    reference["blockOwnerDeletion"] = json!(block_deletion);
    upsert(object, owner, reference);
    Ok(())
}

/// Adds a plain reference, or overwrites the one of that owner, flags and all.
///
/// # Errors
/// When the namespaces do not allow it.
pub fn set_owner_reference(object: &mut Value, owner: &Owner) -> Result<(), OwnerError> {
    validate(object, owner)?;
    upsert(object, owner, owner.reference());
    Ok(())
}

/// # Errors
/// When there is no such reference.
pub fn remove_owner_reference(object: &mut Value, owner: &Owner) -> Result<(), OwnerError> {
    if object.owner_references().is_empty() {
        return Err(OwnerError::NoOwnerReferences);
    }
    let at = index(object, owner).ok_or(OwnerError::ReferenceNotFound)?;
    drop_reference(object, at);
    Ok(())
}

/// # Errors
/// When the owner is not the controller.
pub fn remove_controller_reference(object: &mut Value, owner: &Owner) -> Result<(), OwnerError> {
    if object.controller_ref().is_none() {
        return Err(OwnerError::NoControllerReference);
    }
    let at = index(object, owner).ok_or(OwnerError::ReferenceNotFound)?;
    if object.owner_references()[at].get("controller") != Some(&Value::Bool(true)) {
        return Err(OwnerError::NotTheController);
    }
    drop_reference(object, at);
    Ok(())
}

#[must_use]
pub fn has_owner_reference(object: &Value, owner: &Owner) -> bool {
    index(object, owner).is_some()
}

/// Controlled by this very object: the uid decides.
#[must_use]
pub fn is_controlled_by(object: &Value, uid: &str) -> bool {
    object.controller_ref().is_some_and(|reference| reference.text(&["uid"]) == uid)
}

fn index(object: &Value, owner: &Owner) -> Option<usize> {
    object.owner_references().iter().position(|reference| owner.is(reference))
}

fn upsert(object: &mut Value, owner: &Owner, reference: Value) {
    let mut references = object.owner_references().to_vec();
    match references.iter().position(|existing| owner.is(existing)) {
        Some(at) => references[at] = reference,
        None => references.push(reference),
    }
    set(object, &["metadata", "ownerReferences"], Value::Array(references));
}

fn drop_reference(object: &mut Value, at: usize) {
    let mut references = object.owner_references().to_vec();
    references.remove(at);
    set(object, &["metadata", "ownerReferences"], Value::Array(references));
}

#[must_use]
pub fn contains_finalizer(object: &Value, finalizer: &str) -> bool {
    object.finalizers().contains(&finalizer)
}

/// Appends a finalizer; answers whether the list changed.
pub fn add_finalizer(object: &mut Value, finalizer: &str) -> bool {
    if contains_finalizer(object, finalizer) {
        return false;
    }
    let mut list = object.list(&["metadata", "finalizers"]).to_vec();
    list.push(json!(finalizer));
    set(object, &["metadata", "finalizers"], Value::Array(list));
    true
}

/// Removes every equal entry; answers whether the list changed.
pub fn remove_finalizer(object: &mut Value, finalizer: &str) -> bool {
    let mut list = object.list(&["metadata", "finalizers"]).to_vec();
    let before = list.len();
    list.retain(|entry| entry.as_str() != Some(finalizer));
    if list.len() == before {
        return false;
    }
    set(object, &["metadata", "finalizers"], Value::Array(list));
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(api_version: &str, name: &str, uid: &str, namespace: &str) -> Owner {
        Owner {
            api_version: api_version.into(),
            kind: "Deployment".into(),
            name: name.into(),
            uid: uid.into(),
            namespace: namespace.into(),
        }
    }

    fn object() -> Value {
        json!({"metadata": {"namespace": "shop", "name": "s"}})
    }

    #[test]
    fn an_object_has_one_controller() {
        let mut object = object();
        set_controller_reference(&mut object, &owner("apps/v1", "a", "u1", "shop"), true).unwrap();
        let before = object.clone();
        let error = set_controller_reference(&mut object, &owner("apps/v1", "b", "u2", "shop"), true).unwrap_err();
        assert!(matches!(error, OwnerError::AlreadyOwned { .. }));
        assert_eq!(object, before);
        set_owner_reference(&mut object, &owner("apps/v1", "b", "u2", "shop")).unwrap();
        assert_eq!(object.owner_references().len(), 2);
    }

    #[test]
    fn version_and_uid_do_not_make_another_owner() {
        let mut object = object();
        for (version, uid) in [("apps/v1", "u1"), ("apps/v1", "u1"), ("apps/v2", "u1"), ("apps/v2", "u9")] {
            set_controller_reference(&mut object, &owner(version, "a", uid, "shop"), true).unwrap();
        }
        assert_eq!(object.owner_references().len(), 1);
        assert!(is_controlled_by(&object, "u9"));
    }

    #[test]
    fn namespaces_limit_owners() {
        let mut namespaced = object();
        assert!(set_owner_reference(&mut namespaced, &owner("apps/v1", "a", "u1", "other")).is_err());
        assert!(set_owner_reference(&mut namespaced, &owner("apps/v1", "a", "u1", "")).is_ok());
        let mut cluster = json!({"metadata": {"name": "z"}});
        assert!(set_owner_reference(&mut cluster, &owner("apps/v1", "a", "u1", "shop")).is_err());
    }

    #[test]
    fn a_plain_reference_to_the_controller_takes_its_flag_away() {
        let mut object = object();
        set_controller_reference(&mut object, &owner("apps/v1", "a", "u1", "shop"), true).unwrap();
        set_owner_reference(&mut object, &owner("apps/v1", "a", "u1", "shop")).unwrap();
        assert!(object.controller_ref().is_none());
    }

    #[test]
    fn removing_a_finalizer_takes_every_equal_entry() {
        let mut object = json!({"metadata": {"finalizers": ["a", "b", "a"]}});
        assert!(remove_finalizer(&mut object, "a"));
        assert_eq!(object.finalizers(), ["b"]);
        assert!(add_finalizer(&mut object, "a") && !add_finalizer(&mut object, "a"));
    }
}
