//! What travels between a client and the server.

use super::status::ApiStatus;
use crate::ids::WatchId;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// The HTTP method of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

/// Who asks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct User {
    pub name: Arc<str>,
    pub groups: Vec<Arc<str>>,
}

/// A body as the client sent it.
#[derive(Clone, Debug, PartialEq, Hash, Serialize, Deserialize)]
pub enum Body {
    Empty,
    /// Already parsed: what the model's own clients send.
    Json(Arc<Value>),
    /// Bytes as typed by a person; parsed by the server, duplicate keys and all.
    Text(Arc<str>),
}

/// One HTTP request. `query` keeps order and duplicates; values are percent-decoded.
#[derive(Clone, Debug, PartialEq, Hash, Serialize, Deserialize)]
pub struct Request {
    pub method: Method,
    pub path: String,
    pub query: Vec<(String, String)>,
    /// Empty means `application/json`.
    pub content_type: String,
    pub user: User,
    /// First part of the user agent; names the field manager when the query does not.
    pub agent: Arc<str>,
    pub body: Body,
}

impl Request {
    #[must_use]
    pub fn new(method: Method, path: impl Into<String>) -> Self {
        Request {
            method,
            path: path.into(),
            query: Vec::new(),
            content_type: String::new(),
            user: User::default(),
            agent: "unknown".into(),
            body: Body::Empty,
        }
    }

    #[must_use]
    pub fn body(mut self, value: impl Into<Arc<Value>>) -> Self {
        self.body = Body::Json(value.into());
        self
    }

    #[must_use]
    pub fn query(mut self, name: &str, value: impl Into<String>) -> Self {
        self.query.push((name.to_string(), value.into()));
        self
    }

    /// The first value of a query parameter.
    #[must_use]
    pub fn param(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }
}

/// One stage of the server that a request went through, kept for the stage on the page.
#[derive(Clone, Debug, PartialEq, Hash, Serialize, Deserialize)]
pub struct StageStep {
    pub stage: Stage,
    /// The object as it left the stage, when the stage changed it.
    pub after: Option<Arc<Value>>,
    /// Why the stage refused the request.
    pub refused: Option<String>,
}

/// The stages in the order a write passes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Stage {
    Authenticate,
    Authorize,
    Decode,
    Prune,
    Default,
    Admit,
    Validate,
    Store,
}

/// The answer to one request.
#[derive(Clone, Debug, PartialEq, Hash, Serialize, Deserialize)]
pub struct Response {
    pub code: u16,
    pub body: Arc<Value>,
    pub warnings: Vec<String>,
    pub retry_after_s: Option<u32>,
    /// A watch that this request opened; its events come through `ApiServer::watch_events`.
    pub watch: Option<WatchId>,
    pub stages: Vec<StageStep>,
}

impl Response {
    #[must_use]
    pub fn ok(code: u16, body: Arc<Value>) -> Self {
        Response { code, body, warnings: Vec::new(), retry_after_s: None, watch: None, stages: Vec::new() }
    }

    #[must_use]
    pub fn success(&self) -> bool {
        (200..300).contains(&self.code)
    }

    /// The typed status of a failed answer.
    #[must_use]
    pub fn status(&self) -> Option<ApiStatus> {
        if self.success() { None } else { Some(ApiStatus::from_body(self.code, &self.body)) }
    }
}

impl From<ApiStatus> for Response {
    fn from(status: ApiStatus) -> Self {
        let retry_after_s = status.retry_after_s;
        Response { retry_after_s, ..Response::ok(status.code, Arc::new(status.to_body())) }
    }
}

/// The kind of a watch event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum WatchEventType {
    Added,
    Modified,
    Deleted,
    Bookmark,
    Error,
}

impl WatchEventType {
    /// As it stands in a stream.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            WatchEventType::Added => "ADDED",
            WatchEventType::Modified => "MODIFIED",
            WatchEventType::Deleted => "DELETED",
            WatchEventType::Bookmark => "BOOKMARK",
            WatchEventType::Error => "ERROR",
        }
    }
}

/// One line of a watch stream.
#[derive(Clone, Debug, PartialEq, Hash, Serialize, Deserialize)]
pub struct WatchEvent {
    #[serde(rename = "type")]
    pub kind: WatchEventType,
    pub object: Arc<Value>,
}
