//! What the operators of the model promise beyond the expectations of their scenarios.

use engine::event::{Event, Record};
use engine::library;
use engine::time::{SimTime, Span};
use engine::world::{ClusterSpec, World};

/// Scenarios that end with nothing left to do.
const AT_REST: &[&str] = &["canary-release"];

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
