//! Which kinds are served at which addresses.

use crate::api::apply;
use crate::api::crd::Definition;
use crate::api::kinds::{KINDS, Kind, typed};
use crate::api::resource::Resource;
use crate::ids::{GroupResource, Gvr};
use crate::time::SimTime;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Addresses to kinds; cheap to copy.
#[derive(Clone, Debug)]
pub struct Registry {
    served: Arc<BTreeMap<Gvr, Arc<Resource>>>,
    definitions: Arc<BTreeMap<Arc<str>, Arc<Definition>>>,
    /// When the lifecycle of definitions goes on.
    pub lifecycle: Option<SimTime>,
}

impl Registry {
    pub fn new() -> Self {
        let metadata = apply::metadata_schema();
        let resource = |kind: &'static Kind| {
            let typed = apply::with_metadata(typed::merge_schema(kind.kind).as_deref(), &metadata);
            (kind.gvr(), Arc::new(Resource::built_in(kind, &Arc::new(typed))))
        };
        let served = KINDS.iter().map(resource).collect();
        Registry { served: Arc::new(served), definitions: Arc::default(), lifecycle: None }
    }

    pub fn find(&self, group: &str, version: &str, plural: &str) -> Option<Arc<Resource>> {
        self.served.get(&Gvr::new(group, version, plural)).cloned()
    }

    pub fn any_version(&self, resource: &GroupResource) -> Option<&Arc<Resource>> {
        self.served.values().find(|r| r.gvr.group == resource.group && r.gvr.resource == resource.resource)
    }

    /// All definitions that are served, by name.
    pub fn definitions(&self) -> impl Iterator<Item = &Arc<Definition>> {
        self.definitions.values()
    }

    pub fn definition(&self, name: &str) -> Option<&Arc<Definition>> {
        self.definitions.get(name)
    }

    /// Takes in a definition; its versions are served from now on, and the old ones no more.
    pub fn define(&mut self, definition: &Arc<Definition>) {
        self.forget(&definition.name);
        let served = Arc::make_mut(&mut self.served);
        for (index, _) in definition.versions.iter().enumerate().filter(|(_, v)| v.served) {
            let resource = Resource::custom(definition, index);
            served.insert(resource.gvr.clone(), Arc::new(resource));
        }
        Arc::make_mut(&mut self.definitions).insert(definition.name.as_str().into(), definition.clone());
    }

    /// Stops serving a definition.
    pub fn forget(&mut self, name: &str) {
        let Some(old) = Arc::make_mut(&mut self.definitions).remove(name) else { return };
        let (group, plural) = (old.group.as_str(), old.names.plural.as_str());
        Arc::make_mut(&mut self.served).retain(|gvr, _| &*gvr.group != group || &*gvr.resource != plural);
    }

    pub fn due(&self) -> Option<SimTime> {
        self.lifecycle
    }
}
