//! What the operators of the model promise beyond the expectations of their scenarios.

use engine::event::{Event, Record};
use engine::library;
use engine::time::{SimTime, Span};
use engine::world::{ClusterSpec, World};

/// Scenarios that end with nothing left to do.
const AT_REST: &[&str] = &["canary-release", "outside-bucket"];

fn play(name: &str, until: impl Fn(SimTime) -> SimTime) -> (World, Vec<Record>) {
    let scenario = library::load(name).expect("it is in the library").expect("it is well formed");
    let mut world = World::new(&ClusterSpec::from(&scenario));
    for (at, command) in scenario.commands() {
        world.submit(at, command);
    }
    let records = world.run_until(until(scenario.until));
    (world, records)
}

fn by_operator(records: &[Record]) -> impl Iterator<Item = &Record> {
    records.iter().filter(|r| matches!(&r.event, Event::Wrote { write } if write.user.contains("operator")))
}

#[test]
fn operators_write_nothing_once_everything_is_as_it_should_be() {
    for name in AT_REST {
        let (mut world, before) = play(name, |until| until + Span::secs(30));
        assert!(by_operator(&before).count() > 0, "{name}");
        let late = world.run_until(world.now() + Span::secs(60));
        let written: Vec<&Record> = by_operator(&late).collect();
        assert!(written.is_empty(), "{name}: {written:?}");
    }
}

#[test]
fn a_bucket_is_made_once_and_leaves_nothing_behind_that_nobody_wanted() {
    let (world, records) = play("outside-bucket", |until| until);
    let left: Vec<&str> = world.outside().things().map(|(path, _)| path).collect();
    assert_eq!(left, ["/buckets/default-ledger"], "kept on purpose");
    assert!(world.outside().leaks(world.objects()).is_empty());
    let made =
        records.iter().filter(|r| matches!(&r.event, Event::At { line: "create", note, .. } if &**note == "photos-eu"));
    let mended = records.iter().filter(|r| matches!(&r.event, Event::At { line: "repair", .. }));
    assert_eq!((made.count(), mended.count()), (1, 1), "the second try finds what the first one made");
}

#[test]
fn a_thing_outside_without_its_owner_counts_as_leaked() {
    let scenario = library::load("outside-bucket").expect("it is in the library").expect("it is well formed");
    let mut world = World::new(&ClusterSpec::from(&scenario));
    for (at, command) in scenario.commands().take_while(|(at, _)| *at < SimTime(10_000_000)) {
        world.submit(at, command);
    }
    world.run_until(SimTime(20_000_000));
    assert!(world.outside().leaks(world.objects()).is_empty());
    assert_eq!(world.outside().leaks([].iter()), ["/buckets/default-ledger", "/buckets/photos-eu"]);
}
