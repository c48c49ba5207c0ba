//! Kind `leader-election`: electors over one lease.

use super::read::{Op, START, at, flag, later, list, micros, ms_at, number, span, text};
use engine::api::message::{Body, Method, Request};
use engine::api::status::ApiStatus;
use engine::client::call::CallError;
use engine::controller::leader_election::{Elector, ElectorConfig, LeaderEvent};
use engine::controller::lease::LeaseRecord;
use engine::ids::GroupResource;
use engine::object::{Object, ObjectView, set};
use engine::rng::Rng;
use engine::time::SimTime;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

pub fn play(input: &Value) -> Result<Value, String> {
    let config = ElectorConfig {
        lease_duration: span(input, "lease_duration_ms"),
        renew_deadline: span(input, "renew_deadline_ms"),
        retry_period: span(input, "retry_period_ms"),
        release_on_cancel: flag(input, "release_on_cancel"),
        ..ElectorConfig::new("", "shop", "lock")
    };
    if let Err(why) = config.validate() {
        return Ok(json!({"config_error": why}));
    }
    let mut player = Player {
        config,
        now: START,
        lease: None,
        version: 1,
        electors: BTreeMap::new(),
        cut: BTreeSet::new(),
        reads: BTreeMap::new(),
        writes: BTreeMap::new(),
        calls: Vec::new(),
        show_times: flag(input, "show_renew_time"),
        show_requests: flag(input, "show_requests"),
    };
    if let Some(record) = input.get("record").filter(|record| record.is_object()) {
        player.put(&record_of(record, at(record.get("renewed_ms").map_or(0, micros))));
    }
    let steps = list(input, "steps").iter().map(Op::of);
    let played: Result<Vec<Value>, String> = steps.map(|op| player.step(&op)).collect();
    Ok(json!({"steps": played?}))
}

struct Player {
    config: ElectorConfig,
    now: SimTime,
    lease: Option<Object>,
    version: u64,
    electors: BTreeMap<String, Elector>,
    cut: BTreeSet<String>,
    reads: BTreeMap<String, u64>,
    writes: BTreeMap<String, u64>,
    calls: Vec<Value>,
    show_times: bool,
    show_requests: bool,
}

impl Player {
    fn step(&mut self, op: &Op) -> Result<Value, String> {
        let id = op.text(1).to_string();
        match op.word() {
            "start" => {
                let config = ElectorConfig { identity: id.clone(), ..self.config.clone() };
                let mut elector = Elector::new(config, Rng::new(1).fork(&id))?;
                elector.start(self.now);
                self.reads.entry(id.clone()).or_insert(0);
                self.writes.entry(id.clone()).or_insert(0);
                self.electors.insert(id, elector);
            }
            "stop" => {
                if let Some(elector) = self.electors.get_mut(&id) {
                    elector.stop(self.now);
                }
            }
            "cut" => {
                self.cut.insert(id);
            }
            "heal" => {
                self.cut.remove(&id);
            }
            "others_write" => self.put(&record_of(op.value(1), self.now)),
            "delete_lease" => self.lease = None,
            "advance_ms" => self.advance(op.micros(1)),
            _ => return Err(op.unknown()),
        }
        self.settle();
        Ok(self.report())
    }

    fn advance(&mut self, us: i64) {
        let target = later(self.now, us);
        while let Some(at) = self.electors.values().filter_map(Elector::next_deadline).min().filter(|at| *at <= target)
        {
            self.now = at;
            self.electors.values_mut().for_each(|elector| elector.advance(at));
            self.settle();
        }
        self.now = target;
    }

    fn settle(&mut self) {
        let ids: Vec<String> = self.electors.keys().cloned().collect();
        loop {
            let mut quiet = true;
            for id in &ids {
                let calls = self.electors.get_mut(id).map(Elector::take_calls).unwrap_or_default();
                for call in calls {
                    quiet = false;
                    let answer = self.answer(id, &call.request);
                    if let Some(elector) = self.electors.get_mut(id) {
                        elector.answered(self.now, call.id, answer);
                    }
                }
            }
            if quiet {
                break;
            }
        }
        for (id, elector) in &mut self.electors {
            self.calls.extend(elector.take_events().into_iter().map(|event| match event {
                LeaderEvent::StartedLeading => json!({"who": id, "call": "started_leading"}),
                LeaderEvent::StoppedLeading => json!({"who": id, "call": "stopped_leading"}),
                LeaderEvent::NewLeader(leader) => json!({"who": id, "call": "new_leader", "leader": leader}),
            }));
        }
    }

    fn answer(&mut self, id: &str, request: &Request) -> Result<Object, CallError> {
        let book = if request.method == Method::Get { &mut self.reads } else { &mut self.writes };
        *book.entry(id.to_string()).or_insert(0) += 1;
        if self.cut.contains(id) {
            return Err(CallError::Network("cut off".to_string()));
        }
        let leases = GroupResource::new("coordination.k8s.io", "leases");
        let refuse = |status| Err(CallError::status(status));
        let body = match &request.body {
            Body::Json(body) => Some(body.clone()),
            Body::Empty | Body::Text(_) => None,
        };
        match (request.method, body, &self.lease) {
            (Method::Get, _, Some(lease)) => return Ok(lease.clone()),
            (Method::Get | Method::Put, _, None) => return refuse(ApiStatus::not_found(&leases, "lock")),
            (Method::Post, _, Some(_)) => return refuse(ApiStatus::already_exists(&leases, "lock")),
            (Method::Put, Some(body), Some(lease)) if body.resource_version() != lease.resource_version() => {
                return refuse(ApiStatus::conflict(&leases, "lock", "the object has been modified"));
            }
            (_, Some(body), _) => self.store(Value::clone(&body)),
            (_, None, _) => return refuse(ApiStatus::bad_request("no body")),
        }
        self.lease.clone().ok_or_else(|| CallError::status(ApiStatus::internal("nothing stored")))
    }

    fn put(&mut self, record: &LeaseRecord) {
        self.store(record.create("shop", "lock"));
    }

    fn store(&mut self, mut lease: Value) {
        self.version += 1;
        set(&mut lease, &["metadata", "resourceVersion"], json!(self.version.to_string()));
        self.lease = Some(Object::new(lease));
    }

    fn report(&mut self) -> Value {
        let mut calls = std::mem::take(&mut self.calls);
        calls.sort_by_key(|call| (text(call, "who").to_string(), text(call, "call").to_string()));
        let electors: BTreeMap<&String, Value> = self
            .electors
            .iter()
            .map(|(id, e)| {
                let sees = json!({"running": e.running(), "believes_leader": e.is_leader(), "sees_leader": e.leader()});
                (id, sees)
            })
            .collect();
        let lease = self.lease.as_ref().map(LeaseRecord::read).map(|record| {
            let mut lease =
                json!({"holder": record.holder, "lease_s": record.duration_s, "transitions": record.transitions});
            if self.show_times {
                lease["renewed_ms"] = ms_at(record.renewed);
                lease["acquired_ms"] = ms_at(record.acquired);
            }
            lease
        });
        let mut report = json!({"calls": calls, "electors": electors, "lease": lease});
        if self.show_requests {
            report["reads_tried"] = json!(self.reads);
            report["writes_tried"] = json!(self.writes);
        }
        report
    }
}

fn record_of(spec: &Value, renewed: SimTime) -> LeaseRecord {
    LeaseRecord {
        holder: text(spec, "holder").to_string(),
        duration_s: u64::try_from(number(spec, "lease_s")).unwrap_or(0),
        acquired: renewed,
        renewed,
        transitions: number(spec, "transitions"),
    }
}
