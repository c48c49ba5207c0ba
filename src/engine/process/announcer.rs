//! The event recorder of a process on the network.

use super::core::Core;
use crate::agenda::Life;
use crate::client::call::CallError;
use crate::controller::correlator::Involved;
use crate::controller::event_recorder::{EventCall, EventRecorder};
use crate::event::ProcessId;
use crate::object::{Object, ObjectView};
use crate::rng::Rng;
use crate::time::{SimTime, Span};
use std::sync::Arc;

/// An event as a reconcile says it.
#[derive(Clone, Debug, PartialEq)]
pub struct Announcement {
    /// The controller that reports it.
    pub component: Arc<str>,
    pub about: Involved,
    pub warning: bool,
    pub reason: Arc<str>,
    pub message: Arc<str>,
}

/// What an event says of the object it is about.
#[must_use]
pub fn involved(object: &Object) -> Involved {
    Involved {
        api_version: object.text(&["apiVersion"]).to_string(),
        kind: object.kind().to_string(),
        namespace: object.namespace().to_string(),
        name: object.name().to_string(),
        uid: object.uid().to_string(),
    }
}

#[derive(Clone, Debug)]
pub struct Announcer {
    recorder: EventRecorder,
    armed: Option<SimTime>,
    /// Names of events hold their time, so two of one instant would collide.
    last: SimTime,
}

impl Announcer {
    #[must_use]
    pub fn new(id: &ProcessId, rng: Rng) -> Self {
        Announcer { recorder: EventRecorder::new(id, rng), armed: None, last: SimTime::ZERO }
    }

    pub fn announce(&mut self, core: &Core, said: Announcement) {
        let at = core.now().max(self.last + Span::micros(1));
        self.last = at;
        let kind = if said.warning { "Warning" } else { "Normal" };
        self.recorder.record_as(at, &said.component, said.about, (kind, &said.reason), &said.message);
    }

    pub fn take_calls(&mut self) -> Vec<EventCall> {
        self.recorder.take_calls()
    }

    pub fn answered(&mut self, core: &Core, id: u64, answer: Result<(), CallError>) {
        self.recorder.answered(core.now(), id, answer);
    }

    pub fn timer(&mut self, core: &Core) {
        self.armed = None;
        self.recorder.advance(core.now());
    }

    pub fn disarm(&mut self) {
        self.armed = None;
    }

    pub fn arm(&mut self, id: &ProcessId, life: u32, core: &mut Core) {
        let Some(due) = self.recorder.next_deadline() else { return };
        if self.armed.is_none_or(|armed| due < armed) {
            self.armed = Some(due);
            core.wake_quietly(due, id, life, Life::RecorderTimer);
        }
    }
}
