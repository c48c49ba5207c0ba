//! A process that leads only while it holds a Lease.
//!
//! Followers run no workers; without the `warmup` knob they have no caches either. A process that stops leading ends, as
//! a controller-runtime manager does, and is started again by its kubelet.

use super::core::Core;
use crate::agenda::Life;
use crate::client::call::CallError;
use crate::controller::leader_election::{Elector, ElectorConfig, LeaderEvent, LeaseCall};
use crate::event::ProcessId;
use crate::object::Object;
use crate::rng::Rng;
use crate::time::{SimTime, Span};

/// Where the Lease of the operator lies.
const NAMESPACE: &str = "default";
const NAME: &str = "operator";

/// The elector of one life of a process.
#[derive(Clone, Debug)]
pub struct Election {
    elector: Elector,
    armed: Option<SimTime>,
    pub leads: bool,
}

impl Election {
    /// Begins to stand. Settings that do not fit together fall back to the defaults of controller-runtime.
    pub fn start(id: &ProcessId, core: &Core, rng: Rng) -> Option<Self> {
        let seconds = |knob| Span::secs(core.knobs.get(knob).unsigned_abs());
        let defaults = ElectorConfig::new(id, NAMESPACE, NAME);
        let config = ElectorConfig {
            lease_duration: seconds("leaseSeconds"),
            renew_deadline: seconds("renewSeconds"),
            retry_period: seconds("retrySeconds"),
            release_on_cancel: core.knobs.get("releaseOnCancel") == 1,
            ..defaults.clone()
        };
        let config = if config.validate().is_ok() { config } else { defaults };
        let mut elector = Elector::new(config, rng).ok()?;
        elector.start(core.now());
        Some(Election { elector, armed: None, leads: false })
    }

    /// The process is told to end; true while the lease is still being given back.
    pub fn stop(&mut self, core: &Core) -> bool {
        self.elector.stop(core.now());
        self.elector.running()
    }

    pub fn timer(&mut self, core: &Core) {
        self.armed = None;
        self.elector.advance(core.now());
    }

    pub fn answered(&mut self, core: &Core, id: u64, answer: Result<Object, CallError>) {
        self.elector.answered(core.now(), id, answer);
    }

    pub fn take_calls(&mut self) -> Vec<LeaseCall> {
        self.elector.take_calls()
    }

    pub fn take_events(&mut self) -> Vec<LeaderEvent> {
        self.elector.take_events()
    }

    #[must_use]
    pub fn elector(&self) -> &Elector {
        &self.elector
    }

    pub fn disarm(&mut self) {
        self.armed = None;
    }

    pub fn arm(&mut self, id: &ProcessId, life: u32, core: &mut Core) {
        let Some(due) = self.elector.next_deadline() else { return };
        if self.armed.is_none_or(|armed| due < armed) {
            self.armed = Some(due);
            core.wake_quietly(due, id, life, Life::ElectionTimer);
        }
    }
}
