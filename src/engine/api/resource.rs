//! What an address resolves to: one version of one kind, built in or defined by a CRD, with what the common
//! request path asks of it.

use super::crd::Definition;
use super::kinds::{Kind, NameRule};
use super::schema::structural::Structural;
use crate::ids::{GroupResource, Gvr};
use std::sync::Arc;

/// One served version of one kind.
#[derive(Clone, Debug)]
pub struct Resource {
    pub gvr: Gvr,
    pub kind: Arc<str>,
    pub namespaced: bool,
    pub has_status: bool,
    pub has_scale: bool,
    /// A PUT without a resource version overwrites.
    pub unconditional_update: bool,
    /// A PUT of an absent object creates it.
    pub create_on_update: bool,
    /// Counts changes of anything but metadata (and status, if that is a subresource) in `metadata.generation`.
    pub generation: bool,
    pub names: NameRule,
    pub source: Source,
    /// How applied configurations merge.
    pub typed: Arc<Structural>,
}

/// Where a kind comes from.
#[derive(Clone, Debug)]
pub enum Source {
    BuiltIn(&'static Kind),
    /// The definition and the index of the version that was asked for.
    Custom(Arc<Definition>, usize),
}

impl Resource {
    #[must_use]
    pub fn built_in(kind: &'static Kind, typed: &Arc<Structural>) -> Self {
        Resource {
            gvr: kind.gvr(),
            kind: kind.kind.into(),
            namespaced: kind.namespaced,
            has_status: kind.has_status,
            has_scale: kind.has_scale,
            unconditional_update: kind.unconditional_update,
            create_on_update: kind.create_on_update,
            generation: kind.generation,
            names: kind.names,
            source: Source::BuiltIn(kind),
            typed: typed.clone(),
        }
    }

    #[must_use]
    pub fn custom(definition: &Arc<Definition>, version: usize) -> Self {
        let v = &definition.versions[version];
        Resource {
            gvr: Gvr::new(&definition.group, &v.name, &definition.names.plural),
            kind: definition.names.kind.as_str().into(),
            namespaced: definition.namespaced,
            has_status: v.status,
            has_scale: v.scale.is_some(),
            unconditional_update: false,
            create_on_update: false,
            generation: true,
            names: NameRule::Subdomain,
            source: Source::Custom(definition.clone(), version),
            typed: v.typed.clone(),
        }
    }

    #[must_use]
    pub fn group_resource(&self) -> GroupResource {
        self.gvr.group_resource()
    }

    #[must_use]
    pub fn api_version(&self) -> String {
        if self.gvr.group.is_empty() {
            self.gvr.version.to_string()
        } else {
            format!("{}/{}", self.gvr.group, self.gvr.version)
        }
    }

    #[must_use]
    pub fn built_in_kind(&self) -> Option<&'static Kind> {
        match self.source {
            Source::BuiltIn(kind) => Some(kind),
            Source::Custom(..) => None,
        }
    }

    /// The schema of the version that was asked for; built-in kinds have none here.
    #[must_use]
    pub fn schema(&self) -> Option<&Arc<Structural>> {
        match &self.source {
            Source::BuiltIn(_) => None,
            Source::Custom(definition, version) => definition.versions[*version].schema.as_ref(),
        }
    }

    /// What requests to a deprecated version are warned with.
    #[must_use]
    pub fn deprecation(&self) -> Option<&str> {
        match &self.source {
            Source::BuiltIn(_) => None,
            Source::Custom(definition, version) => definition.versions[*version].deprecation.as_deref(),
        }
    }

    /// Answers questions and stores nothing.
    #[must_use]
    pub fn is_review(&self) -> bool {
        self.built_in_kind().is_some_and(|k| k.virtual_only)
    }

    /// Whether this is the built-in kind of that group and plural.
    #[must_use]
    pub fn is(&self, group: &str, plural: &str) -> bool {
        &*self.gvr.group == group && &*self.gvr.resource == plural
    }
}
