//! The requests a reflector asks to be sent, and what comes back.

use crate::api::message::{Method, Request, WatchEvent};
use crate::api::status::ApiStatus;
use crate::ids::Gvr;
use crate::object::Object;

/// Number of a call within its reflector; an answer to an older call is ignored.
pub type CallId = u64;

/// Parameters of a LIST.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListCall {
    pub id: CallId,
    pub resource_version: String,
    /// 0: everything at once.
    pub limit: u32,
    /// Empty: the first page.
    pub continue_token: String,
}

/// Parameters of a WATCH. Bookmarks are always asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchCall {
    pub id: CallId,
    pub resource_version: String,
    /// A streamed list: `sendInitialEvents=true` with `resourceVersionMatch=NotOlderThan`.
    pub initial_events: bool,
    pub timeout_s: u64,
}

/// What the driver is asked to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    List(ListCall),
    Watch(WatchCall),
    /// Close the open watch of that call; no answer is expected.
    StopWatch(CallId),
}

/// What the collection is and which part of it is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    pub gvr: Gvr,
    /// Empty: all namespaces.
    pub namespace: String,
    pub label_selector: String,
    pub field_selector: String,
}

impl Scope {
    #[must_use]
    pub fn new(gvr: Gvr, namespace: &str) -> Self {
        Scope { gvr, namespace: namespace.to_string(), label_selector: String::new(), field_selector: String::new() }
    }

    fn request(&self) -> Request {
        let mut request = Request::new(Method::Get, self.gvr.collection(&self.namespace));
        for (name, value) in [("labelSelector", &self.label_selector), ("fieldSelector", &self.field_selector)] {
            if !value.is_empty() {
                request = request.query(name, value.as_str());
            }
        }
        request
    }
}

impl ListCall {
    /// The REST request of this call.
    #[must_use]
    pub fn request(&self, scope: &Scope) -> Request {
        let mut request = scope.request();
        if !self.resource_version.is_empty() {
            request = request.query("resourceVersion", self.resource_version.as_str());
        }
        if self.limit > 0 {
            request = request.query("limit", self.limit.to_string());
        }
        if !self.continue_token.is_empty() {
            request = request.query("continue", self.continue_token.as_str());
        }
        request
    }
}

impl WatchCall {
    /// The REST request of this call.
    #[must_use]
    pub fn request(&self, scope: &Scope) -> Request {
        let mut request = scope.request().query("watch", "true").query("allowWatchBookmarks", "true");
        if !self.resource_version.is_empty() {
            request = request.query("resourceVersion", self.resource_version.as_str());
        }
        if self.initial_events {
            request = request.query("sendInitialEvents", "true").query("resourceVersionMatch", "NotOlderThan");
        }
        request.query("timeoutSeconds", self.timeout_s.to_string())
    }
}

/// One page of a LIST answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListPage {
    pub resource_version: String,
    pub items: Vec<Object>,
    /// Empty: the last page.
    pub continue_token: String,
}

impl ListPage {
    /// Reads the body of a LIST answer. Items get `apiVersion` and `kind` from the list when they carry none.
    #[must_use]
    pub fn from_body(body: &serde_json::Value) -> Self {
        let meta = |field: &str| {
            body.pointer(&format!("/metadata/{field}")).and_then(|v| v.as_str()).unwrap_or_default().to_string()
        };
        let items = body.get("items").and_then(|v| v.as_array());
        let kind = body.get("kind").and_then(|v| v.as_str()).and_then(|k| k.strip_suffix("List"));
        let api_version = body.get("apiVersion").and_then(|v| v.as_str());
        let typed = |item: &serde_json::Value| {
            let mut item = item.clone();
            if let (Some(map), Some(kind), Some(api_version)) = (item.as_object_mut(), kind, api_version) {
                map.entry("apiVersion").or_insert_with(|| api_version.into());
                map.entry("kind").or_insert_with(|| kind.into());
            }
            Object::new(item)
        };
        ListPage {
            resource_version: meta("resourceVersion"),
            items: items.into_iter().flatten().map(typed).collect(),
            continue_token: meta("continue"),
        }
    }
}

/// Why a call has no ordinary answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallError {
    /// The server refused.
    Status(Box<ApiStatus>),
    /// There is no server at the address.
    ConnectionRefused,
    /// The connection broke, or the name did not resolve, or the answer took too long.
    Network(String),
    /// The answer came and could not be read.
    Decode(String),
}

impl CallError {
    #[must_use]
    pub fn status(status: ApiStatus) -> Self {
        CallError::Status(Box::new(status))
    }

    /// A version that is too old: `Expired`, or `Gone` from old servers.
    #[must_use]
    pub fn is_expired(&self) -> bool {
        matches!(self, CallError::Status(s) if s.code == 410 || s.reason == "Expired" || s.reason == "Gone")
    }

    /// A version that the server has not reached yet, in the three ways servers have said so.
    #[must_use]
    pub fn is_too_large_version(&self) -> bool {
        let CallError::Status(status) = self else { return false };
        status.causes.iter().any(|c| c.reason == "ResourceVersionTooLarge" || c.message == "Too large resource version")
            || (status.reason == "Timeout" && status.message.contains("Too large resource version"))
    }

    /// Worth the same WATCH again after a wait.
    #[must_use]
    pub fn is_watch_retriable(&self) -> bool {
        match self {
            CallError::ConnectionRefused => true,
            CallError::Status(status) => status.code == 429,
            CallError::Network(_) | CallError::Decode(_) => false,
        }
    }
}

/// What happened to the calls of a reflector.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    Listed(CallId, Result<ListPage, CallError>),
    WatchOpened(CallId),
    WatchFailed(CallId, CallError),
    Event(CallId, WatchEvent),
    /// The stream ended in the ordinary way.
    WatchClosed(CallId),
    /// The stream broke. The real client sees an end of the stream as well.
    WatchBroke(CallId),
}
