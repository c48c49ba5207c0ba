//! What a process counts, under the names it would show at `/metrics`.
//!
//! Sources of the names: client-go `util/workqueue/metrics.go`, controller-runtime `pkg/internal/controller/metrics` and
//! `pkg/metrics/leaderelection.go`. Durations are in microseconds here, because the model has no floats.

use super::Process;
use super::runner::Runner;
use crate::time::SimTime;

/// One line: name with labels, and value.
pub type Metric = (String, i64);

impl Process {
    /// All counters, in the order of the controllers' names.
    #[must_use]
    pub fn metrics(&self, now: SimTime) -> Vec<Metric> {
        let now = self.clock().read(now);
        let mut metrics = Vec::new();
        for (name, runner) in self.runners() {
            queue(&mut metrics, name, runner, now);
            controller(&mut metrics, name, runner);
        }
        if let Some(election) = self.election() {
            let leads = i64::from(election.leads);
            metrics.push(("leader_election_master_status{name=\"operator\"}".to_string(), leads));
        }
        metrics
    }
}

fn number(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

fn queue(metrics: &mut Vec<Metric>, name: &str, runner: &Runner, now: SimTime) {
    let queue = runner.queue().inner().metrics();
    let lines = [
        ("workqueue_depth", queue.depth),
        ("workqueue_adds_total", number(queue.adds)),
        ("workqueue_retries_total", number(queue.retries)),
        ("workqueue_queue_duration_seconds_count", number(queue.queue_time.count)),
        ("workqueue_queue_duration_seconds_sum", number(queue.queue_time.sum.0)),
        ("workqueue_work_duration_seconds_count", number(queue.work_time.count)),
        ("workqueue_work_duration_seconds_sum", number(queue.work_time.sum.0)),
        ("workqueue_unfinished_work_seconds", number(queue.unfinished_work(now).0)),
        ("workqueue_longest_running_processor_seconds", number(queue.longest_running(now).0)),
    ];
    metrics.extend(lines.map(|(metric, value)| (format!("{metric}{{name=\"{name}\"}}"), value)));
}

fn controller(metrics: &mut Vec<Metric>, name: &str, runner: &Runner) {
    let counted = runner.metrics();
    let results = [
        ("success", counted.total_success),
        ("error", counted.total_error),
        ("requeue", counted.total_requeue),
        ("requeue_after", counted.total_requeue_after),
    ];
    let total = |(result, n)| {
        (format!("controller_runtime_reconcile_total{{controller=\"{name}\",result=\"{result}\"}}"), number(n))
    };
    metrics.extend(results.map(total));
    let lines = [
        ("reconcile_errors_total", counted.errors),
        ("terminal_reconcile_errors_total", counted.terminal_errors),
        ("reconcile_panics_total", counted.panics),
        ("reconcile_timeouts_total", counted.timeouts),
        ("max_concurrent_reconciles", u64::from(runner.workers().count())),
        ("active_workers", u64::from(counted.active_workers)),
        ("reconcile_time_seconds_count", counted.runs),
        ("reconcile_time_seconds_sum", counted.run_time.0),
    ];
    let line = |(metric, n)| (format!("controller_runtime_{metric}{{controller=\"{name}\"}}"), number(n));
    metrics.extend(lines.map(line));
}
