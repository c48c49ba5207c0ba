//! What goes into the machine: everything a reader, a lesson or a link can ask for.
//!
//! A run is a version, a scenario, a seed and a list of commands with their times, so every command
//! is plain data that can be written into a link and read back.

use crate::api::message::{Method, Request, User};
use crate::ids::Key;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// One thing done to the cluster from outside.
#[derive(Clone, Debug, PartialEq, Hash, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Command {
    /// `kubectl apply` of these objects, one after the other; a custom resource waits for its definition to be established.
    Apply {
        manifests: Vec<Arc<Value>>,
    },
    /// A line typed into the console, with what was given for `-f -`.
    Kubectl {
        line: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        manifests: Vec<Arc<Value>>,
    },
    /// Ctrl-C: the commands at the keyboard are given up, those that wait their turn too.
    Interrupt,
    /// One raw request, as `admin` or as another user who is known.
    Request {
        method: Method,
        path: String,
        #[serde(default, rename = "as", skip_serializing_if = "String::is_empty")]
        user: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        content_type: String,
        #[serde(default, skip_serializing_if = "Value::is_null")]
        body: Arc<Value>,
    },
    /// Deletes a pod with no grace period, as an impatient person would.
    KillPod {
        namespace: String,
        name: String,
    },
    /// The node loses power: its kubelet stops answering.
    NodeDown {
        node: String,
    },
    NodeUp {
        node: String,
    },
    /// Breaks the watch connections of a process, all of them or one resource's.
    DropWatch {
        process: String,
        #[serde(default)]
        resource: String,
    },
    /// The watch stays open but says nothing more, until the process is restarted or the watch dropped.
    StallWatch {
        process: String,
        resource: String,
    },
    /// Arms a fault for the next matching requests.
    FailNext(FailNext),
    /// The process dies now and starts again after `restart_ms`, with empty caches and queues.
    Crash {
        process: String,
        #[serde(default)]
        restart_ms: u64,
    },
    /// The process dies between two requests of its next reconcile, after `after_requests` writes, and starts again.
    CrashInReconcile {
        process: String,
        after_requests: u32,
        #[serde(default)]
        restart_ms: u64,
    },
    /// Stops the world for one process; its open requests go on.
    Freeze {
        process: String,
    },
    Thaw {
        process: String,
    },
    /// Ends a process in the ordinary way; it stays down until it is started.
    Stop {
        process: String,
    },
    /// Starts a process that is down, with empty caches and queues.
    Start {
        process: String,
    },
    /// From now on the clock of the process runs at this many percent of true time.
    ClockRate {
        process: String,
        percent: u32,
    },
    /// Cuts the process off from the network, in both directions.
    Partition {
        process: String,
    },
    /// Ends a partition.
    Heal {
        process: String,
    },
    /// How long a change waits in the FIFO of one informer, or of all of the process; without `ms` as the knob says.
    Lag {
        process: String,
        #[serde(default)]
        resource: String,
        #[serde(default)]
        ms: Option<u64>,
    },
    /// How long the messages of this process take; without `ms` as the knob says.
    Latency {
        process: String,
        #[serde(default)]
        ms: Option<u64>,
    },
    /// The next events of a watch are lost on the way, and nobody notices.
    MissEvents {
        process: String,
        resource: String,
        #[serde(default = "one")]
        count: u32,
    },
    /// Reads of the process that allow any version (`resourceVersion=0`) go to a server that has stopped following.
    OldServer {
        process: String,
        on: bool,
    },
    /// Narrows the caches of a process, one resource's or all; it starts again with them.
    CacheScope {
        process: String,
        #[serde(default)]
        resource: String,
        #[serde(default)]
        namespace: String,
        #[serde(default)]
        label_selector: String,
    },
    /// The server forgets its history, as after a compaction of etcd: watches from the past end in 410.
    Compact,
    /// Switches one controller of a process off or on.
    Switch {
        process: String,
        controller: String,
        on: bool,
    },
    /// Turns a knob by name.
    Set {
        knob: String,
        value: i64,
    },
}

/// A fault waiting for requests that match it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FailNext {
    pub failure: Failure,
    /// How many requests it hits.
    #[serde(default = "one")]
    pub count: u32,
    /// Empty matches any process but kubectl.
    #[serde(default)]
    pub process: String,
    /// Plural of the resource; empty matches any.
    #[serde(default)]
    pub resource: String,
    /// Kubernetes verb; empty matches any write.
    #[serde(default)]
    pub verb: String,
    /// Empty, or the name the request must be for.
    #[serde(default)]
    pub name: String,
}

fn one() -> u32 {
    1
}

/// How a request is made to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Failure {
    /// 409 Conflict.
    Conflict,
    /// 429 with Retry-After 1.
    TooManyRequests,
    /// 500 InternalError.
    Internal,
    /// 503 ServiceUnavailable.
    Unavailable,
    /// 504 Timeout: the request never reached the store.
    Timeout,
    /// The write is committed, but its answer is lost and the client sees a time-out.
    LostAnswer,
}

impl Command {
    /// The console form of a raw request, for the log.
    #[must_use]
    pub fn request(&self) -> Option<Request> {
        let Command::Request { method, path, user, content_type, body } = self else { return None };
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let mut request = Request::new(*method, path);
        for pair in query.split('&').filter(|p| !p.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            request = request.query(name, value);
        }
        request.content_type.clone_from(content_type);
        if !user.is_empty() {
            // The server adds the group of all who are known, as it does on impersonation.
            request.user = User { name: user.as_str().into(), groups: vec!["system:authenticated".into()] };
        }
        Some(if body.is_null() { request } else { request.body(body.clone()) })
    }

    #[must_use]
    pub fn kill_pod(key: &Key) -> Self {
        Command::KillPod { namespace: key.namespace.to_string(), name: key.name.to_string() }
    }
}
