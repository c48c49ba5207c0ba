//! What the runtime of processes promises, seen from outside: whole clusters, commands, and the records they lead to.

use engine::command::{Command, FailNext, Failure};
use engine::event::{Event, ProcessState, Record};
use engine::ids::{Gvr, Key};
use engine::library;
use engine::object::{Object, ObjectView};
use engine::time::SimTime;
use engine::world::{ClusterSpec, World};
use serde_json::{Value, json};
use std::sync::Arc;

const OPERATOR: &str = "operator";

fn at(millis: u64) -> SimTime {
    SimTime(millis * 1_000)
}

/// A cluster with the definition of `Cache`, one operator and some knobs.
fn world(operator: &str, knobs: &[(&str, i64)]) -> World {
    let scenario = library::load("status-unchanged").expect("it is there").expect("it is well formed");
    let mut spec = ClusterSpec::from(&scenario);
    spec.operators = vec![operator.to_string()];
    for (knob, value) in knobs {
        spec.knobs.set(knob, *value).expect("a knob in its range");
    }
    let mut world = World::new(&spec);
    let definition = scenario.manifests.iter().filter(|o| o.kind() == "CustomResourceDefinition").cloned().collect();
    world.submit(SimTime::ZERO, Command::Apply { manifests: definition });
    world.run_until(at(4_000));
    world
}

fn caches() -> Gvr {
    Gvr::new("demo.example", "v1", "caches")
}

fn request(method: engine::api::message::Method, path: String, body: Value) -> Command {
    let content_type = match method {
        engine::api::message::Method::Patch => "application/merge-patch+json".to_string(),
        _ => String::new(),
    };
    Command::Request { method, path, user: String::new(), content_type, body: Arc::new(body) }
}

fn make(name: &str) -> Command {
    let cache = json!({"apiVersion": "demo.example/v1", "kind": "Cache",
        "metadata": {"name": name, "namespace": "default"}, "spec": {"image": "v0"}});
    request(engine::api::message::Method::Post, caches().collection("default"), cache)
}

fn change(name: &str, image: &str) -> Command {
    let path = caches().object(&Key::new("default", name));
    request(engine::api::message::Method::Patch, path, json!({"spec": {"image": image}}))
}

fn cached(world: &World, name: &str) -> Option<Object> {
    let process = world.process(OPERATOR)?;
    let (_, port) = process.ports().iter().find(|(id, _)| *id.resource.resource == *"caches")?;
    port.informer().get(&Key::new("default", name)).cloned()
}

fn image(object: Option<&Object>) -> &str {
    object.map_or("", |o| o.text(&["spec", "image"]))
}

fn stored(world: &World, name: &str) -> Option<Object> {
    world.object(&caches(), &Key::new("default", name))
}

fn leads(records: &[Record]) -> Vec<(SimTime, String, bool)> {
    let leading = |r: &Record| match &r.event {
        Event::Leading { process, leads } => Some((r.at, process.to_string(), *leads)),
        _ => None,
    };
    records.iter().filter_map(leading).collect()
}

fn lease(world: &World) -> Object {
    let leases = Gvr::new("coordination.k8s.io", "v1", "leases");
    world.object(&leases, &Key::new("default", OPERATOR)).expect("somebody leads")
}

fn process(name: &str) -> String {
    name.to_string()
}

#[test]
fn only_the_holder_of_the_lease_works() {
    let mut world = world("lab-constant", &[("replicas", 2)]);
    world.submit(at(5_000), make("a"));
    let records = world.run_until(at(20_000));
    let holder = lease(&world).text(&["spec", "holderIdentity"]).to_string();
    let workers: Vec<&str> = records
        .iter()
        .filter_map(|r| match &r.event {
            Event::Started { controller, .. } if controller.process.starts_with(OPERATOR) => Some(&*controller.process),
            _ => None,
        })
        .collect();
    assert!(!workers.is_empty() && workers.iter().all(|w| *w == holder), "{workers:?} under {holder}");
}

#[test]
fn a_dead_leader_is_followed_after_a_lease_and_a_released_one_at_once() {
    for (release, least, most) in [(0, 9_000, 21_000), (1, 0, 5_000)] {
        let mut world = world("lab-constant", &[("replicas", 2), ("releaseOnCancel", release)]);
        world.run_until(at(10_000));
        let holder = lease(&world).text(&["spec", "holderIdentity"]).to_string();
        world.submit(at(10_000), Command::Stop { process: holder.clone() });
        let records = world.run_until(at(40_000));
        let next = leads(&records).into_iter().find(|(_, who, leads)| *leads && *who != holder).expect("a successor");
        let gap = next.0.since(at(10_000)).as_millis();
        assert!((least..=most).contains(&gap), "release {release}: {gap} ms");
        assert_eq!(lease(&world).int(&["spec", "leaseTransitions"]), Some(1));
    }
}

#[test]
fn a_leader_that_is_cut_off_stops_before_its_lease_ends() {
    let mut world = world("lab-constant", &[("replicas", 2)]);
    world.run_until(at(10_000));
    let holder = lease(&world).text(&["spec", "holderIdentity"]).to_string();
    world.submit(at(10_000), Command::Partition { process: holder.clone() });
    let changes = leads(&world.run_until(at(60_000)));
    let lost = changes.iter().position(|(_, who, leads)| *who == holder && !leads).expect("it stops");
    let won = changes.iter().position(|(_, who, leads)| *who != holder && *leads).expect("another one leads");
    assert!(lost < won && changes[lost].0 <= at(22_100), "{changes:?}");
}

#[test]
fn a_leader_whose_clock_runs_at_half_speed_leads_beside_another() {
    let mut world = world("lab-constant", &[("replicas", 2)]);
    world.run_until(at(10_000));
    let holder = lease(&world).text(&["spec", "holderIdentity"]).to_string();
    world.submit(at(10_000), Command::ClockRate { process: holder.clone(), percent: 50 });
    world.submit(at(10_001), Command::Partition { process: holder.clone() });
    let changes = leads(&world.run_until(at(60_000)));
    let lost = changes.iter().position(|(_, who, leads)| *who == holder && !leads).expect("it stops");
    let won = changes.iter().position(|(_, who, leads)| *who != holder && *leads).expect("another one leads");
    assert!(won < lost, "{changes:?}");
}

#[test]
fn a_cut_shorter_than_the_connection_loses_nothing_and_a_longer_one_is_noticed() {
    for (heal, lost) in [(30_000, false), (80_000, true)] {
        let mut world = world("lab-mirror", &[]);
        world.submit(at(5_000), make("a"));
        world.submit(at(10_000), Command::Partition { process: process(OPERATOR) });
        world.submit(at(12_000), change("a", "v1"));
        world.submit(at(heal), Command::Heal { process: process(OPERATOR) });
        let mut records = world.run_until(at(heal - 1));
        assert_eq!(image(cached(&world, "a").as_ref()), "v0");
        records.extend(world.run_until(at(heal + 100_000)));
        assert_eq!(image(cached(&world, "a").as_ref()), "v1");
        let broke = records.iter().any(|r| matches!(&r.event, Event::Lost { why, .. } if why.contains("broke")));
        assert_eq!(broke, lost);
    }
}

#[test]
fn a_missed_event_leaves_the_cache_stale_until_the_next_one() {
    let mut world = world("lab-mirror", &[]);
    world.submit(at(5_000), make("a"));
    world.submit(at(8_000), Command::MissEvents { process: process(OPERATOR), resource: "caches".into(), count: 1 });
    world.submit(at(9_000), change("a", "v1"));
    world.run_until(at(60_000));
    assert_eq!(image(cached(&world, "a").as_ref()), "v0");
    world.submit(at(61_000), change("a", "v2"));
    world.run_until(at(63_000));
    assert_eq!(image(cached(&world, "a").as_ref()), "v2");
}

#[test]
fn a_plain_list_at_version_zero_can_go_back_in_time() {
    for (watch_list, seen) in [(0, "v0"), (1, "v1")] {
        let mut world = world("lab-touch", &[("watchList", watch_list)]);
        world.submit(at(5_000), make("a"));
        world.submit(at(8_000), Command::OldServer { process: process(OPERATOR), on: true });
        world.submit(at(9_000), change("a", "v1"));
        world.submit(at(10_000), Command::Crash { process: process(OPERATOR), restart_ms: 0 });
        let records = world.run_until(at(11_000));
        let first = records.iter().find_map(|r| match &r.event {
            Event::Listed { informer, revision, .. } if *informer.resource.resource == *"caches" => Some(*revision),
            _ => None,
        });
        let now: u64 = stored(&world, "a").map_or(0, |o| o.resource_version().parse().unwrap_or(0));
        assert_eq!(first.is_some_and(|revision| revision < now), seen == "v0", "{first:?} {now}");
    }
}

#[test]
fn an_answer_429_with_retry_after_is_asked_again_before_the_reconcile_sees_it() {
    let mut world = world("lab-constant", &[]);
    let fault = FailNext {
        failure: Failure::TooManyRequests,
        count: 2,
        process: process(OPERATOR),
        resource: "caches".into(),
        verb: "update".into(),
        name: String::new(),
    };
    world.submit(at(5_000), Command::FailNext(fault));
    world.submit(at(5_100), make("a"));
    let records = world.run_until(at(20_000));
    let failed = records.iter().any(|r| {
        matches!(&r.event, Event::Finished { outcome, .. }
        if matches!(outcome, engine::event::Outcome::Failed { .. }))
    });
    assert!(!failed);
    assert_eq!(stored(&world, "a").map(|o| o.text(&["status", "phase"]).to_string()).as_deref(), Some("Ready"));
}

#[test]
fn equal_events_are_one_object_that_is_counted_up() {
    let mut world = world("lab-constant", &[]);
    world.submit(at(5_000), make("a"));
    for n in 0..4 {
        world.submit(at(8_000 + n * 1_000), change("a", &format!("v{n}x")));
    }
    let records = world.run_until(at(20_000));
    let events: Vec<i64> = records
        .iter()
        .filter_map(|r| match &r.event {
            Event::Wrote { write } if *write.resource.resource == *"events" => write.new.as_ref()?.int(&["count"]),
            _ => None,
        })
        .collect();
    assert_eq!(events, (1..=events.len() as i64).collect::<Vec<_>>());
    assert!(events.len() >= 5, "{events:?}");
}

#[test]
fn scaling_the_operator_up_starts_an_election_and_down_ends_it() {
    let mut world = world("lab-constant", &[]);
    let set = |value| Command::Set { knob: "replicas".into(), value };
    world.submit(at(5_000), set(3));
    world.submit(at(60_000), set(1));
    world.submit(at(61_000), make("a"));
    world.run_until(at(30_000));
    assert!(!lease(&world).text(&["spec", "holderIdentity"]).is_empty());
    world.run_until(at(90_000));
    let state = |name| world.process(name).map(engine::process::Process::state);
    assert_eq!(state("operator-1"), Some(ProcessState::Down));
    assert_eq!(state(OPERATOR), Some(ProcessState::Running));
    assert_eq!(stored(&world, "a").map(|o| o.text(&["status", "phase"]).to_string()).as_deref(), Some("Ready"));
}

#[test]
fn a_process_that_cannot_fill_its_caches_gives_up_and_is_started_ever_later() {
    let mut world = world("lab-typed", &[("cacheSyncSeconds", 10)]);
    let cache = json!({"apiVersion": "demo.example/v1", "kind": "Cache",
        "metadata": {"name": "bad", "namespace": "default"}, "spec": {"tenant": 7}});
    world.submit(at(5_000), request(engine::api::message::Method::Post, caches().collection("default"), cache));
    world.submit(at(6_000), Command::Crash { process: process(OPERATOR), restart_ms: 0 });
    let records = world.run_until(at(200_000));
    let starts: Vec<u64> = records
        .iter()
        .filter_map(|r| match &r.event {
            Event::Process { process, state: ProcessState::Running, .. } if &**process == OPERATOR => {
                Some(r.at.0 / 1_000_000)
            }
            _ => None,
        })
        .collect();
    assert_eq!(starts, [6, 17, 38, 69, 120]);
}

#[test]
fn the_same_commands_give_the_same_trace() {
    let run = || {
        let mut world = world("lab-mirror", &[("replicas", 3), ("qps", 5)]);
        world.submit(at(5_000), make("a"));
        world.submit(at(6_000), Command::ClockRate { process: process(OPERATOR), percent: 37 });
        world.submit(at(7_000), Command::Partition { process: process("operator-1") });
        world.submit(at(90_000), Command::Heal { process: process("operator-1") });
        world.run_until(at(200_000));
        world.trace_hash()
    };
    assert_eq!(run(), run());
}

#[test]
fn counters_have_their_real_names() {
    let mut world = world("lab-constant", &[]);
    world.submit(at(5_000), make("a"));
    world.run_until(at(20_000));
    let metrics = world.process(OPERATOR).expect("it runs").metrics(at(20_000));
    let value = |name: &str| metrics.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
    assert_eq!(value("controller_runtime_reconcile_total{controller=\"lab-constant\",result=\"success\"}"), Some(2));
    assert_eq!(value("workqueue_adds_total{name=\"lab-constant\"}"), Some(2));
    assert_eq!(value("workqueue_depth{name=\"lab-constant\"}"), Some(0));
}
