//! A recording can be looked at anywhere, in any order, and is always the same.

use engine::api::server::{ApiServer, Profile};
use engine::command::Command;
use engine::library;
use engine::object::{Object, ObjectView};
use engine::recording::{Direction, Recording, Unit};
use engine::scene::Scene;
use engine::time::{SimTime, Span};
use engine::world::ClusterSpec;
use std::collections::BTreeSet;

fn recording(name: &str) -> (Recording, SimTime) {
    let scenario = library::load(name).expect("in the library").expect("well formed");
    let mut recording = Recording::of(&scenario);
    while !recording.foresee(scenario.until, 10_000) {}
    (recording, scenario.until)
}

/// Instants spread over a run without a pattern.
fn instants(until: SimTime) -> impl Iterator<Item = SimTime> {
    (1..=6_u64).map(move |i| SimTime(i * 7_919 * 1_000_003 % until.0))
}

#[test]
fn seeking_gives_what_a_run_from_zero_gives() {
    for (name, _) in library::SCENARIOS {
        let (mut seeker, until) = recording(name);
        for at in instants(until) {
            seeker.seek(at);
            let scenario = library::load(name).expect("in the library").expect("well formed");
            let mut fresh = Recording::of(&scenario);
            fresh.advance_to(at);
            assert_eq!(seeker.cursor(), fresh.cursor(), "{name} at {at:?}");
            assert_eq!(seeker.trace_hash(), fresh.trace_hash(), "{name} at {at:?}");
            assert_eq!(*seeker.scene(), *fresh.scene(), "{name} at {at:?}");
        }
    }
}

#[test]
fn forward_and_back_a_hundred_times_ends_in_the_same_state() {
    let (mut recording, _) = recording("self-healing");
    for (unit, times) in [(Unit::Event, 100), (Unit::Reconcile, 10)] {
        recording.seek(SimTime::ZERO + Span::secs(3));
        recording.step(Direction::Forward, unit);
        let before = (recording.cursor(), recording.trace_hash(), recording.scene());
        for direction in [Direction::Forward, Direction::Back] {
            for _ in 0..times {
                recording.step(direction, unit);
            }
            assert_eq!(recording.cursor() > before.0, direction == Direction::Forward);
        }
        assert_eq!((recording.cursor(), recording.trace_hash()), (before.0, before.1));
        assert_eq!(*recording.scene(), *before.2);
    }
}

#[test]
fn folding_records_gives_the_objects_of_the_world() {
    for (name, _) in library::SCENARIOS {
        let (recording, _) = recording(name);
        let mut scene = Scene::default();
        for record in recording.records() {
            scene.apply(record);
        }
        let world = recording.world();
        for (resource, objects) in scene.objects.iter() {
            for (key, object) in objects.iter() {
                assert_eq!(world.api().peek(resource, key).as_ref(), Some(object), "{name}: {resource} {key}");
            }
        }
        // What a server has in it before the first record is in no record.
        let named = |o: &Object| (o.kind().to_string(), o.key());
        let folded: BTreeSet<_> = scene.objects.values().flat_map(|m| m.values().map(named)).collect();
        let brought: BTreeSet<_> = ApiServer::new(1, Profile::default()).objects().map(named).collect();
        for object in world.objects() {
            assert!(folded.contains(&named(object)) || brought.contains(&named(object)), "{name}: {:?}", named(object));
        }
    }
}

#[test]
fn a_command_in_the_past_branches_and_the_old_future_comes_back() {
    let (mut recording, until) = recording("ordered-rollout");
    recording.seek(until);
    let whole = recording.trace_hash();
    recording.seek(SimTime::ZERO + Span::secs(12));
    recording.submit(Command::KillPod { namespace: "default".into(), name: "cache-0".into() });
    while !recording.foresee(until, 10_000) {}
    recording.seek(until);
    assert_ne!(recording.trace_hash(), whole);
    assert_eq!(recording.branches().len(), 1);
    recording.switch_branch(0);
    recording.seek(until);
    assert_eq!(recording.trace_hash(), whole);
}

#[test]
fn the_same_commands_given_again_lead_to_the_same_trace() {
    let (mut first, until) = recording("ordered-rollout");
    for (second, pod) in [(9, "cache-0"), (14, "cache-1")] {
        first.seek(SimTime::ZERO + Span::secs(second));
        first.submit(Command::KillPod { namespace: "default".into(), name: pod.into() });
    }
    first.seek(until);
    let scenario = library::load("ordered-rollout").expect("in the library").expect("well formed");
    let mut again = Recording::new((&scenario).into(), first.commands().to_vec());
    again.seek(until);
    assert_eq!(again.trace_hash(), first.trace_hash());
}

#[test]
fn every_record_but_the_first_of_its_trace_has_an_earlier_cause() {
    let (recording, _) = recording("finalizer-backup");
    for record in recording.records() {
        assert!(record.cause < record.id, "{record:?}");
        assert!(recording.causes(record.id).iter().all(|cause| *cause <= record.id), "{record:?}");
    }
}

#[test]
fn what_was_done_since_the_last_checkpoint_survives_going_back() {
    let typed = |text: &str| Command::Kubectl { line: text.to_string(), manifests: Vec::new() };
    let mut recording = Recording::new(ClusterSpec::default(), Vec::new());
    for (at, text) in [(1, "create cm first"), (2, "create cm second")] {
        recording.seek(SimTime::ZERO + Span::secs(at));
        recording.submit(typed(text));
    }
    recording.seek(SimTime(1_900_000));
    recording.submit(typed("create cm other"));
    recording.seek(SimTime::ZERO + Span::secs(4));
    let names: Vec<String> = recording.world().objects().map(|o| o.name().to_string()).collect();
    assert!(names.contains(&"first".to_string()) && names.contains(&"other".to_string()), "{names:?}");
    assert!(!names.contains(&"second".to_string()), "{names:?}");
}
