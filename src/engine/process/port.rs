//! The informers of a process, wired to the network, with every change on record.

use super::controller::{Caches, Notice, Source};
use super::core::{Core, Origin};
use super::is_operator;
use super::rest::Caller;
use super::tuning::Tuning;
use crate::agenda::Life;
use crate::api::message::{Request, Response, WatchEvent, WatchEventType};
use crate::api::status::ApiStatus;
use crate::client::call::{Call, CallError, CallId, Input, ListPage, Scope};
use crate::client::fifo::Delta;
use crate::client::handler::Notification;
use crate::client::informer::{HandlerId, Informer, InformerSpec};
use crate::client::reflector::Decode;
use crate::event::{Event, InformerId, ProcessId};
use crate::ids::{Gvr, Key, MessageId, WatchId};
use crate::object::{Object, ObjectView};
use crate::rng::Rng;
use crate::time::{SimTime, Span};
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// One informer and its connection.
#[derive(Clone, Debug)]
pub struct Port {
    informer: Informer,
    listeners: Vec<Listener>,
    /// The call that an answer on its way belongs to, and the message it went in.
    asked: Option<(CallId, Option<MessageId>)>,
    open: Option<(CallId, WatchId)>,
    /// What led to each change in the FIFO.
    origins: VecDeque<Origin>,
    timer: Option<SimTime>,
    pop_booked: bool,
    /// Workers that wait for this cache to fill.
    waiting: Vec<(Arc<str>, u32)>,
}

#[derive(Clone, Debug)]
struct Listener {
    handler: HandlerId,
    controller: Arc<str>,
    source: usize,
}

/// A handler was called.
pub struct Notified {
    pub controller: Arc<str>,
    pub source: usize,
    pub notice: Notice,
    pub origin: Origin,
}

impl Port {
    #[must_use]
    pub fn informer(&self) -> &Informer {
        &self.informer
    }
    #[must_use]
    pub fn watch(&self) -> Option<WatchId> {
        self.open.map(|(_, watch)| watch)
    }
    /// The message in which the request for a watch travels.
    #[must_use]
    pub fn asked_watch(&self) -> Option<MessageId> {
        self.asked.and_then(|(_, message)| message)
    }

    /// The call that this request was made for, unless it was given up meanwhile.
    fn answered(&mut self, request: MessageId) -> Option<CallId> {
        self.asked.take_if(|(_, message)| *message == Some(request)).map(|(call, _)| call)
    }

    /// Feeds the informer and notes where what it queued came from.
    fn input(&mut self, id: &InformerId, input: Input, core: &mut Core) {
        let before = self.informer.fifo().items().len();
        self.informer.input(core.now(), input);
        self.note_pushed(id, before, core);
    }

    fn note_pushed(&mut self, id: &InformerId, before: usize, core: &mut Core) {
        let pushed: Vec<Option<(WatchEventType, Key, u64)>> =
            self.informer.fifo().items().iter().skip(before).map(change).collect();
        for change in pushed {
            let mut origin = core.here();
            if let Some((kind, key, revision)) = change {
                let informer = id.clone();
                origin.cause = core.log.emit(Event::FifoPushed { informer, kind, key, revision });
            }
            self.origins.push_back(origin);
        }
    }
}

/// The single-object change a delta stands for.
fn change(delta: &Delta) -> Option<(WatchEventType, Key, u64)> {
    let (kind, object) = match delta {
        Delta::Added(object) => (WatchEventType::Added, object),
        Delta::Updated(object) => (WatchEventType::Modified, object),
        Delta::Deleted(object) => (WatchEventType::Deleted, object),
        Delta::ReplacedAll { .. } | Delta::SyncAll | Delta::Bookmark(_) => return None,
    };
    Some((kind, object.key(), revision(object)))
}

fn revision(object: &Object) -> u64 {
    object.resource_version().parse().unwrap_or(0)
}

/// All informers of a process.
#[derive(Clone, Debug, Default)]
pub struct Ports {
    ports: BTreeMap<InformerId, Port>,
    /// A collection that was read and has no informer yet.
    wanted: RefCell<Option<Gvr>>,
    /// Watches that the informers have closed.
    closing: Vec<WatchId>,
}

impl Ports {
    pub fn iter(&self) -> impl Iterator<Item = (&InformerId, &Port)> {
        self.ports.iter()
    }

    #[must_use]
    pub fn get(&self, id: &InformerId) -> Option<&Port> {
        self.ports.get(id)
    }

    /// The informer for a source: a shared one, if another controller of the process has the same.
    pub fn ensure(
        &mut self,
        process: &ProcessId,
        source: &Source,
        tuning: &Tuning,
        core: &mut Core,
        rng: &mut Rng,
    ) -> InformerId {
        let mut scope = Scope {
            gvr: source.gvr.clone(),
            namespace: source.namespace.clone(),
            label_selector: source.label_selector.clone(),
            field_selector: source.field_selector.clone(),
        };
        tuning.narrow(&mut scope);
        self.open(process, (scope, source.decode), core, rng)
    }

    fn open(
        &mut self,
        process: &ProcessId,
        what: (Scope, Option<Decode>),
        core: &mut Core,
        rng: &mut Rng,
    ) -> InformerId {
        let (scope, decode) = what;
        let narrowed = [&scope.namespace, &scope.label_selector, &scope.field_selector];
        let words: Vec<&str> = narrowed.into_iter().map(String::as_str).filter(|s| !s.is_empty()).collect();
        let id = InformerId {
            process: process.clone(),
            resource: scope.gvr.group_resource(),
            scope: words.join(" ").into(),
        };
        if !self.ports.contains_key(&id) {
            let mut spec = InformerSpec::new(scope);
            spec.resync = Span::secs(core.knobs.get("resyncSeconds").unsigned_abs());
            spec.decode = decode;
            spec.settings.watch_list = !is_operator(process) || core.knobs.get("watchList") == 1;
            let seed = rng.fork(&format!("{}/{}", id.resource, id.scope));
            let mut informer = Informer::new(spec, seed);
            informer.start(core.now());
            let port = Port {
                informer,
                listeners: Vec::new(),
                asked: None,
                open: None,
                origins: VecDeque::new(),
                timer: None,
                pop_booked: false,
                waiting: Vec::new(),
            };
            self.ports.insert(id.clone(), port);
        }
        id
    }

    pub fn listen(&mut self, id: &InformerId, controller: &Arc<str>, source: usize, core: &Core) {
        if let Some(port) = self.ports.get_mut(id) {
            let handler = port.informer.add_handler(core.now(), None);
            port.listeners.push(Listener { handler, controller: controller.clone(), source });
        }
    }

    /// A read found no informer: one is started, and the worker goes on when it is filled.
    pub fn open_lazily(
        &mut self,
        process: &ProcessId,
        gvr: Gvr,
        worker: (&Arc<str>, u32),
        tuning: &Tuning,
        core: &mut Core,
        rng: &mut Rng,
    ) -> InformerId {
        let mut scope = Scope::new(gvr, "");
        tuning.narrow(&mut scope);
        let id = self.open(process, (scope, None), core, rng);
        if let Some(port) = self.ports.get_mut(&id) {
            port.waiting.push((worker.0.clone(), worker.1));
        }
        id
    }

    /// The collection that a read missed since the last look.
    #[must_use]
    pub fn wanted(&self) -> Option<Gvr> {
        self.wanted.borrow_mut().take()
    }

    #[must_use]
    pub fn synced(&self, id: &InformerId) -> bool {
        self.ports.get(id).is_some_and(|p| p.informer.has_synced())
    }

    /// The first list is in the cache and every handler has had it.
    #[must_use]
    pub fn handled_first_list(&self, id: &InformerId) -> bool {
        self.ports.get(id).is_some_and(|p| p.listeners.iter().all(|l| p.informer.handler_synced(l.handler)))
    }

    /// Requests the informers want to send.
    pub fn take_requests(&mut self) -> Vec<(Request, Caller)> {
        let mut requests = Vec::new();
        for (id, port) in &mut self.ports {
            let calls = port.informer.take_calls();
            if calls.is_empty() {
                continue;
            }
            let scope = port.informer.scope().clone();
            for call in calls {
                match call {
                    Call::List(list) => {
                        port.asked = Some((list.id, None));
                        requests.push((list.request(&scope), Caller::List(id.clone())));
                    }
                    Call::Watch(watch) => {
                        port.asked = Some((watch.id, None));
                        requests.push((watch.request(&scope), Caller::Watch(id.clone())));
                    }
                    Call::StopWatch(_) => self.closing.extend(port.open.take().map(|(_, watch)| watch)),
                }
            }
        }
        requests
    }

    /// A request of an informer has left in this message.
    pub fn asked(&mut self, caller: &Caller, message: MessageId) {
        let (Caller::List(id) | Caller::Watch(id)) = caller else { return };
        if let Some(Port { asked: Some((_, slot)), .. }) = self.ports.get_mut(id) {
            *slot = Some(message);
        }
    }

    pub fn listed(&mut self, id: &InformerId, request: MessageId, response: Response, core: &mut Core) {
        let Some(port) = self.ports.get_mut(id) else { return };
        let Some(call) = port.answered(request) else { return };
        let answer = match response.status() {
            None => Ok(ListPage::from_body(&response.body)),
            Some(status) => Err(failure(status)),
        };
        port.input(id, Input::Listed(call, answer), core);
    }

    pub fn watch_answered(&mut self, id: &InformerId, request: MessageId, response: Response, core: &mut Core) {
        let Some(port) = self.ports.get_mut(id) else { return };
        let Some(call) = port.answered(request) else { return };
        let input = match (response.status(), response.watch) {
            (None, Some(watch)) => {
                port.open = Some((call, watch));
                Input::WatchOpened(call)
            }
            (status, _) => Input::WatchFailed(call, failure(status.unwrap_or_default())),
        };
        port.input(id, input, core);
    }

    pub fn event(&mut self, id: &InformerId, watch: WatchId, event: WatchEvent, core: &mut Core) {
        let Some(port) = self.ports.get_mut(id) else { return };
        let Some((call, _)) = port.open.filter(|(_, open)| *open == watch) else { return };
        port.input(id, Input::Event(call, event), core);
    }

    /// The stream ended, or the connection under it broke.
    pub fn closed(&mut self, id: &InformerId, watch: WatchId, core: &mut Core) {
        let Some(port) = self.ports.get_mut(id) else { return };
        if let Some((call, open)) = port.open {
            if open == watch {
                port.open = None;
                port.input(id, Input::WatchClosed(call), core);
            }
        } else if let Some((call, _)) = port.asked.take() {
            // The connection went before the answer that opens the watch was read.
            port.input(id, Input::WatchOpened(call), core);
            port.input(id, Input::WatchClosed(call), core);
        }
    }

    pub fn timer(&mut self, id: &InformerId, core: &mut Core) {
        let Some(port) = self.ports.get_mut(id) else { return };
        port.timer = None;
        let before = port.informer.fifo().items().len();
        port.informer.advance(core.now());
        port.note_pushed(id, before, core);
    }

    /// Takes one batch out of a FIFO: the cache first, then the handlers.
    pub fn pop(&mut self, id: &InformerId, core: &mut Core) -> Vec<Notified> {
        let Some(port) = self.ports.get_mut(id) else { return Vec::new() };
        port.pop_booked = false;
        let Some(batch) = port.informer.process() else { return Vec::new() };
        let mut by_key: BTreeMap<Key, Origin> = BTreeMap::new();
        let mut whole = core.here();
        for delta in &batch.deltas {
            let origin = port.origins.pop_front().unwrap_or_default();
            core.resume(origin);
            if let Some((kind, key, revision)) = change(delta) {
                let event = Event::Cached { informer: id.clone(), kind, key: key.clone(), revision };
                by_key.insert(key, Origin { cause: core.log.emit(event), trace: origin.trace });
            } else if let Delta::ReplacedAll { resource_version, items } = delta {
                let contents: Vec<(Key, u64)> = items.iter().map(|o| (o.key(), revision(o))).collect();
                let event = Event::Listed {
                    informer: id.clone(),
                    revision: resource_version.parse().unwrap_or(0),
                    contents: contents.into(),
                };
                whole = Origin { cause: core.log.emit(event), trace: origin.trace };
            }
        }
        port.calls(&by_key, whole)
    }

    /// Books timers and the next look into the FIFO; wakes workers whose cache has filled.
    pub fn arm(&mut self, process: &ProcessId, life: u32, tuning: &Tuning, core: &mut Core) {
        let everywhere = core.knobs.millis("informerLagMs");
        for (id, port) in &mut self.ports {
            let lag = tuning.lag(&id.resource).unwrap_or(everywhere);
            if !port.informer.fifo().is_empty() && !port.pop_booked {
                port.pop_booked = true;
                if let Some(origin) = port.origins.front() {
                    core.resume(*origin);
                }
                core.wake_process(core.now() + lag, process, life, Life::InformerPop(id.clone()));
            }
            if let Some(due) = port.informer.next_deadline()
                && port.timer.is_none_or(|armed| due < armed)
            {
                port.timer = Some(due);
                core.wake_process(due, process, life, Life::InformerTimer(id.clone()));
            }
            if port.informer.has_synced() {
                for (controller, worker) in std::mem::take(&mut port.waiting) {
                    core.wake_process(core.now(), process, life, Life::WorkerRun(controller, worker));
                }
            }
        }
    }

    pub fn take_closing(&mut self) -> Vec<WatchId> {
        std::mem::take(&mut self.closing)
    }

    /// Timers are to be booked anew.
    pub fn disarm(&mut self) {
        self.ports.values_mut().for_each(|port| port.timer = None);
    }

    fn of(&self, gvr: &Gvr) -> Option<&Port> {
        let same = |id: &InformerId| id.resource.resource == gvr.resource && id.resource.group == gvr.group;
        let found = self.ports.iter().find(|(id, _)| same(id)).map(|(_, port)| port);
        if found.is_none_or(|port| !port.informer.has_synced()) {
            *self.wanted.borrow_mut() = Some(gvr.clone());
        }
        found
    }
}

impl Port {
    /// The calls that wait in the handlers' buffers.
    fn calls(&mut self, by_key: &BTreeMap<Key, Origin>, whole: Origin) -> Vec<Notified> {
        let mut calls = Vec::new();
        for listener in &self.listeners {
            while let Some(notification) = self.informer.next_notification(listener.handler) {
                self.informer.finished(listener.handler);
                let origin = by_key.get(&notification.object().key()).copied().unwrap_or(whole);
                let (controller, source) = (listener.controller.clone(), listener.source);
                calls.push(Notified { controller, source, notice: notice(notification), origin });
            }
        }
        calls
    }
}

fn notice(notification: Notification) -> Notice {
    match notification {
        Notification::Add { object, is_in_initial_list } => Notice::Add { object, initial: is_in_initial_list },
        Notification::Update { old, new } => Notice::Update { old, new },
        Notification::Delete { object, tombstone, .. } => Notice::Delete { object, tombstone },
    }
}

/// A failed answer as the machines of the client see it.
pub fn failure(status: ApiStatus) -> CallError {
    if status.code == 0 { CallError::Network(status.message) } else { CallError::status(status) }
}

impl Caches for Ports {
    fn get(&self, gvr: &Gvr, key: &Key) -> Option<Object> {
        self.of(gvr)?.informer.get(key).cloned()
    }
    fn list(&self, gvr: &Gvr, namespace: &str) -> Vec<Object> {
        let Some(port) = self.of(gvr) else { return Vec::new() };
        let indexer = port.informer.indexer();
        if namespace.is_empty() {
            indexer.list().cloned().collect()
        } else {
            indexer.in_namespace(namespace).cloned().collect()
        }
    }
    fn owned_by(&self, gvr: &Gvr, uid: &str) -> Vec<Object> {
        self.of(gvr).map(|port| port.informer.indexer().owned_by(uid).cloned().collect()).unwrap_or_default()
    }
    fn orphans(&self, gvr: &Gvr, namespace: &str) -> Vec<Object> {
        let Some(port) = self.of(gvr) else { return Vec::new() };
        port.informer.indexer().orphans(namespace).cloned().collect()
    }
    fn version(&self, gvr: &Gvr) -> u64 {
        self.of(gvr).and_then(|port| port.informer.indexer().resource_version().parse().ok()).unwrap_or(0)
    }
    fn missed(&self) -> bool {
        self.wanted.borrow().is_some()
    }
}
