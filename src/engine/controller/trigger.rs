//! The event that predicates and handlers judge: controller-runtime `pkg/event`.
//!
//! Divergence from Kubernetes: none known.

use crate::client::handler::Notification;
use crate::object::{Object, ObjectView};

/// What happened to an object. An absent object is one that the source did not give.
#[derive(Clone, Debug, PartialEq)]
pub enum Trigger {
    Create {
        object: Option<Object>,
        is_in_initial_list: bool,
    },
    Update {
        old: Option<Object>,
        new: Option<Object>,
    },
    /// `tombstone`: only known to be gone; the object is its last known state.
    Delete {
        object: Option<Object>,
        tombstone: bool,
    },
    /// From outside of the cluster.
    Generic {
        object: Option<Object>,
    },
}

/// The kind of a trigger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TriggerKind {
    Create,
    Update,
    Delete,
    Generic,
}

impl Trigger {
    #[must_use]
    pub fn kind(&self) -> TriggerKind {
        match self {
            Trigger::Create { .. } => TriggerKind::Create,
            Trigger::Update { .. } => TriggerKind::Update,
            Trigger::Delete { .. } => TriggerKind::Delete,
            Trigger::Generic { .. } => TriggerKind::Generic,
        }
    }

    /// The object as it is now: the new one of an update.
    #[must_use]
    pub fn present(&self) -> Option<&Object> {
        match self {
            Trigger::Create { object, .. } | Trigger::Delete { object, .. } | Trigger::Generic { object } => {
                object.as_ref()
            }
            Trigger::Update { new, .. } => new.as_ref(),
        }
    }

    /// All objects of the trigger: the old one of an update first.
    pub fn objects(&self) -> impl Iterator<Item = &Object> {
        let old = match self {
            Trigger::Update { old, .. } => old.as_ref(),
            Trigger::Create { .. } | Trigger::Delete { .. } | Trigger::Generic { .. } => None,
        };
        old.into_iter().chain(self.present())
    }

    /// Says nothing new: from the initial list, or an update with equal versions (resync, relist).
    #[must_use]
    pub fn is_repetition(&self) -> bool {
        match self {
            Trigger::Create { is_in_initial_list, .. } => *is_in_initial_list,
            Trigger::Update { old: Some(old), new: Some(new) } => old.resource_version() == new.resource_version(),
            Trigger::Update { .. } | Trigger::Delete { .. } | Trigger::Generic { .. } => false,
        }
    }
}

impl From<&Notification> for Trigger {
    fn from(call: &Notification) -> Self {
        match call {
            Notification::Add { object, is_in_initial_list } => {
                Trigger::Create { object: Some(object.clone()), is_in_initial_list: *is_in_initial_list }
            }
            Notification::Update { old, new } => Trigger::Update { old: Some(old.clone()), new: Some(new.clone()) },
            Notification::Delete { object, tombstone, .. } => {
                Trigger::Delete { object: Some(object.clone()), tombstone: *tombstone }
            }
        }
    }
}
