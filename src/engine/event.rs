//! What comes out of the machine: typed, past-tense records, each naming the record that led to it.

use crate::api::message::{Method, StageStep, WatchEventType};
use crate::command::{Command, Failure};
use crate::ids::{EventId, GroupResource, Key, MessageId, TraceId, WatchId};
use crate::object::Object;
use crate::time::{SimTime, Span};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Name of a process in the model: `kubectl`, `operator`, `kube-controller-manager`, `kube-scheduler`, `kubelet/node-a`, `apiserver`, `outside`.
pub type ProcessId = Arc<str>;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Hash, Serialize)]
pub struct Record {
    pub id: EventId,
    pub at: SimTime,
    /// The record that led to this one; 0 for none.
    pub cause: EventId,
    pub trace: TraceId,
    /// Housekeeping such as lease renewal, left out of the calm view.
    pub background: bool,
    /// Hash of everything recorded up to and including this record.
    pub hash: u64,
    pub event: Event,
}

/// A message on its way: where it is at an instant is a function of that instant.
#[derive(Clone, Debug, PartialEq, Hash, Serialize)]
pub struct Message {
    pub id: MessageId,
    pub from: ProcessId,
    pub to: ProcessId,
    pub sent_at: SimTime,
    pub deliver_at: SimTime,
    pub carries: Carries,
    /// Housekeeping such as lease renewal, left out of the calm view.
    pub background: bool,
}

/// What a message is, in the words drawn on its pill.
#[derive(Clone, Debug, PartialEq, Hash, Serialize)]
pub enum Carries {
    /// `verb` is Kubernetes' own: get, list, watch, create, update, patch, delete, deletecollection.
    Request {
        verb: &'static str,
        method: Method,
        resource: GroupResource,
        subresource: Arc<str>,
        key: Key,
    },
    /// Answer to `request`.
    Answer {
        request: MessageId,
        code: u16,
        reason: Arc<str>,
        resource: GroupResource,
        key: Key,
    },
    Watch {
        watch: WatchId,
        kind: WatchEventType,
        resource: GroupResource,
        key: Key,
        revision: u64,
    },
}

/// One write that the store took.
#[derive(Clone, Debug, PartialEq, Hash, Serialize)]
pub struct Write {
    pub revision: u64,
    pub kind: WatchEventType,
    pub resource: GroupResource,
    pub key: Key,
    pub old: Option<Object>,
    pub new: Option<Object>,
    pub user: Arc<str>,
}

/// Which work queue: a controller inside a process.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct ControllerId {
    pub process: ProcessId,
    pub controller: Arc<str>,
}

/// Which cache: a resource inside a process, narrowed or not.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct InformerId {
    pub process: ProcessId,
    pub resource: GroupResource,
    /// Empty, or the namespace and selectors that narrow it.
    pub scope: Arc<str>,
}

/// What was done to a work queue.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum QueueOp {
    /// A new ticket on the rail.
    Added,
    /// The key was waiting already: one ticket does.
    Merged,
    /// The key is being worked on: it will come back after `Done`.
    AddedWhileProcessing,
    /// To be added later.
    Delayed(Span),
    /// To be added later because of failure number `failures`.
    BackedOff {
        after: Span,
        failures: u32,
    },
    /// A delayed key came due.
    Due,
    Got,
    Done,
    Forgotten,
}

/// A work queue as it stands after an operation; long parts are cut to [`QUEUE_SHOWN_MAX`] keys.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub struct QueueShot {
    pub len: usize,
    pub ready: Vec<Key>,
    pub processing: Vec<Key>,
    /// Keys that were added again while being processed.
    pub dirty: Vec<Key>,
    pub delayed: Vec<(Key, SimTime)>,
    /// Failure counts of the keys above that have any.
    pub failures: Vec<(Key, u32)>,
}

/// How many keys of one part of a queue a record carries: what the stage can draw.
pub const QUEUE_SHOWN_MAX: usize = 8;

/// The four parts of a reconcile as the stage draws them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Phase {
    Observe,
    Diff,
    Act,
    Status,
}

/// How a reconcile ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum Outcome {
    Done,
    RequeueAfter(Span),
    Requeue,
    Failed { code: u16, message: Arc<str> },
    Terminal { message: Arc<str> },
    Panicked { message: Arc<str> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum ProcessState {
    Running,
    Frozen,
    Down,
}

/// A token bucket as it stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub struct Tokens {
    /// Thousandths of a token; below zero while requests wait.
    pub milli: i64,
    pub qps: u64,
    pub burst: u32,
    /// How long the last request has to wait.
    pub wait: Span,
    /// Requests that wait for their token.
    pub waiting: usize,
}

/// Every kind of thing that can be recorded.
#[derive(Clone, Debug, PartialEq, Hash, Serialize)]
pub enum Event {
    Commanded {
        command: Arc<Command>,
    },
    /// Lines printed by kubectl, or why a command could not be carried out.
    Printed {
        process: ProcessId,
        text: Arc<str>,
        failed: bool,
    },
    /// A kubectl command came to its end; every command typed or applied has exactly one.
    Exited {
        process: ProcessId,
        code: i32,
    },
    Sent {
        message: Arc<Message>,
    },
    Delivered {
        message: Arc<Message>,
    },
    Lost {
        message: Arc<Message>,
        why: Arc<str>,
    },
    /// The server dealt with a request; `stages` is its way through the server.
    Handled {
        request: MessageId,
        user: Arc<str>,
        code: u16,
        reason: Arc<str>,
        message: Arc<str>,
        stages: Arc<[StageStep]>,
    },
    Wrote {
        write: Arc<Write>,
    },
    WatchOpened {
        watch: WatchId,
        process: ProcessId,
        resource: GroupResource,
        revision: u64,
    },
    WatchClosed {
        watch: WatchId,
        process: ProcessId,
        resource: GroupResource,
        why: Arc<str>,
    },
    /// The cache was replaced by a full list.
    Listed {
        informer: InformerId,
        revision: u64,
        contents: Arc<[(Key, u64)]>,
    },
    /// One change reached the FIFO of an informer.
    FifoPushed {
        informer: InformerId,
        kind: WatchEventType,
        key: Key,
        revision: u64,
    },
    /// The FIFO handed it on and the cache changed.
    Cached {
        informer: InformerId,
        kind: WatchEventType,
        key: Key,
        revision: u64,
    },
    /// A handler was called and named these keys; an empty list means a predicate dropped it.
    Notified {
        controller: ControllerId,
        resource: GroupResource,
        kind: WatchEventType,
        key: Key,
        enqueued: Arc<[Key]>,
    },
    Queue {
        controller: ControllerId,
        op: QueueOp,
        key: Key,
        shot: Arc<QueueShot>,
    },
    Started {
        controller: ControllerId,
        worker: u32,
        key: Key,
    },
    /// The reconcile reached a line of the listings; `line` names it, `note` has what it saw.
    At {
        controller: ControllerId,
        worker: u32,
        phase: Phase,
        line: &'static str,
        note: Arc<str>,
    },
    /// It looked and found nothing to do.
    NoWrite {
        controller: ControllerId,
        worker: u32,
        key: Key,
        why: Arc<str>,
    },
    Finished {
        controller: ControllerId,
        worker: u32,
        key: Key,
        outcome: Outcome,
    },
    Process {
        process: ProcessId,
        state: ProcessState,
        why: Arc<str>,
    },
    Leading {
        process: ProcessId,
        leads: bool,
    },
    /// The client side rate limit of a process after a request asked for a token.
    Tokens {
        process: ProcessId,
        tokens: Tokens,
    },
    /// A property of one process was changed: `clockPercent`, `partitioned`, `latencyMs`, `lagMs pods`, ….
    Tuned {
        process: ProcessId,
        setting: Arc<str>,
        /// `None`: as everywhere.
        value: Option<u64>,
    },
    /// A reconcile gave an event to the recorder, which combines, counts and filters before it writes.
    Announced {
        controller: ControllerId,
        worker: u32,
        key: Key,
        warning: bool,
        reason: Arc<str>,
        message: Arc<str>,
    },
    FaultArmed {
        fault: Arc<crate::command::FailNext>,
    },
    FaultFired {
        failure: Failure,
        request: MessageId,
    },
    KnobSet {
        knob: Arc<str>,
        value: i64,
    },
    InvariantBroken {
        invariant: &'static str,
        detail: Arc<str>,
    },
}
