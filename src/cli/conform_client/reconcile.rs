//! Kind `reconcile-result`: a controller with a scripted reconciler.

use super::limiter;
use super::read::{at, flag, list, micros, ms, ms_at, number, span, text};
use engine::controller::metrics::ControllerMetrics;
use engine::controller::result::{Ended, QueueCall, ReconcileError, ReconcileResult, count, decide};
use engine::time::{SimTime, Span};
use engine::workqueue::{AddOptions, Got, WorkQueue};
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};

pub fn play(input: &Value) -> Result<Value, String> {
    let mut player = Player::new(input)?;
    let until = at(input.get("until_ms").map_or(0, micros));
    let mut events: Vec<&Value> = list(input, "events").iter().collect();
    events.sort_by_key(|event| event.get("at_ms").map_or(0, micros));
    let mut events = VecDeque::from(events);
    player.ask_for_work();
    loop {
        let event_at = events.front().map(|event| at(event.get("at_ms").map_or(0, micros)));
        let run_at = player.running.iter().filter_map(|run| run.ends).min();
        let next = [event_at, run_at, player.queue.next_deadline()].into_iter().flatten().min();
        let Some(next) = next.filter(|next| *next <= until) else { break };
        player.now = next;
        if event_at == Some(next) {
            if let Some(event) = events.pop_front() {
                player.event(event);
            }
        } else if run_at == Some(next) {
            player.end_first_run();
        } else {
            player.queue.advance(next);
        }
        player.ask_for_work();
    }
    Ok(player.outcome())
}

struct Run {
    key: String,
    priority: i64,
    began: SimTime,
    /// None: never.
    ends: Option<SimTime>,
    ended: Ended,
}

struct Player {
    queue: WorkQueue<String>,
    now: SimTime,
    idle: u32,
    running: Vec<Run>,
    results: BTreeMap<String, VecDeque<Value>>,
    timeout: Span,
    metrics: ControllerMetrics,
    calls: Vec<Value>,
    runs: Vec<Value>,
}

impl Player {
    fn new(input: &Value) -> Result<Self, String> {
        let limiter = limiter::of_queue(input);
        let queue = match text(input, "queue") {
            "classic" => WorkQueue::classic(limiter),
            "priority" => WorkQueue::priority(limiter),
            other => return Err(format!("unknown queue {other:?}")),
        };
        let results = input.get("results").and_then(Value::as_object).into_iter().flatten();
        let scripted =
            |(key, list): (&String, &Value)| (key.clone(), list.as_array().cloned().unwrap_or_default().into());
        Ok(Player {
            queue,
            now: at(0),
            idle: u32::try_from(number(input, "max_concurrent")).unwrap_or(1).max(1),
            running: Vec::new(),
            results: results.map(scripted).collect(),
            timeout: span(input, "reconciliation_timeout_ms"),
            metrics: ControllerMetrics::default(),
            calls: Vec::new(),
            runs: Vec::new(),
        })
    }

    fn event(&mut self, event: &Value) {
        let priority = event.get("priority").and_then(Value::as_i64);
        self.add(text(event, "key"), AddOptions { priority, ..AddOptions::now() });
    }

    fn add(&mut self, key: &str, options: AddOptions) {
        let mut call = json!({"call": "add", "key": key, "at_ms": ms_at(self.now)});
        if options.rate_limited {
            call["rate_limited"] = json!(true);
        }
        if let Some(us) = options.after_us {
            call["after_ms"] = ms(us);
        }
        if let Some(priority) = options.priority.filter(|_| self.queue.has_priorities()) {
            call["priority"] = json!(priority);
        }
        self.calls.push(call);
        self.queue.add(self.now, &key.to_string(), options);
    }

    fn note(&mut self, call: &str, key: &str) {
        self.calls.push(json!({"call": call, "key": key, "at_ms": ms_at(self.now)}));
    }

    /// Idle workers take what there is; runs that last no time end at once.
    fn ask_for_work(&mut self) {
        while self.idle > 0 {
            let Got::Key(key, priority) = self.queue.get(self.now) else { return };
            self.idle -= 1;
            self.note("get", &key);
            if self.queue.has_priorities()
                && let Some(call) = self.calls.last_mut()
            {
                call["priority"] = json!(priority);
            }
            self.runs.push(json!({"key": key, "start_ms": ms_at(self.now), "requeues": self.queue.num_requeues(&key)}));
            self.metrics.run_started();
            let run = self.begin(key, priority);
            let at_once = run.ends == Some(self.now);
            self.running.push(run);
            if at_once {
                self.end_run(self.running.len() - 1);
            }
        }
    }

    fn begin(&mut self, key: String, priority: i64) -> Run {
        let spec = self.results.get_mut(&key).and_then(VecDeque::pop_front).unwrap_or(Value::Null);
        let (ends, ended) = if flag(&spec, "wait_for_cancel") {
            let cancelled = (self.timeout > Span::ZERO).then(|| self.now + self.timeout);
            (cancelled, Ended::Failed(ReconcileError::DeadlineExceeded, result(&spec)))
        } else {
            (Some(self.now + span(&spec, "takes_ms")), ended(&spec))
        };
        Run { key, priority, began: self.now, ends, ended }
    }

    fn end_first_run(&mut self) {
        let first = (0..self.running.len()).filter(|&i| self.running[i].ends == Some(self.now)).min();
        if let Some(i) = first {
            self.end_run(i);
        }
    }

    fn end_run(&mut self, i: usize) {
        let run = self.running.remove(i);
        let decision = decide(&run.ended, run.priority);
        if matches!(&run.ended, Ended::Failed(error, _) if error.is_deadline()) {
            self.metrics.timeouts += 1;
        }
        count(&mut self.metrics, &run.ended, decision.verdict);
        for call in &decision.calls {
            match call {
                QueueCall::Forget => {
                    self.note("forget", &run.key);
                    self.queue.forget(&run.key);
                }
                QueueCall::Add(options) => self.add(&run.key, *options),
            }
        }
        self.metrics.run_ended(self.now.since(run.began));
        self.note("done", &run.key);
        self.queue.done(self.now, &run.key);
        self.idle += 1;
    }

    fn outcome(self) -> Value {
        let m = &self.metrics;
        let keys = self.runs.iter().map(|run| text(run, "key").to_string());
        let requeues: BTreeMap<String, u32> = keys.map(|key| (key.clone(), self.queue.num_requeues(&key))).collect();
        json!({"runs": self.runs, "queue_calls": self.calls, "num_requeues_at_end": requeues,
            "queue_length_at_end": self.queue.len(), "metrics": {
                "reconcile_total_success": m.total_success, "reconcile_total_error": m.total_error,
                "reconcile_total_requeue": m.total_requeue, "reconcile_total_requeue_after": m.total_requeue_after,
                "reconcile_errors_total": m.errors, "terminal_reconcile_errors_total": m.terminal_errors,
                "reconcile_panics_total": m.panics, "reconcile_timeouts_total": m.timeouts,
                "active_workers": m.active_workers}})
    }
}

fn result(spec: &Value) -> ReconcileResult {
    ReconcileResult {
        requeue_after_us: spec.get("requeue_after_ms").map_or(0, micros),
        requeue: flag(spec, "requeue"),
        priority: spec.get("priority").and_then(Value::as_i64),
    }
}

fn ended(spec: &Value) -> Ended {
    if let Some(why) = spec.get("panic").and_then(Value::as_str) {
        return Ended::Panicked(why.to_string());
    }
    let plain = || ReconcileError::Plain("failed".to_string());
    let terminal = || ReconcileError::Terminal(Some(Box::new(plain())));
    let error = match text(spec, "error") {
        "" => return Ended::Returned(result(spec)),
        "terminal" => terminal(),
        "wrapped_terminal" => ReconcileError::Wrapped("wrapped".to_string(), Box::new(terminal())),
        "aggregate_with_terminal" => ReconcileError::Aggregate(vec![plain(), terminal()]),
        "terminal_nil" => ReconcileError::Terminal(None),
        _ => plain(),
    };
    Ended::Failed(error, result(spec))
}
