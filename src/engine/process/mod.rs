//! Processes: programs outside the API server, each with its own identity, clock, caches, queues and workers.

pub mod announcer;
pub mod clock;
pub mod context;
pub mod controller;
pub mod core;
pub mod election;
mod lifecycle;
pub mod memory;
pub mod metrics;
pub mod port;
pub mod queueing;
pub mod rest;
pub mod runner;
pub mod tuning;
pub mod worker;

pub use lifecycle::Exit;

use crate::agenda::{Entry, Life};
use crate::api::message::{Method, Request, Response, User, WatchEvent};
use crate::api::status::ApiStatus;
use crate::client::call::CallError;
use crate::event::{InformerId, ProcessId, ProcessState};
use crate::ids::{MessageId, WatchId};
use crate::object::Object;
use crate::rng::Rng;
use crate::time::{SimTime, Span};
use announcer::Announcer;
use clock::Clock;
use controller::Controller;
use core::Core;
use election::Election;
use port::{Port, Ports};
use rest::{Caller, Rest};
use runner::Runner;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tuning::{CacheScope, Restarts, Tuning};

/// A replica of the operator: `operator`, `operator-1`, ….
#[must_use]
pub fn is_operator(process: &str) -> bool {
    process == "operator" || process.starts_with("operator-")
}

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
    clock: Clock,
    election: Option<Election>,
    announcer: Announcer,
    tuning: Tuning,
    restarts: Restarts,
    started_at: SimTime,
    /// Wakes that came while it was frozen.
    backlog: Vec<Entry>,
    /// Dies before the write that comes after this many more of a reconcile, and starts again after the span.
    crash: Option<(u32, Span)>,
    /// It was told to end and only gives back its lease.
    stopping: bool,
    /// It has just ended by itself.
    exit: Option<Exit>,
}

impl Process {
    #[must_use]
    pub fn new(id: ProcessId, user: User, program: Vec<Arc<dyn Controller>>, rng: Rng) -> Self {
        let rest = Rest::new(id.clone(), user.clone(), 0, None);
        let announcer = Announcer::new(&id, rng.fork("events"));
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
            clock: Clock::default(),
            election: None,
            announcer,
            tuning: Tuning::default(),
            restarts: Restarts::default(),
            started_at: SimTime::ZERO,
            backlog: Vec::new(),
            crash: None,
            stopping: false,
            exit: None,
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
    #[must_use]
    pub fn election(&self) -> Option<&Election> {
        self.election.as_ref()
    }
    #[must_use]
    pub fn clock(&self) -> Clock {
        self.clock
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

    pub fn set_lag(&mut self, resource: &str, lag: Option<Span>) {
        self.tuning.set_lag(resource, lag);
    }

    pub fn set_scope(&mut self, resource: &str, scope: CacheScope) {
        self.tuning.set_scope(resource, scope);
    }

    /// Runs a part of the process by its own clock.
    fn within<T>(&mut self, core: &mut Core, part: impl FnOnce(&mut Self, &mut Core) -> T) -> T {
        let outside = std::mem::replace(&mut core.clock, self.clock);
        let result = part(self, core);
        core.clock = outside;
        result
    }

    /// One thing inside the process happens.
    pub fn live(&mut self, what: &Life, core: &mut Core) {
        self.within(core, |process, core| {
            process.happen(what, core);
            process.settle(core);
        });
    }

    fn happen(&mut self, what: &Life, core: &mut Core) {
        match what {
            Life::InformerTimer(id) => self.ports.timer(id, core),
            Life::InformerPop(id) => self.pop(id, core),
            Life::QueueTimer(name) => {
                if let Some(runner) = self.runners.get_mut(name) {
                    runner.queue_timer(core);
                }
            }
            Life::WorkerGet(name) => {
                if let Some(runner) = self.runners.get_mut(name).filter(|_| !self.stopping) {
                    runner.take_key(self.life, core);
                }
            }
            Life::WorkerRun(name, worker) => self.worker_run(name, *worker, core),
            Life::Send => {
                for (caller, message) in self.rest.release(core) {
                    self.departed(&caller, message);
                }
            }
            Life::ElectionTimer => {
                if let Some(election) = &mut self.election {
                    election.timer(core);
                }
            }
            Life::RecorderTimer => self.announcer.timer(core),
            Life::SyncDeadline => self.check_synced(core),
            // These are the world's to carry out.
            Life::Start | Life::Kubectl | Life::ConnectionLost => {}
        }
    }

    /// Everything that follows from what just happened: requests to send, timers to set, workers to wake.
    fn settle(&mut self, core: &mut Core) {
        self.settle_election(core);
        for (request, caller) in self.ports.take_requests() {
            if let Some(message) = self.rest.send(core, request, caller.clone()) {
                self.ports.asked(&caller, message);
            }
        }
        for call in self.announcer.take_calls() {
            self.rest.send_freely(core, call.request, Caller::Announcement(call.id));
        }
        self.ports.arm(&self.id, self.life, &self.tuning, core);
        if !self.stopping {
            for runner in self.runners.values_mut() {
                runner.arm(&self.ports, self.life, core);
            }
        }
        self.announcer.arm(&self.id, self.life, core);
        if let Some(election) = &mut self.election {
            election.arm(&self.id, self.life, core);
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

    fn worker_run(&mut self, name: &Arc<str>, worker: u32, core: &mut Core) {
        let Some(runner) = self.runners.get_mut(name) else { return };
        let asked = runner.run(worker, &self.ports, core);
        for said in runner.take_announcements() {
            self.announcer.announce(core, said);
        }
        if let Some(gvr) = self.ports.wanted() {
            let followed = runner.follow(&gvr);
            let id = self.ports.open_lazily(&self.id, gvr, (name, worker), &self.tuning, core, &mut self.rng);
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
                    self.exit = Some(Exit { why: "it crashed between two requests", restart: Some(*restart) });
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

    /// The answer to a request has arrived.
    pub fn take_answer(&mut self, core: &mut Core, request: MessageId, response: Response) {
        self.within(core, |process, core| {
            if let Some(caller) = process.rest.answered(core, request, &response) {
                process.hand(core, caller, request, response);
            }
            process.settle(core);
        });
    }

    fn hand(&mut self, core: &mut Core, caller: Caller, request: MessageId, response: Response) {
        match caller {
            Caller::Worker { controller, worker, slot } => {
                if let Some(runner) = self.runners.get_mut(&controller) {
                    runner.answered(worker, slot, response, self.life, core);
                }
            }
            Caller::List(id) => self.ports.listed(&id, request, response, core),
            Caller::Watch(id) => self.ports.watch_answered(&id, request, response, core),
            Caller::Lease(call) => {
                if let Some(election) = &mut self.election {
                    election.answered(core, call, object_or_error(&response));
                }
            }
            Caller::Announcement(call) => {
                self.announcer.answered(core, call, object_or_error(&response).map(|_| ()));
            }
            Caller::Kubectl | Caller::Nobody => {}
        }
    }

    /// No answer will come any more to what was asked; what is asked from now on goes over a new connection.
    pub fn connection_lost(&mut self, core: &mut Core) {
        self.within(core, |process, core| {
            for (request, caller, origin) in process.rest.broken() {
                core.resume(origin);
                let lost = ApiStatus::new(0, "", "http2: client connection lost");
                process.hand(core, caller, request, lost.into());
            }
            process.settle(core);
        });
    }

    pub fn take_event(&mut self, core: &mut Core, informer: &InformerId, watch: WatchId, event: WatchEvent) {
        self.within(core, |process, core| {
            process.ports.event(informer, watch, event, core);
            process.settle(core);
        });
    }

    pub fn watch_ended(&mut self, core: &mut Core, informer: &InformerId, watch: WatchId) {
        self.within(core, |process, core| {
            process.ports.closed(informer, watch, core);
            process.settle(core);
        });
    }

    /// Watches that the process has closed by itself since the last look.
    pub fn take_closing(&mut self) -> Vec<WatchId> {
        self.ports.take_closing()
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

fn object_or_error(response: &Response) -> Result<Object, CallError> {
    match response.status() {
        None => Ok(response.body.clone()),
        Some(status) => Err(port::failure(status)),
    }
}
