//! A worker: takes a key, runs the reconcile in passes, and tells the queue how it ended.

use super::announcer::Announcement;
use super::context::{Action, Answer, Context, Remark, Stop};
use super::controller::{Caches, Controller};
use super::core::{Core, Origin};
use super::memory::Memory;
use super::queueing::Queueing;
use crate::api::message::{Request, Response};
use crate::controller::metrics::ControllerMetrics;
use crate::controller::result::{Ended, QueueCall, ReconcileError, ReconcileResult, count, decide};
use crate::event::{ControllerId, Event, Outcome};
use crate::ids::{Key, MessageId};
use crate::time::{SimTime, Span};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A reconcile under way: the list of its answers so far.
#[derive(Clone, Debug)]
pub struct Run {
    pub key: Key,
    priority: i64,
    log: Vec<Answer>,
    remarked: usize,
    origin: Origin,
    /// Requests on their way, in the order they were asked, with the answers that have come.
    awaited: Vec<(Option<MessageId>, Option<Response>)>,
    /// Writes sent so far, for a crash between two of them.
    pub sent: u32,
    /// Events for the recorder.
    pub said: Vec<Announcement>,
    began: SimTime,
}

/// What a pass led to.
pub enum Pass {
    /// These requests have to be sent.
    Ask(Vec<Request>),
    /// A cache has to be filled first; the pass did not count.
    Blocked,
    Ended(Result<Action, Stop>),
}

impl Run {
    #[must_use]
    pub fn new(key: Key, priority: i64, core: &Core) -> Self {
        Run {
            key,
            priority,
            log: Vec::new(),
            remarked: 0,
            origin: core.here(),
            awaited: Vec::new(),
            sent: 0,
            said: Vec::new(),
            began: core.now(),
        }
    }

    #[must_use]
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// Runs the reconcile from the top until it asks something new or ends.
    pub fn pass(
        &mut self,
        at: (&ControllerId, u32),
        logic: &dyn Controller,
        caches: &dyn Caches,
        memory: &mut Memory,
        core: &mut Core,
    ) -> Pass {
        core.resume(self.origin);
        let known = self.log.len();
        let mut cx = Context::new(&mut self.log, caches, memory, core.now(), self.remarked);
        let result = logic.reconcile(&mut cx, &self.key);
        let (asked, remarks) = (std::mem::take(&mut cx.asked), std::mem::take(&mut cx.remarks));
        if caches.missed() {
            self.log.truncate(known);
            return Pass::Blocked;
        }
        self.remarked += remarks.len();
        for remark in remarks {
            self.said.extend(record_remark(core, at, &self.key, remark));
        }
        match result {
            Err(Stop::Pending) => Pass::Ask(asked),
            ended => Pass::Ended(ended),
        }
    }

    /// Notes the messages that the requests of the last pass travel in; `None` while one waits for a token.
    pub fn await_answers(&mut self, count: usize) {
        self.awaited = vec![(None, None); count];
    }

    pub fn sent(&mut self, slot: usize, message: MessageId) {
        self.sent += 1;
        if let Some(awaited) = self.awaited.get_mut(slot) {
            awaited.0 = Some(message);
        }
    }

    /// Takes an answer; true when the last one is there and the next pass can run.
    pub fn answered(&mut self, slot: usize, response: Response) -> bool {
        if let Some(awaited) = self.awaited.get_mut(slot) {
            awaited.1 = Some(response);
        }
        if self.awaited.iter().any(|(_, answer)| answer.is_none()) {
            return false;
        }
        let answers = std::mem::take(&mut self.awaited).into_iter().filter_map(|(_, answer)| answer).collect();
        self.log.push(Answer::Responses(Arc::new(answers)));
        true
    }

    /// Tells the queue how the reconcile ended, by controller-runtime's table.
    pub fn finish(
        self,
        at: (&ControllerId, u32),
        result: Result<Action, Stop>,
        work: (&mut Queueing, &mut ControllerMetrics),
        core: &mut Core,
    ) {
        let (queue, metrics) = work;
        core.resume(self.origin);
        let outcome = outcome(&result);
        core.log.chain(Event::Finished {
            controller: at.0.clone(),
            worker: at.1,
            key: self.key.clone(),
            outcome: outcome.clone(),
        });
        let ended = ended(&result);
        let decision = decide(&ended, self.priority);
        count(metrics, &ended, decision.verdict);
        metrics.run_ended(core.now().since(self.began));
        for call in decision.calls {
            match call {
                QueueCall::Forget => queue.forget(core, &self.key),
                QueueCall::Add(options) => {
                    let priority = options.priority.unwrap_or(self.priority);
                    match options.after_us {
                        Some(after) => queue.add_after(core, &self.key, Span(after.unsigned_abs()), priority),
                        None => queue.add_rate_limited(core, &self.key, priority),
                    }
                }
            }
        }
        queue.done(core, &self.key);
    }
}

/// Records what was said; answers what is for the recorder of events.
fn record_remark(core: &mut Core, at: (&ControllerId, u32), key: &Key, remark: Remark) -> Option<Announcement> {
    let (controller, worker) = (at.0.clone(), at.1);
    let (event, said) = match remark {
        Remark::At { phase, line, note } => (Event::At { controller, worker, phase, line, note: note.into() }, None),
        Remark::NoWrite { why } => (Event::NoWrite { controller, worker, key: key.clone(), why: why.into() }, None),
        Remark::Event { about, warning, reason, message } => {
            let (reason, message): (Arc<str>, Arc<str>) = (reason.into(), message.into());
            let component = controller.controller.clone();
            let said = Announcement { component, about, warning, reason: reason.clone(), message: message.clone() };
            (Event::Announced { controller, worker, key: key.clone(), warning, reason, message }, Some(said))
        }
    };
    core.log.emit(event);
    said
}

/// The result as the table of controller-runtime reads it.
fn ended(result: &Result<Action, Stop>) -> Ended {
    let failed = |error| Ended::Failed(error, ReconcileResult::default());
    let plain = |text: &str| ReconcileError::Plain(text.to_string());
    match result {
        Ok(action) => Ended::Returned(ReconcileResult {
            requeue_after_us: i64::try_from(action.requeue_after.0).unwrap_or(i64::MAX),
            requeue: action.requeue,
            priority: None,
        }),
        Err(Stop::Pending) => Ended::Returned(ReconcileResult::default()),
        Err(Stop::Api(status)) => failed(plain(&status.message)),
        Err(Stop::Failed(text)) => failed(plain(text)),
        Err(Stop::Terminal(text)) => failed(ReconcileError::Terminal(Some(Box::new(plain(text))))),
        Err(Stop::Panicked(text)) => Ended::Panicked(text.clone()),
    }
}

fn outcome(result: &Result<Action, Stop>) -> Outcome {
    match result {
        Ok(action) if action.requeue_after.0 > 0 => Outcome::RequeueAfter(action.requeue_after),
        Ok(Action { requeue: true, .. }) => Outcome::Requeue,
        Ok(_) | Err(Stop::Pending) => Outcome::Done,
        Err(Stop::Api(status)) => Outcome::Failed { code: status.code, message: status.message.as_str().into() },
        Err(Stop::Panicked(message)) => Outcome::Panicked { message: message.as_str().into() },
        Err(Stop::Failed(message)) => Outcome::Failed { code: 0, message: message.as_str().into() },
        Err(Stop::Terminal(message)) => Outcome::Terminal { message: message.as_str().into() },
    }
}

/// The workers of one controller.
#[derive(Clone, Debug, Default)]
pub struct Workers {
    runs: BTreeMap<u32, Run>,
    count: u32,
}

impl Workers {
    #[must_use]
    pub fn new(count: u32) -> Self {
        Workers { runs: BTreeMap::new(), count }
    }

    /// More or fewer workers; running ones end their key first.
    pub fn resize(&mut self, count: u32) {
        self.count = count;
    }

    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The first worker with nothing to do.
    #[must_use]
    pub fn idle(&self) -> Option<u32> {
        (0..self.count).find(|n| !self.runs.contains_key(n))
    }

    pub fn start(&mut self, worker: u32, run: Run) {
        self.runs.insert(worker, run);
    }

    pub fn run(&mut self, worker: u32) -> Option<&mut Run> {
        self.runs.get_mut(&worker)
    }

    pub fn take(&mut self, worker: u32) -> Option<Run> {
        self.runs.remove(&worker)
    }

    pub fn running(&self) -> impl Iterator<Item = (u32, &Run)> {
        self.runs.iter().map(|(n, run)| (*n, run))
    }
}
