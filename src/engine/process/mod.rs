//! Processes: programs outside the API server, each with its own identity, caches, queues and workers.

pub mod context;
pub mod controller;
pub mod core;
pub mod memory;
pub mod port;
pub mod queueing;
pub mod rest;
pub mod runner;
pub mod worker;

use crate::agenda::{Entry, Life};
use crate::api::message::{Method, Request, Response, User, WatchEvent};
use crate::event::{InformerId, ProcessId, ProcessState};
use crate::ids::{MessageId, WatchId};
use crate::rng::Rng;
use crate::time::Span;
use crate::workqueue::bucket::{Rate, TokenBucket};
use controller::Controller;
use core::Core;
use port::{Port, Ports};
use rest::{Caller, Rest};
use runner::Runner;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// One program with everything it keeps in memory.
#[derive(Clone)]
pub struct Process {
    id: ProcessId,
    user: User,
    state: ProcessState,
    /// Raised at every end, so that what was meant for an earlier life is recognised.
    life: u32,
    program: Arc<[Arc<dyn Controller>]>,
    off: BTreeSet<String>,
    ports: Ports,
    runners: BTreeMap<Arc<str>, Runner>,
    rest: Rest,
    rng: Rng,
    /// Wakes that came while it was frozen.
    backlog: Vec<Entry>,
    /// Dies before the write that comes after this many more of a reconcile, and starts again after the span.
    crash: Option<(u32, Span)>,
    /// It just did.
    crashed: Option<Span>,
}

impl Process {
    #[must_use]
    pub fn new(id: ProcessId, user: User, program: Vec<Arc<dyn Controller>>, rng: Rng) -> Self {
        let rest = Rest::new(id.clone(), user.clone(), 0, None);
        Process {
            id,
            user,
            state: ProcessState::Down,
            life: 0,
            program: program.into(),
            off: BTreeSet::new(),
            ports: Ports::default(),
            runners: BTreeMap::new(),
            rest,
            rng,
            backlog: Vec::new(),
            crash: None,
            crashed: None,
        }
    }

    #[must_use]
    pub fn life(&self) -> u32 {
        self.life
    }
    #[must_use]
    pub fn state(&self) -> ProcessState {
        self.state
    }
    #[must_use]
    pub fn runners(&self) -> &BTreeMap<Arc<str>, Runner> {
        &self.runners
    }
    #[must_use]
    pub fn ports(&self) -> &Ports {
        &self.ports
    }

    /// Starts with empty caches and queues.
    pub fn start(&mut self, core: &mut Core) {
        self.state = ProcessState::Running;
        self.rest = Rest::new(self.id.clone(), self.user.clone(), self.life, self.bucket(core));
        for logic in self.program.clone().iter().filter(|c| !self.off.contains(c.name())) {
            let name: Arc<str> = logic.name().into();
            let mut runner = Runner::new(&self.id, logic.clone(), core);
            for (index, source) in logic.sources().into_iter().enumerate() {
                let id = self.ports.ensure(&self.id, &source, core, &mut self.rng);
                self.ports.listen(&id, &name, index, core);
                runner.depend_on(id);
            }
            self.runners.insert(name, runner);
        }
        self.settle(core);
    }

    /// Ends: everything in memory is gone.
    pub fn stop(&mut self) {
        self.state = ProcessState::Down;
        self.life += 1;
        self.ports = Ports::default();
        self.runners.clear();
        self.backlog.clear();
        self.crash = None;
        self.rest = Rest::new(self.id.clone(), self.user.clone(), self.life, None);
    }

    pub fn freeze(&mut self) {
        if self.state == ProcessState::Running {
            self.state = ProcessState::Frozen;
        }
    }

    /// Goes on; answers what happened meanwhile, in order.
    pub fn thaw(&mut self) -> Vec<Entry> {
        if self.state == ProcessState::Frozen {
            self.state = ProcessState::Running;
        }
        std::mem::take(&mut self.backlog)
    }

    pub fn postpone(&mut self, entry: Entry) {
        self.backlog.push(entry);
    }

    pub fn switch(&mut self, controller: &str, on: bool) {
        if on {
            self.off.remove(controller);
        } else {
            self.off.insert(controller.to_string());
        }
    }

    pub fn crash_after(&mut self, requests: u32, restart: Span) {
        self.crash = Some((requests, restart));
    }

    /// The crash that is due now, if the process was set to die and has sent enough.
    pub fn crash_due(&mut self) -> Option<Span> {
        self.crashed.take()
    }

    /// Follows the knobs.
    pub fn retune(&mut self, core: &mut Core) {
        if &*self.id == "operator" {
            self.rest.limit(self.bucket(core));
            for runner in self.runners.values_mut() {
                runner.retune(core);
            }
        }
        self.settle(core);
    }

    fn bucket(&self, core: &Core) -> Option<TokenBucket> {
        let qps = core.knobs.get("qps").unsigned_abs();
        let burst = u32::try_from(core.knobs.get("burst")).unwrap_or(1);
        (&*self.id == "operator" && qps > 0).then(|| TokenBucket::new(Rate::per_second(qps), burst))
    }

    /// One thing inside the process happens.
    pub fn live(&mut self, what: &Life, core: &mut Core) {
        match what {
            Life::Start => self.start(core),
            Life::InformerTimer(id) => self.ports.timer(id, core),
            Life::InformerPop(id) => self.pop(id, core),
            Life::QueueTimer(name) => {
                if let Some(runner) = self.runners.get_mut(name) {
                    runner.queue_timer(core);
                }
            }
            Life::WorkerGet(name) => self.worker_get(name, core),
            Life::WorkerRun(name, worker) => self.worker_run(name, *worker, core),
            Life::Send => {
                for (caller, message) in self.rest.release(core) {
                    self.departed(&caller, message);
                }
            }
            Life::Kubectl => {}
        }
        self.settle(core);
    }

    /// Everything that follows from what just happened: requests to send, timers to set, workers to wake.
    fn settle(&mut self, core: &mut Core) {
        for (request, caller) in self.ports.take_requests() {
            if let Some(message) = self.rest.send(core, request, caller.clone()) {
                self.ports.asked(&caller, message);
            }
        }
        self.ports.arm(&self.id, self.life, core);
        for runner in self.runners.values_mut() {
            runner.arm(&self.ports, self.life, core);
        }
    }

    fn pop(&mut self, id: &InformerId, core: &mut Core) {
        let notices = self.ports.pop(id, core);
        for notice in notices {
            if let Some(runner) = self.runners.get_mut(&notice.controller) {
                runner.notify(&notice, &self.ports, core);
            }
        }
    }

    fn worker_get(&mut self, name: &Arc<str>, core: &mut Core) {
        if let Some(runner) = self.runners.get_mut(name) {
            runner.take_key(self.life, core);
        }
    }

    fn worker_run(&mut self, name: &Arc<str>, worker: u32, core: &mut Core) {
        let Some(runner) = self.runners.get_mut(name) else { return };
        let asked = runner.run(worker, &self.ports, core);
        if let Some(gvr) = self.ports.wanted() {
            let followed = runner.follow(&gvr);
            let id = self.ports.open_lazily(&self.id, gvr, (name, worker), core, &mut self.rng);
            if let Some(source) = followed {
                self.ports.listen(&id, name, source, core);
            }
            return;
        }
        self.ask(name, worker, asked, core);
    }

    fn ask(&mut self, name: &Arc<str>, worker: u32, asked: Vec<Request>, core: &mut Core) {
        for (slot, request) in asked.into_iter().enumerate() {
            if let Some((left, restart)) = &mut self.crash {
                if *left == 0 {
                    self.crashed = Some(*restart);
                    return;
                }
                *left -= u32::from(request.method != Method::Get);
            }
            let caller = Caller::Worker { controller: name.clone(), worker, slot };
            if let Some(message) = self.rest.send(core, request, caller.clone()) {
                self.departed(&caller, message);
            }
        }
    }

    fn departed(&mut self, caller: &Caller, message: MessageId) {
        match caller {
            Caller::Worker { controller, worker, slot } => {
                if let Some(runner) = self.runners.get_mut(controller) {
                    runner.departed(*worker, *slot, message);
                }
            }
            other => self.ports.asked(other, message),
        }
    }

    /// Whom the answer to a request is for.
    pub fn answered(&mut self, request: MessageId) -> Option<Caller> {
        self.rest.answered(request)
    }

    pub fn take_answer(&mut self, core: &mut Core, caller: Caller, response: Response) {
        match caller {
            Caller::Worker { controller, worker, slot } => {
                if let Some(runner) = self.runners.get_mut(&controller) {
                    runner.answered(worker, slot, response, self.life, core);
                }
            }
            Caller::List(id) => self.ports.listed(&id, response, core),
            Caller::Watch(id) => self.ports.watch_answered(&id, response, core),
            Caller::Kubectl | Caller::Nobody => {}
        }
        self.settle(core);
    }

    pub fn take_event(&mut self, core: &mut Core, informer: &InformerId, event: WatchEvent) {
        self.ports.event(informer, event, core);
        self.settle(core);
    }

    pub fn watch_ended(&mut self, core: &mut Core, informer: &InformerId) {
        self.ports.closed(informer, core);
        self.settle(core);
    }

    /// The informer that asked for a watch with this request.
    #[must_use]
    pub fn watching(&self, request: MessageId) -> Option<InformerId> {
        self.ports.iter().find(|(_, p)| p.asked_watch() == Some(request)).map(|(id, _)| id.clone())
    }

    /// The informer that reads this watch.
    #[must_use]
    pub fn port_of(&self, watch: WatchId) -> Option<&Port> {
        self.ports.iter().find(|(_, p)| p.watch() == Some(watch)).map(|(_, p)| p)
    }
}
