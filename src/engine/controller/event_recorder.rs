//! Records events and writes them to the server: client-go `tools/record/event.go`.
//!
//! Flow: `record` → a queue of 1000 → one at a time through the correlator → a call → `answered`.
//!
//! Guarantees: a server that cannot be reached is asked again, the first time within 10 s, then each 10 s, twelve times
//! in all, and everything behind waits; a refusal is final; a patch of an event that is gone becomes a create.
//!
//! Divergence from Kubernetes: none known.

use super::correlator::{Correlator, EventRecord, Involved, event_name};
use crate::api::message::{Method, Request};
use crate::client::call::CallError;
use crate::ids::{Gvr, Key};
use crate::rng::Rng;
use crate::time::{SimTime, Span};
use std::collections::VecDeque;

/// `event.go`, `maxQueuedEvents`: what does not fit is dropped silently.
const QUEUE_MAX: usize = 1_000;
/// `event.go`, `maxTriesPerEvent`.
const TRIES_MAX: u32 = 12;
/// `event.go`, `defaultSleepDuration`.
const SLEEP: Span = Span::secs(10);

/// A write to send.
#[derive(Clone, Debug, PartialEq)]
pub struct EventCall {
    pub id: u64,
    pub event: EventRecord,
    /// A patch of an event that exists, else a create.
    pub patch: bool,
    pub request: Request,
}

#[derive(Clone, Debug, PartialEq)]
struct Writing {
    event: EventRecord,
    /// The event should be there already.
    known: bool,
    tries: u32,
    step: Step,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Patch(u64),
    Create(u64),
    Sleep(SimTime),
}

/// The machine.
#[derive(Clone, Debug, PartialEq)]
pub struct EventRecorder {
    component: String,
    correlator: Correlator,
    queue: VecDeque<EventRecord>,
    writing: Option<Writing>,
    calls: Vec<EventCall>,
    next_call: u64,
    rng: Rng,
}

impl EventRecorder {
    #[must_use]
    pub fn new(component: &str, rng: Rng) -> Self {
        EventRecorder {
            component: component.to_string(),
            correlator: Correlator::default(),
            queue: VecDeque::new(),
            writing: None,
            calls: Vec::new(),
            next_call: 1,
            rng,
        }
    }

    /// Records an event by another component than the recorder's own.
    pub fn record_as(
        &mut self,
        now: SimTime,
        component: &str,
        involved: Involved,
        (kind, reason): (&str, &str),
        message: &str,
    ) {
        if !matches!(kind, "Normal" | "Warning") || self.queue.len() >= QUEUE_MAX {
            return;
        }
        let namespace = if involved.namespace.is_empty() { "default" } else { &involved.namespace };
        self.queue.push_back(EventRecord {
            name: event_name(&involved.name, now),
            namespace: namespace.to_string(),
            kind: kind.to_string(),
            reason: reason.to_string(),
            message: message.to_string(),
            component: component.to_string(),
            count: 1,
            first: now,
            last: now,
            combined: false,
            involved,
        });
        self.proceed(now);
    }

    /// Records an event of type and reason about an object.
    pub fn record(&mut self, now: SimTime, involved: Involved, type_reason: (&str, &str), message: &str) {
        let component = self.component.clone();
        self.record_as(now, &component, involved, type_reason, message);
    }

    pub fn take_calls(&mut self) -> Vec<EventCall> {
        std::mem::take(&mut self.calls)
    }

    /// The server answered a call, or could not be reached.
    pub fn answered(&mut self, now: SimTime, id: u64, answer: Result<(), CallError>) {
        let Some(mut writing) = self.writing.take_if(|w| matches!(w.step, Step::Patch(n) | Step::Create(n) if n == id))
        else {
            return;
        };
        match answer {
            Ok(()) => self.correlator.stored(&writing.event),
            Err(CallError::Status(status)) if status.is_not_found() && writing.step == Step::Patch(id) => {
                self.send(writing, false);
                return;
            }
            Err(CallError::Status(_)) => {}
            Err(CallError::ConnectionRefused | CallError::Network(_) | CallError::Decode(_)) => {
                writing.tries += 1;
                if writing.tries < TRIES_MAX {
                    let delay = if writing.tries == 1 { Span(self.rng.below(SLEEP.0)) } else { SLEEP };
                    writing.step = Step::Sleep(now + delay);
                    self.writing = Some(writing);
                    return;
                }
            }
        }
        self.proceed(now);
    }

    #[must_use]
    pub fn next_deadline(&self) -> Option<SimTime> {
        match self.writing.as_ref()?.step {
            Step::Sleep(until) => Some(until),
            Step::Patch(_) | Step::Create(_) => None,
        }
    }

    pub fn advance(&mut self, now: SimTime) {
        let due = |writing: &mut Writing| matches!(writing.step, Step::Sleep(until) if until <= now);
        if let Some(writing) = self.writing.take_if(due) {
            let known = writing.known;
            self.send(writing, known);
        }
    }

    /// Events that wait behind the one being written.
    #[must_use]
    pub fn queued(&self) -> usize {
        self.queue.len()
    }

    fn proceed(&mut self, now: SimTime) {
        while self.writing.is_none() {
            let Some(event) = self.queue.pop_front() else { return };
            if let Some(out) = self.correlator.correlate(now, event) {
                let writing = Writing { event: out.event, known: out.patch, tries: 0, step: Step::Sleep(now) };
                self.send(writing, out.patch);
            }
        }
    }

    fn send(&mut self, mut writing: Writing, patch: bool) {
        let id = self.next_call;
        self.next_call += 1;
        let events = Gvr::new("", "v1", "events");
        let event = &writing.event;
        let request = if patch {
            let path = events.object(&Key::new(&event.namespace, &event.name));
            let mut request = Request::new(Method::Patch, path).body(event.patch());
            request.content_type = "application/strategic-merge-patch+json".to_string();
            request
        } else {
            Request::new(Method::Post, events.collection(&event.namespace)).body(event.body())
        };
        self.calls.push(EventCall { id, event: event.clone(), patch, request });
        writing.step = if patch { Step::Patch(id) } else { Step::Create(id) };
        self.writing = Some(writing);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unreachable_server_is_asked_twelve_times() {
        let mut recorder = EventRecorder::new("op", Rng::new(3));
        let about = Involved { name: "c".into(), kind: "Cache".into(), ..Involved::default() };
        recorder.record(SimTime::ZERO, about.clone(), ("Normal", "R"), "m");
        recorder.record(SimTime::ZERO, about, ("Normal", "R"), "behind");
        let mut now = SimTime::ZERO;
        let mut tries = 0;
        loop {
            let calls = recorder.take_calls();
            if calls[0].event.message == "behind" {
                break;
            }
            tries += 1;
            recorder.answered(now, calls[0].id, Err(CallError::ConnectionRefused));
            now = recorder.next_deadline().unwrap_or(now);
            recorder.advance(now);
        }
        assert_eq!(tries, 12);
        assert!(now.0 >= 100_000_000 && now.0 < 110_000_000);
    }

    #[test]
    fn an_unknown_type_and_a_stale_answer_change_nothing() {
        let mut recorder = EventRecorder::new("op", Rng::new(3));
        recorder.record(SimTime::ZERO, Involved::default(), ("Odd", "R"), "m");
        recorder.answered(SimTime::ZERO, 7, Ok(()));
        assert!(recorder.take_calls().is_empty());
    }
}
