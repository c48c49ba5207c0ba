//! Kind `informer`: a shared informer against a scripted server.

use super::predicate;
use super::read::{Op, START, flag, later, list, span, text};
use engine::api::message::{WatchEvent, WatchEventType};
use engine::api::status::{ApiStatus, Cause};
use engine::client::call::{Call, CallError, CallId, Input, ListPage, Scope};
use engine::client::handler::Notification;
use engine::client::informer::{HandlerId, Informer, InformerSpec};
use engine::client::reflector::INITIAL_EVENTS_END;
use engine::ids::{Gvr, Key};
use engine::object::{Object, ObjectView, remove, set};
use engine::rng::Rng;
use engine::time::SimTime;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};

pub fn play(input: &Value) -> Result<Value, String> {
    let mut player = Player::new(input);
    for handler in list(input, "handlers") {
        player.add_handler(handler);
    }
    let steps = list(input, "steps").iter().map(Op::of);
    let played: Result<Vec<Value>, String> = steps.map(|op| player.step(&op)).collect();
    Ok(json!({"steps": played?}))
}

#[derive(Default)]
struct Handler {
    /// None once it is removed.
    id: Option<HandlerId>,
    blocked: bool,
    /// The call in which a blocked handler hangs.
    hangs: Option<Notification>,
    calls: Vec<Value>,
}

struct Player {
    informer: Informer,
    now: SimTime,
    serve: Value,
    list_fails: VecDeque<String>,
    watch_fails: VecDeque<String>,
    open: Option<CallId>,
    handlers: BTreeMap<String, Handler>,
    requests: Vec<Value>,
    index: Option<String>,
    unordered: bool,
}

impl Player {
    fn new(input: &Value) -> Self {
        let mut spec = InformerSpec::new(Scope::new(Gvr::new("", "v1", "things"), "shop"));
        spec.settings.watch_list = flag(input, "watch_list");
        spec.resync = span(input, "resync_ms");
        spec.transform = (text(input, "transform") == "drop_labels").then_some(drop_labels);
        Player {
            informer: Informer::new(spec, Rng::new(1)),
            now: START,
            serve: input.get("serve").cloned().unwrap_or_default(),
            list_fails: VecDeque::new(),
            watch_fails: VecDeque::new(),
            open: None,
            handlers: BTreeMap::new(),
            requests: Vec::new(),
            index: input.get("index_by_label").and_then(Value::as_str).map(str::to_string),
            unordered: flag(input, "unordered"),
        }
    }

    fn step(&mut self, op: &Op) -> Result<Value, String> {
        self.op(op)?;
        self.settle();
        Ok(self.report())
    }

    fn op(&mut self, op: &Op) -> Result<(), String> {
        let errors = || op.0.iter().skip(1).filter_map(Value::as_str).map(str::to_string);
        match op.word() {
            "start" => self.informer.start(self.now),
            "serve" => self.serve = op.value(1).clone(),
            "list_fails" => self.list_fails.extend(errors()),
            "watch_call_fails" => self.watch_fails.extend(errors()),
            "event" => self.event(op)?,
            "close_watch" => {
                if let Some(id) = self.open.take() {
                    self.informer.input(self.now, Input::WatchClosed(id));
                }
            }
            "advance_ms" => self.advance(op.micros(1)),
            "add_handler" => self.add_handler(op.value(1)),
            "remove_handler" => {
                let handler = self.handlers.entry(op.text(1).to_string()).or_default();
                if let Some(id) = handler.id.take() {
                    self.informer.remove_handler(id);
                }
            }
            "block_handler" | "unblock_handler" => {
                self.handlers.entry(op.text(1).to_string()).or_default().blocked = op.word() == "block_handler";
            }
            _ => return Err(op.unknown()),
        }
        Ok(())
    }

    fn event(&mut self, op: &Op) -> Result<(), String> {
        let Some(id) = self.open else { return Ok(()) };
        let kind = match op.text(1) {
            "ADDED" => WatchEventType::Added,
            "MODIFIED" => WatchEventType::Modified,
            "DELETED" => WatchEventType::Deleted,
            "BOOKMARK" => WatchEventType::Bookmark,
            "ERROR" => WatchEventType::Error,
            other => return Err(format!("unknown event {other:?}")),
        };
        let object = match kind {
            WatchEventType::Error => Object::new(status(op.text(2))?.to_body()),
            WatchEventType::Bookmark => bookmark(op.value(2)),
            WatchEventType::Added | WatchEventType::Modified | WatchEventType::Deleted => stored(op.value(2)),
        };
        self.informer.input(self.now, Input::Event(id, WatchEvent { kind, object }));
        Ok(())
    }

    fn advance(&mut self, us: i64) {
        let target = later(self.now, us);
        while let Some(at) = self.informer.next_deadline().filter(|at| *at <= target) {
            self.now = at;
            self.informer.advance(at);
            self.settle();
        }
        self.now = target;
    }

    fn add_handler(&mut self, spec: &Value) {
        let resync = spec.get("resync_ms").map(|_| span(spec, "resync_ms"));
        let id = self.informer.add_handler(self.now, resync);
        self.handlers.entry(text(spec, "name").to_string()).or_default().id = Some(id);
    }

    /// Everything that can happen without the clock moving.
    fn settle(&mut self) {
        loop {
            let calls = self.informer.take_calls();
            let quiet = calls.is_empty();
            for call in calls {
                self.answer(call);
            }
            while self.informer.process().is_some() {}
            if quiet {
                break;
            }
        }
        let names: Vec<String> = self.handlers.keys().cloned().collect();
        for name in names {
            self.run_handler(&name);
        }
    }

    fn answer(&mut self, call: Call) {
        let (id, mut request, fails) = match &call {
            Call::StopWatch(id) => {
                self.open.take_if(|open| open == id);
                return;
            }
            Call::List(list) => {
                let request = json!({"verb": "list", "resourceVersion": list.resource_version, "limit": list.limit});
                (list.id, request, self.list_fails.pop_front())
            }
            Call::Watch(watch) => {
                let mut request =
                    json!({"verb": "watch", "resourceVersion": watch.resource_version, "allowWatchBookmarks": true});
                if watch.initial_events {
                    request["sendInitialEvents"] = json!(true);
                    request["resourceVersionMatch"] = json!("NotOlderThan");
                }
                (watch.id, request, self.watch_fails.pop_front())
            }
        };
        if let Some(error) = &fails {
            request["answered"] = json!(error);
        }
        self.requests.push(request);
        let error = fails.map(|error| call_error(&error));
        let answer = match (call, error) {
            (Call::Watch(_), None) => {
                self.open = Some(id);
                Input::WatchOpened(id)
            }
            (Call::Watch(_), Some(error)) => Input::WatchFailed(id, error),
            (_, Some(error)) => Input::Listed(id, Err(error)),
            (_, None) => Input::Listed(id, Ok(page(&self.serve))),
        };
        self.informer.input(self.now, answer);
    }

    fn run_handler(&mut self, name: &str) {
        let Some(handler) = self.handlers.get_mut(name) else { return };
        loop {
            let next = handler.hangs.take().or_else(|| self.informer.next_notification(handler.id?));
            let Some(call) = next else { return };
            if handler.blocked {
                handler.hangs = Some(call);
                return;
            }
            handler.calls.push(render(&call, &self.informer));
            if let Some(id) = handler.id {
                self.informer.finished(id);
            }
        }
    }

    fn report(&mut self) -> Value {
        let mut calls = json!({});
        let mut synced = json!({});
        for (name, handler) in &mut self.handlers {
            let mut made = std::mem::take(&mut handler.calls);
            if self.unordered {
                made.sort_by_key(|call| text(call, "object").to_string());
            }
            calls[name] = json!(made);
            if let Some(id) = handler.id {
                synced[name] = json!(self.informer.handler_synced(id));
            }
        }
        calls.as_object_mut().into_iter().for_each(|map| map.retain(|_, made| made != &json!([])));
        let objects = self.informer.indexer().objects().iter();
        let store: BTreeMap<String, &str> = objects.map(|(key, o)| (key.to_string(), o.resource_version())).collect();
        let mut report = json!({"requests": std::mem::take(&mut self.requests), "calls": calls, "store": store,
            "has_synced": self.informer.has_synced(), "handler_synced": synced,
            "last_resource_version": self.informer.last_resource_version()});
        if let Some(label) = &self.index {
            let index = self.informer.indexer().label_index(label);
            report["index"] = index
                .map(|(value, keys)| (value.to_string(), keys.iter().map(Key::to_string).collect::<Vec<_>>().into()))
                .collect::<serde_json::Map<String, Value>>()
                .into();
        }
        report
    }
}

fn render(call: &Notification, informer: &Informer) -> Value {
    let object = call.object();
    let version = object.resource_version();
    let store_rv = informer.get(&object.key()).map(|stored| stored.resource_version().to_string());
    let mut made = json!({"object": object.name(), "uid": object.uid(), "store_rv": store_rv});
    if let Some(labels) = object.at(&["metadata", "labels"]) {
        made["labels"] = labels.clone();
    }
    let more = match call {
        Notification::Add { is_in_initial_list, .. } => {
            json!({"call": "add", "new_rv": version, "isInInitialList": is_in_initial_list})
        }
        Notification::Update { old, .. } => {
            json!({"call": "update", "new_rv": version, "old_rv": old.resource_version(), "old_uid": old.uid()})
        }
        Notification::Delete { tombstone, .. } => {
            json!({"call": "delete", "old_rv": version, "tombstone": tombstone})
        }
    };
    for (field, value) in more.as_object().into_iter().flatten() {
        made[field] = value.clone();
    }
    made
}

fn drop_labels(object: &Object) -> Object {
    let mut cut = Value::clone(object);
    remove(&mut cut, &["metadata", "labels"]);
    Object::new(cut)
}

fn stored(flat: &Value) -> Object {
    let mut object = Value::clone(&predicate::object(flat));
    if object.namespace().is_empty() {
        set(&mut object, &["metadata", "namespace"], json!("shop"));
    }
    Object::new(object)
}

fn bookmark(flat: &Value) -> Object {
    let mut object = json!({"metadata": {"resourceVersion": text(flat, "resourceVersion")}});
    if let Some(end) = flat.get("initial_events_end") {
        set(&mut object, &["metadata", "annotations", INITIAL_EVENTS_END], end.clone());
    }
    Object::new(object)
}

fn page(serve: &Value) -> ListPage {
    ListPage {
        resource_version: text(serve, "resourceVersion").to_string(),
        items: list(serve, "items").iter().map(stored).collect(),
        continue_token: String::new(),
    }
}

fn status(error: &str) -> Result<ApiStatus, String> {
    Ok(match error {
        "expired" => ApiStatus::new(410, "Expired", "too old resource version"),
        "too_large" => {
            let cause = Cause { reason: "ResourceVersionTooLarge".to_string(), ..Cause::default() };
            let causes = vec![cause];
            ApiStatus { causes, ..ApiStatus::new(504, "Timeout", "Too large resource version") }
        }
        "too_many_requests" => ApiStatus::new(429, "TooManyRequests", "too many requests"),
        "forbidden" => ApiStatus::new(403, "Forbidden", "forbidden"),
        "invalid" => ApiStatus::new(422, "Invalid", "invalid"),
        "internal" => ApiStatus::new(500, "InternalError", "internal error"),
        other => return Err(format!("unknown error {other:?}")),
    })
}

fn call_error(error: &str) -> CallError {
    status(error).map_or(CallError::ConnectionRefused, CallError::status)
}
