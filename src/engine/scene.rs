//! The picture of a run at one instant: plain data for the page, made by folding records.
//!
//! A scene knows nothing that was not recorded. Large parts sit behind `Arc`, so a copy costs little.

use crate::api::message::{StageStep, WatchEventType};
use crate::command::FailNext;
use crate::event::{
    Carries, ControllerId, Event, InformerId, Message, Outcome, Phase, ProcessId, ProcessState, QueueOp, QueueShot,
    Record, Tokens, Write,
};
use crate::ids::{EventId, GroupResource, Key, MessageId, WatchId};
use crate::object::Object;
use crate::time::SimTime;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// How many of the last writes the API server box shows.
const WRITES_SHOWN: usize = 6;
/// How many delivered or lost messages stay for effects at the end of their way.
const PRINTED_MAX: usize = 50;

/// The server as drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServerView {
    pub revision: u64,
    pub recent: VecDeque<Arc<Write>>,
    pub watches: BTreeMap<WatchId, (ProcessId, GroupResource)>,
    pub requests: u64,
    /// Answers by code.
    pub answers: BTreeMap<u16, u64>,
    pub last: Option<HandledView>,
}

/// The last request the server dealt with.
#[derive(Clone, Debug, PartialEq)]
pub struct HandledView {
    pub at: SimTime,
    pub user: Arc<str>,
    pub code: u16,
    pub reason: Arc<str>,
    pub message: Arc<str>,
    pub request: Option<Arc<Message>>,
    pub stages: Arc<[StageStep]>,
}

/// An informer as drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InformerView {
    pub synced: bool,
    pub revision: u64,
    /// Changes waiting in the FIFO, oldest first.
    pub fifo: VecDeque<(WatchEventType, Key, u64)>,
    /// Key and resourceVersion of each cached object.
    pub cache: Arc<BTreeMap<Key, u64>>,
    pub events: u64,
}

/// A queue with its workers, as drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ControllerView {
    pub shot: Arc<QueueShot>,
    pub arrived: u64,
    pub merged: u64,
    pub retried: u64,
    pub reconciles: u64,
    pub failures: u64,
    pub workers: BTreeMap<u32, WorkerView>,
    pub last: Option<Outcome>,
    pub dropped: u64,
    /// Events given to the recorder.
    pub announced: u64,
}

/// The rate limit of a process' client, as drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientView {
    pub at: SimTime,
    pub tokens: Tokens,
    /// Requests that had to wait so far.
    pub throttled: u64,
}

/// A reconcile that is running, or the last one of its worker.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkerView {
    pub key: Key,
    pub running: bool,
    pub started: SimTime,
    pub started_by: EventId,
    pub phase: Phase,
    pub line: &'static str,
    pub note: Arc<str>,
    pub no_write: Option<Arc<str>>,
    pub outcome: Option<Outcome>,
}

/// Everything the page draws.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scene {
    pub at: SimTime,
    pub last: EventId,
    pub objects: Arc<BTreeMap<GroupResource, Arc<BTreeMap<Key, Object>>>>,
    /// On their way now.
    pub messages: Arc<BTreeMap<MessageId, Arc<Message>>>,
    pub server: Arc<ServerView>,
    pub informers: Arc<BTreeMap<InformerId, InformerView>>,
    pub controllers: Arc<BTreeMap<ControllerId, ControllerView>>,
    pub processes: Arc<BTreeMap<ProcessId, ProcessState>>,
    pub leading: Arc<BTreeMap<ProcessId, bool>>,
    /// Processes whose client has a rate limit.
    pub clients: Arc<BTreeMap<ProcessId, ClientView>>,
    /// What is special about single processes; see [`Event::Tuned`].
    pub tuned: Arc<BTreeMap<(ProcessId, Arc<str>), u64>>,
    pub armed: Arc<Vec<Arc<FailNext>>>,
    pub knobs: Arc<BTreeMap<Arc<str>, i64>>,
    pub printed: Arc<VecDeque<(SimTime, Arc<str>, bool)>>,
    pub broken: Arc<Vec<(&'static str, Arc<str>)>>,
}

impl Scene {
    /// Objects of one resource, in key order.
    pub fn of<'a>(&'a self, group: &str, resource: &str) -> impl Iterator<Item = (&'a Key, &'a Object)> {
        self.objects.get(&GroupResource::new(group, resource)).into_iter().flat_map(|m| m.iter())
    }

    #[must_use]
    pub fn object(&self, resource: &GroupResource, key: &Key) -> Option<&Object> {
        self.objects.get(resource)?.get(key)
    }

    /// Folds one record in.
    pub fn apply(&mut self, record: &Record) {
        self.at = record.at;
        self.last = record.id;
        match &record.event {
            Event::Sent { message } => {
                Arc::make_mut(&mut self.messages).insert(message.id, message.clone());
            }
            Event::Delivered { message } | Event::Lost { message, .. } => {
                Arc::make_mut(&mut self.messages).remove(&message.id);
            }
            Event::Wrote { write } => self.wrote(write),
            Event::Printed { text, failed, .. } => {
                let printed = Arc::make_mut(&mut self.printed);
                printed.push_back((record.at, text.clone(), *failed));
                while printed.len() > PRINTED_MAX {
                    printed.pop_front();
                }
            }
            Event::Process { process, state, .. } => self.process(process, *state),
            Event::Leading { process, leads } => {
                Arc::make_mut(&mut self.leading).insert(process.clone(), *leads);
            }
            Event::Tokens { process, tokens } => {
                let view = Arc::make_mut(&mut self.clients).entry(process.clone()).or_default();
                view.throttled += u64::from(tokens.wait.0 > 0);
                (view.at, view.tokens) = (record.at, *tokens);
            }
            Event::Tuned { process, setting, value } => {
                let tuned = Arc::make_mut(&mut self.tuned);
                let slot = (process.clone(), setting.clone());
                match value {
                    Some(value) => tuned.insert(slot, *value),
                    None => tuned.remove(&slot),
                };
            }
            Event::KnobSet { knob, value } => {
                Arc::make_mut(&mut self.knobs).insert(knob.clone(), *value);
            }
            Event::FaultArmed { fault } => Arc::make_mut(&mut self.armed).push(fault.clone()),
            Event::FaultFired { failure, .. } => self.fired(*failure),
            Event::InvariantBroken { invariant, detail } => {
                Arc::make_mut(&mut self.broken).push((invariant, detail.clone()));
            }
            Event::Commanded { .. } | Event::Exited { .. } => {}
            Event::Handled { .. } | Event::WatchOpened { .. } | Event::WatchClosed { .. } => self.served(record),
            Event::Listed { .. } | Event::FifoPushed { .. } | Event::Cached { .. } => self.informed(&record.event),
            Event::Notified { .. }
            | Event::Queue { .. }
            | Event::Started { .. }
            | Event::At { .. }
            | Event::NoWrite { .. }
            | Event::Announced { .. }
            | Event::Finished { .. } => self.controlled(record),
        }
    }

    fn wrote(&mut self, write: &Arc<Write>) {
        let objects = Arc::make_mut(&mut self.objects);
        let kind = Arc::make_mut(objects.entry(write.resource.clone()).or_default());
        match &write.new {
            Some(object) if write.kind != WatchEventType::Deleted => {
                kind.insert(write.key.clone(), object.clone());
            }
            _ => {
                kind.remove(&write.key);
            }
        }
        let server = Arc::make_mut(&mut self.server);
        server.revision = write.revision;
        server.recent.push_back(write.clone());
        while server.recent.len() > WRITES_SHOWN {
            server.recent.pop_front();
        }
    }

    fn process(&mut self, process: &ProcessId, state: ProcessState) {
        Arc::make_mut(&mut self.processes).insert(process.clone(), state);
        if state == ProcessState::Down {
            Arc::make_mut(&mut self.informers).retain(|id, _| id.process != *process);
            Arc::make_mut(&mut self.controllers).retain(|id, _| id.process != *process);
            Arc::make_mut(&mut self.leading).remove(process);
            Arc::make_mut(&mut self.clients).remove(process);
        }
    }

    fn fired(&mut self, failure: crate::command::Failure) {
        let armed = Arc::make_mut(&mut self.armed);
        let Some(i) = armed.iter().position(|f| f.failure == failure) else { return };
        let left = armed[i].count.saturating_sub(1);
        if left == 0 {
            armed.remove(i);
        } else {
            Arc::make_mut(&mut armed[i]).count = left;
        }
    }

    fn served(&mut self, record: &Record) {
        let server = Arc::make_mut(&mut self.server);
        match &record.event {
            Event::Handled { request, user, code, reason, message, stages } => {
                server.requests += 1;
                *server.answers.entry(*code).or_default() += 1;
                server.last = Some(HandledView {
                    at: record.at,
                    user: user.clone(),
                    code: *code,
                    reason: reason.clone(),
                    message: message.clone(),
                    request: self.messages.get(request).cloned(),
                    stages: stages.clone(),
                });
            }
            Event::WatchOpened { watch, process, resource, .. } => {
                server.watches.insert(*watch, (process.clone(), resource.clone()));
            }
            Event::WatchClosed { watch, .. } => {
                server.watches.remove(watch);
            }
            _ => {}
        }
    }

    fn informed(&mut self, event: &Event) {
        let informers = Arc::make_mut(&mut self.informers);
        match event {
            Event::Listed { informer, revision, contents } => {
                let view = informers.entry(informer.clone()).or_default();
                view.synced = true;
                view.revision = *revision;
                view.fifo.clear();
                view.cache = Arc::new(contents.iter().cloned().collect());
            }
            Event::FifoPushed { informer, kind, key, revision } => {
                let view = informers.entry(informer.clone()).or_default();
                view.fifo.push_back((*kind, key.clone(), *revision));
            }
            Event::Cached { informer, kind, key, revision } => {
                let view = informers.entry(informer.clone()).or_default();
                if view.fifo.front().is_some_and(|(_, k, _)| k == key) {
                    view.fifo.pop_front();
                }
                view.events += 1;
                view.revision = *revision;
                let cache = Arc::make_mut(&mut view.cache);
                if *kind == WatchEventType::Deleted {
                    cache.remove(key);
                } else {
                    cache.insert(key.clone(), *revision);
                }
            }
            _ => {}
        }
    }

    fn controlled(&mut self, record: &Record) {
        let (Event::Notified { controller, .. }
        | Event::Queue { controller, .. }
        | Event::Started { controller, .. }
        | Event::At { controller, .. }
        | Event::NoWrite { controller, .. }
        | Event::Announced { controller, .. }
        | Event::Finished { controller, .. }) = &record.event
        else {
            return;
        };
        let controllers = Arc::make_mut(&mut self.controllers);
        let view = controllers.entry(controller.clone()).or_default();
        match &record.event {
            Event::Announced { .. } => view.announced += 1,
            Event::Notified { enqueued, .. } => view.dropped += u64::from(enqueued.is_empty()),
            Event::Queue { op, shot, .. } => {
                view.shot = shot.clone();
                match op {
                    QueueOp::Added => view.arrived += 1,
                    QueueOp::Merged | QueueOp::AddedWhileProcessing => {
                        view.arrived += 1;
                        view.merged += 1;
                    }
                    QueueOp::BackedOff { .. } => view.retried += 1,
                    _ => {}
                }
            }
            event => view.worked(event, record),
        }
    }

    /// The message a pill stands for, in words.
    #[must_use]
    pub fn carries(&self, id: MessageId) -> Option<&Carries> {
        self.messages.get(&id).map(|m| &m.carries)
    }
}

impl ControllerView {
    fn worked(&mut self, event: &Event, record: &Record) {
        match event {
            Event::Started { worker, key, .. } => {
                self.reconciles += 1;
                let view = WorkerView {
                    key: key.clone(),
                    running: true,
                    started: record.at,
                    started_by: record.id,
                    phase: Phase::Observe,
                    line: "",
                    note: "".into(),
                    no_write: None,
                    outcome: None,
                };
                self.workers.insert(*worker, view);
            }
            Event::At { worker, phase, line, note, .. } => {
                if let Some(view) = self.workers.get_mut(worker) {
                    (view.phase, view.line, view.note) = (*phase, line, note.clone());
                }
            }
            Event::NoWrite { worker, why, .. } => {
                if let Some(view) = self.workers.get_mut(worker) {
                    view.no_write = Some(why.clone());
                }
            }
            Event::Finished { worker, outcome, .. } => {
                self.failures += u64::from(matches!(outcome, Outcome::Failed { .. } | Outcome::Panicked { .. }));
                self.last = Some(outcome.clone());
                if let Some(view) = self.workers.get_mut(worker) {
                    view.running = false;
                    view.outcome = Some(outcome.clone());
                }
            }
            _ => {}
        }
    }
}
