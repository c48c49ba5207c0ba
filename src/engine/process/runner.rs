//! A controller at work: its queue, its workers, and the events that feed them.

use super::announcer::Announcement;
use super::context::{Action, Stop};
use super::controller::{Controller, Handler, Notice, QueueKind, Source};
use super::core::Core;
use super::is_operator;
use super::memory::Memory;
use super::port::{Notified, Ports};
use super::queueing::Queueing;
use super::worker::{Pass, Run, Workers};
use crate::agenda::Life;
use crate::api::message::{Request, Response, WatchEventType};
use crate::controller::handler::{EnqueueHandler, LOW_PRIORITY, OwnerKind};
use crate::controller::metrics::ControllerMetrics;
use crate::controller::trigger::Trigger;
use crate::event::{ControllerId, Event, InformerId, ProcessId};
use crate::ids::{Gvr, Key, MessageId};
use crate::object::ObjectView;
use crate::time::SimTime;
use std::sync::Arc;

/// One controller of a process.
#[derive(Clone)]
pub struct Runner {
    id: ControllerId,
    logic: Arc<dyn Controller>,
    sources: Arc<[Source]>,
    waits_for: Vec<InformerId>,
    queue: Queueing,
    workers: Workers,
    memory: Memory,
    /// All caches were synced once: workers may begin.
    started: bool,
    /// Another replica leads: workers wait.
    held: bool,
    metrics: ControllerMetrics,
    /// Events for the recorder of the process.
    announcements: Vec<Announcement>,
    queue_armed: Option<SimTime>,
    get_booked: bool,
}

impl Runner {
    #[must_use]
    pub fn new(process: &ProcessId, logic: Arc<dyn Controller>, held: bool, core: &Core) -> Self {
        let id = ControllerId { process: process.clone(), controller: logic.name().into() };
        let queue = Queueing::new(id.clone(), logic.queue() == QueueKind::Priority, core);
        let workers = Workers::new(worker_count(&id, &*logic, core));
        Runner {
            id,
            sources: logic.sources().into(),
            logic,
            waits_for: Vec::new(),
            queue,
            workers,
            memory: Memory::default(),
            started: false,
            held,
            metrics: ControllerMetrics::default(),
            announcements: Vec::new(),
            queue_armed: None,
            get_booked: false,
        }
    }

    /// Makes a collection that was read a source, if the controller wants that and has not done so before; answers
    /// its index.
    pub fn follow(&mut self, gvr: &Gvr) -> Option<usize> {
        if !self.logic.follows_reads() || self.sources.iter().any(|s| s.gvr == *gvr) {
            return None;
        }
        let known = self.sources.iter().cloned();
        self.sources = known.chain([Source::new(gvr.clone(), Handler::Map)]).collect();
        Some(self.sources.len() - 1)
    }

    pub fn depend_on(&mut self, informer: InformerId) {
        self.waits_for.push(informer);
    }

    /// This replica leads: workers may begin.
    pub fn release(&mut self) {
        self.held = false;
    }

    #[must_use]
    pub fn waits_for_caches(&self, ports: &Ports) -> bool {
        !self.started && !self.waits_for.iter().all(|id| ports.handled_first_list(id))
    }

    /// Timers are to be booked anew.
    pub fn disarm(&mut self) {
        self.queue_armed = None;
    }

    pub fn take_announcements(&mut self) -> Vec<Announcement> {
        std::mem::take(&mut self.announcements)
    }

    /// What controller-runtime counts of this controller.
    #[must_use]
    pub fn metrics(&self) -> &ControllerMetrics {
        &self.metrics
    }

    pub fn retune(&mut self, core: &Core) {
        self.queue.retune(core);
        self.workers.resize(worker_count(&self.id, &*self.logic, core));
    }

    #[must_use]
    pub fn queue(&self) -> &Queueing {
        &self.queue
    }
    #[must_use]
    pub fn workers(&self) -> &Workers {
        &self.workers
    }

    /// An informer called this controller's handler.
    pub fn notify(&mut self, notified: &Notified, ports: &Ports, core: &mut Core) {
        let Some(source) = self.sources.get(notified.source).cloned() else { return };
        core.resume(notified.origin);
        let notice = &notified.notice;
        self.logic.observe(&source.gvr, notice, &mut self.memory);
        let trigger = trigger(notice);
        let passes = source.predicates.iter().all(|predicate| predicate.passes(&trigger));
        let keys = if passes { self.keys(&source, notice, &trigger, ports) } else { Vec::new() };
        core.log.chain(Event::Notified {
            controller: self.id.clone(),
            resource: source.gvr.group_resource(),
            kind: kind_of(notice),
            key: notice.object().key(),
            enqueued: keys.clone().into(),
        });
        let priority = if trigger.is_repetition() { LOW_PRIORITY } else { 0 };
        for key in keys {
            self.queue.add(core, &key, priority);
        }
    }

    fn keys(&mut self, source: &Source, notice: &Notice, trigger: &Trigger, ports: &Ports) -> Vec<Key> {
        let handler = match &source.handler {
            Handler::ForObject => EnqueueHandler::ForObject,
            Handler::ForOwner { group, kind, any_owner } => EnqueueHandler::ForOwner(OwnerKind {
                group: (*group).to_string(),
                kind: (*kind).to_string(),
                served_versions: None,
                cluster_scoped: false,
                only_controller: !any_owner,
            }),
            Handler::Map => {
                let keys = self.logic.map(&source.gvr, notice, ports, &mut self.memory);
                // A handler takes what is cached; only a reconcile waits for more.
                drop(ports.wanted());
                return keys;
            }
        };
        handler.enqueue(trigger, &|_| Vec::new()).into_iter().map(|(key, _)| key).collect()
    }

    pub fn queue_timer(&mut self, core: &mut Core) {
        self.queue_armed = None;
        self.queue.advance(core);
    }

    /// Sets the timers and wakes the workers that have something to do.
    pub fn arm(&mut self, ports: &Ports, life: u32, core: &mut Core) {
        if !self.started && !self.held && self.waits_for.iter().all(|id| ports.handled_first_list(id)) {
            self.started = true;
            for key in self.logic.initial_keys() {
                self.queue.add(core, &key, 0);
            }
        }
        if let Some(due) = self.queue.next_deadline()
            && self.queue_armed.is_none_or(|armed| due < armed)
        {
            self.queue_armed = Some(due);
            core.wake_process(due, &self.id.process, life, Life::QueueTimer(self.id.controller.clone()));
        }
        if self.started && !self.get_booked && self.queue.has_work() && self.workers.idle().is_some() {
            self.get_booked = true;
            let now = core.now();
            core.wake_process(now, &self.id.process, life, Life::WorkerGet(self.id.controller.clone()));
        }
    }

    /// An idle worker takes the next key.
    pub fn take_key(&mut self, life: u32, core: &mut Core) {
        self.get_booked = false;
        let Some(worker) = self.workers.idle() else { return };
        let Some((key, priority)) = self.queue.get(core) else { return };
        let (controller, shown) = (self.id.clone(), key.clone());
        core.log.chain(Event::Started { controller, worker, key: shown });
        self.metrics.run_started();
        self.workers.start(worker, Run::new(key, priority, core));
        let at = core.now() + core.knobs.millis("reconcileMs");
        core.wake_process(at, &self.id.process, life, Life::WorkerRun(self.id.controller.clone(), worker));
    }

    /// Runs a pass; answers the requests it wants to send.
    pub fn run(&mut self, worker: u32, ports: &Ports, core: &mut Core) -> Vec<Request> {
        let Some(run) = self.workers.run(worker) else { return Vec::new() };
        let at = (&self.id, worker);
        let (logic, memory) = (&*self.logic, &mut self.memory);
        let pass = run.pass(at, logic, ports, memory, core);
        self.announcements.append(&mut run.said);
        match pass {
            Pass::Ask(requests) => {
                run.await_answers(requests.len());
                requests
            }
            Pass::Blocked => Vec::new(),
            Pass::Ended(result) => self.end(worker, result, core),
        }
    }

    fn end(&mut self, worker: u32, result: Result<Action, Stop>, core: &mut Core) -> Vec<Request> {
        if let Some(run) = self.workers.take(worker) {
            run.finish((&self.id, worker), result, (&mut self.queue, &mut self.metrics), core);
        }
        Vec::new()
    }

    pub fn departed(&mut self, worker: u32, slot: usize, message: MessageId) {
        if let Some(run) = self.workers.run(worker) {
            run.sent(slot, message);
        }
    }

    pub fn answered(&mut self, worker: u32, slot: usize, response: Response, life: u32, core: &mut Core) {
        let Some(run) = self.workers.run(worker) else { return };
        if run.answered(slot, response) {
            core.resume(run.origin());
            let now = core.now();
            core.wake_process(now, &self.id.process, life, Life::WorkerRun(self.id.controller.clone(), worker));
        }
    }
}

fn worker_count(id: &ControllerId, logic: &dyn Controller, core: &Core) -> u32 {
    if is_operator(&id.process) { u32::try_from(core.knobs.get("workers")).unwrap_or(1) } else { logic.workers() }
}

fn kind_of(notice: &Notice) -> WatchEventType {
    match notice {
        Notice::Add { .. } => WatchEventType::Added,
        Notice::Update { .. } => WatchEventType::Modified,
        Notice::Delete { .. } => WatchEventType::Deleted,
    }
}

/// The event that predicates and handlers judge.
fn trigger(notice: &Notice) -> Trigger {
    match notice {
        Notice::Add { object, initial } => {
            Trigger::Create { object: Some(object.clone()), is_in_initial_list: *initial }
        }
        Notice::Update { old, new } => Trigger::Update { old: Some(old.clone()), new: Some(new.clone()) },
        Notice::Delete { object, tombstone } => Trigger::Delete { object: Some(object.clone()), tombstone: *tombstone },
    }
}
