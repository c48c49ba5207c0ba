//! The cluster as one pure state machine: commands in, one wake a step, records out.
//!
//! **Flow.** [`World::submit`] books a command; [`World::step`] takes the next wake off the agenda and answers
//! with what it recorded. **Guarantees.** Same spec, same commands, same records, on every machine; a step cannot fail.

mod commands;
mod disturb;
mod fleet;
mod kubectl;
#[cfg(test)]
mod kubectl_tests;
mod serve;
mod spec;

pub use spec::{ClusterSpec, admin};

use crate::agenda::{Agenda, Entry, Life, Wake};
use crate::api::message::Request;
use crate::api::server::ApiServer;
use crate::command::Command;
use crate::event::{Event, ProcessId, ProcessState, Record};
use crate::fault::Faults;
use crate::ids::{MessageId, TraceId, WatchId};
use crate::log::Log;
use crate::network::Network;
use crate::object::Object;
use crate::outside::Outside;
use crate::process::Process;
use crate::process::core::Core;
use crate::rng::Rng;
use crate::time::SimTime;
use serve::Stream;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The whole machine. A copy is a checkpoint.
#[derive(Clone)]
pub struct World {
    core: Core,
    api: ApiServer,
    processes: BTreeMap<ProcessId, Process>,
    streams: BTreeMap<WatchId, Stream>,
    faults: Faults,
    outside: Outside,
    kubectl: kubectl::Kubectl,
    /// When the server's own timer is booked for.
    server_armed: Option<SimTime>,
    fleet: fleet::Fleet,
    /// Processes that are cut off, with what could not be delivered since.
    cuts: BTreeMap<ProcessId, disturb::Cut>,
    /// Servers that have stopped following, by the process that reads from them.
    old_servers: BTreeMap<ProcessId, ApiServer>,
}

impl World {
    #[must_use]
    pub fn new(spec: &ClusterSpec) -> Self {
        let seed = Rng::new(spec.seed);
        let core = Core {
            log: Log::default(),
            agenda: Agenda::default(),
            network: Network::new(seed.fork("network")),
            knobs: spec.knobs.clone(),
            clock: crate::process::clock::Clock::default(),
        };
        let mut world = World {
            core,
            api: ApiServer::new(seed.fork("apiserver").next_u64(), spec.profile.clone()),
            processes: BTreeMap::new(),
            streams: BTreeMap::new(),
            faults: Faults::default(),
            outside: Outside::default(),
            kubectl: kubectl::Kubectl::default(),
            server_armed: None,
            fleet: fleet::Fleet::new(spec, &seed),
            cuts: BTreeMap::new(),
            old_servers: BTreeMap::new(),
        };
        world.populate(spec, &seed);
        world
    }

    /// Books a command; it is taken before anything else that is booked for later.
    pub fn submit(&mut self, at: SimTime, command: Command) {
        let entry = Entry {
            wake: Wake::Command(Arc::new(command)),
            cause: crate::ids::EventId(0),
            trace: TraceId(0),
            life: 0,
            background: false,
        };
        self.core.agenda.push(at.max(self.core.now()), entry);
    }

    /// Forgets the commands booked for later than `at`.
    pub fn drop_commands_after(&mut self, at: SimTime) {
        self.core.agenda.drop_commands_after(at);
    }

    /// When the next wake is due.
    #[must_use]
    pub fn next_at(&self) -> Option<SimTime> {
        self.core.agenda.next_at()
    }

    #[must_use]
    pub fn now(&self) -> SimTime {
        self.core.now()
    }

    /// When something other than housekeeping happens next.
    #[must_use]
    pub fn next_foreground_at(&self) -> Option<SimTime> {
        self.core.agenda.next_foreground_at()
    }

    /// Nothing but housekeeping will happen unless somebody does something.
    #[must_use]
    pub fn quiet(&self) -> bool {
        self.core.agenda.quiet()
    }

    /// The running hash of everything recorded so far.
    #[must_use]
    pub fn trace_hash(&self) -> u64 {
        self.core.log.hash()
    }

    /// Every object the server holds.
    pub fn objects(&self) -> impl Iterator<Item = &Object> {
        self.api.objects()
    }

    #[must_use]
    pub fn api(&self) -> &ApiServer {
        &self.api
    }

    #[must_use]
    pub fn outside(&self) -> &Outside {
        &self.outside
    }

    #[must_use]
    pub fn process(&self, id: &str) -> Option<&Process> {
        self.processes.get(id)
    }

    /// Takes the next wake. `None` when nothing is booked at all.
    pub fn step(&mut self) -> Option<Vec<Record>> {
        let (at, entry) = self.core.agenda.pop()?;
        self.core.log.now = at;
        self.core.log.cause = entry.cause;
        self.core.log.trace = entry.trace;
        self.core.log.background = entry.background;
        match entry.wake {
            Wake::Command(command) => self.command(&command),
            Wake::Deliver(message) if self.held(message, &entry) => {}
            Wake::Deliver(message) => self.deliver(message),
            Wake::Server => {
                self.server_armed = None;
                self.api.tick(at);
                self.after_server();
            }
            Wake::Process(ref id, ref what) => self.live(id, what, &entry),
        }
        Some(self.core.log.take())
    }

    /// Steps until nothing is booked before or at `until`.
    pub fn run_until(&mut self, until: SimTime) -> Vec<Record> {
        let mut records = Vec::new();
        while self.next_at().is_some_and(|at| at <= until) {
            records.extend(self.step().unwrap_or_default());
        }
        self.core.log.now = self.core.log.now.max(until);
        records
    }

    /// A message for a frozen process waits in its socket, one across a cut waits to be sent again.
    fn held(&mut self, message: MessageId, entry: &Entry) -> bool {
        if self.held_by_cut(message, entry) {
            return true;
        }
        let Some(to) = self.core.network.addressee(message) else { return false };
        match self.processes.get_mut(to) {
            Some(process) if process.state() == ProcessState::Frozen => {
                process.postpone(entry.clone());
                true
            }
            _ => false,
        }
    }

    fn live(&mut self, id: &ProcessId, what: &Life, entry: &Entry) {
        if *what == Life::Kubectl {
            self.kubectl_next();
            return;
        }
        let Some(process) = self.processes.get_mut(id) else { return };
        if process.life() != entry.life {
            return;
        }
        if process.state() == ProcessState::Frozen {
            process.postpone(entry.clone());
            return;
        }
        match what {
            Life::Start if process.state() == ProcessState::Down => self.start_process(id, "it starts again"),
            Life::ConnectionLost => self.connection_lost(id),
            _ => process.live(what, &mut self.core),
        }
        self.after_process(id);
    }

    /// A request answered at once, without the network: for tests and for reading the cluster from outside.
    pub fn ask(&mut self, request: &Request) -> crate::api::message::Response {
        let response = self.api.handle(self.core.now(), request);
        self.after_server();
        response
    }

    /// Reads an object as `admin`, leaving no trace.
    #[must_use]
    pub fn object(&self, gvr: &crate::ids::Gvr, key: &crate::ids::Key) -> Option<Object> {
        self.api.peek(&gvr.group_resource(), key)
    }

    fn start_process(&mut self, id: &ProcessId, why: &str) {
        let Some(process) = self.processes.get_mut(id) else { return };
        self.core.log.chain(Event::Process { process: id.clone(), state: ProcessState::Running, why: why.into() });
        process.start(&mut self.core);
    }
}
