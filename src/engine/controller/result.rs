//! What the result of a run does to the queue: controller-runtime `pkg/internal/controller/controller.go`.
//!
//! | result | queue | counters |
//! |---|---|---|
//! | panic | as an error | panics, and as an error |
//! | terminal error | nothing, not even forget | terminal errors, errors, total{error} |
//! | error | add rate limited | errors, total{error} |
//! | requeue after > 0 | forget, add after | total{requeue_after} |
//! | requeue | add rate limited, no forget | total{requeue} |
//! | nothing | forget | total{success} |
//!
//! Divergence from Kubernetes: none known.

use super::metrics::ControllerMetrics;
use crate::time::{SimTime, Span};
use crate::workqueue::{AddOptions, WorkQueue};

/// What a reconcile returned without an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReconcileResult {
    /// In microseconds; zero or less is nothing.
    pub requeue_after_us: i64,
    /// The old flag.
    pub requeue: bool,
    /// Replaces the priority with which the key was taken.
    pub priority: Option<i64>,
}

/// An error of a reconcile, as far as its shape matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReconcileError {
    Plain(String),
    /// Not to be retried. Also without a cause it is an error.
    Terminal(Option<Box<ReconcileError>>),
    Wrapped(String, Box<ReconcileError>),
    Aggregate(Vec<ReconcileError>),
    /// The deadline of the run's context.
    DeadlineExceeded,
}

impl ReconcileError {
    /// Is, wraps or contains a terminal error.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        match self {
            ReconcileError::Terminal(_) => true,
            ReconcileError::Wrapped(_, inner) => inner.is_terminal(),
            ReconcileError::Aggregate(all) => all.iter().any(ReconcileError::is_terminal),
            ReconcileError::Plain(_) | ReconcileError::DeadlineExceeded => false,
        }
    }

    /// Is, wraps or contains the end of the deadline.
    #[must_use]
    pub fn is_deadline(&self) -> bool {
        match self {
            ReconcileError::DeadlineExceeded => true,
            ReconcileError::Wrapped(_, inner) | ReconcileError::Terminal(Some(inner)) => inner.is_deadline(),
            ReconcileError::Aggregate(all) => all.iter().any(ReconcileError::is_deadline),
            ReconcileError::Plain(_) | ReconcileError::Terminal(None) => false,
        }
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    Returned(ReconcileResult),
    /// A result given beside the error counts for its priority only.
    Failed(ReconcileError, ReconcileResult),
    /// Caught and treated as an error.
    Panicked(String),
}

/// The row of the table that applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Success,
    RequeueAfter,
    Requeue,
    Error,
    TerminalError,
}

/// One thing that is done to the queue before `done`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueCall {
    Forget,
    Add(AddOptions),
}

/// What follows from a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    pub verdict: Verdict,
    pub calls: Vec<QueueCall>,
}

/// Decides what follows, for a key that was taken with `priority`.
#[must_use]
pub fn decide(ended: &Ended, priority: i64) -> Decision {
    let again = |options: AddOptions, given: Option<i64>| QueueCall::Add(options.priority(given.unwrap_or(priority)));
    let (verdict, calls) = match ended {
        Ended::Panicked(_) => (Verdict::Error, vec![again(AddOptions::rate_limited(), None)]),
        Ended::Failed(error, _) if error.is_terminal() => (Verdict::TerminalError, vec![]),
        Ended::Failed(_, result) => (Verdict::Error, vec![again(AddOptions::rate_limited(), result.priority)]),
        Ended::Returned(result) if result.requeue_after_us > 0 => {
            let after = AddOptions::after(Span(result.requeue_after_us.unsigned_abs()));
            (Verdict::RequeueAfter, vec![QueueCall::Forget, again(after, result.priority)])
        }
        Ended::Returned(result) if result.requeue => {
            (Verdict::Requeue, vec![again(AddOptions::rate_limited(), result.priority)])
        }
        Ended::Returned(_) => (Verdict::Success, vec![QueueCall::Forget]),
    };
    Decision { verdict, calls }
}

/// Counts a run.
pub fn count(metrics: &mut ControllerMetrics, ended: &Ended, verdict: Verdict) {
    match verdict {
        Verdict::Success => metrics.total_success += 1,
        Verdict::RequeueAfter => metrics.total_requeue_after += 1,
        Verdict::Requeue => metrics.total_requeue += 1,
        Verdict::Error | Verdict::TerminalError => {
            metrics.total_error += 1;
            metrics.errors += 1;
            metrics.terminal_errors += u64::from(verdict == Verdict::TerminalError);
            metrics.panics += u64::from(matches!(ended, Ended::Panicked(_)));
        }
    }
}

/// Does to the queue what was decided, and then says `done`.
pub fn apply<K: Ord + Clone>(queue: &mut WorkQueue<K>, now: SimTime, key: &K, decision: &Decision) {
    for call in &decision.calls {
        match call {
            QueueCall::Forget => queue.forget(key),
            QueueCall::Add(options) => queue.add(now, key, *options),
        }
    }
    queue.done(now, key);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Key;
    use crate::workqueue::{Got, rate_limiter::Limiter};

    fn returned(requeue_after_us: i64, requeue: bool) -> Ended {
        Ended::Returned(ReconcileResult { requeue_after_us, requeue, priority: None })
    }

    fn failed(error: ReconcileError) -> Ended {
        Ended::Failed(error, ReconcileResult { requeue_after_us: 1_000_000, ..ReconcileResult::default() })
    }

    /// Runs one key through the given ends and answers the waits before each next run.
    fn waits(ends: &[Ended]) -> Vec<u64> {
        let key = Key::new("", "a");
        let mut queue = WorkQueue::priority(Limiter::default_priority());
        let mut now = SimTime::ZERO;
        ends.iter()
            .map(|ended| {
                if queue.next_deadline().is_none() {
                    queue.add(now, &key, AddOptions::now());
                }
                let before = now;
                now = queue.next_deadline().unwrap_or(now);
                queue.advance(now);
                let Got::Key(key, priority) = queue.get(now) else { panic!("nothing to run") };
                apply(&mut queue, now, &key, &decide(ended, priority));
                now.since(before).as_millis()
            })
            .collect()
    }

    #[test]
    fn an_error_beats_requeue_after() {
        let plain = failed(ReconcileError::Plain("no".into()));
        assert_eq!(decide(&plain, 0).calls, [QueueCall::Add(AddOptions::rate_limited().priority(0))]);
    }

    #[test]
    fn backoff_grows_until_a_run_without_error() {
        let plain = failed(ReconcileError::Plain("no".into()));
        assert_eq!(
            waits(&[plain.clone(), plain.clone(), returned(1_000_000, false), plain.clone(), plain]),
            [0, 5, 10, 1_000, 5]
        );
    }

    #[test]
    fn a_terminal_error_keeps_the_count() {
        let plain = failed(ReconcileError::Plain("no".into()));
        let terminal = failed(ReconcileError::Wrapped("w".into(), Box::new(ReconcileError::Terminal(None))));
        let end = returned(0, false);
        assert_eq!(waits(&[plain.clone(), plain.clone(), terminal, plain, end]), [0, 5, 10, 0, 20]);
    }

    #[test]
    fn requeue_backs_off_and_does_not_forget() {
        let again = returned(0, true);
        assert_eq!(waits(&[again.clone(), again.clone(), again.clone(), returned(0, false)]), [0, 5, 10, 20]);
    }

    #[test]
    fn an_error_keeps_the_priority_the_key_was_taken_with() {
        let plain = failed(ReconcileError::Plain("no".into()));
        assert_eq!(decide(&plain, 10).calls, [QueueCall::Add(AddOptions::rate_limited().priority(10))]);
    }

    #[test]
    fn a_panic_is_counted_as_an_error_too() {
        let mut metrics = ControllerMetrics::default();
        let ended = Ended::Panicked("boom".into());
        count(&mut metrics, &ended, decide(&ended, 0).verdict);
        assert_eq!((metrics.panics, metrics.errors, metrics.total_error), (1, 1, 1));
    }
}
