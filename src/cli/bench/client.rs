//! How fast the client machines are: the queue, the informer, and 10,000 objects through list, watch and one reconcile each.

use engine::api::message::{Method, Request, User, WatchEvent, WatchEventType};
use engine::client::call::{Call, CallId, Input, ListPage, Scope};
use engine::client::informer::{Informer, InformerSpec};
use engine::client::reflector::INITIAL_EVENTS_END;
use engine::command::Command;
use engine::event::Event;
use engine::ids::{Gvr, Key};
use engine::library;
use engine::object::{Object, ObjectView, remove, set};
use engine::rng::Rng;
use engine::time::{SimTime, Span};
use engine::workqueue::rate_limiter::Limiter;
use engine::workqueue::{AddOptions, Got, WorkQueue};
use engine::world::{ClusterSpec, World};
use serde_json::{Value, json};
use std::time::Instant;

const OBJECTS: u64 = 10_000;
const ROUNDS: u64 = 20;

/// The figures of this part.
pub fn measure() -> Value {
    let many = through_everything();
    let cluster = through_a_cluster();
    json!({
        "queue_classic_ops_per_s": queue(WorkQueue::classic(Limiter::default_controller())),
        "queue_priority_ops_per_s": queue(WorkQueue::priority(Limiter::default_priority())),
        "informer_events_per_s": informer_events(),
        "objects": OBJECTS,
        "streamed_list_ms": many.0,
        "list_ms": many.1,
        "cluster_ms": cluster.0,
        "cluster_records": cluster.1,
        "cluster_reconciles": cluster.2,
        "peak_mb": super::peak_mb(),
    })
}

fn per_second(operations: u64, since: Instant) -> u64 {
    let micros = u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX).max(1);
    operations.saturating_mul(1_000_000) / micros
}

fn key(n: u64) -> Key {
    Key::new("shop", &format!("cache-{n}"))
}

fn object(n: u64, version: u64) -> Object {
    Object::new(json!({"apiVersion": "demo.example/v1", "kind": "Cache",
        "metadata": {"namespace": "shop", "name": format!("cache-{n}"), "uid": format!("u{n}"),
            "resourceVersion": version.to_string(), "generation": 1, "labels": {"tier": "web"}},
        "spec": {"replicas": 3, "image": "cache:1"}}))
}

/// Adds, gets, backed off adds and dones over a thousand keys.
fn queue(mut queue: WorkQueue) -> u64 {
    let keys: Vec<Key> = (0..1_000).map(key).collect();
    let (mut now, mut operations) = (SimTime::ZERO, 0);
    let began = Instant::now();
    for round in 0..ROUNDS {
        for key in &keys {
            queue.add(now, key, AddOptions::now());
        }
        while let Got::Key(key, priority) = queue.get(now) {
            if round % 4 == 0 {
                queue.add(now, &key, AddOptions::rate_limited().priority(priority));
            } else {
                queue.forget(&key);
            }
            queue.done(now, &key);
            operations += 3;
        }
        now += Span::secs(200);
        queue.advance(now);
        operations += 1_000;
    }
    per_second(operations, began)
}

fn informer(watch_list: bool) -> Informer {
    let mut spec = InformerSpec::new(Scope::new(Gvr::new("demo.example", "v1", "caches"), ""));
    spec.settings.watch_list = watch_list;
    let mut informer = Informer::new(spec, Rng::new(1));
    informer.add_handler(SimTime::ZERO, None);
    informer.start(SimTime::ZERO);
    informer
}

fn event(kind: WatchEventType, object: Object) -> WatchEvent {
    WatchEvent { kind, object }
}

fn end_of_initial_events(version: u64) -> WatchEvent {
    let mark =
        json!({"metadata": {"resourceVersion": version.to_string(), "annotations": {INITIAL_EVENTS_END: "true"}}});
    event(WatchEventType::Bookmark, Object::new(mark))
}

/// Answers the first list with the given objects; gives the call of the watch that is open then.
fn fill(informer: &mut Informer, objects: &[Object]) -> CallId {
    let now = SimTime::ZERO;
    let mut open = 0;
    loop {
        let calls = informer.take_calls();
        if calls.is_empty() {
            return open;
        }
        for call in calls {
            match call {
                Call::List(list) => {
                    let page = ListPage {
                        resource_version: OBJECTS.to_string(),
                        items: objects.to_vec(),
                        ..ListPage::default()
                    };
                    informer.input(now, Input::Listed(list.id, Ok(page)));
                }
                Call::Watch(watch) => {
                    open = watch.id;
                    informer.input(now, Input::WatchOpened(open));
                    if watch.initial_events {
                        for object in objects {
                            informer.input(now, Input::Event(open, event(WatchEventType::Added, object.clone())));
                        }
                        informer.input(now, Input::Event(open, end_of_initial_events(OBJECTS)));
                    }
                }
                Call::StopWatch(_) => {}
            }
        }
    }
}

/// Hands everything that waits to the handlers, whose keys go to the queue.
fn drain(informer: &mut Informer, queue: &mut WorkQueue) {
    let handlers: Vec<_> = informer.handlers().keys().copied().collect();
    while informer.process().is_some() {
        for handler in &handlers {
            while let Some(notification) = informer.next_notification(*handler) {
                queue.add(SimTime::ZERO, &notification.object().key(), AddOptions::now());
                informer.finished(*handler);
            }
        }
    }
}

/// One modified event after the other through FIFO, store and handler.
fn informer_events() -> u64 {
    let objects: Vec<Object> = (0..100).map(|n| object(n, n + 1)).collect();
    let events: Vec<Object> = (0..50_000).map(|n| object(n % 100, OBJECTS + n)).collect();
    let mut informer = informer(true);
    let mut queue = WorkQueue::priority(Limiter::default_priority());
    let open = fill(&mut informer, &objects);
    let began = Instant::now();
    for object in &events {
        informer.input(SimTime::ZERO, Input::Event(open, event(WatchEventType::Modified, object.clone())));
        drain(&mut informer, &mut queue);
    }
    per_second(events.len() as u64, began)
}

/// All objects through list, watch and one reconcile each, by a streamed and by a plain list: milliseconds.
fn through_everything() -> (u128, u128) {
    let objects: Vec<Object> = (0..OBJECTS).map(|n| object(n, n + 1)).collect();
    let changed: Vec<Object> = (0..OBJECTS).map(|n| object(n, OBJECTS + n + 1)).collect();
    let run = |watch_list| {
        let began = Instant::now();
        let mut informer = informer(watch_list);
        let mut queue = WorkQueue::priority(Limiter::default_priority());
        let open = fill(&mut informer, &objects);
        drain(&mut informer, &mut queue);
        for object in &changed {
            informer.input(SimTime::ZERO, Input::Event(open, event(WatchEventType::Modified, object.clone())));
        }
        drain(&mut informer, &mut queue);
        let mut reconciled = 0;
        while let Got::Key(key, _) = queue.get(SimTime::ZERO) {
            reconciled += u64::from(informer.get(&key).is_some());
            queue.forget(&key);
            queue.done(SimTime::ZERO, &key);
        }
        assert_eq!(reconciled, OBJECTS, "every object is reconciled once");
        began.elapsed().as_millis()
    };
    (run(true), run(false))
}

/// All objects in a whole cluster: written, watched, listed again by an operator that starts anew, and reconciled once in
/// each of its lives. Milliseconds, records, reconciles.
fn through_a_cluster() -> (u128, usize, usize) {
    let began = Instant::now();
    let scenario = library::load("status-unchanged").and_then(Result::ok);
    let Some(scenario) = scenario else { return (0, 0, 0) };
    let mut spec = ClusterSpec::from(&scenario);
    spec.operators = vec!["lab-touch".to_string()];
    let mut world = World::new(&spec);
    let definition = scenario.manifests.iter().filter(|o| o.kind() == "CustomResourceDefinition").cloned().collect();
    world.submit(SimTime::ZERO, Command::Apply { manifests: definition });
    let mut records = world.run_until(SimTime::ZERO + Span::secs(4)).len();
    for n in 0..OBJECTS {
        let mut made = Value::clone(&object(n, 0));
        set(&mut made, &["metadata", "namespace"], json!("default"));
        remove(&mut made, &["metadata", "resourceVersion"]);
        set(&mut made, &["metadata", "annotations"], json!({"touched": "true"}));
        let mut request = Request::new(Method::Post, "/apis/demo.example/v1/namespaces/default/caches").body(made);
        request.user = User { name: "admin".into(), groups: vec!["system:masters".into()] };
        world.ask(&request);
    }
    let mut reconciles = 0;
    let mut run = |world: &mut World, until: u64| {
        for second in world.now().0 / 1_000_000..until {
            let made = world.run_until(SimTime::ZERO + Span::secs(second + 1));
            records += made.len();
            reconciles += made.iter().filter(|r| matches!(r.event, Event::Finished { .. })).count();
        }
    };
    run(&mut world, 120);
    world.submit(world.now(), Command::Crash { process: "operator".to_string(), restart_ms: 0 });
    run(&mut world, 240);
    (began.elapsed().as_millis(), records, reconciles)
}
