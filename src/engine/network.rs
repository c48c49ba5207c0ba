//! The way between processes and the server: every message has a departure and an arrival.
//!
//! Divergence from Kubernetes: one latency for all connections, with jitter drawn per sender; no bandwidth.

use crate::api::message::{Request, Response, WatchEvent};
use crate::event::{Carries, Message, ProcessId};
use crate::ids::{MessageId, WatchId};
use crate::rng::Rng;
use crate::time::{SimTime, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What a message brings.
#[derive(Clone, Debug, PartialEq)]
pub enum Payload {
    Request(Arc<Request>),
    Response(Response),
    Watch(WatchId, WatchEvent),
    /// The server ended the stream.
    WatchEnd(WatchId),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Flight {
    pub message: Arc<Message>,
    pub payload: Payload,
}

/// Messages on their way.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    next: u64,
    seed: Rng,
    jitter: BTreeMap<ProcessId, Rng>,
    flight: BTreeMap<MessageId, Flight>,
    /// Processes that cannot reach the server, nor be reached.
    pub partitioned: BTreeSet<ProcessId>,
    /// Processes with a latency of their own.
    latency: BTreeMap<ProcessId, Span>,
}

/// How long messages take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    pub latency: Span,
    /// Up to this share of the latency is added, in percent.
    pub jitter_percent: u64,
}

impl Network {
    #[must_use]
    pub fn new(seed: Rng) -> Self {
        Network {
            next: 1,
            seed,
            jitter: BTreeMap::new(),
            flight: BTreeMap::new(),
            partitioned: BTreeSet::new(),
            latency: BTreeMap::new(),
        }
    }

    /// Puts a message on its way, not to arrive before `not_before`.
    pub fn send(
        &mut self,
        envelope: (ProcessId, ProcessId, SimTime),
        pace: Pace,
        not_before: SimTime,
        what: (Carries, Payload, bool),
    ) -> Arc<Message> {
        let (from, to, sent_at) = envelope;
        let (carries, payload, background) = what;
        let id = MessageId(self.next);
        self.next += 1;
        let latency = [&from, &to].into_iter().filter_map(|end| self.latency.get(end)).max().copied();
        let latency = latency.unwrap_or(pace.latency);
        let extra = latency.0.saturating_mul(pace.jitter_percent) / 100;
        let jitter = if extra == 0 {
            0
        } else {
            let seed = &self.seed;
            self.jitter.entry(from.clone()).or_insert_with(|| seed.fork(&from)).below(extra + 1)
        };
        let deliver_at = (sent_at + latency + Span(jitter)).max(not_before);
        let message = Arc::new(Message { id, from, to, sent_at, deliver_at, carries, background });
        self.flight.insert(id, Flight { message: message.clone(), payload });
        message
    }

    /// Messages from and to this process take so long; `None`: as long as all others.
    pub fn set_latency(&mut self, process: &ProcessId, latency: Option<Span>) {
        match latency {
            Some(latency) => self.latency.insert(process.clone(), latency),
            None => self.latency.remove(process),
        };
    }

    /// The end of a message on its way that is cut off from the network.
    #[must_use]
    pub fn cut_end(&self, id: MessageId) -> Option<&ProcessId> {
        let message = &self.flight.get(&id)?.message;
        [&message.from, &message.to].into_iter().find(|end| self.partitioned.contains(*end))
    }

    /// Whom a message on its way is for.
    #[must_use]
    pub fn addressee(&self, id: MessageId) -> Option<&ProcessId> {
        self.flight.get(&id).map(|f| &f.message.to)
    }

    /// Takes a message off the network, at its end or because it is lost.
    pub fn take(&mut self, id: MessageId) -> Option<Flight> {
        self.flight.remove(&id)
    }

    /// Watch events still on their way.
    #[must_use]
    pub fn of_watch(&self, watch: WatchId) -> Vec<MessageId> {
        let carries = |f: &Flight| matches!(&f.payload, Payload::Watch(w, _) | Payload::WatchEnd(w) if *w == watch);
        self.flight.iter().filter(|(_, f)| carries(f)).map(|(id, _)| *id).collect()
    }
}
