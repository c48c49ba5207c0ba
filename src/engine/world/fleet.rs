//! The replicas of the operator, and what a knob changes in running processes.

use super::World;
use super::spec::{ClusterSpec, component};
use crate::event::{ProcessId, ProcessState};
use crate::process::controller::Controller;
use crate::process::{Process, is_operator};
use crate::rng::Rng;
use crate::time::Span;
use std::sync::Arc;

/// Knobs that are flags of the operator's command line: a change starts it again.
const FLAGS: [&str; 9] = [
    "priorityQueue",
    "resyncSeconds",
    "leaseSeconds",
    "renewSeconds",
    "retrySeconds",
    "releaseOnCancel",
    "warmup",
    "watchList",
    "operatorRbac",
];

/// What replicas of the operator are made of.
#[derive(Clone)]
pub(super) struct Fleet {
    program: Arc<[Arc<dyn Controller>]>,
    seed: Rng,
    /// Replicas elect a leader.
    elects: bool,
}

impl Fleet {
    pub(super) fn new(spec: &ClusterSpec, seed: &Rng) -> Self {
        let named = spec.operators.iter().filter_map(|name| crate::operators::named(name));
        let program: Vec<_> = named.filter(|c| !spec.off.contains(c.name())).collect();
        Fleet { program: program.into(), seed: seed.clone(), elects: false }
    }
}

/// `operator`, `operator-1`, `operator-2`, ….
fn replica(index: i64) -> ProcessId {
    if index == 0 { "operator".into() } else { format!("operator-{index}").into() }
}

impl World {
    /// Makes the replicas that are wanted and do not exist yet; answers their names.
    pub(super) fn add_operators(&mut self) -> Vec<ProcessId> {
        let replicas = self.core.knobs.get("replicas");
        self.fleet.elects = replicas > 1;
        let mut added = Vec::new();
        if self.fleet.program.is_empty() {
            return added;
        }
        for id in (0..replicas).map(replica).filter(|id| !self.processes.contains_key(id)).collect::<Vec<_>>() {
            let user = component("system:serviceaccount:operators:operator");
            let program = self.fleet.program.to_vec();
            let process = Process::new(id.clone(), user, program, self.fleet.seed.fork(&id));
            self.processes.insert(id.clone(), process);
            added.push(id);
        }
        added
    }

    /// A knob was turned: running processes follow.
    pub(super) fn follow_knob(&mut self, knob: &str) {
        if knob == "replicas" {
            self.rescale();
        } else if FLAGS.contains(&knob) {
            for id in self.running_operators() {
                self.stop(&id, "a flag was changed", Some(Span::ZERO));
            }
        }
        let ids: Vec<ProcessId> = self.processes.keys().cloned().collect();
        for id in ids {
            if let Some(process) = self.processes.get_mut(&id) {
                process.retune(&mut self.core);
            }
            self.after_process(&id);
        }
    }

    fn running_operators(&self) -> Vec<ProcessId> {
        let running = |p: &Process| p.state() != ProcessState::Down;
        self.processes.iter().filter(|(id, p)| is_operator(id) && running(p)).map(|(id, _)| id.clone()).collect()
    }

    fn rescale(&mut self) {
        let elected = self.fleet.elects;
        self.add_operators();
        let wanted: Vec<ProcessId> = (0..self.core.knobs.get("replicas")).map(replica).collect();
        for id in self.running_operators() {
            if !wanted.contains(&id) {
                self.stop(&id, "it was scaled away", None);
            } else if elected != self.fleet.elects {
                self.stop(&id, "a flag was changed", Some(Span::ZERO));
            }
        }
        let down = |world: &World, id: &ProcessId| {
            world.processes.get(id).is_some_and(|p| p.state() == ProcessState::Down && p.life() == 0)
        };
        for id in wanted {
            if down(self, &id) {
                self.start_process(&id, "it was scaled up");
            }
        }
    }

    /// Carries out what a process has decided by itself: watches to close, its own end.
    pub(super) fn after_process(&mut self, id: &ProcessId) {
        let Some(process) = self.processes.get_mut(id) else { return };
        let (closing, exit) = (process.take_closing(), process.take_exit());
        for watch in closing {
            self.api.close_watch(watch);
            self.forget_stream(watch, "the client closed it");
        }
        if let Some(exit) = exit {
            self.stop(id, exit.why, exit.restart);
        }
    }

    /// Ends a process in the ordinary way.
    pub(super) fn terminate(&mut self, id: &str) {
        if !self.known(id) {
            return;
        }
        let Some(process) = self.processes.get_mut(id) else { return };
        if process.terminate(&mut self.core) {
            self.stop(id, "it was stopped", None);
        } else {
            self.after_process(&id.into());
        }
    }
}
