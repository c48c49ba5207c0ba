//! The local copy and its indexes: client-go `tools/cache/thread_safe_store.go`.
//!
//! Guarantees: the indexes are changed within the same write; objects are shared and never changed in place; lists
//! come in the order of keys.
//!
//! Divergence from Kubernetes: namespace, labels and owners are indexed always; the real store indexes what it is told.

use crate::ids::Key;
use crate::object::{Object, ObjectView};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

/// Where objects without a controlling owner stand in the index of owners; no uid is empty.
const ORPHANS: &str = "";

type Index<I> = Arc<BTreeMap<I, BTreeSet<Key>>>;

/// A cheap-to-clone store of objects by key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Indexer {
    objects: Arc<BTreeMap<Key, Object>>,
    by_label: Index<(String, String)>,
    by_owner: Index<String>,
    resource_version: String,
}

impl Indexer {
    #[must_use]
    pub fn get(&self, key: &Key) -> Option<&Object> {
        self.objects.get(key)
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// All objects in the order of their keys.
    pub fn list(&self) -> impl Iterator<Item = &Object> {
        self.objects.values()
    }

    /// All objects by key.
    #[must_use]
    pub fn objects(&self) -> &BTreeMap<Key, Object> {
        &self.objects
    }

    /// The objects of one namespace.
    pub fn in_namespace<'a>(&'a self, namespace: &'a str) -> impl Iterator<Item = &'a Object> {
        self.objects
            .range(Key::new(namespace, "")..)
            .take_while(move |(key, _)| &*key.namespace == namespace)
            .map(|(_, object)| object)
    }

    /// The objects that carry the label with that value.
    pub fn with_label(&self, label: &str, value: &str) -> impl Iterator<Item = &Object> {
        self.pick(self.by_label.get(&(label.to_string(), value.to_string())))
    }

    /// The objects that name `uid` as an owner.
    pub fn owned_by(&self, uid: &str) -> impl Iterator<Item = &Object> {
        self.pick(self.by_owner.get(uid))
    }

    /// The objects of a namespace that no controller owns.
    pub fn orphans<'a>(&'a self, namespace: &'a str) -> impl Iterator<Item = &'a Object> {
        self.owned_by(ORPHANS).filter(move |object| object.namespace() == namespace)
    }

    /// The index over one label: value to keys.
    pub fn label_index<'a>(&'a self, label: &'a str) -> impl Iterator<Item = (&'a str, &'a BTreeSet<Key>)> {
        let from = Bound::Included((label.to_string(), String::new()));
        self.by_label
            .range((from, Bound::Unbounded))
            .take_while(move |((name, _), _)| name == label)
            .map(|((_, value), keys)| (value.as_str(), keys))
    }

    /// The version of the last change or bookmark that reached the store.
    #[must_use]
    pub fn resource_version(&self) -> &str {
        &self.resource_version
    }

    pub fn set_resource_version(&mut self, version: &str) {
        self.resource_version = version.to_string();
    }

    /// Stores `object` and answers what was there.
    pub fn put(&mut self, object: &Object) -> Option<Object> {
        let key = object.key();
        let old = Arc::make_mut(&mut self.objects).insert(key.clone(), object.clone());
        // An unchanged set of labels and owners is the usual case and costs no index write.
        let same = old.as_ref().is_some_and(|old| {
            old.at(&["metadata", "labels"]) == object.at(&["metadata", "labels"])
                && old.owner_references() == object.owner_references()
        });
        if !same {
            if let Some(old) = &old {
                self.unindex(&key, old);
            }
            self.index(&key, object);
        }
        old
    }

    pub fn remove(&mut self, key: &Key) -> Option<Object> {
        let old = Arc::make_mut(&mut self.objects).remove(key)?;
        self.unindex(key, &old);
        Some(old)
    }

    /// Replaces everything and answers what is gone.
    pub fn replace(&mut self, items: &[Object], version: &str) -> Vec<(Key, Object)> {
        let old = std::mem::take(self);
        for item in items {
            self.put(item);
        }
        self.resource_version = version.to_string();
        let gone = old.objects.iter().filter(|(key, _)| !self.objects.contains_key(key));
        gone.map(|(key, object)| (key.clone(), object.clone())).collect()
    }

    fn pick<'a>(&'a self, keys: Option<&'a BTreeSet<Key>>) -> impl Iterator<Item = &'a Object> {
        keys.into_iter().flatten().filter_map(|key| self.objects.get(key))
    }

    fn index(&mut self, key: &Key, object: &Object) {
        for label in labels(object) {
            Arc::make_mut(&mut self.by_label).entry(label).or_default().insert(key.clone());
        }
        for uid in owners(object) {
            Arc::make_mut(&mut self.by_owner).entry(uid).or_default().insert(key.clone());
        }
    }

    fn unindex(&mut self, key: &Key, object: &Object) {
        for label in labels(object) {
            drop_from(&mut self.by_label, &label, key);
        }
        for uid in owners(object) {
            drop_from(&mut self.by_owner, &uid, key);
        }
    }
}

fn drop_from<I: Ord + Clone>(index: &mut Index<I>, value: &I, key: &Key) {
    let index = Arc::make_mut(index);
    if let Some(keys) = index.get_mut(value) {
        keys.remove(key);
        if keys.is_empty() {
            index.remove(value);
        }
    }
}

fn labels(object: &Object) -> Vec<(String, String)> {
    let labels = object.at(&["metadata", "labels"]).and_then(|v| v.as_object());
    let text = |(name, value): (&String, &serde_json::Value)| Some((name.clone(), value.as_str()?.to_string()));
    labels.into_iter().flatten().filter_map(text).collect()
}

fn owners(object: &Object) -> Vec<String> {
    let uids = object.owner_references().iter().map(|r| r.text(&["uid"]).to_string()).filter(|uid| !uid.is_empty());
    uids.chain(object.controller_ref().is_none().then(|| ORPHANS.to_string())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(name: &str, tier: &str, owner: &str) -> Object {
        Object::new(json!({"metadata": {"namespace": "shop", "name": name, "labels": {"tier": tier},
            "ownerReferences": [{"uid": owner}]}}))
    }

    #[test]
    fn indexes_follow_each_write() {
        let mut store = Indexer::default();
        store.put(&object("a", "web", "u1"));
        store.put(&object("b", "web", "u2"));
        assert_eq!(store.with_label("tier", "web").count(), 2);
        store.put(&object("a", "db", "u2"));
        assert_eq!(store.with_label("tier", "web").count(), 1);
        assert_eq!(store.owned_by("u2").count(), 2);
        assert_eq!(store.owned_by("u1").count(), 0);
        store.remove(&Key::new("shop", "a"));
        assert_eq!(store.label_index("tier").map(|(v, _)| v).collect::<Vec<_>>(), ["web"]);
        assert_eq!(store.in_namespace("shop").count(), 1);
        assert_eq!(store.in_namespace("sho").count(), 0);
    }

    #[test]
    fn a_clone_does_not_see_later_writes() {
        let mut store = Indexer::default();
        store.put(&object("a", "web", "u1"));
        let copy = store.clone();
        store.remove(&Key::new("shop", "a"));
        assert_eq!(copy.len(), 1);
        assert!(store.is_empty());
    }
}
