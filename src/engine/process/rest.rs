//! The REST client of a process: who asks, how fast, and whom the answer is for.

use super::core::{Core, Origin};
use crate::agenda::Life;
use crate::api::message::{Method, Request, User};
use crate::event::{Carries, Event, InformerId, Message, ProcessId};
use crate::ids::{GroupResource, Key, MessageId};
use crate::network::Payload;
use crate::process::context::OUTSIDE;
use crate::time::SimTime;
use crate::workqueue::bucket::TokenBucket;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Whom an answer is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caller {
    Worker {
        controller: Arc<str>,
        worker: u32,
        slot: usize,
    },
    List(InformerId),
    Watch(InformerId),
    Kubectl,
    /// Nobody waits: events and other things sent and forgotten.
    Nobody,
}

/// The client side of one process.
#[derive(Clone, Debug)]
pub struct Rest {
    process: ProcessId,
    user: User,
    life: u32,
    /// `None`: no client side limit.
    bucket: Option<TokenBucket>,
    /// Requests that wait for a token, with the time they get it.
    outbox: VecDeque<(SimTime, Request, Caller, Origin)>,
    calls: BTreeMap<MessageId, Caller>,
}

impl Rest {
    #[must_use]
    pub fn new(process: ProcessId, user: User, life: u32, bucket: Option<TokenBucket>) -> Self {
        Rest { process, user, life, bucket, outbox: VecDeque::new(), calls: BTreeMap::new() }
    }

    pub fn limit(&mut self, bucket: Option<TokenBucket>) {
        self.bucket = bucket;
    }

    /// Sends a request, at once or when the limiter allows it. Answers the message it travels in, if it has left.
    pub fn send(&mut self, core: &mut Core, request: Request, caller: Caller) -> Option<MessageId> {
        let now = core.now();
        let wait = self.bucket.as_mut().map_or(crate::time::Span::ZERO, |b| b.reserve(now));
        if wait.0 == 0 && self.outbox.is_empty() {
            return Some(self.depart(core, request, caller));
        }
        let at = now + wait;
        self.outbox.push_back((at, request, caller, core.here()));
        core.wake_process(at, &self.process.clone(), self.life, Life::Send);
        None
    }

    /// Lets go what has its token; answers what left.
    pub fn release(&mut self, core: &mut Core) -> Vec<(Caller, MessageId)> {
        let mut left = Vec::new();
        while self.outbox.front().is_some_and(|(at, ..)| *at <= core.now()) {
            let Some((_, request, caller, origin)) = self.outbox.pop_front() else { break };
            core.resume(origin);
            let id = self.depart(core, request, caller.clone());
            left.push((caller, id));
        }
        left
    }

    fn depart(&mut self, core: &mut Core, mut request: Request, caller: Caller) -> MessageId {
        request.user = self.user.clone();
        request.agent = self.process.clone();
        let carries = carries(&request);
        let background = core.log.background || is_housekeeping(&carries);
        let to = if request.path.starts_with(OUTSIDE) { "outside" } else { "apiserver" };
        let pace = core.knobs.pace();
        let message = core.network.send(
            (self.process.clone(), to.into(), core.now()),
            pace,
            SimTime::ZERO,
            (carries, Payload::Request(Arc::new(request)), background),
        );
        post(core, message.clone());
        self.calls.insert(message.id, caller);
        message.id
    }

    /// Whom the answer to `request` is for.
    pub fn answered(&mut self, request: MessageId) -> Option<Caller> {
        self.calls.remove(&request)
    }

    /// No answer is awaited and nothing waits to be sent.
    #[must_use]
    pub fn idle(&self) -> bool {
        self.calls.is_empty() && self.outbox.is_empty()
    }
}

/// Records that a message left and books its arrival.
pub fn post(core: &mut Core, message: Arc<Message>) {
    let Origin { cause, trace } = core.here();
    let sent = core.log.emit(Event::Sent { message: message.clone() });
    let entry = crate::agenda::Entry {
        wake: crate::agenda::Wake::Deliver(message.id),
        cause: sent,
        trace,
        life: 0,
        background: message.background,
    };
    core.agenda.push(message.deliver_at, entry);
    core.log.cause = cause;
}

fn is_housekeeping(carries: &Carries) -> bool {
    matches!(carries, Carries::Request { resource, .. } if &*resource.resource == "leases")
}

/// The words on the pill of a request, read off its address.
#[must_use]
pub fn carries(request: &Request) -> Carries {
    let mut parts = request.path.split('/').filter(|p| !p.is_empty()).peekable();
    let group = match parts.next() {
        Some("apis") => parts.next().unwrap_or(""),
        Some("api") => "",
        other => other.unwrap_or(""),
    };
    parts.next();
    let mut namespace = "";
    let mut rest: Vec<&str> = parts.collect();
    if rest.first() == Some(&"namespaces") && rest.len() > 2 && !matches!(rest[2], "status" | "finalize") {
        namespace = rest[1];
        rest.drain(..2);
    }
    let at = |i: usize| rest.get(i).copied().unwrap_or("");
    let (resource, mut name, subresource) = (at(0), at(1), at(2));
    let watch = request.param("watch").is_some_and(|w| w == "true" || w == "1");
    let verb = match (request.method, name.is_empty()) {
        (Method::Get, _) if watch => "watch",
        (Method::Get, true) => "list",
        (Method::Get, false) => "get",
        (Method::Post, _) => "create",
        (Method::Put, _) => "update",
        (Method::Patch, _) => "patch",
        (Method::Delete, true) => "deletecollection",
        (Method::Delete, false) => "delete",
    };
    let body_name;
    if let (Method::Post, "", crate::api::message::Body::Json(body)) = (request.method, name, &request.body) {
        use crate::object::ObjectView;
        body_name = if body.name().is_empty() { body.text(&["metadata", "generateName"]) } else { body.name() };
        name = body_name;
    }
    Carries::Request {
        verb,
        method: request.method,
        resource: GroupResource::new(group, resource),
        subresource: subresource.into(),
        key: Key::new(namespace, name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn words(request: &Request) -> String {
        let Carries::Request { verb, resource, subresource, key, .. } = carries(request) else { unreachable!() };
        format!("{verb} {resource}/{subresource} {key}")
    }

    #[test]
    fn an_address_says_what_is_asked() {
        let get = |path: &str| Request::new(Method::Get, path);
        assert_eq!(words(&get("/api/v1/namespaces/a/pods/p/status")), "get pods/status a/p");
        assert_eq!(words(&get("/apis/apps/v1/statefulsets").query("watch", "true")), "watch statefulsets.apps/ ");
        assert_eq!(words(&get("/api/v1/namespaces/a")), "get namespaces/ a");
        let post = Request::new(Method::Post, "/api/v1/namespaces/a/pods").body(json!({"metadata": {"name": "p"}}));
        assert_eq!(words(&post), "create pods/ a/p");
        assert_eq!(words(&Request::new(Method::Delete, "/api/v1/namespaces/a/pods")), "deletecollection pods/ a/");
    }
}
