//! A shared informer: one reflector, one queue, one store, many handlers. client-go `tools/cache/shared_informer.go`
//! and `controller.go`.
//!
//! Flow: `take_calls` → the driver sends them → `input` → the queue → `process` writes the store, then fills the
//! buffers of the handlers → `next_notification` hands each handler its calls one at a time → `finished`.
//!
//! Guarantees: the store is written before a handler hears of it; the store decides whether a handler sees an add or
//! an update; versions are never compared.
//!
//! Divergence from Kubernetes: orders that are random there (resync, late handlers, streamed lists) are by key here.

use super::call::{Call, Input, Scope};
use super::fifo::{Delta, Fifo};
use super::handler::{Handler, MINIMUM_RESYNC, Notification};
use super::indexer::Indexer;
use super::reflector::{Change, Decode, Doing, Reflector, Settings};
use crate::ids::Key;
use crate::object::{Object, ObjectView};
use crate::rng::Rng;
use crate::time::{SimTime, Span};
use std::collections::BTreeMap;

/// Cuts an object before it is stored. Must be idempotent.
pub type Transform = fn(&Object) -> Object;

/// What an informer watches and how.
#[derive(Clone, Debug)]
pub struct InformerSpec {
    pub scope: Scope,
    /// Default resync period of handlers and the period in which the informer looks; zero: none.
    pub resync: Span,
    pub settings: Settings,
    /// Set for typed clients: reads an object as its type.
    pub decode: Option<Decode>,
    pub transform: Option<Transform>,
}

impl InformerSpec {
    /// As Kubernetes 1.36 does it: streamed lists, no resync.
    #[must_use]
    pub fn new(scope: Scope) -> Self {
        let settings = Settings { watch_list: true, page_size: 0 };
        InformerSpec { scope, resync: Span::ZERO, settings, decode: None, transform: None }
    }
}

/// Number of a handler within its informer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HandlerId(pub u32);

/// What one `process` did.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// What was taken from the queue.
    pub deltas: Vec<Delta>,
    /// It belonged to the initial list.
    pub is_in_initial_list: bool,
    /// Calls put into the buffers of handlers, over all handlers.
    pub notifications: usize,
}

/// The machine.
#[derive(Clone, Debug)]
pub struct Informer {
    spec: InformerSpec,
    reflector: Reflector,
    fifo: Fifo,
    indexer: Indexer,
    handlers: BTreeMap<HandlerId, Handler>,
    next_handler: u32,
    check_period: Span,
    /// Set while the reflector watches and the informer has a period.
    next_tick: Option<SimTime>,
    started: bool,
}

impl Informer {
    #[must_use]
    pub fn new(spec: InformerSpec, rng: Rng) -> Self {
        Informer {
            reflector: Reflector::new(spec.settings, spec.decode, rng),
            fifo: Fifo::default(),
            indexer: Indexer::default(),
            handlers: BTreeMap::new(),
            next_handler: 0,
            check_period: spec.resync,
            next_tick: None,
            started: false,
            spec,
        }
    }

    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.spec.scope
    }

    pub fn start(&mut self, now: SimTime) {
        self.started = true;
        self.reflector.start(now);
        self.settle(now);
    }

    /// Stops the reflector; what is queued can still be processed.
    pub fn stop(&mut self, now: SimTime) {
        self.reflector.stop();
        self.settle(now);
    }

    #[must_use]
    pub fn started(&self) -> bool {
        self.started
    }

    /// Calls to send, in order.
    pub fn take_calls(&mut self) -> Vec<Call> {
        self.reflector.take_calls()
    }

    pub fn input(&mut self, now: SimTime, input: Input) {
        self.reflector.input(now, input);
        self.settle(now);
    }

    #[must_use]
    pub fn next_deadline(&self) -> Option<SimTime> {
        [self.reflector.next_deadline(), self.next_tick].into_iter().flatten().min()
    }

    pub fn advance(&mut self, now: SimTime) {
        if self.next_tick.is_some_and(|at| at <= now) {
            self.tick(now);
        }
        self.reflector.advance(now);
        self.settle(now);
    }

    fn tick(&mut self, now: SimTime) {
        // Every handler is asked, because asking also sets what it gets until the next tick.
        let due = self.handlers.values_mut().map(|handler| handler.tick(now)).filter(|due| *due).count();
        if due > 0 {
            self.fifo.push(Delta::SyncAll);
        }
        self.next_tick = Some(now + self.check_period);
    }

    /// Moves what the reflector learned into the queue, and keeps the resync timer to its watch loop.
    fn settle(&mut self, now: SimTime) {
        let mut relisted = false;
        for change in self.reflector.take_changes() {
            relisted |= matches!(change, Change::Replace { .. });
            let delta = self.delta(change);
            self.fifo.push(delta);
        }
        if !self.reflector.in_watch_loop() || self.check_period == Span::ZERO {
            self.next_tick = None;
        } else if relisted || self.next_tick.is_none() {
            self.next_tick = Some(now + self.check_period);
        }
    }

    fn delta(&self, change: Change) -> Delta {
        let cut = |object: Object| self.spec.transform.map_or_else(|| object.clone(), |transform| transform(&object));
        match change {
            Change::Replace { resource_version, items } => {
                Delta::ReplacedAll { resource_version, items: items.into_iter().map(cut).collect() }
            }
            Change::Add(object) => Delta::Added(cut(object)),
            Change::Update(object) => Delta::Updated(cut(object)),
            Change::Delete(object) => Delta::Deleted(cut(object)),
            Change::Version(version) => Delta::Bookmark(version),
        }
    }

    /// Takes one batch from the queue: first all writes to the store, then the calls into the buffers.
    pub fn process(&mut self) -> Option<Batch> {
        let is_in_initial_list = !self.fifo.has_synced();
        let deltas = self.fifo.pop_batch();
        if deltas.is_empty() {
            return None;
        }
        let mut calls = Vec::new();
        for delta in &deltas {
            self.apply(delta, is_in_initial_list, &mut calls);
        }
        let notifications = calls.into_iter().map(|call| self.distribute(&call)).sum();
        self.fifo.processed(deltas.len());
        Some(Batch { deltas, is_in_initial_list, notifications })
    }

    fn apply(&mut self, delta: &Delta, is_in_initial_list: bool, calls: &mut Vec<Notification>) {
        match delta {
            Delta::Added(object) | Delta::Updated(object) => {
                self.indexer.set_resource_version(object.resource_version());
                let old = self.indexer.put(object);
                calls.push(changed(old, object, is_in_initial_list));
            }
            Delta::Deleted(object) => {
                let key = object.key();
                self.indexer.set_resource_version(object.resource_version());
                self.indexer.remove(&key);
                calls.push(Notification::Delete { key, object: object.clone(), tombstone: false });
            }
            Delta::ReplacedAll { resource_version, items } => {
                let before = self.indexer.clone();
                let gone = self.indexer.replace(items, resource_version);
                calls.extend(gone.into_iter().map(|(key, object)| Notification::Delete {
                    key,
                    object,
                    tombstone: true,
                }));
                calls.extend(
                    items.iter().map(|item| changed(before.get(&item.key()).cloned(), item, is_in_initial_list)),
                );
            }
            Delta::SyncAll => {
                calls.extend(self.indexer.list().map(|o| Notification::Update { old: o.clone(), new: o.clone() }));
            }
            Delta::Bookmark(version) => self.indexer.set_resource_version(version),
        }
    }

    fn distribute(&mut self, call: &Notification) -> usize {
        let is_sync = match call {
            Notification::Update { old, new } => old.resource_version() == new.resource_version(),
            Notification::Add { .. } | Notification::Delete { .. } => false,
        };
        let mut reached = 0;
        for handler in self.handlers.values_mut().filter(|handler| !is_sync || handler.syncing) {
            handler.push(call.clone());
            reached += 1;
        }
        reached
    }

    /// Registers a handler; `resync` absent: the period of the informer. A late one hears of everything stored first.
    pub fn add_handler(&mut self, now: SimTime, resync: Option<Span>) -> HandlerId {
        let mut period = resync.unwrap_or(self.spec.resync);
        if period > Span::ZERO {
            period = period.max(MINIMUM_RESYNC);
            if period < self.check_period {
                if self.started {
                    period = self.check_period;
                } else {
                    self.check_period = period;
                    self.handlers.values_mut().for_each(|handler| handler.check_period_changed(period));
                }
            }
        }
        let mut handler = Handler::new(now, period, self.check_period);
        if self.started {
            for object in self.indexer.list() {
                handler.push(Notification::Add { object: object.clone(), is_in_initial_list: true });
            }
        }
        let id = HandlerId(self.next_handler);
        self.next_handler += 1;
        self.handlers.insert(id, handler);
        id
    }

    /// Removes a handler with all calls that wait for it.
    pub fn remove_handler(&mut self, id: HandlerId) {
        self.handlers.remove(&id);
    }

    /// The next call of a handler. The driver says [`Informer::finished`] when the handler has returned from it.
    pub fn next_notification(&mut self, id: HandlerId) -> Option<Notification> {
        self.handlers.get_mut(&id)?.next()
    }

    /// The handler has returned from its call.
    pub fn finished(&mut self, id: HandlerId) {
        if let Some(handler) = self.handlers.get_mut(&id) {
            handler.finished();
        }
    }

    /// The initial list is in the store and in the buffers.
    #[must_use]
    pub fn has_synced(&self) -> bool {
        self.fifo.has_synced()
    }

    /// The informer has synced and this handler has handled its initial adds.
    #[must_use]
    pub fn handler_synced(&self, id: HandlerId) -> bool {
        self.has_synced() && self.handlers.get(&id).is_some_and(Handler::caught_up)
    }

    #[must_use]
    pub fn last_resource_version(&self) -> &str {
        self.reflector.last_resource_version()
    }

    #[must_use]
    pub fn doing(&self) -> Doing {
        self.reflector.doing()
    }

    #[must_use]
    pub fn reflector(&self) -> &Reflector {
        &self.reflector
    }

    #[must_use]
    pub fn indexer(&self) -> &Indexer {
        &self.indexer
    }

    #[must_use]
    pub fn get(&self, key: &Key) -> Option<&Object> {
        self.indexer.get(key)
    }

    #[must_use]
    pub fn fifo(&self) -> &Fifo {
        &self.fifo
    }

    #[must_use]
    pub fn handlers(&self) -> &BTreeMap<HandlerId, Handler> {
        &self.handlers
    }
}

fn changed(old: Option<Object>, object: &Object, is_in_initial_list: bool) -> Notification {
    match old {
        Some(old) => Notification::Update { old, new: object.clone() },
        None => Notification::Add { object: object.clone(), is_in_initial_list },
    }
}
