//! The REST client of a process: who asks, how fast, and whom the answer is for.
//!
//! Guarantees: requests that wait for tokens leave in the order of asking; an answer 429, or 5xx with Retry-After, is
//! asked again up to ten times, as client-go `rest/with_retry.go` does, before anybody sees it.
//!
//! Divergence from Kubernetes: one limiter for all clients of a process but leader election and event recording, which
//! have their own connection without a limit.

use super::core::{Core, Origin};
use crate::agenda::Life;
use crate::api::message::{Method, Request, Response, User};
use crate::event::{Carries, Event, InformerId, Message, ProcessId, Tokens};
use crate::ids::{GroupResource, Key, MessageId};
use crate::network::Payload;
use crate::process::context::OUTSIDE;
use crate::time::{SimTime, Span};
use crate::workqueue::bucket::TokenBucket;
use std::collections::BTreeMap;
use std::sync::Arc;

/// client-go `rest/request.go`: how often a request is asked again.
const RETRIES_MAX: u32 = 10;

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
    /// Leader election, with the number of the call.
    Lease(u64),
    /// The event recorder, with the number of the call.
    Announcement(u64),
    Kubectl,
    /// Nobody waits: events and other things sent and forgotten.
    Nobody,
}

/// A request that waits, or whose answer is awaited.
#[derive(Clone, Debug)]
struct Asked {
    request: Arc<Request>,
    caller: Caller,
    origin: Origin,
    retries: u32,
    background: bool,
}

/// A bucket with the settings it was made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    pub bucket: TokenBucket,
    pub qps: u64,
    pub burst: u32,
}

/// The client side of one process.
#[derive(Clone, Debug)]
pub struct Rest {
    process: ProcessId,
    user: User,
    life: u32,
    /// `None`: no client side limit.
    limit: Option<Limit>,
    /// Requests that wait for a token or for the end of a Retry-After, by the time they may go.
    outbox: BTreeMap<(SimTime, u64), Asked>,
    next: u64,
    calls: BTreeMap<MessageId, Asked>,
}

impl Rest {
    #[must_use]
    pub fn new(process: ProcessId, user: User, life: u32, limit: Option<Limit>) -> Self {
        Rest { process, user, life, limit, outbox: BTreeMap::new(), next: 0, calls: BTreeMap::new() }
    }

    /// Changes the limit; a bucket with the same settings keeps its tokens.
    pub fn set_limit(&mut self, limit: Option<Limit>) {
        let same = |a: &Limit, b: &Limit| (a.qps, a.burst) == (b.qps, b.burst);
        match (&self.limit, &limit) {
            (Some(old), Some(new)) if same(old, new) => {}
            _ => self.limit = limit,
        }
    }

    /// Sends a request, at once or when the limiter allows it. Answers the message it travels in, if it has left.
    pub fn send(&mut self, core: &mut Core, request: Request, caller: Caller) -> Option<MessageId> {
        let now = core.now();
        let wait = self.limit.as_mut().map_or(Span::ZERO, |limit| limit.bucket.reserve(now));
        let asked = self.ask(core, request, caller);
        let message = if wait == Span::ZERO {
            Some(self.depart(core, asked))
        } else {
            self.postpone(core, now + wait, asked);
            None
        };
        self.show_tokens(core, wait);
        message
    }

    /// Sends a request past the limiter.
    pub fn send_freely(&mut self, core: &mut Core, request: Request, caller: Caller) -> MessageId {
        let asked = self.ask(core, request, caller);
        self.depart(core, asked)
    }

    fn ask(&self, core: &Core, mut request: Request, caller: Caller) -> Asked {
        request.user = self.user.clone();
        request.agent = self.process.clone();
        let background = core.log.background;
        Asked { request: Arc::new(request), caller, origin: core.here(), retries: 0, background }
    }

    fn postpone(&mut self, core: &mut Core, at: SimTime, asked: Asked) {
        self.outbox.insert((at, self.next), asked);
        self.next += 1;
        core.wake_process(at, &self.process.clone(), self.life, Life::Send);
    }

    fn show_tokens(&self, core: &mut Core, wait: Span) {
        let Some(limit) = &self.limit else { return };
        let tokens = Tokens {
            milli: limit.bucket.milli_tokens(core.now()),
            qps: limit.qps,
            burst: limit.burst,
            wait,
            waiting: self.outbox.len(),
        };
        core.log.emit(Event::Tokens { process: self.process.clone(), tokens });
    }

    /// Lets go what may go by now; answers what left.
    pub fn release(&mut self, core: &mut Core) -> Vec<(Caller, MessageId)> {
        let mut left = Vec::new();
        while let Some(slot) = self.outbox.first_entry().filter(|slot| slot.key().0 <= core.now()) {
            let asked = slot.remove();
            core.resume(asked.origin);
            core.log.background = asked.background;
            let caller = asked.caller.clone();
            left.push((caller, self.depart(core, asked)));
        }
        if !left.is_empty() {
            self.show_tokens(core, Span::ZERO);
        }
        left
    }

    /// Books again what waits, after the clock has changed its pace.
    pub fn rebook(&self, core: &mut Core) {
        for (at, _) in self.outbox.keys() {
            core.wake_process(*at, &self.process, self.life, Life::Send);
        }
    }

    fn depart(&mut self, core: &mut Core, asked: Asked) -> MessageId {
        let carries = carries(&asked.request);
        let background = core.log.background || is_housekeeping(&carries);
        let to = addressee(&asked.request);
        let pace = core.knobs.pace();
        let message = core.network.send(
            (self.process.clone(), to.into(), core.log.now),
            pace,
            SimTime::ZERO,
            (carries, Payload::Request(asked.request.clone()), background),
        );
        post(core, message.clone());
        self.calls.insert(message.id, asked);
        message.id
    }

    /// Whom the answer to `request` is for; `None` when nobody waits, or when it is asked again.
    pub fn answered(&mut self, core: &mut Core, request: MessageId, response: &Response) -> Option<Caller> {
        let mut asked = self.calls.remove(&request)?;
        let again = response.code == 429 || response.code >= 500;
        if let (true, Some(seconds)) = (again && asked.retries < RETRIES_MAX, response.retry_after_s) {
            asked.retries += 1;
            asked.origin = core.here();
            let at = core.now() + Span::secs(u64::from(seconds));
            self.postpone(core, at, asked);
            return None;
        }
        Some(asked.caller)
    }

    /// The connections broke: the requests whose answers will not come.
    pub fn broken(&mut self) -> Vec<(MessageId, Caller, Origin)> {
        std::mem::take(&mut self.calls).into_iter().map(|(id, asked)| (id, asked.caller, asked.origin)).collect()
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

/// Who answers a request.
#[must_use]
pub fn addressee(request: &Request) -> &'static str {
    if request.path.starts_with(OUTSIDE) { "outside" } else { "apiserver" }
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
    if addressee(request) == "apiserver" {
        parts.next();
    }
    let mut namespace = "";
    let mut rest: Vec<&str> = parts.collect();
    if rest.first() == Some(&"namespaces") && rest.len() > 2 && !matches!(rest[2], "status" | "finalize") {
        namespace = rest[1];
        rest.drain(..2);
    } else if addressee(request) == "outside" && rest.len() > 2 {
        namespace = rest.remove(1);
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
        assert_eq!(words(&get("/outside/buckets/b")), "get buckets.outside/ b");
        assert_eq!(words(&get("/outside/backups/a/b")), "get backups.outside/ a/b");
    }
}
