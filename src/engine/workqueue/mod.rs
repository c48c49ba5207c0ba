//! Work queues: the plain one of client-go and the priority queue of controller-runtime behind one type.
//!
//! Flow: event handlers `add`, a worker `get`s a key, runs, and says `done`. The owner calls `advance` when
//! `next_deadline` has come, which makes due delayed keys ready. Nothing here looks at a clock.
//!
//! Divergence from Kubernetes: metrics are not labelled by priority.

pub mod bucket;
pub mod classic;
pub mod delaying;
pub mod metrics;
pub mod priority;
pub mod rate_limiter;
#[cfg(test)]
mod tests;

use crate::ids::Key;
use crate::time::{SimTime, Span};
use classic::Classic;
use delaying::DelayHeap;
use metrics::Metrics;
use priority::{Added, Priority};
use rate_limiter::Limiter;
use std::collections::{BTreeMap, VecDeque};

/// How a key is added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AddOptions {
    /// Delay in microseconds; zero or less is no delay, but the plain queue counts it as a delayed add.
    pub after_us: Option<i64>,
    /// Ask the limiter for the delay, which counts a failure.
    pub rate_limited: bool,
    /// The plain queue has no priorities and ignores it; None counts as 0.
    pub priority: Option<i64>,
}

impl AddOptions {
    #[must_use]
    pub fn now() -> Self {
        AddOptions::default()
    }

    #[must_use]
    pub fn after(delay: Span) -> Self {
        AddOptions { after_us: Some(signed(delay)), ..AddOptions::default() }
    }

    #[must_use]
    pub fn rate_limited() -> Self {
        AddOptions { rate_limited: true, ..AddOptions::default() }
    }

    #[must_use]
    pub fn priority(self, priority: i64) -> Self {
        AddOptions { priority: Some(priority), ..self }
    }
}

/// The answer to a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Got<K = Key> {
    /// Work on this key; the plain queue has priority 0 throughout.
    Key(K, i64),
    /// Nothing to hand out now.
    Blocked,
    /// The worker can go home.
    Shutdown,
}

/// A worker that waits in `wait`.
pub type WorkerId = u64;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Line<K> {
    Classic { line: Classic<K>, delayed: DelayHeap<K> },
    Priority(Priority<K>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Open,
    /// No more adds.
    ShuttingDown,
    /// No more adds; someone waits until no key is in work.
    Draining,
    /// A drain has come to its end.
    Drained,
}

/// One queue with its limiter, waiting workers and metrics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkQueue<K = Key> {
    line: Line<K>,
    limiter: Limiter<K>,
    metrics: Metrics<K>,
    stage: Stage,
    /// Workers that wait, the one that asked first in front.
    waiting: VecDeque<WorkerId>,
    answers: BTreeMap<WorkerId, Got<K>>,
}

/// One delayed key, for drawing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delayed<K = Key> {
    pub key: K,
    pub at: SimTime,
    pub priority: i64,
}

impl<K: Ord + Clone> WorkQueue<K> {
    /// client-go's rate limiting queue.
    #[must_use]
    pub fn classic(limiter: Limiter<K>) -> Self {
        Self::new(Line::Classic { line: Classic::default(), delayed: DelayHeap::default() }, limiter)
    }

    /// controller-runtime's priority queue.
    #[must_use]
    pub fn priority(limiter: Limiter<K>) -> Self {
        Self::new(Line::Priority(Priority::default()), limiter)
    }

    fn new(line: Line<K>, limiter: Limiter<K>) -> Self {
        WorkQueue {
            line,
            limiter,
            metrics: Metrics::default(),
            stage: Stage::Open,
            waiting: VecDeque::new(),
            answers: BTreeMap::new(),
        }
    }

    #[must_use]
    pub fn has_priorities(&self) -> bool {
        matches!(self.line, Line::Priority(_))
    }

    /// Adds `key`. Dropped once the queue shuts down.
    pub fn add(&mut self, now: SimTime, key: &K, options: AddOptions) {
        match &mut self.line {
            Line::Classic { .. } => self.add_classic(now, key, options),
            Line::Priority(_) => self.add_priority(now, key, options),
        }
        self.serve(now);
    }

    fn add_classic(&mut self, now: SimTime, key: &K, options: AddOptions) {
        // The limiter looks before the delay, and is asked even when the queue drops the add.
        let delay_us =
            if options.rate_limited { signed(self.limiter.when(now, key)) } else { options.after_us.unwrap_or(0) };
        if self.shutting_down() {
            return;
        }
        let Line::Classic { line, delayed } = &mut self.line else { return };
        if options.rate_limited || options.after_us.is_some() {
            self.metrics.retries += 1;
        }
        if delay_us > 0 {
            delayed.insert(key, now + Span(delay_us.unsigned_abs()));
        } else if line.add(key) {
            self.metrics.add(now, key);
        }
    }

    fn add_priority(&mut self, now: SimTime, key: &K, options: AddOptions) {
        if self.shutting_down() {
            return;
        }
        let mut delay_us = options.after_us.unwrap_or(0);
        if options.rate_limited {
            let limited = signed(self.limiter.when(now, key));
            if delay_us == 0 || limited < delay_us {
                delay_us = limited;
            }
        }
        let ready_at = (delay_us > 0).then(|| now + Span(delay_us.unsigned_abs()));
        if ready_at.is_some() {
            self.metrics.retries += 1;
        }
        let Line::Priority(line) = &mut self.line else { return };
        if line.add(key, ready_at, options.priority.unwrap_or(0)) == Added::BecameReady {
            self.metrics.add(now, key);
        }
    }

    /// A worker asks without waiting.
    pub fn get(&mut self, now: SimTime) -> Got<K> {
        let next = match &mut self.line {
            Line::Classic { line, .. } => line.get().map(|key| (key, 0)),
            // A shut down priority queue hands out nothing, whatever it holds.
            Line::Priority(_) if self.stage != Stage::Open => None,
            Line::Priority(line) => line.get(),
        };
        match next {
            Some((key, priority)) => {
                self.metrics.get(now, &key);
                Got::Key(key, priority)
            }
            None if self.shutting_down() => Got::Shutdown,
            None => Got::Blocked,
        }
    }

    /// A worker asks and waits if need be; the answer comes through [`WorkQueue::answer`].
    pub fn wait(&mut self, now: SimTime, worker: WorkerId) {
        self.waiting.push_back(worker);
        self.serve(now);
    }

    /// Takes the answer a waiting worker got; `None` while it still waits.
    pub fn answer(&mut self, worker: WorkerId) -> Option<Got<K>> {
        self.answers.remove(&worker)
    }

    /// The worker is done with `key`.
    pub fn done(&mut self, now: SimTime, key: &K) {
        self.metrics.done(now, key);
        match &mut self.line {
            Line::Classic { line, .. } => line.done(key),
            Line::Priority(line) => line.done(key),
        }
        self.end_drain();
        self.serve(now);
    }

    /// Clears the failure count of `key`; what waits still comes.
    pub fn forget(&mut self, key: &K) {
        self.limiter.forget(key);
    }

    #[must_use]
    pub fn num_requeues(&self, key: &K) -> u32 {
        self.limiter.num_requeues(key)
    }

    /// The length as the library reports it: the plain queue leaves out keys in work that were added again, the
    /// priority queue counts them.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.line {
            Line::Classic { line, .. } => line.line().len(),
            Line::Priority(line) => line.len(),
        }
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True if [`WorkQueue::get`] would hand out a key.
    #[must_use]
    pub fn has_work(&self) -> bool {
        match &self.line {
            Line::Classic { line, .. } => !line.line().is_empty(),
            Line::Priority(line) => self.stage == Stage::Open && line.ready().any(|(k, _)| !line.locked().contains(k)),
        }
    }

    /// When [`WorkQueue::advance`] has something to do next.
    #[must_use]
    pub fn next_deadline(&self) -> Option<SimTime> {
        if self.shutting_down() {
            return None;
        }
        match &self.line {
            Line::Classic { delayed, .. } => delayed.next(),
            Line::Priority(line) => line.next(),
        }
    }

    /// Makes the keys ready whose time has come.
    pub fn advance(&mut self, now: SimTime) {
        while !self.shutting_down() {
            let due = match &mut self.line {
                Line::Classic { line, delayed } => {
                    delayed.pop_due(now).map(|(at, key)| (line.add(&key).then_some(key), at))
                }
                Line::Priority(line) => line.pop_due(now).map(|(at, key)| (Some(key), at)),
            };
            let Some((accepted, at)) = due else { return };
            if let Some(key) = accepted {
                self.metrics.add(at, &key);
            }
            self.serve(at);
        }
    }

    /// Stops the queue. The plain one still hands out what it holds.
    pub fn shutdown(&mut self, now: SimTime) {
        self.stage = match self.stage {
            Stage::Draining | Stage::Drained => Stage::Drained,
            Stage::Open | Stage::ShuttingDown => Stage::ShuttingDown,
        };
        self.serve(now);
    }

    /// Stops the queue; [`WorkQueue::drained`] once no key is in work. The priority queue does not wait.
    pub fn shutdown_with_drain(&mut self, now: SimTime) {
        self.stage = if self.has_priorities() { Stage::Drained } else { Stage::Draining };
        self.end_drain();
        self.serve(now);
    }

    /// Has a drain come to its end?
    #[must_use]
    pub fn drained(&self) -> bool {
        self.stage == Stage::Drained
    }

    #[must_use]
    pub fn shutting_down(&self) -> bool {
        self.stage != Stage::Open
    }

    fn end_drain(&mut self) {
        if self.stage == Stage::Draining && self.processing().next().is_none() {
            self.stage = Stage::Drained;
        }
    }

    fn serve(&mut self, now: SimTime) {
        while let Some(&worker) = self.waiting.front() {
            let got = self.get(now);
            if got == Got::Blocked {
                return;
            }
            self.waiting.pop_front();
            self.answers.insert(worker, got);
        }
    }

    #[must_use]
    pub fn metrics(&self) -> &Metrics<K> {
        &self.metrics
    }

    #[must_use]
    pub fn limiter(&self) -> &Limiter<K> {
        &self.limiter
    }

    /// Changes the series of waits after failures; the counts stay.
    pub fn set_backoff(&mut self, base: Span, max: Span) {
        self.limiter.set_series(base, max);
    }

    /// Keys in line with their priorities, the next one first. In the priority queue some of them may be in work.
    pub fn queued(&self) -> Box<dyn Iterator<Item = (&K, i64)> + '_> {
        match &self.line {
            Line::Classic { line, .. } => Box::new(line.line().iter().map(|key| (key, 0))),
            Line::Priority(line) => Box::new(line.ready()),
        }
    }

    /// Does `key` want a run: is it what the plain queue calls dirty, or a ready key of the priority queue?
    #[must_use]
    pub fn is_dirty(&self, key: &K) -> bool {
        match &self.line {
            Line::Classic { line, .. } => line.dirty().contains(key),
            Line::Priority(line) => line.ready_at(key) == Some(None),
        }
    }

    /// When a delayed key comes.
    #[must_use]
    pub fn delayed_until(&self, key: &K) -> Option<SimTime> {
        match &self.line {
            Line::Classic { delayed, .. } => delayed.time_of(key),
            Line::Priority(line) => line.ready_at(key).flatten(),
        }
    }

    /// Keys that workers hold.
    pub fn processing(&self) -> impl Iterator<Item = &K> {
        match &self.line {
            Line::Classic { line, .. } => line.processing().iter(),
            Line::Priority(line) => line.locked().iter(),
        }
    }

    /// Delayed keys, the next one first.
    pub fn delayed(&self) -> Box<dyn Iterator<Item = Delayed<K>> + '_> {
        match &self.line {
            Line::Classic { delayed, .. } => {
                Box::new(delayed.in_order().map(|(at, key)| Delayed { key: key.clone(), at, priority: 0 }))
            }
            Line::Priority(line) => {
                Box::new(line.waiting().map(|(key, at, priority)| Delayed { key: key.clone(), at, priority }))
            }
        }
    }
}

fn signed(delay: Span) -> i64 {
    i64::try_from(delay.0).unwrap_or(i64::MAX)
}
