//! One candidate for the leadership: client-go `tools/leaderelection/leaderelection.go`.
//!
//! Flow: try to acquire at distances of [1, 2.2) retry periods; once it holds the lease, renew each retry period, and
//! give up when a renewal has not come through within the renew deadline.
//!
//! Guarantees: the clock of the last holder is never compared with the own one; a candidate waits a whole lease from
//! its own first look at a record. Callbacks come in the order of what happened.
//!
//! Caveat, as in the real one: a leader whose lease was taken goes on for the rest of the renew deadline.
//!
//! Divergence from Kubernetes: none known.

use super::lease::LeaseRecord;
use crate::api::message::{Method, Request};
use crate::client::call::CallError;
use crate::ids::{Gvr, Key};
use crate::object::Object;
use crate::rng::Rng;
use crate::time::{SimTime, Span};

/// `leaderelection.go`, `JitterFactor`, in tenths.
const JITTER_TENTHS: u64 = 12;

/// Settings of an elector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElectorConfig {
    pub identity: String,
    pub namespace: String,
    pub name: String,
    pub lease_duration: Span,
    pub renew_deadline: Span,
    pub retry_period: Span,
    pub release_on_cancel: bool,
}

impl ElectorConfig {
    /// With the defaults of a controller-runtime manager, `pkg/manager/manager.go`.
    #[must_use]
    pub fn new(identity: &str, namespace: &str, name: &str) -> Self {
        ElectorConfig {
            identity: identity.to_string(),
            namespace: namespace.to_string(),
            name: name.to_string(),
            lease_duration: Span::secs(15),
            renew_deadline: Span::secs(10),
            retry_period: Span::secs(2),
            release_on_cancel: false,
        }
    }

    /// # Errors
    /// In the words of the real one.
    pub fn validate(&self) -> Result<(), &'static str> {
        if self.lease_duration <= self.renew_deadline {
            Err("leaseDuration must be greater than renewDeadline")
        } else if self.renew_deadline.saturating_mul(10) <= self.retry_period.saturating_mul(JITTER_TENTHS) {
            Err("renewDeadline must be greater than retryPeriod*JitterFactor")
        } else if self.lease_duration == Span::ZERO {
            Err("leaseDuration must be greater than zero")
        } else if self.renew_deadline == Span::ZERO {
            Err("renewDeadline must be greater than zero")
        } else if self.retry_period == Span::ZERO {
            Err("retryPeriod must be greater than zero")
        } else {
            Ok(())
        }
    }
}

/// A callback.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeaderEvent {
    StartedLeading,
    /// Also called when a candidate stops that never led.
    StoppedLeading,
    NewLeader(String),
}

/// A request to send.
#[derive(Clone, Debug, PartialEq)]
pub struct LeaseCall {
    pub id: u64,
    pub request: Request,
}

/// One request of a try.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    /// The leader writes without reading first.
    FastUpdate(LeaseRecord),
    Get,
    Create(LeaseRecord),
    Update(LeaseRecord),
    ReleaseGet,
    ReleaseUpdate(LeaseRecord),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Off,
    /// A candidate; the time of the next try while none is under way.
    Acquiring {
        next: Option<SimTime>,
    },
    /// A renewal that must come through by `deadline`; tries begin at `next` and each retry period after.
    Renewing {
        deadline: SimTime,
        next: SimTime,
    },
    /// Renewed; the next renewal begins at that time.
    Holding(SimTime),
    /// Giving the lease back, until that time at most.
    Releasing(SimTime),
    Ended,
}

/// The machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Elector {
    config: ElectorConfig,
    mode: Mode,
    /// The request under way and when its try began.
    pending: Option<(u64, Step, SimTime)>,
    observed: LeaseRecord,
    observed_at: SimTime,
    /// The record of the last read, as it compares.
    read: Option<LeaseRecord>,
    /// The lease as the server last gave it; writes carry its version.
    lease: Option<Object>,
    reported: String,
    calls: Vec<LeaseCall>,
    events: Vec<LeaderEvent>,
    next_call: u64,
    rng: Rng,
}

impl Elector {
    /// # Errors
    /// When the settings do not fit together.
    pub fn new(config: ElectorConfig, rng: Rng) -> Result<Self, &'static str> {
        config.validate()?;
        Ok(Elector {
            config,
            mode: Mode::Off,
            pending: None,
            observed: LeaseRecord::default(),
            observed_at: SimTime::ZERO,
            read: None,
            lease: None,
            reported: String::new(),
            calls: Vec::new(),
            events: Vec::new(),
            next_call: 1,
            rng,
        })
    }

    pub fn start(&mut self, now: SimTime) {
        if self.mode == Mode::Off {
            self.mode = Mode::Acquiring { next: None };
            self.attempt(now);
        }
    }

    /// The context is cancelled: give the lease back if so set, and end.
    pub fn stop(&mut self, now: SimTime) {
        match self.mode {
            Mode::Acquiring { .. } => self.end(),
            Mode::Renewing { .. } => {
                self.report();
                self.leave(now);
            }
            Mode::Holding(_) => self.leave(now),
            Mode::Off | Mode::Releasing(_) | Mode::Ended => {}
        }
    }

    pub fn take_calls(&mut self) -> Vec<LeaseCall> {
        std::mem::take(&mut self.calls)
    }

    pub fn take_events(&mut self) -> Vec<LeaderEvent> {
        std::mem::take(&mut self.events)
    }

    /// Its run has not ended.
    #[must_use]
    pub fn running(&self) -> bool {
        !matches!(self.mode, Mode::Off | Mode::Ended)
    }

    /// Believes that it leads. Still true after it ended without giving the lease back.
    #[must_use]
    pub fn is_leader(&self) -> bool {
        self.observed.holder == self.config.identity
    }

    /// Whom it believes to lead; empty: nobody.
    #[must_use]
    pub fn leader(&self) -> &str {
        &self.observed.holder
    }

    /// Between the callbacks that say that it leads and that it does not.
    #[must_use]
    pub fn leading(&self) -> bool {
        matches!(self.mode, Mode::Renewing { .. } | Mode::Holding(_) | Mode::Releasing(_))
    }

    /// The record it goes by, and when it first saw that.
    #[must_use]
    pub fn observed(&self) -> (&LeaseRecord, SimTime) {
        (&self.observed, self.observed_at)
    }

    #[must_use]
    pub fn next_deadline(&self) -> Option<SimTime> {
        match self.mode {
            Mode::Off | Mode::Ended => None,
            Mode::Acquiring { next } => next,
            Mode::Renewing { deadline, next } if self.pending.is_none() => Some(deadline.min(next)),
            Mode::Renewing { deadline, .. } => Some(deadline),
            Mode::Holding(next) => Some(next),
            Mode::Releasing(until) => Some(until),
        }
    }

    pub fn advance(&mut self, now: SimTime) {
        if self.next_deadline().is_none_or(|at| at > now) {
            return;
        }
        match self.mode {
            Mode::Off | Mode::Ended => {}
            Mode::Acquiring { .. } => {
                self.mode = Mode::Acquiring { next: None };
                self.attempt(now);
            }
            Mode::Renewing { deadline, .. } if deadline <= now => {
                self.report();
                self.leave(now);
            }
            Mode::Renewing { deadline, next } => {
                self.mode = Mode::Renewing { deadline, next: next + self.config.retry_period };
                self.attempt(now);
            }
            Mode::Holding(_) => self.begin_renewal(now),
            Mode::Releasing(_) => self.end(),
        }
    }

    /// The server answered a request, or could not be reached.
    pub fn answered(&mut self, now: SimTime, id: u64, answer: Result<Object, CallError>) {
        let Some((_, step, began)) = self.pending.take_if(|(pending, ..)| *pending == id) else { return };
        if let Ok(lease) = &answer {
            self.lease = Some(lease.clone());
        }
        match (step, answer) {
            (Step::FastUpdate(record) | Step::Create(record) | Step::Update(record), Ok(_)) => {
                self.observe(now, record);
                self.attempted(now, true);
            }
            (Step::FastUpdate(_), Err(_)) => self.send(now, Step::Get, began),
            (Step::Get, Ok(lease)) => self.judge(now, began, &lease),
            (Step::Get, Err(CallError::Status(status))) if status.is_not_found() => {
                self.send(now, Step::Create(self.wanted(began)), began);
            }
            (Step::Get | Step::Create(_) | Step::Update(_), Err(_)) => self.attempted(now, false),
            (Step::ReleaseGet, Ok(lease)) if self.is_leader() => {
                let transitions = LeaseRecord::read(&lease).transitions;
                let record =
                    LeaseRecord { holder: String::new(), duration_s: 1, acquired: now, renewed: now, transitions };
                self.send(now, Step::ReleaseUpdate(record), now);
            }
            (Step::ReleaseUpdate(record), Ok(_)) => {
                self.observe(now, record);
                self.end();
            }
            (Step::ReleaseGet | Step::ReleaseUpdate(_), _) => self.end(),
        }
    }

    /// One try to acquire or renew.
    fn attempt(&mut self, now: SimTime) {
        if self.is_leader() && self.lease_valid(now) {
            let record = LeaseRecord {
                acquired: self.observed.acquired,
                transitions: self.observed.transitions,
                ..self.wanted(now)
            };
            self.send(now, Step::FastUpdate(record), now);
        } else {
            self.send(now, Step::Get, now);
        }
    }

    fn wanted(&self, now: SimTime) -> LeaseRecord {
        LeaseRecord {
            holder: self.config.identity.clone(),
            duration_s: self.config.lease_duration.as_secs(),
            acquired: now,
            renewed: now,
            transitions: 0,
        }
    }

    fn lease_valid(&self, now: SimTime) -> bool {
        self.observed_at + Span::secs(1).saturating_mul(self.observed.duration_s) > now
    }

    fn observe(&mut self, now: SimTime, record: LeaseRecord) {
        self.observed = record;
        self.observed_at = now;
    }

    /// The lease was read: is it free, or the own one?
    fn judge(&mut self, now: SimTime, began: SimTime, lease: &Object) {
        let old = LeaseRecord::read(lease);
        if self.read.as_ref() != Some(&old.comparable()) {
            self.read = Some(old.comparable());
            self.observe(now, old.clone());
        }
        if !old.holder.is_empty() && self.lease_valid(began) && !self.is_leader() {
            self.attempted(now, false);
            return;
        }
        let mut record = self.wanted(began);
        if self.is_leader() {
            record.acquired = old.acquired;
            record.transitions = old.transitions;
        } else {
            record.transitions = old.transitions.saturating_add(1);
        }
        self.send(now, Step::Update(record), began);
    }

    fn attempted(&mut self, now: SimTime, succeeded: bool) {
        match self.mode {
            Mode::Acquiring { .. } => {
                self.report();
                if succeeded {
                    self.events.push(LeaderEvent::StartedLeading);
                    self.begin_renewal(now);
                } else {
                    let jitter = self.rng.below(self.config.retry_period.0 * JITTER_TENTHS / 10);
                    self.mode = Mode::Acquiring { next: Some(now + self.config.retry_period + Span(jitter)) };
                }
            }
            Mode::Renewing { .. } if succeeded => {
                self.report();
                self.mode = Mode::Holding(now + self.config.retry_period);
            }
            // The next try comes at its time.
            Mode::Renewing { .. } | Mode::Holding(_) | Mode::Releasing(_) | Mode::Off | Mode::Ended => {}
        }
    }

    fn begin_renewal(&mut self, now: SimTime) {
        self.mode = Mode::Renewing { deadline: now + self.config.renew_deadline, next: now + self.config.retry_period };
        self.attempt(now);
    }

    fn report(&mut self) {
        if self.observed.holder != self.reported {
            self.reported.clone_from(&self.observed.holder);
            self.events.push(LeaderEvent::NewLeader(self.reported.clone()));
        }
    }

    fn leave(&mut self, now: SimTime) {
        self.pending = None;
        if self.config.release_on_cancel {
            self.mode = Mode::Releasing(now + self.config.renew_deadline);
            self.send(now, Step::ReleaseGet, now);
        } else {
            self.end();
        }
    }

    fn end(&mut self) {
        self.pending = None;
        self.mode = Mode::Ended;
        self.events.push(LeaderEvent::StoppedLeading);
    }

    fn send(&mut self, now: SimTime, step: Step, began: SimTime) {
        let leases = Gvr::new("coordination.k8s.io", "v1", "leases");
        let key = Key::new(&self.config.namespace, &self.config.name);
        let request = match &step {
            Step::Get | Step::ReleaseGet => Request::new(Method::Get, leases.object(&key)),
            Step::Create(record) => Request::new(Method::Post, leases.collection(&key.namespace))
                .body(record.create(&key.namespace, &key.name)),
            Step::FastUpdate(record) | Step::Update(record) | Step::ReleaseUpdate(record) => {
                let Some(lease) = &self.lease else {
                    // A lock that was never read or made cannot be written.
                    self.attempted(now, false);
                    return;
                };
                Request::new(Method::Put, leases.object(&key)).body(record.update(lease))
            }
        };
        let id = self.next_call;
        self.next_call += 1;
        self.pending = Some((id, step, began));
        self.calls.push(LeaseCall { id, request });
    }
}
