//! Keeps a copy in step with the server: client-go `tools/cache/reflector.go`.
//!
//! Flow: list and watch, again and again. A list is a streamed one (one WATCH with initial events, ended by a
//! bookmark) with an ordinary LIST as its fallback, or an ordinary LIST at once. Then WATCH from the version of the
//! list, renewed when the server ends it. Anything else that goes wrong: wait, and list again.
//!
//! Guarantees: one call is outstanding at a time; events are passed on in the order of their arrival; an event or an
//! answer of an older call is ignored.
//!
//! Divergence from Kubernetes: the internal-error retry window of a watch is 0, as is the default.

mod list;

use self::list::Listing;
use super::backoff::Backoff;
use super::call::{Call, CallError, CallId, Input, WatchCall};
use crate::api::message::{WatchEvent, WatchEventType};
use crate::api::status::ApiStatus;
use crate::ids::Key;
use crate::object::{Object, ObjectView};
use crate::rng::Rng;
use crate::time::{SimTime, Span};
use serde_json::Value;
use std::collections::BTreeMap;

/// client-go `tools/cache/reflector.go`: a watch asks for a time-out of one to two of these.
const MIN_WATCH_TIMEOUT: Span = Span::secs(300);
/// client-go `tools/cache/reflector.go`: a watch without events that ends sooner has failed.
const SHORT_WATCH: Span = Span::secs(1);
/// The annotation of the bookmark that ends the initial events.
pub const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

/// Reads an object as its type; a typed client cannot see objects for which this fails.
pub type Decode = fn(&Value) -> Result<(), String>;

/// What a reflector tells the queue behind it.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    Replace {
        resource_version: String,
        items: Vec<Object>,
    },
    Add(Object),
    Update(Object),
    Delete(Object),
    /// A bookmark: nothing but a version.
    Version(String),
}

/// How a reflector works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Start by streaming.
    pub watch_list: bool,
    /// 0: the default, which depends on the version asked for.
    pub page_size: u32,
}

#[derive(Clone, Debug, PartialEq)]
struct Stream {
    id: CallId,
    since: SimTime,
    opened: bool,
    events: u64,
}

#[derive(Clone, Debug, PartialEq)]
enum Phase {
    Off,
    Listing(Box<Listing>),
    /// A streamed list and what it brought so far.
    Streaming(Stream, BTreeMap<Key, Object>),
    /// `from_zero`: the watch began without a version, and only added events came so far.
    Watching(Stream, bool),
    Waiting(SimTime, Retry),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Retry {
    ListAndWatch,
    StreamedList,
    Watch,
}

/// What a reflector is doing, for drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    Nothing,
    Listing,
    StreamingList,
    Watching,
    BackingOff { until: SimTime },
}

/// The machine.
#[derive(Clone, Debug)]
pub struct Reflector {
    settings: Settings,
    decode: Option<Decode>,
    phase: Phase,
    backoff: Backoff,
    last_version: String,
    /// The last version is known to be useless: too old or too new.
    version_unavailable: bool,
    /// A LIST at version 0 came in pages once.
    paged_before: bool,
    next_call: CallId,
    calls: Vec<Call>,
    changes: Vec<Change>,
    last_error: Option<CallError>,
}

impl Reflector {
    #[must_use]
    pub fn new(settings: Settings, decode: Option<Decode>, rng: Rng) -> Self {
        Reflector {
            settings,
            decode,
            phase: Phase::Off,
            backoff: Backoff::new(rng),
            last_version: String::new(),
            version_unavailable: false,
            paged_before: false,
            next_call: 1,
            calls: Vec::new(),
            changes: Vec::new(),
            last_error: None,
        }
    }

    pub fn start(&mut self, now: SimTime) {
        if self.phase == Phase::Off {
            self.list_and_watch(now);
        }
    }

    /// Stops for good, closing an open watch.
    pub fn stop(&mut self) {
        if let Phase::Streaming(stream, _) | Phase::Watching(stream, _) = &self.phase {
            self.calls.push(Call::StopWatch(stream.id));
        }
        self.phase = Phase::Off;
    }

    /// Calls to send, in order.
    pub fn take_calls(&mut self) -> Vec<Call> {
        std::mem::take(&mut self.calls)
    }

    /// What the queue has to be told, in order.
    pub fn take_changes(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.changes)
    }

    #[must_use]
    pub fn last_resource_version(&self) -> &str {
        &self.last_version
    }

    /// The error that led to the present back-off or list.
    #[must_use]
    pub fn last_error(&self) -> Option<&CallError> {
        self.last_error.as_ref()
    }

    /// In the part of the loop in which resync ticks run: from the end of a list to the end of its watches.
    #[must_use]
    pub fn in_watch_loop(&self) -> bool {
        matches!(self.phase, Phase::Watching(..) | Phase::Waiting(_, Retry::Watch))
    }

    #[must_use]
    pub fn doing(&self) -> Doing {
        match &self.phase {
            Phase::Off => Doing::Nothing,
            Phase::Listing(_) => Doing::Listing,
            Phase::Streaming(..) => Doing::StreamingList,
            Phase::Watching(..) => Doing::Watching,
            Phase::Waiting(until, _) => Doing::BackingOff { until: *until },
        }
    }

    #[must_use]
    pub fn next_deadline(&self) -> Option<SimTime> {
        match self.phase {
            Phase::Waiting(until, _) => Some(until),
            _ => None,
        }
    }

    pub fn advance(&mut self, now: SimTime) {
        let Phase::Waiting(until, retry) = self.phase else { return };
        if now < until {
            return;
        }
        match retry {
            Retry::ListAndWatch => self.list_and_watch(now),
            Retry::StreamedList => self.stream_list(now),
            Retry::Watch => self.watch(now),
        }
    }

    pub fn input(&mut self, now: SimTime, input: Input) {
        match (std::mem::replace(&mut self.phase, Phase::Off), input) {
            (Phase::Listing(listing), Input::Listed(id, answer)) if id == listing.requested.id => {
                self.listed(now, *listing, answer);
            }
            (Phase::Streaming(stream, got), input) if stream.concerns(&input) => {
                self.streamed(now, stream, got, input);
            }
            (Phase::Watching(stream, from_zero), input) if stream.concerns(&input) => {
                self.watched(now, stream, from_zero, input);
            }
            (phase, _) => self.phase = phase,
        }
    }

    fn call_id(&mut self) -> CallId {
        let id = self.next_call;
        self.next_call += 1;
        id
    }

    fn list_and_watch(&mut self, now: SimTime) {
        if self.settings.watch_list { self.stream_list(now) } else { self.list() }
    }

    fn fail(&mut self, now: SimTime, error: CallError, retry: Retry) {
        self.last_error = Some(error);
        self.back_off(now, retry);
    }

    fn back_off(&mut self, now: SimTime, retry: Retry) {
        self.phase = Phase::Waiting(now + self.backoff.step(now), retry);
    }

    fn synced(&mut self, resource_version: String, items: Vec<Object>) {
        self.version_unavailable = false;
        self.last_error = None;
        self.last_version.clone_from(&resource_version);
        self.changes.push(Change::Replace { resource_version, items });
    }

    // Streamed lists.

    fn stream_list(&mut self, now: SimTime) {
        let resource_version = if self.version_unavailable { String::new() } else { self.last_version.clone() };
        let stream = self.send_watch(now, resource_version, true);
        self.phase = Phase::Streaming(stream, BTreeMap::new());
    }

    fn send_watch(&mut self, now: SimTime, resource_version: String, initial_events: bool) -> Stream {
        let id = self.call_id();
        let timeout_s = MIN_WATCH_TIMEOUT.as_secs() + self.backoff.draw(MIN_WATCH_TIMEOUT.as_secs());
        self.calls.push(Call::Watch(WatchCall { id, resource_version, initial_events, timeout_s }));
        Stream { id, since: now, opened: false, events: 0 }
    }

    fn streamed(&mut self, now: SimTime, mut stream: Stream, mut got: BTreeMap<Key, Object>, input: Input) {
        match input {
            Input::WatchFailed(_, error) => self.stream_failed(now, error),
            Input::WatchClosed(_) | Input::WatchBroke(_) if stream.too_short(now) => {
                self.stream_failed(now, short_watch());
            }
            Input::WatchClosed(_) | Input::WatchBroke(_) => self.stream_list(now),
            Input::Event(_, event) => match self.read(&stream, &event) {
                Err(error) => self.stream_failed(now, error),
                Ok(()) => {
                    stream.events += 1;
                    match event.kind {
                        WatchEventType::Added | WatchEventType::Modified => {
                            got.insert(event.object.key(), event.object);
                        }
                        WatchEventType::Deleted => {
                            got.remove(&event.object.key());
                        }
                        WatchEventType::Bookmark if ends_initial_events(&event.object) => {
                            self.synced(event.object.resource_version().to_string(), got.into_values().collect());
                            // The same connection goes on as the watch, which counts from here.
                            let stream = Stream { since: now, events: 0, ..stream };
                            let from_zero = matches!(self.last_version.as_str(), "" | "0");
                            self.phase = Phase::Watching(stream, from_zero);
                            return;
                        }
                        WatchEventType::Bookmark | WatchEventType::Error => {}
                    }
                    self.phase = Phase::Streaming(stream, got);
                }
            },
            Input::WatchOpened(_) | Input::Listed(..) => {
                stream.opened = true;
                self.phase = Phase::Streaming(stream, got);
            }
        }
    }

    fn stream_failed(&mut self, now: SimTime, error: CallError) {
        if error.is_watch_retriable() {
            self.fail(now, error, Retry::StreamedList);
        } else if error.is_expired() || error.is_too_large_version() {
            self.version_unavailable = true;
            self.last_error = Some(error);
            self.stream_list(now);
        } else {
            self.last_error = Some(error);
            self.list();
        }
    }

    /// Reads one event; an error event, or an object that the typed client cannot read, ends the stream.
    fn read(&mut self, stream: &Stream, event: &WatchEvent) -> Result<(), CallError> {
        let error = if event.kind == WatchEventType::Error {
            let code = event.object.get("code").and_then(Value::as_u64).unwrap_or(500);
            CallError::status(ApiStatus::from_body(u16::try_from(code).unwrap_or(500), &event.object))
        } else {
            match self.decode.filter(|_| event.kind != WatchEventType::Bookmark).map(|decode| decode(&event.object)) {
                Some(Err(why)) => {
                    let why = format!("unable to decode an event from the watch stream: {why}");
                    CallError::status(ApiStatus::internal(why))
                }
                _ => return Ok(()),
            }
        };
        self.calls.push(Call::StopWatch(stream.id));
        Err(error)
    }

    // Watches.

    fn watch(&mut self, now: SimTime) {
        let resource_version = self.last_version.clone();
        let from_zero = matches!(resource_version.as_str(), "" | "0");
        let stream = self.send_watch(now, resource_version, false);
        self.phase = Phase::Watching(stream, from_zero);
    }

    fn watched(&mut self, now: SimTime, mut stream: Stream, from_zero: bool, input: Input) {
        match input {
            Input::WatchFailed(_, error) => {
                let retry = if error.is_watch_retriable() { Retry::Watch } else { Retry::ListAndWatch };
                self.fail(now, error, retry);
            }
            Input::WatchClosed(_) | Input::WatchBroke(_) if stream.too_short(now) => {
                self.fail(now, short_watch(), Retry::ListAndWatch);
            }
            Input::WatchClosed(_) | Input::WatchBroke(_) => self.watch(now),
            Input::Event(_, event) => match self.read(&stream, &event) {
                Err(error) => {
                    let too_many = matches!(&error, CallError::Status(status) if status.code == 429);
                    self.fail(now, error, if too_many { Retry::Watch } else { Retry::ListAndWatch });
                }
                Ok(()) => {
                    stream.events += 1;
                    let from_zero = from_zero && event.kind == WatchEventType::Added;
                    self.pass_on(event, from_zero);
                    self.phase = Phase::Watching(stream, from_zero);
                }
            },
            Input::WatchOpened(_) | Input::Listed(..) => {
                stream.opened = true;
                self.phase = Phase::Watching(stream, from_zero);
            }
        }
    }

    fn pass_on(&mut self, event: WatchEvent, from_zero: bool) {
        if !from_zero {
            // The initial events of a watch without version come in no order of versions.
            self.last_version = event.object.resource_version().to_string();
        }
        self.changes.push(match event.kind {
            WatchEventType::Added => Change::Add(event.object),
            WatchEventType::Modified => Change::Update(event.object),
            WatchEventType::Deleted => Change::Delete(event.object),
            WatchEventType::Bookmark | WatchEventType::Error => {
                Change::Version(event.object.resource_version().to_string())
            }
        });
    }
}

impl Stream {
    fn concerns(&self, input: &Input) -> bool {
        match input {
            Input::WatchOpened(id)
            | Input::WatchFailed(id, _)
            | Input::Event(id, _)
            | Input::WatchClosed(id)
            | Input::WatchBroke(id) => *id == self.id,
            Input::Listed(..) => false,
        }
    }

    fn too_short(&self, now: SimTime) -> bool {
        self.events == 0 && now.since(self.since) < SHORT_WATCH
    }
}

fn short_watch() -> CallError {
    CallError::Network("very short watch: it lasted less than a second and brought nothing".to_string())
}

fn ends_initial_events(bookmark: &Object) -> bool {
    bookmark.annotation(INITIAL_EVENTS_END) == Some("true")
}
