//! Watches: where they start, what they pass on, when they end.
//!
//! A watch keeps a place in the history of its kind and reads on from there whenever it is asked; nothing is queued
//! per watch but the objects it starts with.

use super::call::Call;
use super::list::{Selection, lies_in, single_name};
use super::read::present;
use super::{ApiServer, Outcome};
use crate::api::message::{Response, WatchEvent, WatchEventType};
use crate::api::meta;
use crate::api::resource::Resource;
use crate::api::schema::field::FieldError;
use crate::api::status::ApiStatus;
use crate::ids::{GroupResource, WatchId};
use crate::object::Object;
use crate::rng::Rng;
use crate::store::{HistoryEntry, Store, Stored};
use crate::time::{SimTime, Span};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// How often a bookmark is sent (apiserver `cacher.go`), and how long before the end (`cache_watcher.go`).
const BOOKMARK_EVERY: Span = Span::secs(60);
/// Least time a watch lives when it does not say (apiserver `handlers/get.go`); the most is twice that.
const LIFE_MIN_SECS: u64 = 1800;
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

/// One open watch.
#[derive(Clone, Debug)]
struct Watch {
    resource: Arc<Resource>,
    id: GroupResource,
    namespace: String,
    name: Option<String>,
    selection: Selection,
    /// Everything up to this revision was passed on.
    cursor: u64,
    bookmarks: bool,
    /// Events to pass on before any from the history.
    first: VecDeque<WatchEvent>,
    ends_at: SimTime,
    next_bookmark: SimTime,
    bookmark_due: bool,
    /// Says no more after what lies in `first`.
    ending: bool,
}

/// All open watches.
#[derive(Clone, Debug, Default)]
pub struct Watches {
    open: BTreeMap<WatchId, Watch>,
    dirty: BTreeSet<WatchId>,
    last: u64,
}

impl Watches {
    pub fn pending(&self) -> Vec<WatchId> {
        self.dirty.iter().copied().collect()
    }

    pub fn is_open(&self, id: WatchId) -> bool {
        self.open.contains_key(&id)
    }

    pub fn close(&mut self, id: WatchId) {
        self.open.remove(&id);
        self.dirty.remove(&id);
    }

    /// A write happened to objects of this kind.
    pub fn note(&mut self, resource: &GroupResource) {
        self.dirty.extend(self.open.iter().filter(|(_, w)| w.id == *resource).map(|(id, _)| *id));
    }

    /// Ends all watches on a kind, as a change of its definition does.
    pub fn end_all(&mut self, resource: &GroupResource) {
        for (id, watch) in self.open.iter_mut().filter(|(_, w)| w.id == *resource) {
            watch.ending = true;
            self.dirty.insert(*id);
        }
    }

    pub fn due(&self) -> Option<SimTime> {
        let of = |w: &Watch| if w.bookmarks { w.ends_at.min(w.next_bookmark) } else { w.ends_at };
        self.open.values().filter(|w| !w.ending).map(of).min()
    }

    pub fn tick(&mut self, now: SimTime) {
        for (id, watch) in &mut self.open {
            if watch.bookmarks && watch.next_bookmark <= now {
                watch.bookmark_due = true;
                watch.next_bookmark = now + BOOKMARK_EVERY;
                self.dirty.insert(*id);
            }
            if watch.ends_at <= now && !watch.ending {
                watch.ending = true;
                self.dirty.insert(*id);
            }
        }
    }

    pub fn take(&mut self, id: WatchId, store: &Store) -> Vec<WatchEvent> {
        self.dirty.remove(&id);
        let Some(watch) = self.open.get_mut(&id) else { return Vec::new() };
        let mut events: Vec<WatchEvent> = watch.first.drain(..).collect();
        if !watch.ending {
            watch.read_on(store, &mut events);
        }
        if watch.bookmark_due {
            watch.bookmark_due = false;
            events.push(watch.bookmark(json!({})));
        }
        if watch.ending {
            self.open.remove(&id);
        }
        events
    }

    fn add(&mut self, watch: Watch) -> WatchId {
        self.last += 1;
        let id = WatchId(self.last);
        self.open.insert(id, watch);
        self.dirty.insert(id);
        id
    }
}

impl Watch {
    fn read_on(&mut self, store: &Store, events: &mut Vec<WatchEvent>) {
        let Some(log) = store.log(&self.id) else {
            self.cursor = store.revision();
            return;
        };
        for entry in log.after(self.cursor) {
            if let Some(event) = self.event(entry) {
                let failed = event.kind == WatchEventType::Error;
                events.push(event);
                if failed {
                    self.ending = true;
                    break;
                }
            }
        }
        self.cursor = store.revision();
    }

    /// What one write means to those who see only what is selected.
    fn event(&self, entry: &HistoryEntry) -> Option<WatchEvent> {
        let commit = &entry.commit;
        if !self.namespace.is_empty() && *commit.key.namespace != *self.namespace {
            return None;
        }
        if self.name.as_deref().is_some_and(|name| *commit.key.name != *name) {
            return None;
        }
        let view = |object: &Option<Object>, shape: u64| -> Option<Outcome<Object>> {
            let stored = Stored { object: object.clone()?, shape };
            Some(present(&self.resource, &stored))
        };
        let (old, new) = match (view(&commit.old, entry.old_shape), view(&commit.new, entry.new_shape)) {
            (Some(Err(status)), _) | (_, Some(Err(status))) => return Some(error(&status)),
            (old, new) => (old.and_then(Result::ok), new.and_then(Result::ok)),
        };
        let old = old.filter(|o| self.selection.matches(o));
        let new = new.filter(|o| self.selection.matches(o));
        match (old, new) {
            (None, Some(object)) => Some(WatchEvent { kind: WatchEventType::Added, object }),
            (Some(_), Some(object)) => Some(WatchEvent { kind: WatchEventType::Modified, object }),
            (Some(old), None) => {
                let object = meta::with_revision(&old, commit.revision);
                Some(WatchEvent { kind: WatchEventType::Deleted, object })
            }
            (None, None) => None,
        }
    }

    fn bookmark(&self, annotations: Value) -> WatchEvent {
        let mut metadata = json!({"resourceVersion": self.cursor.to_string()});
        if annotations.as_object().is_some_and(|a| !a.is_empty()) {
            metadata["annotations"] = annotations;
        }
        let object =
            json!({"apiVersion": self.resource.api_version(), "kind": &*self.resource.kind, "metadata": metadata});
        WatchEvent { kind: WatchEventType::Bookmark, object: Arc::new(object) }
    }
}

fn error(status: &ApiStatus) -> WatchEvent {
    WatchEvent { kind: WatchEventType::Error, object: Arc::new(status.to_body()) }
}

/// Combinations of watch options that make no sense (apimachinery `internalversion/validation`).
fn check(call: &Call) -> Outcome<()> {
    let text = |name: &str| call.request.param(name).unwrap_or("");
    let matched = text("resourceVersionMatch");
    let initial = call.request.param("sendInitialEvents");
    let mut errors = Vec::new();
    let forbidden = |field: &str, why: &str| FieldError::forbidden(field, why);
    if initial.is_some() {
        if matched.is_empty() {
            errors.push(forbidden(
                "resourceVersionMatch",
                "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
            ));
        } else if matched != "NotOlderThan" {
            let known = ["NotOlderThan"];
            errors.push(FieldError::not_supported("resourceVersionMatch", &Value::from(matched), &known));
            errors.push(forbidden(
                "resourceVersionMatch",
                "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
            ));
        }
    } else if !matched.is_empty() {
        errors.push(forbidden(
            "resourceVersionMatch",
            "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
        ));
    }
    if !text("continue").is_empty() {
        errors.push(forbidden("continue", "continue is forbidden for watch"));
    }
    if errors.is_empty() { Ok(()) } else { Err(ApiStatus::invalid("ListOptions", "meta.k8s.io", "", &errors)) }
}

impl ApiServer {
    pub(super) fn watch(&mut self, call: &mut Call) -> Outcome<Response> {
        let selection = Selection::read(call)?;
        check(call)?;
        let said = call.request.param("resourceVersion").unwrap_or("");
        let revision: u64 = match said {
            "" => 0,
            digits => digits
                .parse()
                .map_err(|_| ApiStatus::plain(format!("strconv.ParseUint: parsing {digits:?}: invalid syntax")))?,
        };
        let name = single_name(call, &selection);
        let initial = call.request.param("sendInitialEvents").map(|v| v == "true");
        let mut watch = Watch {
            id: call.resource.group_resource(),
            resource: call.resource.clone(),
            namespace: call.namespace().to_string(),
            name,
            selection,
            cursor: self.store.revision(),
            bookmarks: call.flag("allowWatchBookmarks"),
            first: VecDeque::new(),
            ends_at: call.now + life(call, &mut self.rng),
            next_bookmark: call.now + BOOKMARK_EVERY,
            bookmark_due: false,
            ending: false,
        };
        let from_present = initial == Some(true) || (revision == 0 && initial.is_none());
        if from_present {
            self.fill(&mut watch)?;
        } else if revision > 0 {
            self.start_from(&mut watch, revision);
        }
        let opened = json!({"metadata": {"resourceVersion": watch.cursor.to_string()}});
        let id = self.watches.add(watch);
        Ok(Response { watch: Some(id), ..Response::ok(200, Arc::new(opened)) })
    }

    /// The present as ADDED events, and the bookmark that ends them.
    fn fill(&self, watch: &mut Watch) -> Outcome<()> {
        for (_, stored) in self.store.list(&watch.id, &watch.namespace) {
            let object = present(&watch.resource, stored)?;
            if lies_in(&object, &watch.namespace, watch.name.as_deref()) && watch.selection.matches(&object) {
                watch.first.push_back(WatchEvent { kind: WatchEventType::Added, object });
            }
        }
        if watch.bookmarks {
            let mark = watch.bookmark(json!({INITIAL_EVENTS_END: "true"}));
            watch.first.push_back(mark);
        }
        Ok(())
    }

    fn start_from(&self, watch: &mut Watch, revision: u64) {
        let start = self.store.log(&watch.id).map_or(0, |log| log.start());
        if revision < start {
            let message = format!("too old resource version: {revision} ({start})");
            watch.first.push_back(error(&ApiStatus::new(410, "Expired", message)));
            watch.ending = true;
        }
        watch.cursor = revision;
    }
}

fn life(call: &Call, rng: &mut Rng) -> Span {
    let asked = call.request.param("timeoutSeconds").and_then(|t| t.parse::<u64>().ok()).filter(|s| *s > 0);
    asked.map_or_else(|| Span::secs(rng.between(LIFE_MIN_SECS, 2 * LIFE_MIN_SECS)), Span::secs)
}
