//! One event handler of an informer: its buffer, its sync state and its resync period, as the `processorListener` of
//! client-go `tools/cache/shared_informer.go`.
//!
//! Guarantees: calls come one at a time and in order; a slow handler delays nobody else.

use crate::ids::Key;
use crate::object::Object;
use crate::time::{SimTime, Span};
use std::collections::VecDeque;

/// `shared_informer.go`: shortest resync period of a handler.
pub const MINIMUM_RESYNC: Span = Span::secs(1);

/// One call of a handler.
#[derive(Clone, Debug, PartialEq)]
pub enum Notification {
    Add {
        object: Object,
        is_in_initial_list: bool,
    },
    Update {
        old: Object,
        new: Object,
    },
    /// `tombstone`: the client only knows that the object is gone, and `object` is its last known state.
    Delete {
        key: Key,
        object: Object,
        tombstone: bool,
    },
}

impl Notification {
    /// The object as the handler sees it: the new one of an update.
    #[must_use]
    pub fn object(&self) -> &Object {
        match self {
            Notification::Add { object, .. } | Notification::Delete { object, .. } => object,
            Notification::Update { new, .. } => new,
        }
    }

    fn is_initial(&self) -> bool {
        matches!(self, Notification::Add { is_in_initial_list: true, .. })
    }
}

/// A registered handler.
#[derive(Clone, Debug, PartialEq)]
pub struct Handler {
    pub(super) buffer: VecDeque<Notification>,
    /// The call that is being handled is an initial add.
    handling_initial: bool,
    /// Initial adds in the buffer.
    initial_waiting: usize,
    /// What it asked for, after the lower bounds.
    requested: Span,
    /// What it gets; zero when the informer itself does no resync.
    period: Span,
    next_resync: SimTime,
    /// Gets updates with equal versions. True at first and recomputed only at resync ticks.
    pub(super) syncing: bool,
}

impl Handler {
    pub(super) fn new(now: SimTime, requested: Span, check_period: Span) -> Self {
        let period = resync_period(requested, check_period);
        Handler {
            buffer: VecDeque::new(),
            handling_initial: false,
            initial_waiting: 0,
            requested,
            period,
            next_resync: now + period,
            syncing: true,
        }
    }

    pub(super) fn check_period_changed(&mut self, check_period: Span) {
        self.period = resync_period(self.requested, check_period);
    }

    pub(super) fn push(&mut self, notification: Notification) {
        self.initial_waiting += usize::from(notification.is_initial());
        self.buffer.push_back(notification);
    }

    pub(super) fn next(&mut self) -> Option<Notification> {
        let notification = self.buffer.pop_front()?;
        self.handling_initial = notification.is_initial();
        self.initial_waiting -= usize::from(self.handling_initial);
        Some(notification)
    }

    pub(super) fn finished(&mut self) {
        self.handling_initial = false;
    }

    /// All initial adds so far have been handled.
    pub(super) fn caught_up(&self) -> bool {
        self.initial_waiting == 0 && !self.handling_initial
    }

    /// At a resync tick: is this handler due? Then it is served now and again after its period.
    pub(super) fn tick(&mut self, now: SimTime) -> bool {
        self.syncing = self.period > Span::ZERO && now >= self.next_resync;
        if self.syncing {
            self.next_resync = now + self.period;
        }
        self.syncing
    }

    /// Calls that wait, the next one first.
    #[must_use]
    pub fn waiting(&self) -> &VecDeque<Notification> {
        &self.buffer
    }

    #[must_use]
    pub fn resync_period(&self) -> Span {
        self.period
    }
}

fn resync_period(desired: Span, check: Span) -> Span {
    if desired == Span::ZERO || check == Span::ZERO { Span::ZERO } else { desired.max(check) }
}
