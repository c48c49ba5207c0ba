//! The store behind the server: one revision counter, objects by key, and the history of every kind.
//!
//! Flow: a write takes the next revision, replaces the object and appends to the history of its kind. Old snapshots
//! are the present with newer history undone.
//!
//! Guarantees: a clone shares everything until one side writes; a write copies pointers of one kind, never objects.
//!
//! Divergence from Kubernetes: etcd and the watch cache in front of it are one thing here, so a read is never stale;
//! the history of a kind is cut at `LOG_MAX` events even before compaction.

mod log;

pub use log::{HistoryEntry, Log};

use crate::api::message::WatchEventType;
use crate::ids::{GroupResource, Key};
use crate::object::{self, Object};
use crate::time::{SimTime, Span};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How often history is compacted (apiserver `pkg/storage/storagebackend/config.go`).
pub const COMPACTION_INTERVAL: Span = Span::secs(300);

/// One write that happened.
#[derive(Clone, Debug)]
pub struct Commit {
    pub revision: u64,
    pub kind: WatchEventType,
    pub resource: GroupResource,
    pub key: Key,
    pub old: Option<Object>,
    pub new: Option<Object>,
    pub user: Arc<str>,
}

/// An object as it lies in the store.
#[derive(Clone, Debug)]
pub struct Stored {
    pub object: Object,
    /// Number of the schema under which the object is known to need no more pruning or defaulting; 0 when unknown.
    pub shape: u64,
}

/// A revision that history no longer reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compacted;

/// Keys in the order etcd keeps them: by the bytes of `namespace/name`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct StoreKey(Key);

impl StoreKey {
    fn bytes(&self) -> impl Iterator<Item = u8> + '_ {
        self.0.namespace.bytes().chain([b'/']).chain(self.0.name.bytes())
    }
}
impl Ord for StoreKey {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        if self.0.namespace == other.0.namespace {
            return self.0.name.cmp(&other.0.name);
        }
        self.bytes().cmp(other.bytes())
    }
}
impl PartialOrd for StoreKey {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

#[derive(Clone, Debug, Default)]
struct Collection {
    objects: BTreeMap<StoreKey, Stored>,
    log: Log,
}

/// All kinds under one revision counter.
#[derive(Clone, Debug)]
pub struct Store {
    revision: u64,
    compacted: u64,
    /// What was current at the last compaction tick, and so is kept until the next one.
    compact_next: u64,
    compacted_at: SimTime,
    collections: BTreeMap<GroupResource, Arc<Collection>>,
}

impl Default for Store {
    fn default() -> Self {
        Store { revision: 1, compacted: 0, compact_next: 0, compacted_at: SimTime::ZERO, collections: BTreeMap::new() }
    }
}

impl Store {
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Begins (or begins anew) the watch history of a kind at the present revision.
    pub fn restart_history(&mut self, resource: &GroupResource) {
        let revision = self.revision;
        self.collection_mut(resource).log.restart(revision);
    }

    #[must_use]
    pub fn get(&self, resource: &GroupResource, key: &Key) -> Option<&Stored> {
        self.collections.get(resource)?.objects.get(&StoreKey(key.clone()))
    }

    /// The objects of a kind in key order, of one namespace unless that is empty.
    pub fn list<'a>(
        &'a self,
        resource: &GroupResource,
        namespace: &'a str,
    ) -> impl Iterator<Item = (&'a Key, &'a Stored)> + 'a {
        let start = StoreKey(Key::new(namespace, ""));
        self.collections
            .get(resource)
            .into_iter()
            .flat_map(move |c| c.objects.range(start.clone()..))
            .take_while(move |(k, _)| namespace.is_empty() || *k.0.namespace == *namespace)
            .map(|(k, s)| (&k.0, s))
    }

    /// Every object, kind by kind.
    pub fn objects(&self) -> impl Iterator<Item = &Object> {
        self.collections.values().flat_map(|c| c.objects.values().map(|s| &s.object))
    }

    #[must_use]
    pub fn count(&self, resource: &GroupResource) -> usize {
        self.collections.get(resource).map_or(0, |c| c.objects.len())
    }

    /// The objects of a kind as they were at `revision`.
    ///
    /// # Errors
    /// When history no longer reaches that far back.
    pub fn list_at(
        &self,
        resource: &GroupResource,
        namespace: &str,
        revision: u64,
    ) -> Result<Vec<(Key, Stored)>, Compacted> {
        let mut then: BTreeMap<StoreKey, Stored> =
            self.list(resource, namespace).map(|(k, s)| (StoreKey(k.clone()), s.clone())).collect();
        let Some(collection) = self.collections.get(resource) else { return Ok(Vec::new()) };
        if revision < self.compacted || !collection.log.reaches(revision) {
            return Err(Compacted);
        }
        for entry in collection.log.after(revision).rev() {
            let commit = &entry.commit;
            if !namespace.is_empty() && *commit.key.namespace != *namespace {
                continue;
            }
            let key = StoreKey(commit.key.clone());
            match &commit.old {
                Some(object) => then.insert(key, Stored { object: object.clone(), shape: entry.old_shape }),
                None => then.remove(&key),
            };
        }
        Ok(then.into_iter().map(|(k, s)| (k.0, s)).collect())
    }

    /// The history of a kind; `None` before its first write.
    #[must_use]
    pub fn log(&self, resource: &GroupResource) -> Option<&Log> {
        self.collections.get(resource).map(|c| &c.log)
    }

    /// Writes an object under its key; the revision goes into its metadata.
    pub fn put(
        &mut self,
        now: SimTime,
        resource: &GroupResource,
        key: &Key,
        mut value: Value,
        shape: u64,
        user: &Arc<str>,
    ) -> HistoryEntry {
        self.revision += 1;
        let revision = self.revision;
        object::set(&mut value, &["metadata", "resourceVersion"], Value::from(revision.to_string()));
        let object: Object = Arc::new(value);
        let collection = self.collection_mut(resource);
        let stored = Stored { object: object.clone(), shape };
        let old = collection.objects.insert(StoreKey(key.clone()), stored);
        let kind = if old.is_some() { WatchEventType::Modified } else { WatchEventType::Added };
        let (old, old_shape) = old.map_or((None, 0), |s| (Some(s.object), s.shape));
        let commit = Commit {
            revision,
            kind,
            resource: resource.clone(),
            key: key.clone(),
            old,
            new: Some(object),
            user: user.clone(),
        };
        let entry = HistoryEntry { commit: Arc::new(commit), at: now, old_shape, new_shape: shape };
        collection.log.push(entry.clone());
        entry
    }

    /// Removes an object; `None` when there is none.
    pub fn delete(
        &mut self,
        now: SimTime,
        resource: &GroupResource,
        key: &Key,
        user: &Arc<str>,
    ) -> Option<HistoryEntry> {
        self.get(resource, key)?;
        self.revision += 1;
        let revision = self.revision;
        let collection = self.collection_mut(resource);
        let old = collection.objects.remove(&StoreKey(key.clone()))?;
        let commit = Commit {
            revision,
            kind: WatchEventType::Deleted,
            resource: resource.clone(),
            key: key.clone(),
            old: Some(old.object),
            new: None,
            user: user.clone(),
        };
        let entry = HistoryEntry { commit: Arc::new(commit), at: now, old_shape: old.shape, new_shape: 0 };
        collection.log.push(entry.clone());
        Some(entry)
    }

    /// When the next compaction is due.
    #[must_use]
    pub fn compaction_due(&self) -> SimTime {
        self.compacted_at + COMPACTION_INTERVAL
    }

    /// Forgets what was already old at the previous compaction.
    pub fn compact(&mut self, now: SimTime) {
        self.compacted = self.compact_next;
        self.compact_next = self.revision;
        self.compacted_at = now;
        let compacted = self.compacted;
        for collection in self.collections.values_mut() {
            if collection.log.has_older(compacted) {
                Arc::make_mut(collection).log.trim(compacted);
            }
        }
    }

    /// Forgets everything but the present, as an administrator's compaction does.
    pub fn compact_to_present(&mut self, now: SimTime) {
        self.compact_next = self.revision;
        self.compact(now);
        let revision = self.revision;
        for collection in self.collections.values_mut() {
            Arc::make_mut(collection).log.restart(revision);
        }
    }

    fn collection_mut(&mut self, resource: &GroupResource) -> &mut Collection {
        if !self.collections.contains_key(resource) {
            let mut fresh = Collection::default();
            fresh.log.restart(self.revision.saturating_sub(1));
            self.collections.insert(resource.clone(), Arc::new(fresh));
        }
        let shared = self.collections.get_mut(resource).expect("inserted above when it was missing");
        Arc::make_mut(shared)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::ObjectView;
    use serde_json::json;

    fn put(store: &mut Store, name: &str, n: u64) -> u64 {
        let resource = GroupResource::new("", "configmaps");
        let key = Key::new("ns", name);
        let user = "u".into();
        let value = json!({"metadata": {"name": name, "namespace": "ns"}, "n": n});
        store.put(SimTime::ZERO, &resource, &key, value, 0, &user).commit.revision
    }

    fn names(store: &Store, revision: u64) -> Vec<String> {
        let resource = GroupResource::new("", "configmaps");
        let list = store.list_at(&resource, "ns", revision).unwrap();
        list.iter().map(|(k, s)| format!("{}={}", k.name, s.object.int(&["n"]).unwrap())).collect()
    }

    #[test]
    fn an_old_snapshot_is_the_present_with_newer_history_undone() {
        let mut store = Store::default();
        put(&mut store, "b", 1);
        let then = put(&mut store, "a", 1);
        put(&mut store, "a", 2);
        store.delete(SimTime::ZERO, &GroupResource::new("", "configmaps"), &Key::new("ns", "b"), &Arc::from("u"));
        assert_eq!(names(&store, then), ["a=1", "b=1"]);
        assert_eq!(names(&store, store.revision()), ["a=2"]);
    }

    #[test]
    fn keys_are_in_the_order_of_their_bytes() {
        let mut keys =
            [("ns", "x"), ("ns-b", "a"), ("ns", "a.1"), ("ns", "a-1")].map(|(a, b)| StoreKey(Key::new(a, b)));
        keys.sort();
        assert_eq!(keys.map(|k| k.0.to_string()), ["ns-b/a", "ns/a-1", "ns/a.1", "ns/x"]);
    }

    #[test]
    fn a_clone_does_not_see_later_writes() {
        let mut store = Store::default();
        put(&mut store, "a", 1);
        let copy = store.clone();
        put(&mut store, "a", 2);
        assert_eq!(names(&copy, copy.revision()), ["a=1"]);
    }
}
