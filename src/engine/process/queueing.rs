//! A controller's queue, with every operation on record.

use super::core::{Core, Origin};
use super::is_operator;
use crate::event::{ControllerId, Event, QUEUE_SHOWN_MAX, QueueOp, QueueShot};
use crate::ids::Key;
use crate::time::{SimTime, Span};
use crate::workqueue::rate_limiter::Limiter;
use crate::workqueue::{AddOptions, Got, WorkQueue};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The queue of one controller.
#[derive(Clone, Debug)]
pub struct Queueing {
    id: ControllerId,
    queue: WorkQueue,
    /// What first asked for each waiting key.
    origins: BTreeMap<Key, Origin>,
}

impl Queueing {
    /// A queue as the knobs say; `priority` is what the controller's own library would use.
    #[must_use]
    pub fn new(id: ControllerId, priority: bool, core: &Core) -> Self {
        let own = is_operator(&id.process);
        let priority = if own { core.knobs.get("priorityQueue") == 1 } else { priority };
        let queue = if priority {
            WorkQueue::priority(Limiter::default_priority())
        } else {
            WorkQueue::classic(Limiter::default_controller())
        };
        let mut queueing = Queueing { id, queue, origins: BTreeMap::new() };
        queueing.retune(core);
        queueing
    }

    /// Follows the knobs of the backoff; counted failures stay counted.
    pub fn retune(&mut self, core: &Core) {
        if is_operator(&self.id.process) {
            self.queue.set_backoff(core.knobs.millis("backoffBaseMs"), core.knobs.millis("backoffCapMs"));
        }
    }

    /// An event asks for `key`.
    pub fn add(&mut self, core: &mut Core, key: &Key, priority: i64) {
        let before = (self.queue.metrics().adds, self.queue.len());
        self.queue.add(core.now(), key, AddOptions::now().priority(priority));
        let op = if self.queue.metrics().adds == before.0 {
            QueueOp::Merged
        } else if self.queue.processing().any(|k| k == key) {
            QueueOp::AddedWhileProcessing
        } else {
            QueueOp::Added
        };
        let here = core.here();
        let id = self.record(core, op, key);
        self.origins.entry(key.clone()).or_insert(Origin { cause: id, trace: here.trace });
    }

    /// To be added after `span`.
    pub fn add_after(&mut self, core: &mut Core, key: &Key, span: Span, priority: i64) {
        self.queue.add(core.now(), key, AddOptions::after(span).priority(priority));
        self.delayed(core, QueueOp::Delayed(span), key);
    }

    /// To be added after its backoff.
    pub fn add_rate_limited(&mut self, core: &mut Core, key: &Key, priority: i64) {
        self.queue.add(core.now(), key, AddOptions::rate_limited().priority(priority));
        let at = self.queue.delayed_until(key).unwrap_or(core.now());
        let failures = self.queue.num_requeues(key);
        self.delayed(core, QueueOp::BackedOff { after: at.since(core.now()), failures }, key);
    }

    fn delayed(&mut self, core: &mut Core, op: QueueOp, key: &Key) {
        let trace = core.here().trace;
        let cause = self.record(core, op, key);
        self.origins.entry(key.clone()).or_insert(Origin { cause, trace });
    }

    pub fn forget(&mut self, core: &mut Core, key: &Key) {
        if self.queue.num_requeues(key) > 0 {
            self.queue.forget(key);
            self.record(core, QueueOp::Forgotten, key);
        }
    }

    pub fn done(&mut self, core: &mut Core, key: &Key) {
        self.queue.done(core.now(), key);
        self.record(core, QueueOp::Done, key);
    }

    /// The next key, with its priority and what asked for it.
    pub fn get(&mut self, core: &mut Core) -> Option<(Key, i64)> {
        let Got::Key(key, priority) = self.queue.get(core.now()) else { return None };
        let origin = self.origins.remove(&key).unwrap_or_default();
        core.resume(origin);
        core.log.cause = self.record(core, QueueOp::Got, &key);
        Some((key, priority))
    }

    /// Delayed keys whose time has come are put in line.
    pub fn advance(&mut self, core: &mut Core) {
        let now = core.now();
        let due: Vec<Key> = self.queue.delayed().take_while(|d| d.at <= now).map(|d| d.key).collect();
        self.queue.advance(now);
        for key in due {
            core.resume(self.origins.get(&key).copied().unwrap_or_default());
            let trace = core.here().trace;
            let cause = self.record(core, QueueOp::Due, &key);
            self.origins.insert(key, Origin { cause, trace });
        }
    }

    #[must_use]
    pub fn next_deadline(&self) -> Option<SimTime> {
        self.queue.next_deadline()
    }

    #[must_use]
    pub fn has_work(&self) -> bool {
        self.queue.has_work()
    }

    #[must_use]
    pub fn failures(&self, key: &Key) -> u32 {
        self.queue.num_requeues(key)
    }

    #[must_use]
    pub fn inner(&self) -> &WorkQueue {
        &self.queue
    }

    fn record(&self, core: &mut Core, op: QueueOp, key: &Key) -> crate::ids::EventId {
        core.log.emit(Event::Queue { controller: self.id.clone(), op, key: key.clone(), shot: Arc::new(self.shot()) })
    }

    /// The queue as it stands, cut to what can be drawn.
    #[must_use]
    pub fn shot(&self) -> QueueShot {
        let queue = &self.queue;
        let ready: Vec<Key> = queue.queued().take(QUEUE_SHOWN_MAX).map(|(k, _)| k.clone()).collect();
        let processing: Vec<Key> = queue.processing().take(QUEUE_SHOWN_MAX).cloned().collect();
        let dirty: Vec<Key> = processing.iter().filter(|key| queue.is_dirty(key)).cloned().collect();
        let delayed: Vec<(Key, SimTime)> = queue.delayed().take(QUEUE_SHOWN_MAX).map(|d| (d.key, d.at)).collect();
        let shown = ready.iter().chain(&processing).chain(delayed.iter().map(|(k, _)| k));
        let counted: BTreeMap<Key, u32> = shown.map(|k| (k.clone(), queue.num_requeues(k))).collect();
        let failures = counted.into_iter().filter(|(_, n)| *n > 0).collect();
        QueueShot { len: queue.len(), ready, processing, dirty, delayed, failures }
    }
}
