//! What a controller counts: controller-runtime `pkg/internal/controller/metrics/metrics.go`.
//!
//! Divergence from Kubernetes: the histogram of run times keeps count and sum only.

use crate::time::Span;

/// The counters of one controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ControllerMetrics {
    pub total_success: u64,
    pub total_error: u64,
    pub total_requeue: u64,
    pub total_requeue_after: u64,
    pub errors: u64,
    pub terminal_errors: u64,
    pub panics: u64,
    pub timeouts: u64,
    pub active_workers: u32,
    pub runs: u64,
    pub run_time: Span,
}

impl ControllerMetrics {
    pub fn run_started(&mut self) {
        self.active_workers += 1;
    }

    pub fn run_ended(&mut self, took: Span) {
        self.active_workers = self.active_workers.saturating_sub(1);
        self.runs += 1;
        self.run_time = self.run_time + took;
    }
}
