//! Kind `workqueue`.

use super::limiter;
use super::read::{Op, START, flag, later, list, micros, ms_of, text};
use engine::time::{SimTime, Span};
use engine::workqueue::{AddOptions, Got, WorkQueue};
use serde_json::{Value, json};

pub fn play(input: &Value) -> Result<Value, String> {
    let limiter = limiter::of_queue(input);
    let queue = match text(input, "queue") {
        "classic" => WorkQueue::classic(limiter),
        "priority" => WorkQueue::priority(limiter),
        other => return Err(format!("unknown queue {other:?}")),
    };
    let mut player = Player { queue, now: START, workers: Vec::new() };
    let ops = list(input, "ops").iter().map(Op::of);
    let results: Result<Vec<Value>, String> = ops.map(|op| player.op(&op)).collect();
    Ok(json!({"results": results?}))
}

struct Player {
    queue: WorkQueue<String>,
    now: SimTime,
    /// A worker's number is its place here.
    workers: Vec<String>,
}

impl Player {
    fn op(&mut self, op: &Op) -> Result<Value, String> {
        let key = op.text(1).to_string();
        match op.word() {
            "add" => self.add(&key, AddOptions::now()),
            "add_with_priority" => self.add(&key, AddOptions::now().priority(op.int(2))),
            "add_with_opts" => self.add(&key, options(op.value(2))),
            "add_after_ms" => self.add(&key, AddOptions { after_us: Some(op.micros(2)), ..AddOptions::now() }),
            "add_rate_limited" => self.add(&key, AddOptions::rate_limited()),
            "forget" => self.queue.forget(&key),
            "start_get" => {
                let worker = self.worker(&key);
                self.queue.wait(self.now, worker);
            }
            "done" => self.queue.done(self.now, &key),
            "advance_ms" => {
                self.now = later(self.now, op.micros(1));
                self.queue.advance(self.now);
            }
            "shutdown" => self.queue.shutdown(self.now),
            "shutdown_with_drain" => self.queue.shutdown_with_drain(self.now),
            _ => return self.question(op, &key),
        }
        Ok(Value::Null)
    }

    fn question(&mut self, op: &Op, key: &str) -> Result<Value, String> {
        Ok(match op.word() {
            "num_requeues" => json!(self.queue.num_requeues(&key.to_string())),
            "len" => json!(self.queue.len()),
            "get" => answer(self.queue.get(self.now), false),
            "get_with_priority" => answer(self.queue.get(self.now), true),
            "poll" => {
                let worker = self.worker(key);
                self.queue.answer(worker).map_or(json!("WAITING"), |got| answer(got, false))
            }
            "drained" => json!(self.queue.drained()),
            "shutting_down" => json!(self.queue.shutting_down()),
            "metrics" => self.metrics(),
            _ => return Err(op.unknown()),
        })
    }

    fn add(&mut self, key: &String, options: AddOptions) {
        self.queue.add(self.now, key, options);
    }

    fn worker(&mut self, name: &str) -> u64 {
        let known = self.workers.iter().position(|worker| worker == name);
        known.unwrap_or_else(|| {
            self.workers.push(name.to_string());
            self.workers.len() - 1
        }) as u64
    }

    fn metrics(&self) -> Value {
        let metrics = self.queue.metrics();
        let list = |spans: &mut dyn Iterator<Item = &Span>| spans.map(|span| ms_of(*span)).collect::<Vec<_>>();
        json!({"adds": metrics.adds, "depth": metrics.depth, "retries": metrics.retries,
            "queue_ms": list(&mut metrics.queue_time.recent.iter()),
            "work_ms": list(&mut metrics.work_time.recent.iter())})
    }
}

fn options(spec: &Value) -> AddOptions {
    AddOptions {
        after_us: spec.get("after_ms").map(micros),
        rate_limited: flag(spec, "rate_limited"),
        priority: spec.get("priority").and_then(Value::as_i64),
    }
}

fn answer(got: Got<String>, with_priority: bool) -> Value {
    match got {
        Got::Key(key, priority) if with_priority => json!([key, priority]),
        Got::Key(key, _) => json!(key),
        Got::Blocked => json!("BLOCKED"),
        Got::Shutdown => json!("SHUTDOWN"),
    }
}
