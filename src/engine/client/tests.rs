//! The promises of informers, one test each.

use super::call::{Call, CallError, CallId, Input, ListPage, Scope};
use super::handler::Notification;
use super::informer::{HandlerId, Informer, InformerSpec};
use crate::api::message::{WatchEvent, WatchEventType};
use crate::api::status::{ApiStatus, Cause};
use crate::ids::{Gvr, Key};
use crate::object::{Object, ObjectView};
use crate::rng::Rng;
use crate::time::{SimTime, Span};
use serde_json::{Value, json};

fn object(name: &str, uid: &str, rv: u64) -> Object {
    Object::new(json!({"metadata": {"name": name, "uid": uid, "resourceVersion": rv.to_string()}}))
}

fn expired() -> CallError {
    CallError::status(ApiStatus::new(410, "Expired", "too old"))
}

/// An informer with one handler, and the list it gets from its server.
struct Play {
    informer: Informer,
    handler: HandlerId,
    now: SimTime,
    list: (u64, Vec<Object>),
    watch: CallId,
    requests: Vec<String>,
}

impl Play {
    fn new(change: impl FnOnce(&mut InformerSpec)) -> Self {
        let mut spec = InformerSpec::new(Scope::new(Gvr::new("", "v1", "things"), ""));
        spec.settings.watch_list = false;
        change(&mut spec);
        let mut informer = Informer::new(spec, Rng::new(5));
        let handler = informer.add_handler(SimTime::ZERO, None);
        let list = (10, vec![object("a", "u1", 5), object("b", "u2", 6), object("c", "u3", 7)]);
        Play { informer, handler, now: SimTime::ZERO, list, watch: 0, requests: Vec::new() }
    }

    fn started(change: impl FnOnce(&mut InformerSpec)) -> Self {
        let mut play = Play::new(change);
        play.informer.start(play.now);
        play.serve();
        play.calls();
        play.requests.clear();
        play
    }

    /// Answers every call with success.
    fn serve(&mut self) {
        self.serve_with(|_| None);
    }

    /// Answers every call, the ones for which `fail` has an error with that.
    fn serve_with(&mut self, mut fail: impl FnMut(&str) -> Option<CallError>) {
        loop {
            let calls = self.informer.take_calls();
            if calls.is_empty() {
                break;
            }
            for call in calls {
                let (text, answer) = self.answer(&call);
                let Some(answer) = answer else { continue };
                self.requests.push(text.clone());
                let answer = match (fail(&text), answer) {
                    (Some(error), Input::Listed(id, _)) => Input::Listed(id, Err(error)),
                    (Some(error), Input::WatchOpened(id)) => Input::WatchFailed(id, error),
                    (_, answer) => answer,
                };
                self.informer.input(self.now, answer);
            }
        }
        while self.informer.process().is_some() {}
    }

    fn answer(&mut self, call: &Call) -> (String, Option<Input>) {
        match call {
            Call::StopWatch(_) => (String::new(), None),
            Call::List(list) => {
                let page = ListPage {
                    resource_version: self.list.0.to_string(),
                    items: self.list.1.clone(),
                    continue_token: String::new(),
                };
                let text = format!("list {} limit {}", list.resource_version, list.limit);
                (text, Some(Input::Listed(list.id, Ok(page))))
            }
            Call::Watch(watch) => {
                self.watch = watch.id;
                let word = if watch.initial_events { "stream" } else { "watch" };
                (format!("{word} {}", watch.resource_version), Some(Input::WatchOpened(watch.id)))
            }
        }
    }

    fn event(&mut self, kind: WatchEventType, object: Object) {
        self.informer.input(self.now, Input::Event(self.watch, WatchEvent { kind, object }));
        while self.informer.process().is_some() {}
    }

    fn error(&mut self, status: &ApiStatus) {
        self.event(WatchEventType::Error, Object::new(status.to_body()));
    }

    /// Lets the pending back-off or tick come.
    fn wait(&mut self) {
        self.now = self.informer.next_deadline().expect("something to wait for");
        self.informer.advance(self.now);
    }

    fn calls(&mut self) -> Vec<String> {
        self.calls_of(self.handler)
    }

    fn calls_of(&mut self, handler: HandlerId) -> Vec<String> {
        let mut calls = Vec::new();
        while let Some(call) = self.informer.next_notification(handler) {
            let object = call.object();
            let stored = self.informer.get(&object.key()).map_or("gone", |o| o.resource_version());
            let (name, rv) = (object.name(), object.resource_version());
            calls.push(match &call {
                Notification::Add { is_in_initial_list: true, .. } => format!("initial {name} {rv}"),
                Notification::Add { .. } => format!("add {name} {rv}"),
                Notification::Update { old, .. } => {
                    format!("update {name} {}->{rv} ({stored})", old.resource_version())
                }
                Notification::Delete { tombstone: true, .. } => format!("tombstone {name} {rv} ({stored})"),
                Notification::Delete { .. } => format!("delete {name} {rv} ({stored})"),
            });
            self.informer.finished(handler);
        }
        calls
    }
}

#[test]
fn a_relist_after_expiry_deletes_first_and_updates_in_list_order() {
    let mut play = Play::started(|_| {});
    play.list = (20, vec![object("a", "u1", 15), object("c", "u9", 20)]);
    play.error(&ApiStatus::new(410, "Expired", "too old"));
    play.wait();
    play.serve();
    assert_eq!(play.requests, ["list 10 limit 0", "watch 20"]);
    assert_eq!(play.calls(), ["tombstone b 6 (gone)", "update a 5->15 (15)", "update c 7->20 (20)"]);
}

#[test]
fn a_slow_handler_sees_every_event_beside_the_newest_store() {
    let mut play = Play::started(|_| {});
    play.event(WatchEventType::Modified, object("a", "u1", 11));
    play.event(WatchEventType::Modified, object("a", "u1", 12));
    play.event(WatchEventType::Deleted, object("a", "u1", 13));
    play.event(WatchEventType::Added, object("a", "u9", 14));
    play.event(WatchEventType::Deleted, object("zzz", "u8", 15));
    play.event(WatchEventType::Bookmark, object("", "", 99));
    let expected =
        ["update a 5->11 (14)", "update a 11->12 (14)", "delete a 13 (14)", "add a 14", "delete zzz 15 (gone)"];
    assert_eq!(play.calls(), expected);
    play.informer.input(play.now, Input::WatchClosed(play.watch));
    play.serve();
    assert_eq!(play.requests, ["watch 99"]);
}

#[test]
fn without_resync_an_unchanged_relist_reaches_every_handler() {
    let mut play = Play::started(|_| {});
    play.informer.input(play.now, Input::WatchClosed(play.watch));
    play.wait();
    play.serve();
    assert_eq!(play.requests, ["list 10 limit 0", "watch 10"]);
    assert_eq!(play.calls().len(), 3);
}

#[test]
fn after_a_tick_only_handlers_with_a_period_hear_of_repetitions() {
    let mut play = Play::new(|spec| spec.resync = Span::secs(10));
    let quiet = play.informer.add_handler(play.now, Some(Span::ZERO));
    play.informer.start(play.now);
    play.serve();
    play.calls();
    play.calls_of(quiet);
    play.wait();
    play.serve();
    assert_eq!((play.calls().len(), play.calls_of(quiet).len()), (3, 0));
    play.error(&ApiStatus::new(410, "Expired", "too old"));
    play.wait();
    play.serve();
    assert_eq!((play.calls().len(), play.calls_of(quiet).len()), (3, 0));
}

#[test]
fn a_late_handler_hears_of_everything_stored_first() {
    let mut play = Play::started(|_| {});
    let late = play.informer.add_handler(play.now, None);
    assert!(!play.informer.handler_synced(late));
    assert_eq!(play.calls_of(late), ["initial a 5", "initial b 6", "initial c 7"]);
    assert!(play.informer.handler_synced(late));
}

#[test]
fn too_many_requests_leads_to_the_same_watch_and_no_list() {
    let mut play = Play::started(|_| {});
    play.event(WatchEventType::Bookmark, object("", "", 12));
    play.informer.input(play.now, Input::WatchClosed(play.watch));
    play.serve_with(|_| Some(CallError::status(ApiStatus::new(429, "TooManyRequests", ""))));
    play.wait();
    play.serve();
    assert_eq!(play.requests, ["watch 12", "watch 12"]);
}

#[test]
fn an_expired_list_is_asked_again_without_a_version_and_the_next_with_one() {
    let mut play = Play::started(|_| {});
    for _ in 0..2 {
        play.error(&ApiStatus::new(410, "Expired", "too old"));
        play.wait();
        play.serve_with(|text| text.starts_with("list 10").then(expired));
    }
    assert_eq!(
        play.requests,
        ["list 10 limit 0", "list  limit 0", "watch 10", "list 10 limit 0", "list  limit 0", "watch 10"]
    );
}

#[test]
fn a_version_that_is_too_large_is_known_in_three_dialects() {
    let cause = |reason: &str, message: &str| {
        let cause = Cause { reason: reason.into(), message: message.into(), ..Cause::default() };
        ApiStatus { causes: vec![cause], ..ApiStatus::new(504, "Timeout", "") }
    };
    let dialects = [
        cause("ResourceVersionTooLarge", ""),
        cause("", "Too large resource version"),
        ApiStatus::new(504, "Timeout", "Too large resource version: 20, current: 10"),
    ];
    for status in dialects {
        let mut play = Play::started(|_| {});
        play.error(&ApiStatus::new(410, "Expired", "too old"));
        play.wait();
        play.serve_with(|text| text.starts_with("list 10").then(|| CallError::status(status.clone())));
        assert_eq!(play.requests, ["list 10 limit 0", "list  limit 0", "watch 10"]);
    }
}

#[test]
fn a_server_that_refuses_streamed_lists_is_listed() {
    let mut play = Play::new(|spec| spec.settings.watch_list = true);
    play.informer.start(play.now);
    let refused = || CallError::status(ApiStatus::new(422, "Invalid", ""));
    play.serve_with(|text| text.starts_with("stream").then(refused));
    assert_eq!(play.requests, ["stream ", "list 0 limit 500", "watch 10"]);
}

#[test]
fn an_empty_list_is_synced_at_once() {
    let mut play = Play::new(|_| {});
    play.list = (3, vec![]);
    play.informer.start(play.now);
    assert!(!play.informer.has_synced());
    play.serve();
    assert!(play.informer.has_synced() && play.informer.handler_synced(play.handler));
}

#[test]
fn shorter_handler_periods_lower_the_check_period_before_the_start() {
    let mut play = Play::new(|spec| spec.resync = Span::secs(43_200));
    for (asked, gets) in [(60, 60), (55, 55), (5, 5), (30, 30)] {
        let id = play.informer.add_handler(play.now, Some(Span::secs(asked)));
        assert_eq!(play.informer.handlers()[&id].resync_period(), Span::secs(gets));
    }
    play.informer.start(play.now);
    play.serve();
    assert_eq!(play.informer.next_deadline(), Some(SimTime(5_000_000)));
    let late = play.informer.add_handler(play.now, Some(Span::secs(2)));
    assert_eq!(play.informer.handlers()[&late].resync_period(), Span::secs(5));
}

fn readable(object: &Value) -> Result<(), String> {
    let spec = object.get("spec").and_then(|spec| spec.get("size"));
    if spec.is_some_and(|size| !size.is_i64()) { Err("spec.size is not a number".into()) } else { Ok(()) }
}

#[test]
fn one_malformed_object_keeps_a_typed_informer_from_syncing() {
    let mut play = Play::new(|spec| spec.decode = Some(readable));
    play.list.1.push(Object::new(json!({"metadata": {"name": "bad"}, "spec": {"size": "big"}})));
    play.informer.start(play.now);
    play.serve();
    assert_eq!(play.requests, ["list 0 limit 500"]);
    assert!(!play.informer.has_synced());
    assert!(matches!(play.informer.reflector().last_error(), Some(CallError::Decode(_))));
    play.list.1.pop();
    play.wait();
    play.serve();
    assert!(play.informer.has_synced());
    play.event(WatchEventType::Added, Object::new(json!({"metadata": {"name": "bad"}, "spec": {"size": "big"}})));
    play.wait();
    play.serve();
    assert_eq!(play.requests[2..], ["watch 10", "list 10 limit 0", "watch 10"]);
}

#[test]
fn pages_are_joined_and_a_broken_continuation_lists_everything() {
    let mut play = Play::new(|_| {});
    play.informer.start(play.now);
    let page = |token: &str, name: &str| ListPage {
        resource_version: "10".into(),
        items: vec![object(name, "u", 1)],
        continue_token: token.into(),
    };
    let next = |play: &mut Play, answer| {
        let Some(Call::List(list)) = play.informer.take_calls().pop() else { panic!("no list") };
        play.informer.input(play.now, Input::Listed(list.id, answer));
        (list.resource_version, list.limit, list.continue_token)
    };
    assert_eq!(next(&mut play, Ok(page("t", "a"))), ("0".into(), 500, String::new()));
    assert_eq!(next(&mut play, Err(expired())), (String::new(), 500, "t".into()));
    assert_eq!(next(&mut play, Ok(page("", "b"))), ("0".into(), 0, String::new()));
    play.serve();
    assert_eq!(play.calls(), ["initial b 1"]);
}

#[test]
fn answers_of_older_calls_are_ignored() {
    let mut play = Play::started(|_| {});
    let old = play.watch;
    play.event(WatchEventType::Bookmark, object("", "", 12));
    play.informer.input(play.now, Input::WatchClosed(old));
    play.serve();
    play.informer.input(
        play.now,
        Input::Event(old, WatchEvent { kind: WatchEventType::Deleted, object: object("a", "u1", 13) }),
    );
    play.informer.input(play.now, Input::Listed(1, Err(expired())));
    play.informer.input(play.now, Input::WatchBroke(old));
    play.serve();
    assert!(play.calls().is_empty());
    assert!(play.informer.get(&Key::new("", "a")).is_some());
}

#[test]
fn ten_thousand_objects_pass_through_quickly_and_clones_share_them() {
    let mut play = Play::new(|_| {});
    play.list = (1, (0..10_000).map(|n| object(&format!("o{n}"), "u", n)).collect());
    play.informer.start(play.now);
    play.serve();
    assert_eq!(play.calls().len(), 10_000);
    for n in 0..1_000 {
        play.event(WatchEventType::Modified, object(&format!("o{n}"), "u", 20_000 + n));
    }
    let before = play.informer.clone();
    play.event(WatchEventType::Deleted, object("o1", "u", 30_000));
    assert_eq!((before.indexer().len(), play.informer.indexer().len()), (10_000, 9_999));
    assert_eq!(play.calls().len(), 1_001);
}
