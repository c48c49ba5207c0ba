//! What becomes of a recorded event before it is sent: client-go `tools/record/events_cache.go`.
//!
//! Flow: combine (many different messages of one kind become one event) → count (the same event again becomes a patch)
//! → filter spam. What the filter drops has been counted already.
//!
//! Divergence from Kubernetes: where the real combiner forgets an arbitrary message, this one forgets the first in order.

use super::lru::Lru;
use crate::time::{SimTime, Span};
use crate::workqueue::bucket::{Rate, TokenBucket};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// `events_cache.go`, `maxLruCacheEntries`.
const CACHE_MAX: usize = 4_096;
/// `events_cache.go`, `defaultAggregateMaxEvents`.
const COMBINE_FROM: usize = 10;
/// `events_cache.go`, `defaultAggregateIntervalInSeconds`.
const COMBINE_WINDOW: Span = Span::secs(600);
/// `events_cache.go`, `defaultSpamBurst`.
const SPAM_BURST: u32 = 25;
/// `events_cache.go`, `defaultSpamQPS`: one event in each of these.
const SPAM_REFILL: Span = Span::secs(300);

/// The object an event is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Involved {
    pub api_version: String,
    pub kind: String,
    /// Empty: cluster-wide.
    pub namespace: String,
    pub name: String,
    pub uid: String,
}

/// A v1 Event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRecord {
    pub name: String,
    pub namespace: String,
    pub involved: Involved,
    /// `Normal` or `Warning`.
    pub kind: String,
    pub reason: String,
    pub message: String,
    pub component: String,
    pub count: u64,
    pub first: SimTime,
    pub last: SimTime,
    /// Combined from several.
    pub combined: bool,
}

impl EventRecord {
    /// Body of a create.
    #[must_use]
    pub fn body(&self) -> Value {
        let mut involved = json!({"kind": self.involved.kind, "name": self.involved.name});
        for (field, text) in [
            ("apiVersion", &self.involved.api_version),
            ("namespace", &self.involved.namespace),
            ("uid", &self.involved.uid),
        ] {
            if !text.is_empty() {
                involved[field] = json!(text);
            }
        }
        let mut body = json!({"apiVersion": "v1", "kind": "Event",
            "metadata": {"name": self.name, "namespace": self.namespace},
            "involvedObject": involved, "type": self.kind, "reason": self.reason, "message": self.message,
            "source": {"component": self.component}, "count": self.count, "eventTime": null,
            "firstTimestamp": self.first.rfc3339(), "lastTimestamp": self.last.rfc3339(),
            "reportingComponent": "", "reportingInstance": ""});
        if !self.combined {
            body["reportingComponent"] = json!(self.component);
        }
        body
    }

    /// Body of the patch that counts an event up.
    #[must_use]
    pub fn patch(&self) -> Value {
        let mut patch = json!({"count": self.count, "lastTimestamp": self.last.rfc3339()});
        if !self.message.is_empty() {
            patch["message"] = json!(self.message);
        }
        patch
    }

    fn object_key(&self) -> Vec<&str> {
        let about = &self.involved;
        vec![&self.component, &about.kind, &about.namespace, &about.name, &about.uid, &about.api_version]
    }

    /// What makes two events the same.
    fn full_key(&self) -> String {
        joined(self.object_key(), &[&self.kind, &self.reason, &self.message])
    }

    /// What makes two events similar.
    fn similar_key(&self) -> String {
        let reporter = if self.combined { "" } else { self.component.as_str() };
        joined(self.object_key(), &[&self.kind, &self.reason, reporter])
    }

    fn spam_key(&self) -> String {
        joined(self.object_key(), &[&self.kind])
    }
}

fn joined<'a>(mut parts: Vec<&'a str>, more: &[&'a str]) -> String {
    parts.extend(more);
    // The real keys are joined without a separator; a separator keeps different events apart.
    parts.join("\u{1f}")
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Similar {
    messages: BTreeSet<String>,
    last: SimTime,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Observed {
    count: u64,
    first: SimTime,
    name: String,
}

/// What to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Correlated {
    pub event: EventRecord,
    /// The event is known: count it up.
    pub patch: bool,
}

/// The memory of one recorder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Correlator {
    similar: Lru<Similar>,
    observed: Lru<Observed>,
    spam: Lru<TokenBucket>,
}

impl Default for Correlator {
    fn default() -> Self {
        Correlator { similar: Lru::new(CACHE_MAX), observed: Lru::new(CACHE_MAX), spam: Lru::new(CACHE_MAX) }
    }
}

impl Correlator {
    /// What to send for `event`; None if it is dropped.
    pub fn correlate(&mut self, now: SimTime, event: EventRecord) -> Option<Correlated> {
        let (event, key) = self.combine(now, event);
        let event = self.count(event, &key);
        let patch = event.count > 1;
        self.lets_through(now, &event).then_some(Correlated { event, patch })
    }

    /// Notes what the server stored.
    pub fn stored(&mut self, event: &EventRecord) {
        let seen = Observed { count: event.count, first: event.first, name: event.name.clone() };
        self.observed.put(&event.full_key(), seen);
    }

    fn combine(&mut self, now: SimTime, event: EventRecord) -> (EventRecord, String) {
        let key = event.similar_key();
        let fresh = Similar { messages: BTreeSet::new(), last: now };
        let known = self.similar.get(&key).filter(|similar| now.since(similar.last) <= COMBINE_WINDOW);
        let mut similar = known.cloned().unwrap_or(fresh);
        similar.messages.insert(event.message.clone());
        similar.last = now;
        let combined = similar.messages.len() >= COMBINE_FROM;
        if combined {
            similar.messages.pop_first();
        }
        self.similar.put(&key, similar);
        if !combined {
            let key = event.full_key();
            return (event, key);
        }
        let event = EventRecord {
            name: event_name(&event.involved.name, now),
            message: format!("(combined from similar events): {}", event.message),
            count: 1,
            first: now,
            last: now,
            combined: true,
            ..event
        };
        (event, key)
    }

    fn count(&mut self, mut event: EventRecord, key: &str) -> EventRecord {
        if let Some(seen) = self.observed.get(key) {
            event.name.clone_from(&seen.name);
            event.first = seen.first;
            event.count = seen.count + 1;
        }
        let seen = Observed { count: event.count, first: event.first, name: event.name.clone() };
        self.observed.put(key, seen);
        event
    }

    fn lets_through(&mut self, now: SimTime, event: &EventRecord) -> bool {
        let key = event.spam_key();
        let mut bucket =
            self.spam.get(&key).cloned().unwrap_or_else(|| TokenBucket::new(Rate::one_in(SPAM_REFILL), SPAM_BURST));
        let passes = bucket.take(now);
        self.spam.put(&key, bucket);
        passes
    }
}

/// The name of an event object: the object's name and the time in hexadecimal nanoseconds.
#[must_use]
pub fn event_name(about: &str, now: SimTime) -> String {
    let nanos = u128::from(now.unix_secs()) * 1_000_000_000 + u128::from(now.0 % 1_000_000) * 1_000;
    format!("{about}.{nanos:x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(message: &str, at: SimTime) -> EventRecord {
        EventRecord {
            name: event_name("c1", at),
            namespace: "shop".into(),
            involved: Involved { kind: "Cache".into(), name: "c1".into(), uid: "u1".into(), ..Involved::default() },
            kind: "Normal".into(),
            reason: "Synced".into(),
            message: message.into(),
            component: "op".into(),
            count: 1,
            first: at,
            last: at,
            combined: false,
        }
    }

    /// Sends messages at a distance and answers (combined, count) of each that passed.
    fn play(messages: impl Iterator<Item = String>, every: Span) -> Vec<(bool, u64)> {
        let mut correlator = Correlator::default();
        let mut now = SimTime::ZERO;
        let mut sent = Vec::new();
        for message in messages {
            if let Some(out) = correlator.correlate(now, event(&message, now)) {
                correlator.stored(&out.event);
                sent.push((out.event.combined, out.event.count));
            }
            now += every;
        }
        sent
    }

    #[test]
    fn eleven_equal_events_are_one_object_with_count_eleven() {
        let sent = play((0..11).map(|_| "tick".to_string()), Span::secs(30));
        assert_eq!(sent.last(), Some(&(false, 11)));
    }

    #[test]
    fn the_tenth_different_message_is_the_combined_one() {
        let sent = play((0..11).map(|n| format!("step {n}")), Span::secs(5));
        assert_eq!(sent[..9], [(false, 1); 9]);
        assert_eq!(sent[9..], [(true, 1), (true, 2)]);
    }

    #[test]
    fn only_a_window_without_any_message_ends_the_combining() {
        assert!(play((0..10).map(|n| format!("step {n}")), Span::secs(601)).iter().all(|(combined, _)| !combined));
        assert!(
            play((0..10).map(|n| format!("step {n}")), Span::secs(600)).last().is_some_and(|(combined, _)| *combined)
        );
    }

    #[test]
    fn twenty_five_events_pass_and_then_one_in_five_minutes() {
        assert_eq!(play((0..27).map(|_| "tick".to_string()), Span::secs(1)).len(), 25);
        let sparse = play((0..27).map(|_| "tick".to_string()), Span::secs(300));
        assert_eq!(sparse.len(), 27);
    }
}
