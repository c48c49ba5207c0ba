//! The server's side of the network: requests arrive, writes are recorded, answers and watch events leave.

use super::World;
use super::kubectl::KUBECTL;
use crate::agenda::Wake;
use crate::api::message::{Request, Response, WatchEvent, WatchEventType};
use crate::api::status::ApiStatus;
use crate::command::Failure;
use crate::event::{Carries, Event, InformerId, Message, ProcessId, Write};
use crate::fault;
use crate::ids::{GroupResource, Key, MessageId, WatchId};
use crate::network::{Flight, Payload};
use crate::object::ObjectView;
use crate::process::core::Origin;
use crate::process::rest::post;
use crate::time::{SimTime, Span};
use std::sync::Arc;

/// The bookmark that ends a first list starts workers, so it is no housekeeping (apimachinery `meta/v1/types.go`).
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";
/// How long a request that never reaches the store is waited for: the handler's deadline (apiserver `handlers/rest.go`).
const REQUEST_TIMEOUT: Span = Span::secs(34);

/// An open watch and whose it is.
#[derive(Clone, Debug)]
pub struct Stream {
    pub process: ProcessId,
    pub life: u32,
    pub informer: InformerId,
    /// Open, but nothing comes through any more.
    pub stalled: bool,
    /// So many of the next events are lost on the way.
    pub skip: u32,
    /// Events of one stream arrive in order, so none before this instant.
    last: SimTime,
}

impl Stream {
    pub fn new(process: ProcessId, life: u32, informer: InformerId, last: SimTime) -> Self {
        Stream { process, life, informer, stalled: false, skip: 0, last }
    }
}

impl World {
    pub(super) fn deliver(&mut self, id: MessageId) {
        let Some(Flight { message, payload }) = self.core.network.take(id) else { return };
        self.core.log.background = message.background;
        match payload {
            Payload::Request(request) if &*message.to == "outside" => {
                self.core.log.chain(Event::Delivered { message: message.clone() });
                let (response, wait) = self.outside_answer(&message, &request);
                self.answer_after(&message, response, wait);
            }
            Payload::Request(request) => {
                self.core.log.chain(Event::Delivered { message: message.clone() });
                self.serve(&message, &request);
            }
            Payload::Response(response) => self.deliver_answer(&message, response),
            Payload::Watch(watch, event) => self.deliver_watch(&message, watch, Some(event)),
            Payload::WatchEnd(watch) => self.deliver_watch(&message, watch, None),
        }
    }

    pub(super) fn lose(&mut self, message: &Arc<Message>, why: &str) {
        self.core.log.chain(Event::Lost { message: message.clone(), why: why.into() });
    }

    /// What the world outside answers, and how long it takes for that. Faults hit it as they hit the server.
    fn outside_answer(&mut self, message: &Message, request: &Request) -> (Response, Span) {
        let slow = self.core.knobs.millis("outsideLatencyMs");
        let Some(failure) = self.faults.hit(message, request) else {
            return (self.outside.handle(request), slow);
        };
        self.core.log.emit(Event::FaultFired { failure, request: message.id });
        if failure == Failure::LostAnswer {
            self.outside.handle(request);
        }
        (fault::answer(failure, message), if failure == Failure::Timeout { REQUEST_TIMEOUT } else { slow })
    }

    fn serve(&mut self, message: &Arc<Message>, request: &Request) {
        let failure = self.faults.hit(message, request);
        if let Some(failure) = failure {
            self.core.log.emit(Event::FaultFired { failure, request: message.id });
        }
        let response = match failure {
            None => self.handle(message, request),
            Some(Failure::LostAnswer) => {
                let committed = self.api.handle(self.core.now(), request);
                self.handled(message, request, &committed);
                self.after_server();
                let lost = fault::answer(Failure::LostAnswer, message);
                self.answer(message, lost);
                return;
            }
            Some(failure) => fault::answer(failure, message),
        };
        self.handled(message, request, &response);
        if let Some(watch) = response.watch {
            self.open_stream(message, watch, &response);
        }
        // The answer leaves before the watch events that the write leads to.
        let wait =
            if failure == Some(Failure::Timeout) { REQUEST_TIMEOUT } else { self.core.knobs.millis("apiLatencyMs") };
        self.answer_after(message, response, wait);
        self.after_server();
    }

    fn handled(&mut self, message: &Message, request: &Request, response: &Response) {
        let status = response.status().unwrap_or_default();
        self.core.log.chain(Event::Handled {
            request: message.id,
            user: request.user.name.clone(),
            code: response.code,
            reason: status.reason.into(),
            message: status.message.into(),
            stages: response.stages.clone().into(),
        });
    }

    fn open_stream(&mut self, message: &Message, watch: WatchId, response: &Response) {
        let stream = if &*message.from == KUBECTL {
            self.kubectl_stream(message)
        } else {
            self.processes.get(&message.from).and_then(|process| {
                let informer = process.watching(message.id)?;
                Some(Stream::new(message.from.clone(), process.life(), informer, self.core.now()))
            })
        };
        let Some(stream) = stream else {
            // Nobody waits for it any more.
            self.api.close_watch(watch);
            return;
        };
        let resource = stream.informer.resource.clone();
        let revision = response.body.resource_version().parse().unwrap_or(0);
        self.core.log.emit(Event::WatchOpened { watch, process: message.from.clone(), resource, revision });
        self.streams.insert(watch, stream);
    }

    /// Sends an answer back to where the request came from.
    pub(super) fn answer(&mut self, request: &Arc<Message>, response: Response) {
        self.answer_after(request, response, Span::ZERO);
    }

    fn answer_after(&mut self, request: &Arc<Message>, response: Response, wait: Span) {
        let Carries::Request { resource, key, .. } = &request.carries else { return };
        let reason = if response.success() { String::new() } else { response.status().unwrap_or_default().reason };
        let carries = Carries::Answer {
            request: request.id,
            code: response.code,
            reason: reason.into(),
            resource: resource.clone(),
            key: key.clone(),
        };
        let sent_at = self.core.now();
        let pace = self.core.knobs.pace();
        // A slow server answers later; the way back comes on top.
        let not_before = if wait == Span::ZERO { SimTime::ZERO } else { sent_at + wait + pace.latency };
        let message = self.core.network.send(
            (request.to.clone(), request.from.clone(), sent_at),
            pace,
            not_before,
            (carries, Payload::Response(response), request.background),
        );
        let stream = message.deliver_at;
        post(&mut self.core, message);
        self.hold_stream(request.id, stream);
    }

    /// Events of a watch cannot overtake the answer that opens it.
    fn hold_stream(&mut self, request: MessageId, answered_at: SimTime) {
        for stream in self.streams.values_mut() {
            let opened_by = self.processes.get(&stream.process).and_then(|p| p.watching(request));
            if opened_by.as_ref() == Some(&stream.informer) || &*stream.process == KUBECTL {
                stream.last = stream.last.max(answered_at);
            }
        }
    }

    /// Records what the server committed and sends what its watches have to say.
    pub(super) fn after_server(&mut self) {
        let here = self.core.here();
        for commit in self.api.take_commits() {
            let write = Write {
                revision: commit.revision,
                kind: commit.kind,
                resource: commit.resource.clone(),
                key: commit.key.clone(),
                old: commit.old.clone(),
                new: commit.new.clone(),
                user: commit.user.clone(),
            };
            self.core.log.chain(Event::Wrote { write: Arc::new(write) });
        }
        for watch in self.api.pending_watches() {
            let events = self.api.watch_events(self.core.now(), watch);
            for event in events {
                self.send_event(watch, event);
            }
            if !self.api.watch_open(watch) {
                self.send_end(watch);
            }
        }
        self.core.resume(here);
        self.arm_server();
    }

    fn send_event(&mut self, watch: WatchId, event: WatchEvent) {
        let Some(stream) = self.streams.get(&watch) else { return };
        if stream.stalled {
            return;
        }
        let carries = Carries::Watch {
            watch,
            kind: event.kind,
            resource: stream.informer.resource.clone(),
            key: event.object.key(),
            revision: event.object.resource_version().parse().unwrap_or(0),
        };
        let background = self.core.log.background
            || (event.kind == WatchEventType::Bookmark && event.object.annotation(INITIAL_EVENTS_END).is_none())
            || &*stream.informer.resource.resource == "leases";
        self.stream_out(watch, carries, Payload::Watch(watch, event), background);
    }

    fn send_end(&mut self, watch: WatchId) {
        let Some(stream) = self.streams.get(&watch) else { return };
        let resource = stream.informer.resource.clone();
        let carries =
            Carries::Watch { watch, kind: WatchEventType::Error, resource, key: Key::new("", ""), revision: 0 };
        self.stream_out(watch, carries, Payload::WatchEnd(watch), true);
    }

    fn stream_out(&mut self, watch: WatchId, carries: Carries, payload: Payload, background: bool) {
        let Some(stream) = self.streams.get_mut(&watch) else { return };
        let pace = self.core.knobs.pace();
        let way = ("apiserver".into(), stream.process.clone(), self.core.log.now);
        let message = self.core.network.send(way, pace, stream.last, (carries, payload, background));
        stream.last = message.deliver_at;
        post(&mut self.core, message);
    }

    fn arm_server(&mut self) {
        let Some(due) = self.api.due() else { return };
        if self.server_armed.is_none_or(|armed| due < armed) {
            self.server_armed = Some(due);
            let background = self.core.log.background;
            self.core.log.background = self.api.due_is_housekeeping();
            self.core.wake(due, Wake::Server);
            self.core.log.background = background;
        }
    }

    fn deliver_answer(&mut self, message: &Arc<Message>, response: Response) {
        let Carries::Answer { request, .. } = &message.carries else { return };
        self.core.log.chain(Event::Delivered { message: message.clone() });
        if &*message.to == "kubectl" {
            self.kubectl_answered(*request, response);
            return;
        }
        let Some(process) = self.processes.get_mut(&message.to) else { return };
        let watch = response.watch;
        process.take_answer(&mut self.core, *request, response);
        self.after_process(&message.to);
        let Some(watch) = watch else { return };
        if self.processes.get(&message.to).is_none_or(|p| p.port_of(watch).is_none()) {
            self.api.close_watch(watch);
            self.forget_stream(watch, "nobody reads it");
        }
    }

    fn deliver_watch(&mut self, message: &Arc<Message>, watch: WatchId, event: Option<WatchEvent>) {
        let Some(stream) = self.streams.get(&watch).cloned() else {
            self.lose(message, "the connection is gone");
            return;
        };
        if &*stream.process == KUBECTL {
            self.core.log.chain(Event::Delivered { message: message.clone() });
            if event.is_none() {
                self.forget_stream(watch, "the server closed it");
            }
            self.kubectl_event(watch, event);
            return;
        }
        let alive = self.processes.get(&stream.process).is_some_and(|p| p.life() == stream.life);
        if !alive {
            self.lose(message, "the process is gone");
            return;
        }
        if stream.skip > 0 && event.as_ref().is_some_and(|e| e.kind != WatchEventType::Bookmark) {
            if let Some(stream) = self.streams.get_mut(&watch) {
                stream.skip -= 1;
            }
            self.lose(message, "the event was lost on the way");
            return;
        }
        self.core.log.chain(Event::Delivered { message: message.clone() });
        let ended = event.is_none();
        if let Some(process) = self.processes.get_mut(&stream.process) {
            match event {
                Some(event) => process.take_event(&mut self.core, &stream.informer, watch, event),
                None => process.watch_ended(&mut self.core, &stream.informer, watch),
            }
        }
        if ended {
            self.forget_stream(watch, "the server closed it");
        }
        self.after_process(&stream.process);
    }

    pub(super) fn forget_stream(&mut self, watch: WatchId, why: &str) {
        let Some(stream) = self.streams.remove(&watch) else { return };
        let resource: GroupResource = stream.informer.resource;
        self.core.log.emit(Event::WatchClosed { watch, process: stream.process, resource, why: why.into() });
    }

    /// Cuts watches of a process: what is on its way is lost, and the client notices at once.
    pub(super) fn cut_watches(&mut self, process: &str, resource: &str, why: &str, notice: bool) {
        let hit =
            |s: &Stream| *s.process == *process && (resource.is_empty() || &*s.informer.resource.resource == resource);
        let cut: Vec<(WatchId, InformerId)> =
            self.streams.iter().filter(|(_, s)| hit(s)).map(|(w, s)| (*w, s.informer.clone())).collect();
        let here: Origin = self.core.here();
        for (watch, informer) in cut {
            self.core.resume(here);
            self.api.close_watch(watch);
            for id in self.core.network.of_watch(watch) {
                if let Some(flight) = self.core.network.take(id) {
                    self.lose(&flight.message, why);
                    self.core.resume(here);
                }
            }
            self.forget_stream(watch, why);
            if let (true, Some(process)) = (notice, self.processes.get_mut(process)) {
                process.watch_ended(&mut self.core, &informer, watch);
            }
        }
        self.core.resume(here);
    }

    pub(super) fn refuse(&mut self, text: String) {
        let status = ApiStatus::bad_request(text);
        self.core.log.emit(Event::Printed { process: "kubectl".into(), text: status.message.into(), failed: true });
    }
}
