//! Commands carried out.

use super::World;
use crate::agenda::{Life, Wake};
use crate::api::message::{Method, Request};
use crate::command::Command;
use crate::event::{Event, ProcessId, ProcessState};
use crate::ids::{EventId, Gvr, Key};
use crate::time::{SimTime, Span};
use serde_json::json;
use std::sync::Arc;

impl World {
    pub(super) fn command(&mut self, command: &Arc<Command>) {
        self.core.log.cause = EventId(0);
        self.core.log.new_trace();
        self.core.log.chain(Event::Commanded { command: command.clone() });
        match &**command {
            Command::Apply { manifests } => self.kubectl_apply(manifests.clone()),
            Command::Kubectl { line, manifests } => self.kubectl_line(line, manifests.clone()),
            Command::Interrupt => self.kubectl_interrupt(),
            Command::Request { .. } => {
                if let Some(request) = command.request() {
                    self.kubectl_request(request);
                }
            }
            Command::KillPod { namespace, name } => {
                let path = Gvr::new("", "v1", "pods").object(&Key::new(namespace, name));
                let options = json!({"gracePeriodSeconds": 0, "propagationPolicy": "Background"});
                self.kubectl_request(Request::new(Method::Delete, path).body(options));
            }
            Command::NodeDown { node } => self.stop(&kubelet(node), "the node lost power", None),
            Command::NodeUp { node } => self.revive(&kubelet(node), "the node is back"),
            Command::DropWatch { process, resource } => {
                if self.known(process) {
                    self.cut_watches(process, resource, "the connection was cut", true);
                }
            }
            Command::StallWatch { process, resource } => self.stall(process, resource),
            Command::FailNext(fault) => {
                let fault = Arc::new(fault.clone());
                self.core.log.emit(Event::FaultArmed { fault: fault.clone() });
                self.faults.arm(fault);
            }
            Command::Crash { process, restart_ms } => {
                self.stop(process, "it crashed", Some(Span::millis(*restart_ms)));
            }
            Command::CrashInReconcile { process, after_requests, restart_ms } => {
                if self.known(process)
                    && let Some(process) = self.processes.get_mut(&**process)
                {
                    process.crash_after(*after_requests, Span::millis(*restart_ms));
                }
            }
            Command::Freeze { process } => self.freeze(process),
            Command::Thaw { process } => self.thaw(process),
            Command::Compact => {
                self.api.compact(self.core.now());
                self.after_server();
            }
            Command::Stop { process } => self.terminate(process),
            Command::Start { process } => self.revive(process, "it was started"),
            Command::ClockRate { .. }
            | Command::Partition { .. }
            | Command::Heal { .. }
            | Command::Lag { .. }
            | Command::Latency { .. }
            | Command::MissEvents { .. }
            | Command::OldServer { .. }
            | Command::CacheScope { .. } => self.disturb(command),
            Command::Switch { process, controller, on } => self.switch(process, controller, *on),
            Command::Set { knob, value } => self.turn(knob, *value),
        }
    }

    /// Answers whether the process exists; says so if not.
    pub(super) fn known(&mut self, process: &str) -> bool {
        if self.processes.contains_key(process) {
            return true;
        }
        let names: Vec<_> = self.processes.keys().map(|p| p.to_string()).collect();
        self.refuse(format!("there is no process {process:?}; there are {}", names.join(", ")));
        false
    }

    /// Ends a process; it starts again after `restart`, if given.
    pub(super) fn stop(&mut self, id: &str, why: &str, restart: Option<Span>) {
        if !self.known(id) {
            return;
        }
        self.cut_watches(id, "", why, false);
        let Some(process) = self.processes.get_mut(id) else { return };
        let id: ProcessId = id.into();
        let state = ProcessState::Down;
        self.core.log.chain(Event::Process { process: id.clone(), state, why: why.into() });
        process.stop();
        let life = process.life();
        self.renew_cut(&id);
        if let Some(after) = restart {
            let at = self.core.now() + after;
            self.core.wake_process(at, &id, life, Life::Start);
        }
        self.after_server();
    }

    pub(super) fn revive(&mut self, id: &str, why: &str) {
        if !self.known(id) {
            return;
        }
        if self.processes.get(id).is_some_and(|p| p.state() == ProcessState::Down) {
            self.start_process(&id.into(), why);
        }
    }

    fn stall(&mut self, process: &str, resource: &str) {
        if !self.known(process) {
            return;
        }
        for stream in self.streams.values_mut() {
            if *stream.process == *process && (resource.is_empty() || &*stream.informer.resource.resource == resource) {
                stream.stalled = true;
            }
        }
    }

    fn freeze(&mut self, id: &str) {
        if !self.known(id) {
            return;
        }
        if let Some(process) = self.processes.get_mut(id) {
            process.freeze();
            let (process, state) = (id.into(), ProcessState::Frozen);
            self.core.log.chain(Event::Process { process, state, why: "it was frozen".into() });
        }
    }

    fn thaw(&mut self, id: &str) {
        if !self.known(id) {
            return;
        }
        let Some(process) = self.processes.get_mut(id) else { return };
        let backlog = process.thaw();
        let state = process.state();
        let now = self.core.now();
        self.core.log.chain(Event::Process { process: id.into(), state, why: "it goes on".into() });
        for entry in backlog {
            self.core.agenda.push(now, entry);
        }
    }

    fn switch(&mut self, process: &str, controller: &str, on: bool) {
        if !self.known(process) {
            return;
        }
        if let Some(process) = self.processes.get_mut(process) {
            process.switch(controller, on);
        }
        // A controller that is switched off leaves with its process; the rest of it starts again.
        self.stop(
            process,
            if on { "a controller was switched on" } else { "a controller was switched off" },
            Some(Span::ZERO),
        );
    }

    fn turn(&mut self, knob: &str, value: i64) {
        match self.core.knobs.set(knob, value) {
            Err(text) => self.refuse(text),
            Ok(()) => {
                self.core.log.chain(Event::KnobSet { knob: knob.into(), value });
                self.follow_knob(knob);
            }
        }
    }

    pub(super) fn book_kubectl(&mut self, at: SimTime) {
        self.core.wake(at, Wake::Process("kubectl".into(), Life::Kubectl));
    }
}

fn kubelet(node: &str) -> String {
    format!("kubelet/{node}")
}
