//! Small identities: keys of objects, kinds, resources, records and messages.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// `namespace/name`; the namespace is empty for cluster-scoped objects.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key {
    pub namespace: Arc<str>,
    pub name: Arc<str>,
}

impl Key {
    #[must_use]
    pub fn new(namespace: &str, name: &str) -> Self {
        Key { namespace: namespace.into(), name: name.into() }
    }

    /// Reads `namespace/name` or `name`.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        match text.split_once('/') {
            Some((namespace, name)) => Key::new(namespace, name),
            None => Key::new("", text),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace.is_empty() { f.write_str(&self.name) } else { write!(f, "{}/{}", self.namespace, self.name) }
    }
}

/// Group and plural, as in an address; what RBAC and the store speak of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct GroupResource {
    pub group: Arc<str>,
    pub resource: Arc<str>,
}

impl GroupResource {
    #[must_use]
    pub fn new(group: &str, resource: &str) -> Self {
        GroupResource { group: group.into(), resource: resource.into() }
    }
}

/// `pods`, `widgets.example.com`: the form error texts use.
impl fmt::Display for GroupResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.group.is_empty() { f.write_str(&self.resource) } else { write!(f, "{}.{}", self.resource, self.group) }
    }
}

/// Group, version and plural: one collection as a client addresses it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Gvr {
    pub group: Arc<str>,
    pub version: Arc<str>,
    pub resource: Arc<str>,
}

impl Gvr {
    #[must_use]
    pub fn new(group: &str, version: &str, resource: &str) -> Self {
        Gvr { group: group.into(), version: version.into(), resource: resource.into() }
    }

    #[must_use]
    pub fn group_resource(&self) -> GroupResource {
        GroupResource { group: self.group.clone(), resource: self.resource.clone() }
    }

    /// `/api/v1` or `/apis/group/version`.
    #[must_use]
    pub fn root(&self) -> String {
        if self.group.is_empty() {
            format!("/api/{}", self.version)
        } else {
            format!("/apis/{}/{}", self.group, self.version)
        }
    }

    /// The path of the collection, limited to `namespace` unless that is empty.
    #[must_use]
    pub fn collection(&self, namespace: &str) -> String {
        if namespace.is_empty() {
            format!("{}/{}", self.root(), self.resource)
        } else {
            format!("{}/namespaces/{namespace}/{}", self.root(), self.resource)
        }
    }

    /// The path of one object.
    #[must_use]
    pub fn object(&self, key: &Key) -> String {
        format!("{}/{}", self.collection(&key.namespace), key.name)
    }
}

/// Group, version and kind, as written in a manifest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Gvk {
    pub group: Arc<str>,
    pub version: Arc<str>,
    pub kind: Arc<str>,
}

impl Gvk {
    /// From the `apiVersion` and `kind` of a manifest.
    #[must_use]
    pub fn parse(api_version: &str, kind: &str) -> Self {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        Gvk { group: group.into(), version: version.into(), kind: kind.into() }
    }

    #[must_use]
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.to_string() } else { format!("{}/{}", self.group, self.version) }
    }
}

macro_rules! number_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u64);
    };
}

number_id!(
    /// Number of a record in its run, counted from 1.
    EventId
);
number_id!(
    /// Number of a message (request, answer or watch event) in its run.
    MessageId
);
number_id!(
    /// Number of an open watch at the server.
    WatchId
);
number_id!(
    /// One trace runs from a command to the last write it led to.
    TraceId
);
