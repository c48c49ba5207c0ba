//! The built-in kinds: one table that discovery, routing and the write path read, with the hooks of each kind.
//!
//! Divergence from Kubernetes: one version of each kind is served, and only the kinds in the table.

mod apps;
mod core;
mod pods;
mod table;
pub mod typed;

pub use table::KINDS;

use super::schema::field::FieldError;
use crate::ids::{GroupResource, Gvr};
use serde_json::Value;

/// How a name of this kind must look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameRule {
    /// DNS-1123 subdomain.
    Subdomain,
    /// DNS-1123 label.
    Label,
    /// DNS-1035 label: starts with a letter.
    Label1035,
    /// One path segment: no `/`, no `%`, not `.` or `..`.
    PathSegment,
}

/// One built-in kind.
#[derive(Debug)]
pub struct Kind {
    pub group: &'static str,
    pub version: &'static str,
    pub kind: &'static str,
    pub plural: &'static str,
    pub singular: &'static str,
    pub short_names: &'static [&'static str],
    pub categories: &'static [&'static str],
    pub namespaced: bool,
    /// Has `/status`; then the main resource ignores status and `/status` ignores the rest.
    pub has_status: bool,
    /// Has `/scale`, on `spec.replicas` and `status.replicas`.
    pub has_scale: bool,
    /// A PUT without a resource version overwrites.
    pub unconditional_update: bool,
    /// A PUT of an absent object creates it.
    pub create_on_update: bool,
    /// Counts changes of anything but metadata and status in `metadata.generation`.
    pub generation: bool,
    /// Only POST is served and nothing is stored, as for the access reviews.
    pub virtual_only: bool,
    pub names: NameRule,
    pub hooks: Hooks,
}

/// What a kind adds to the common write path.
#[derive(Clone, Copy, Debug)]
pub struct Hooks {
    /// Reads the body as the typed kind would: drops fields the kind does not know and reports their paths.
    pub decode: fn(&mut Value, &mut Vec<String>) -> Result<(), String>,
    /// Fills in defaults, as on every decode.
    pub default: fn(&mut Value),
    /// Last touches before a create is validated (the common path already dropped status).
    pub prepare_create: fn(&mut Value),
    /// Last touches before an update is validated; `(new, old)`. The common path already kept the old status.
    pub prepare_update: fn(&mut Value, &Value),
    /// Last touches before a `/status` write is validated; `(new, old)`. The common path already kept the rest.
    pub prepare_status: fn(&mut Value, &Value),
    /// Faults of a new object, besides metadata.
    pub validate: fn(&Value) -> Vec<FieldError>,
    /// Faults of an update, besides metadata; `(new, old)`.
    pub validate_update: fn(&Value, &Value) -> Vec<FieldError>,
    /// Faults of a `/status` write; `(new, old)`.
    pub validate_status: fn(&Value, &Value) -> Vec<FieldError>,
}

impl Hooks {
    /// Changes nothing and accepts everything.
    pub const NONE: Hooks = Hooks {
        decode: |_, _| Ok(()),
        default: |_| {},
        prepare_create: |_| {},
        prepare_update: |_, _| {},
        prepare_status: |_, _| {},
        validate: |_| Vec::new(),
        validate_update: |_, _| Vec::new(),
        validate_status: |_, _| Vec::new(),
    };
}

impl Kind {
    /// A plain namespaced kind; the table changes what differs.
    pub const fn new(
        group: &'static str,
        version: &'static str,
        kind: &'static str,
        plural: &'static str,
        singular: &'static str,
    ) -> Self {
        Kind {
            group,
            version,
            kind,
            plural,
            singular,
            short_names: &[],
            categories: &[],
            namespaced: true,
            has_status: false,
            has_scale: false,
            unconditional_update: true,
            create_on_update: false,
            generation: false,
            virtual_only: false,
            names: NameRule::Subdomain,
            hooks: Hooks::NONE,
        }
    }

    #[must_use]
    pub fn resource(&self) -> GroupResource {
        GroupResource::new(self.group, self.plural)
    }

    #[must_use]
    pub fn gvr(&self) -> Gvr {
        Gvr::new(self.group, self.version, self.plural)
    }

    #[must_use]
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.to_string() } else { format!("{}/{}", self.group, self.version) }
    }
}

/// The built-in kind at an address.
#[must_use]
pub fn find(group: &str, version: &str, plural: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|k| k.plural == plural && k.group == group && k.version == version)
}

/// The built-in kind of a name, in any version.
#[must_use]
pub fn find_kind(group: &str, kind: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|k| k.kind == kind && k.group == group)
}
