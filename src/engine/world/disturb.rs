//! Disturbances of single processes: cuts, clocks, lags, lost events, servers that do not follow.
//!
//! Across a cut nothing is lost at once: the sender sends again. When nothing has come through for 45 s the client takes
//! the connection for broken; what was on its way is lost then, committed writes without their answers among it.
//!
//! Divergence from Kubernetes: every connection of a process is noticed broken at the same time, whether idle or not.

use super::World;
use crate::agenda::{Entry, Life, Wake};
use crate::api::message::{Method, Request, Response};
use crate::command::Command;
use crate::event::{Event, Message, ProcessId};
use crate::ids::MessageId;
use crate::process::tuning::CacheScope;
use crate::time::{SimTime, Span};
use std::sync::Arc;

/// apimachinery `pkg/util/net/http.go`: a ping after 30 s without a frame, and 15 s for its answer.
const CONNECTION_TIMEOUT: Span = Span::secs(45);

/// What could not be delivered since a process was cut off.
#[derive(Clone, Debug)]
pub(super) struct Cut {
    held: Vec<Entry>,
    /// When the connections count as broken.
    breaks: SimTime,
}

impl World {
    pub(super) fn disturb(&mut self, command: &Arc<Command>) {
        let (Command::ClockRate { process, .. }
        | Command::Partition { process }
        | Command::Heal { process }
        | Command::Lag { process, .. }
        | Command::Latency { process, .. }
        | Command::MissEvents { process, .. }
        | Command::OldServer { process, .. }
        | Command::CacheScope { process, .. }) = &**command
        else {
            return;
        };
        if !self.known(process) {
            return;
        }
        let id: ProcessId = process.as_str().into();
        match &**command {
            Command::ClockRate { percent, .. } => self.set_clock(&id, *percent),
            Command::Partition { .. } => self.cut_off(&id),
            Command::Heal { .. } => self.heal(&id),
            Command::Lag { resource, ms, .. } => {
                let lag = ms.map(Span::millis);
                self.tuned(&id, &format!("lagMs {resource}"), *ms);
                if let Some(process) = self.processes.get_mut(&id) {
                    process.set_lag(resource, lag);
                }
            }
            Command::Latency { ms, .. } => {
                self.tuned(&id, "latencyMs", *ms);
                self.core.network.set_latency(&id, ms.map(Span::millis));
            }
            Command::MissEvents { resource, count, .. } => {
                for stream in self.streams.values_mut().filter(|s| s.process == id) {
                    if resource.is_empty() || *stream.informer.resource.resource == **resource {
                        stream.skip = stream.skip.saturating_add(*count);
                    }
                }
            }
            Command::OldServer { on, .. } => self.set_old_server(&id, *on),
            Command::CacheScope { resource, namespace, label_selector, .. } => {
                let scope = CacheScope { namespace: namespace.clone(), label_selector: label_selector.clone() };
                if let Some(process) = self.processes.get_mut(&id) {
                    process.set_scope(resource, scope);
                }
                self.stop(&id, "its caches were narrowed", Some(Span::ZERO));
            }
            _ => {}
        }
        self.after_process(&id);
    }

    fn tuned(&mut self, process: &ProcessId, setting: &str, value: Option<u64>) {
        let setting = setting.trim_end().into();
        self.core.log.chain(Event::Tuned { process: process.clone(), setting, value });
    }

    fn set_clock(&mut self, id: &ProcessId, percent: u32) {
        self.tuned(id, "clockPercent", (percent != 100).then_some(u64::from(percent)));
        if let Some(process) = self.processes.get_mut(id) {
            process.set_clock(&mut self.core, percent);
        }
    }

    fn set_old_server(&mut self, id: &ProcessId, on: bool) {
        self.tuned(id, "oldServer", on.then_some(1));
        if on {
            self.old_servers.insert(id.clone(), self.api.clone());
        } else {
            self.old_servers.remove(id);
        }
    }

    /// The server deals with a request; a read that allows any version may go to one that does not follow.
    pub(super) fn handle(&mut self, message: &Message, request: &Request) -> Response {
        let now = self.core.now();
        let any_version = request.method == Method::Get
            && request.param("watch").is_none()
            && request.param("resourceVersion") == Some("0");
        match self.old_servers.get_mut(&message.from) {
            Some(old) if any_version => old.handle(now, request),
            _ => self.api.handle(now, request),
        }
    }

    fn cut_off(&mut self, id: &ProcessId) {
        self.tuned(id, "partitioned", Some(1));
        self.core.network.partitioned.insert(id.clone());
        let breaks = self.core.now() + CONNECTION_TIMEOUT;
        let held = self.cuts.remove(id).map(|cut| cut.held).unwrap_or_default();
        self.cuts.insert(id.clone(), Cut { held, breaks });
        self.book_break(id, breaks);
    }

    fn book_break(&mut self, id: &ProcessId, at: SimTime) {
        let life = self.processes.get(id).map_or(0, |p| p.life());
        self.core.wake_quietly(at, id, life, Life::ConnectionLost);
    }

    fn heal(&mut self, id: &ProcessId) {
        self.tuned(id, "partitioned", None);
        self.core.network.partitioned.remove(id);
        let now = self.core.now();
        for entry in self.cuts.remove(id).map(|cut| cut.held).unwrap_or_default() {
            self.core.agenda.push(now, entry);
        }
    }

    pub(super) fn held_by_cut(&mut self, message: MessageId, entry: &Entry) -> bool {
        let Some(end) = self.core.network.cut_end(message).cloned() else { return false };
        let Some(cut) = self.cuts.get_mut(&end) else { return false };
        cut.held.push(entry.clone());
        true
    }

    /// Nothing has come through for so long that the client gives its connections up.
    pub(super) fn connection_lost(&mut self, id: &ProcessId) {
        let now = self.core.now();
        if self.cuts.get(id).is_none_or(|cut| cut.breaks > now) {
            return;
        }
        self.renew_cut(id);
        if let Some(process) = self.processes.get_mut(id) {
            process.connection_lost(&mut self.core);
        }
        self.cut_watches(id, "", "the connection broke", true);
    }

    /// The connections of a process that is cut off are gone, with all that waited in them; new ones get their time.
    pub(super) fn renew_cut(&mut self, id: &ProcessId) {
        let breaks = self.core.now() + CONNECTION_TIMEOUT;
        let Some(cut) = self.cuts.get_mut(id) else { return };
        cut.breaks = breaks;
        let held = std::mem::take(&mut cut.held);
        let here = self.core.here();
        for entry in held {
            let Wake::Deliver(message) = entry.wake else { continue };
            if let Some(flight) = self.core.network.take(message) {
                self.core.resume(here);
                self.lose(&flight.message, "the connection broke");
            }
        }
        self.core.resume(here);
        self.book_break(id, breaks);
    }
}
