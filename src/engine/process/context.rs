//! What a reconcile sees and does.
//!
//! **Flow.** A reconcile is straight-line code. Whatever it asks (a cached read, a request, the time) is answered
//! from a log when it was asked in an earlier pass; the first question without an answer either is answered at
//! once (caches, memory, time) or ends the pass with [`Stop::Pending`] (requests). When the answer arrives the function runs
//! again from the top.
//!
//! **Guarantees.** Earlier answers never change within one reconcile; side effects happen once.
//!
//! **Caveats.** The code must ask the same questions in the same order given the same answers.

use super::announcer::involved;
use super::controller::Caches;
use super::memory::Memory;
use crate::api::message::{Body, Method, Request, Response};
use crate::api::status::ApiStatus;
use crate::controller::correlator::Involved;
use crate::event::Phase;
use crate::ids::{Gvr, Key};
use crate::object::{Object, ObjectView};
use crate::time::{SimTime, Span};
use serde_json::Value;
use std::sync::Arc;

/// What a reconcile returns: controller-runtime's `Result`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Action {
    pub requeue_after: Span,
    /// The old `Requeue: true`.
    pub requeue: bool,
}

impl Action {
    #[must_use]
    pub fn done() -> Self {
        Action::default()
    }
    #[must_use]
    pub fn after(span: Span) -> Self {
        Action { requeue_after: span, requeue: false }
    }
}

/// Why a reconcile stopped before its end.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// An answer is on its way.
    Pending,
    Api(Box<ApiStatus>),
    Failed(String),
    /// Not to be retried.
    Terminal(String),
    /// The code ran into a bug that the framework recovers from.
    Panicked(String),
}

impl From<ApiStatus> for Stop {
    fn from(status: ApiStatus) -> Self {
        Stop::Api(Box::new(status))
    }
}

/// An answer kept for the next pass.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    One(Option<Object>),
    Many(Arc<Vec<Object>>),
    Value(Value),
    Time(SimTime),
    Responses(Arc<Vec<Response>>),
}

/// A thing said along the way, recorded once.
#[derive(Clone, Debug, PartialEq)]
pub enum Remark {
    At { phase: Phase, line: &'static str, note: String },
    NoWrite { why: String },
    Event { about: Involved, warning: bool, reason: String, message: String },
}

/// See the module's text.
pub struct Context<'a> {
    pub(super) log: &'a mut Vec<Answer>,
    pub(super) cursor: usize,
    pub(super) caches: &'a dyn Caches,
    pub(super) memory: &'a mut Memory,
    pub(super) now: SimTime,
    /// Requests asked for in this pass, to be sent together.
    pub(super) asked: Vec<Request>,
    pub(super) remarks: Vec<Remark>,
    /// Remarks made by earlier passes, which are not made again.
    pub(super) remarked: usize,
    pub(super) remark_cursor: usize,
}

impl<'a> Context<'a> {
    pub fn new(
        log: &'a mut Vec<Answer>,
        caches: &'a dyn Caches,
        memory: &'a mut Memory,
        now: SimTime,
        remarked: usize,
    ) -> Self {
        Context {
            log,
            cursor: 0,
            caches,
            memory,
            now,
            asked: Vec::new(),
            remarks: Vec::new(),
            remarked,
            remark_cursor: 0,
        }
    }

    fn logged(&mut self, ask: impl FnOnce(&mut Self) -> Answer) -> Answer {
        if self.cursor == self.log.len() {
            let answer = ask(self);
            self.log.push(answer);
        }
        let answer = self.log[self.cursor].clone();
        self.cursor += 1;
        answer
    }

    /// The time at this point of the reconcile.
    pub fn now(&mut self) -> SimTime {
        match self.logged(|cx| Answer::Time(cx.now)) {
            Answer::Time(at) => at,
            other => unreachable!("the log holds {other:?} where the time was asked"),
        }
    }

    /// A cached read: what the informer knows, which may lag behind the server.
    pub fn get(&mut self, gvr: &Gvr, key: &Key) -> Option<Object> {
        match self.logged(|cx| Answer::One(cx.caches.get(gvr, key))) {
            Answer::One(object) => object,
            other => unreachable!("the log holds {other:?} where an object was asked"),
        }
    }

    /// A cached list in key order; an empty namespace means all.
    pub fn list(&mut self, gvr: &Gvr, namespace: &str) -> Arc<Vec<Object>> {
        self.many(|cx| cx.caches.list(gvr, namespace))
    }

    /// Cached objects that name `uid` as an owner, in key order.
    pub fn owned_by(&mut self, gvr: &Gvr, uid: &str) -> Arc<Vec<Object>> {
        self.many(|cx| cx.caches.owned_by(gvr, uid))
    }

    /// Cached objects of a namespace that no controller owns, in key order.
    pub fn orphans(&mut self, gvr: &Gvr, namespace: &str) -> Arc<Vec<Object>> {
        self.many(|cx| cx.caches.orphans(gvr, namespace))
    }

    /// The version up to which the cache of a resource knows the server.
    pub fn cached_version(&mut self, gvr: &Gvr) -> u64 {
        match self.logged(|cx| Answer::Value(cx.caches.version(gvr).into())) {
            Answer::Value(version) => version.as_u64().unwrap_or(0),
            other => unreachable!("the log holds {other:?} where a version was asked"),
        }
    }

    fn many(&mut self, read: impl FnOnce(&Self) -> Vec<Object>) -> Arc<Vec<Object>> {
        match self.logged(|cx| Answer::Many(Arc::new(read(cx)))) {
            Answer::Many(objects) => objects,
            other => unreachable!("the log holds {other:?} where a list was asked"),
        }
    }

    /// Reads or changes the controller's memory, once.
    pub fn memory(&mut self, change: impl FnOnce(&mut Memory) -> Value) -> Value {
        match self.logged(|cx| Answer::Value(change(cx.memory))) {
            Answer::Value(value) => value,
            other => unreachable!("the log holds {other:?} where memory was asked"),
        }
    }

    /// Sends requests that do not wait for each other; goes on when all are answered.
    ///
    /// # Errors
    /// [`Stop::Pending`] until the answers are there.
    pub fn send_all(&mut self, requests: Vec<Request>) -> Result<Arc<Vec<Response>>, Stop> {
        if self.cursor == self.log.len() {
            self.asked = requests;
            return Err(Stop::Pending);
        }
        self.cursor += 1;
        match &self.log[self.cursor - 1] {
            Answer::Responses(responses) => Ok(responses.clone()),
            other => unreachable!("the log holds {other:?} where answers were asked"),
        }
    }

    /// Sends one request.
    ///
    /// # Errors
    /// [`Stop::Pending`] until the answer is there, [`Stop::Api`] when it is a failure.
    pub fn send(&mut self, request: Request) -> Result<Object, Stop> {
        let answers = self.send_all(vec![request])?;
        let answer = answers.first().ok_or_else(|| Stop::Failed("no answer".to_string()))?;
        match answer.status() {
            None => Ok(answer.body.clone()),
            Some(status) => Err(status.into()),
        }
    }

    /// A read that goes to the server.
    ///
    /// # Errors
    /// As [`Context::send`].
    pub fn live_get(&mut self, gvr: &Gvr, key: &Key) -> Result<Object, Stop> {
        self.send(Request::new(Method::Get, gvr.object(key)))
    }

    /// # Errors
    /// As [`Context::send`].
    pub fn create(&mut self, gvr: &Gvr, object: Value) -> Result<Object, Stop> {
        self.send(create(gvr, object))
    }

    /// PUT of the whole object.
    ///
    /// # Errors
    /// As [`Context::send`].
    pub fn update(&mut self, gvr: &Gvr, object: Value) -> Result<Object, Stop> {
        let path = gvr.object(&object.key());
        self.send(Request::new(Method::Put, path).body(object))
    }

    /// PUT of `/status`.
    ///
    /// # Errors
    /// As [`Context::send`].
    pub fn update_status(&mut self, gvr: &Gvr, object: Value) -> Result<Object, Stop> {
        let path = format!("{}/status", gvr.object(&object.key()));
        self.send(Request::new(Method::Put, path).body(object))
    }

    /// A JSON merge patch; `subresource` is empty or `status`.
    ///
    /// # Errors
    /// As [`Context::send`].
    pub fn patch(&mut self, gvr: &Gvr, key: &Key, subresource: &str, patch: Value) -> Result<Object, Stop> {
        self.send(merge_patch(gvr, key, subresource, patch))
    }

    /// # Errors
    /// As [`Context::send`].
    pub fn delete(&mut self, gvr: &Gvr, key: &Key, options: Value) -> Result<Object, Stop> {
        self.send(delete(gvr, key, options))
    }

    /// A call to the world outside the cluster (backups, buckets, DNS), by path.
    ///
    /// # Errors
    /// As [`Context::send`].
    pub fn outside(&mut self, method: Method, path: &str, body: Value) -> Result<Object, Stop> {
        self.send(Request::new(method, format!("{OUTSIDE}{path}")).body(body))
    }

    /// Names the line of the listings that the reader should see lit, with what was seen there.
    pub fn at(&mut self, phase: Phase, line: &'static str, note: impl Into<String>) {
        self.remark(|| Remark::At { phase, line, note: note.into() });
    }

    /// Says that nothing is written, and why: a decision too.
    pub fn no_write(&mut self, why: impl Into<String>) {
        self.remark(|| Remark::NoWrite { why: why.into() });
    }

    /// Gives an Event about `object` to the recorder; nobody waits for its writing.
    pub fn event(&mut self, object: &Object, warning: bool, reason: &str, message: impl Into<String>) {
        self.remark(|| Remark::Event {
            about: involved(object),
            warning,
            reason: reason.to_string(),
            message: message.into(),
        });
    }

    fn remark(&mut self, make: impl FnOnce() -> Remark) {
        if self.remark_cursor >= self.remarked {
            self.remarks.push(make());
        }
        self.remark_cursor += 1;
    }
}

/// Paths that begin so go to the world outside instead of the API server.
pub const OUTSIDE: &str = "/outside";

#[must_use]
pub fn create(gvr: &Gvr, object: Value) -> Request {
    Request::new(Method::Post, gvr.collection(object.namespace())).body(object)
}

#[must_use]
pub fn merge_patch(gvr: &Gvr, key: &Key, subresource: &str, patch: Value) -> Request {
    let slash = if subresource.is_empty() { "" } else { "/" };
    let mut request = Request::new(Method::Patch, format!("{}{slash}{subresource}", gvr.object(key))).body(patch);
    request.content_type = "application/merge-patch+json".to_string();
    request
}

#[must_use]
pub fn delete(gvr: &Gvr, key: &Key, options: Value) -> Request {
    let mut request = Request::new(Method::Delete, gvr.object(key));
    if !options.is_null() {
        request.body = Body::Json(Arc::new(options));
    }
    request
}

/// Failures that a caller expects.
pub trait Expect {
    /// `None` for 404.
    ///
    /// # Errors
    /// Every other failure.
    fn or_not_found(self) -> Result<Option<Object>, Stop>;
    /// `None` for 409 AlreadyExists.
    ///
    /// # Errors
    /// Every other failure.
    fn or_already_exists(self) -> Result<Option<Object>, Stop>;
}

impl Expect for Result<Object, Stop> {
    fn or_not_found(self) -> Result<Option<Object>, Stop> {
        match self {
            Err(Stop::Api(status)) if status.is_not_found() => Ok(None),
            other => other.map(Some),
        }
    }
    fn or_already_exists(self) -> Result<Option<Object>, Stop> {
        match self {
            Err(Stop::Api(status)) if status.is_already_exists() => Ok(None),
            other => other.map(Some),
        }
    }
}
