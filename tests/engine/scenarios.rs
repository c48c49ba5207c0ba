//! The library's scenarios keep what they promise, and play the same every time.

use engine::library::SCENARIOS;
use engine::scenario::{Judge, Scenario, Verdict};
use engine::time::SimTime;
use engine::world::{ClusterSpec, World};

/// Plays a scenario to its end.
fn play(scenario: &Scenario) -> (World, Vec<String>) {
    let mut world = World::new(&ClusterSpec::from(scenario));
    for (at, command) in scenario.commands() {
        world.submit(at, command);
    }
    let mut judge = Judge::new(&scenario.expect);
    let after = SimTime(scenario.until.0 + 1);
    while world.next_at().is_some_and(|at| at <= scenario.until) {
        for record in world.step().unwrap_or_default() {
            judge.hear(&record);
        }
        judge.look(world.now(), world.next_at().unwrap_or(after).min(after), || world.objects());
    }
    judge.look(world.now(), after, || world.objects());
    let verdicts = judge.finish(scenario.until).into_iter();
    let broken = verdicts.filter(|(_, v)| *v != Verdict::Held).map(|(e, v)| format!("{v:?}: {e:?}")).collect();
    (world, broken)
}

fn library() -> impl Iterator<Item = (&'static str, Scenario)> {
    SCENARIOS.iter().map(|(name, text)| (*name, Scenario::parse(text).unwrap_or_else(|why| panic!("{name}: {why}"))))
}

#[test]
fn every_scenario_of_the_library_keeps_its_promises() {
    for (name, scenario) in library() {
        assert!(!scenario.expect.is_empty(), "{name} promises nothing");
        let (_, broken) = play(&scenario);
        assert!(broken.is_empty(), "{name}:\n{}", broken.join("\n"));
    }
}

#[test]
fn every_scenario_speaks_both_languages() {
    for (name, scenario) in library() {
        for text in [&scenario.title, &scenario.intro] {
            assert!(!text.en.is_empty() && !text.zh.is_empty() && text.en != text.zh, "{name}");
        }
    }
}

#[test]
fn the_same_scenario_has_the_same_trace_and_another_seed_another() {
    for (name, scenario) in library() {
        let hash = play(&scenario).0.trace_hash();
        assert_eq!(hash, play(&scenario).0.trace_hash(), "{name}");
        let other = Scenario { seed: scenario.seed + 1, ..scenario };
        assert_ne!(hash, play(&other).0.trace_hash(), "{name}");
    }
}

#[test]
fn what_was_written_is_what_the_document_says_again() {
    for (name, scenario) in library() {
        let text = engine::yaml::to_yaml(&scenario.to_value());
        assert_eq!(Scenario::parse(&text).unwrap_or_else(|why| panic!("{name}: {why}")), scenario, "{name}");
    }
}
