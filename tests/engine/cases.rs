//! Every scenario of the library is played to its end: what it promises holds, and it speaks both languages.

use engine::library;
use engine::object::Object;
use engine::scenario::{Judge, Scenario, Verdict};
use engine::scene::Scene;
use engine::time::{SimTime, Span};
use engine::world::{ClusterSpec, World};

fn broken_promises(scenario: &Scenario) -> Vec<String> {
    let mut world = World::new(&ClusterSpec::from(scenario));
    for (at, command) in scenario.commands() {
        world.submit(at, command);
    }
    let mut scene = Scene::default();
    let mut judge = Judge::new(&scenario.expect);
    while let Some(at) = world.next_at().filter(|at| *at <= scenario.until) {
        for record in world.step().unwrap_or_default() {
            scene.apply(&record);
            judge.hear(&record);
        }
        let next = world.next_at().unwrap_or(SimTime(u64::MAX)).min(scenario.until + Span::micros(1));
        if next > at {
            let objects = || -> Box<dyn Iterator<Item = &Object>> {
                Box::new(scene.objects.values().flat_map(|of_kind| of_kind.values()))
            };
            judge.look(at, next, objects);
        }
    }
    let verdicts = judge.finish(scenario.until);
    let broken = verdicts.into_iter().filter(|(_, verdict)| *verdict != Verdict::Held);
    broken.map(|(expectation, verdict)| format!("{}: {verdict:?} {expectation:?}", scenario.name)).collect()
}

#[test]
fn every_scenario_of_the_library_keeps_its_promises() {
    let scenarios: Vec<Scenario> =
        library::SCENARIOS.iter().map(|(_, text)| Scenario::parse(text).expect("well formed")).collect();
    let broken: Vec<String> = std::thread::scope(|scope| {
        let halves: Vec<_> = scenarios
            .chunks(scenarios.len().div_ceil(2))
            .map(|half| scope.spawn(move || half.iter().flat_map(broken_promises).collect::<Vec<_>>()))
            .collect();
        halves.into_iter().flat_map(|half| half.join().unwrap_or_else(|_| vec!["a panic".to_string()])).collect()
    });
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_scenario_speaks_both_languages() {
    for (name, text) in library::SCENARIOS {
        let scenario = Scenario::parse(text).expect("well formed");
        assert_eq!(scenario.name, *name);
        for texts in [&scenario.title, &scenario.intro] {
            assert!(!texts.en.is_empty() && !texts.zh.is_empty(), "{name}");
        }
    }
}
