//! The queue between reflector and store: client-go `tools/cache/the_real_fifo.go` with atomic events.
//!
//! Guarantees: changes leave in the order of their arrival, over all objects; nothing is merged or dropped; a batch
//! holds each object at most once.
//!
//! Divergence from Kubernetes: none known; only the 1.36 mode is modelled.

use crate::ids::Key;
use crate::object::{Object, ObjectView};
use std::collections::{BTreeSet, VecDeque};

/// `the_real_fifo.go`: most objects in one batch.
const BATCH_MAX: usize = 1_000;

/// One change on its way to the store.
#[derive(Clone, Debug, PartialEq)]
pub enum Delta {
    Added(Object),
    Updated(Object),
    Deleted(Object),
    /// A whole list at once.
    ReplacedAll {
        resource_version: String,
        items: Vec<Object>,
    },
    /// Tell handlers again of everything stored.
    SyncAll,
    /// Only the version moved.
    Bookmark(String),
}

impl Delta {
    fn object(&self) -> Option<&Object> {
        match self {
            Delta::Added(object) | Delta::Updated(object) | Delta::Deleted(object) => Some(object),
            Delta::ReplacedAll { .. } | Delta::SyncAll | Delta::Bookmark(_) => None,
        }
    }
}

/// The queue.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fifo {
    items: VecDeque<Delta>,
    /// Something has been put in.
    populated: bool,
    /// Deltas of the first replace that are not processed yet.
    initial: usize,
}

impl Fifo {
    pub fn push(&mut self, delta: Delta) {
        let replace = matches!(delta, Delta::ReplacedAll { .. });
        let counts = replace || delta.object().is_some();
        self.items.push_back(delta);
        if replace && !self.populated {
            self.initial = self.items.len();
        }
        self.populated |= counts;
    }

    /// The initial list has been processed.
    #[must_use]
    pub fn has_synced(&self) -> bool {
        self.populated && self.initial == 0
    }

    /// Takes the longest run of changes from the head that touches each object once, or one change that stands alone.
    pub fn pop_batch(&mut self) -> Vec<Delta> {
        let most = if self.initial > 0 { self.initial.min(BATCH_MAX) } else { BATCH_MAX };
        let mut keys: BTreeSet<Key> = BTreeSet::new();
        let mut batch = Vec::new();
        while batch.len() < most {
            let Some(delta) = self.items.front() else { break };
            let alone = match delta.object() {
                None => true,
                Some(object) if keys.insert(object.key()) => false,
                Some(_) => break,
            };
            if alone && !batch.is_empty() {
                break;
            }
            batch.extend(self.items.pop_front());
            if alone {
                break;
            }
        }
        batch
    }

    /// Says that `n` popped deltas have been written and handed to the handlers.
    pub fn processed(&mut self, n: usize) {
        self.initial = self.initial.saturating_sub(n);
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// What waits, the next one first.
    #[must_use]
    pub fn items(&self) -> &VecDeque<Delta> {
        &self.items
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(name: &str) -> Object {
        Object::new(json!({"metadata": {"name": name}}))
    }

    #[test]
    fn a_batch_holds_each_object_once() {
        let mut fifo = Fifo::default();
        for name in ["a", "b", "a", "c"] {
            fifo.push(Delta::Updated(object(name)));
        }
        assert_eq!(fifo.pop_batch().len(), 2);
        assert_eq!(fifo.pop_batch().len(), 2);
        assert!(fifo.pop_batch().is_empty());
    }

    #[test]
    fn a_replace_stands_alone_and_ends_the_batch_before_it() {
        let mut fifo = Fifo::default();
        fifo.push(Delta::ReplacedAll { resource_version: "1".into(), items: vec![object("a")] });
        fifo.push(Delta::Updated(object("b")));
        fifo.push(Delta::Updated(object("c")));
        fifo.push(Delta::SyncAll);
        let sizes: Vec<usize> = std::iter::from_fn(|| {
            let n = fifo.pop_batch().len();
            fifo.processed(n);
            (n > 0).then_some(n)
        })
        .collect();
        assert_eq!(sizes, [1, 2, 1]);
    }

    #[test]
    fn synced_is_true_only_after_the_first_list_is_processed() {
        let mut fifo = Fifo::default();
        assert!(!fifo.has_synced());
        fifo.push(Delta::ReplacedAll { resource_version: "1".into(), items: vec![] });
        let n = fifo.pop_batch().len();
        assert!(!fifo.has_synced());
        fifo.processed(n);
        assert!(fifo.has_synced());
    }
}
