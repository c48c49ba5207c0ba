//! Kind `events`: the recorder of v1 events against a scripted sink.

use super::read::{Op, START, later, list, number, text};
use engine::api::status::ApiStatus;
use engine::client::call::CallError;
use engine::controller::correlator::Involved;
use engine::controller::event_recorder::{EventCall, EventRecorder};
use engine::rng::Rng;
use engine::time::SimTime;
use serde_json::{Value, json};
use std::collections::VecDeque;

pub fn play(input: &Value) -> Result<Value, String> {
    let component = text(input, "component").to_string();
    let mut player = Player {
        recorder: EventRecorder::new(&component, Rng::new(1)),
        component,
        now: START,
        answers: VecDeque::new(),
        names: Vec::new(),
        sent: Vec::new(),
    };
    let steps = list(input, "steps").iter().map(Op::of);
    let played: Result<Vec<Value>, String> = steps.map(|op| player.step(&op)).collect();
    Ok(json!({"steps": played?}))
}

struct Player {
    recorder: EventRecorder,
    component: String,
    now: SimTime,
    answers: VecDeque<String>,
    /// The number of an event object is its place here, counted from 1.
    names: Vec<String>,
    sent: Vec<Value>,
}

impl Player {
    fn step(&mut self, op: &Op) -> Result<Value, String> {
        match op.word() {
            "event" => self.events(op.value(1))?,
            "advance_s" => self.advance(op.int(1).saturating_mul(1_000_000))?,
            "sink_answers" => {
                self.answers.extend(op.0.iter().skip(1).filter_map(Value::as_str).map(str::to_string));
            }
            _ => return Err(op.unknown()),
        }
        Ok(json!({"sent": std::mem::take(&mut self.sent)}))
    }

    fn events(&mut self, spec: &Value) -> Result<(), String> {
        for n in 1..=number(spec, "times").max(1) {
            if n > 1 {
                self.advance(number(spec, "every_s").saturating_mul(1_000_000))?;
            }
            self.advance(1)?;
            let word = |field| text(spec, field).to_string();
            let involved = Involved {
                api_version: "demo.example/v1".to_string(),
                kind: word("kind"),
                namespace: word("namespace"),
                name: word("name"),
                uid: word("uid"),
            };
            let component = spec.get("component").and_then(Value::as_str).unwrap_or(&self.component).to_string();
            let message = text(spec, "message").replace("%n", &n.to_string());
            self.recorder.record_as(
                self.now,
                &component,
                involved,
                (text(spec, "type"), text(spec, "reason")),
                &message,
            );
            self.settle()?;
        }
        Ok(())
    }

    fn advance(&mut self, us: i64) -> Result<(), String> {
        let target = later(self.now, us);
        while let Some(at) = self.recorder.next_deadline().filter(|at| *at <= target) {
            self.now = at;
            self.recorder.advance(at);
            self.settle()?;
        }
        self.now = target;
        Ok(())
    }

    fn settle(&mut self) -> Result<(), String> {
        loop {
            let calls = self.recorder.take_calls();
            if calls.is_empty() {
                return Ok(());
            }
            for call in calls {
                let answer = self.answers.pop_front().unwrap_or_else(|| "ok".to_string());
                self.note(&call, &answer);
                self.recorder.answered(self.now, call.id, answered(&answer)?);
            }
        }
    }

    fn note(&mut self, call: &EventCall, answer: &str) {
        let event = &call.event;
        let name = format!("{}/{}", event.namespace, event.name);
        let number = self.names.iter().position(|known| *known == name).unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        });
        let seconds = |at: SimTime| at.since(START).as_secs();
        let mut sent = json!({"call": if call.patch { "patch" } else { "create" }, "event": number + 1,
            "object": format!("{}/{}", event.involved.kind, event.involved.name), "type": event.kind,
            "reason": event.reason, "message": event.message, "count": event.count, "aggregated": event.combined,
            "first_timestamp_s": seconds(event.first), "last_timestamp_s": seconds(event.last)});
        if call.patch {
            let patch = event.patch();
            let mut fields: Vec<&String> = patch.as_object().into_iter().flat_map(|map| map.keys()).collect();
            fields.sort();
            sent["patched_fields"] = json!(fields);
        }
        if answer != "ok" {
            sent["answered"] = json!(answer);
        }
        self.sent.push(sent);
    }
}

fn answered(word: &str) -> Result<Result<(), CallError>, String> {
    let refused = |code, reason| Ok(Err(CallError::status(ApiStatus::new(code, reason, word))));
    match word {
        "ok" => Ok(Ok(())),
        "not_found" => refused(404, "NotFound"),
        "forbidden" => refused(403, "Forbidden"),
        "already_exists" => refused(409, "AlreadyExists"),
        "internal" => refused(500, "InternalError"),
        "network" => Ok(Err(CallError::Network("no connection".to_string()))),
        other => Err(format!("unknown answer {other:?}")),
    }
}
