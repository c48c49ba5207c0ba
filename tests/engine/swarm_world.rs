//! Whole clusters with faults drawn by seed: the kitchen's operator is cut off, frozen, crashed, slowed down, given
//! refusals and lost answers. When the faults end, orders are cooked, caches equal the server, queues are empty.

use engine::command::{Command, FailNext, Failure};
use engine::event::{Event, ProcessState};
use engine::ids::{GroupResource, Key};
use engine::library;
use engine::object::ObjectView;
use engine::rng::Rng;
use engine::scene::Scene;
use engine::time::{SimTime, Span};
use engine::world::{ClusterSpec, World};
use std::collections::BTreeMap;

const SEEDS: u64 = 600;
/// The last fault comes before this instant.
const FAULTS_END: SimTime = SimTime(30_000_000);
/// By then everything has to be mended: the longest back-off of a reflector is a minute.
const END: SimTime = SimTime(250_000_000);

fn operator() -> String {
    "operator".to_string()
}

fn fault(rng: &mut Rng) -> Command {
    let resource = || "kitchenorders".to_string();
    match rng.below(15) {
        0 => Command::DropWatch { process: operator(), resource: String::new() },
        1 => Command::Freeze { process: operator() },
        2 => Command::Thaw { process: operator() },
        3 => Command::Crash { process: operator(), restart_ms: rng.below(3_000) },
        4 => Command::CrashInReconcile { process: operator(), after_requests: 0, restart_ms: 500 },
        5 => Command::Partition { process: operator() },
        6 => Command::Heal { process: operator() },
        7 => Command::ClockRate { process: operator(), percent: u32::try_from(rng.between(20, 400)).unwrap_or(100) },
        8 => Command::Lag { process: operator(), resource: resource(), ms: Some(rng.below(2_000)) },
        9 => Command::Latency { process: operator(), ms: Some(rng.below(800)) },
        10 => Command::Compact,
        11 => Command::StallWatch { process: operator(), resource: resource() },
        12 => Command::OldServer { process: operator(), on: rng.chance(500) },
        13 => Command::Set { knob: "workers".to_string(), value: i64::try_from(rng.between(1, 4)).unwrap_or(1) },
        _ => {
            let failures = [
                Failure::Conflict,
                Failure::TooManyRequests,
                Failure::Internal,
                Failure::Unavailable,
                Failure::Timeout,
                Failure::LostAnswer,
            ];
            let failure = failures[usize::try_from(rng.below(6)).unwrap_or(0)];
            let count = u32::try_from(rng.between(1, 3)).unwrap_or(1);
            let any = String::new;
            Command::FailNext(FailNext { failure, count, process: any(), resource: any(), verb: any(), name: any() })
        }
    }
}

fn mend() -> Vec<Command> {
    vec![
        Command::Heal { process: operator() },
        Command::OldServer { process: operator(), on: false },
        Command::Thaw { process: operator() },
        Command::ClockRate { process: operator(), percent: 100 },
        Command::Latency { process: operator(), ms: None },
        Command::Lag { process: operator(), resource: "kitchenorders".to_string(), ms: None },
        Command::DropWatch { process: operator(), resource: String::new() },
    ]
}

fn play(seed: u64) {
    let mut rng = Rng::new(seed);
    let scenario = library::load("control-loop").expect("it is there").expect("it is well formed");
    let mut spec = ClusterSpec::from(&scenario);
    spec.seed = seed;
    spec.nodes.clear();
    spec.knobs.set("replicas", i64::from(rng.chance(300)) + 1).expect("in its range");
    spec.knobs.set("priorityQueue", i64::from(rng.chance(500))).expect("in its range");
    spec.knobs.set("watchList", i64::from(rng.chance(500))).expect("in its range");
    let mut world = World::new(&spec);
    for (at, command) in scenario.commands().filter(|(at, _)| *at == SimTime::ZERO) {
        world.submit(at, command);
    }
    for _ in 0..rng.between(1, 8) {
        let at = SimTime(rng.between(1_000_000, FAULTS_END.0));
        let command = fault(&mut rng);
        world.submit(at, command);
    }
    for command in mend() {
        world.submit(FAULTS_END + Span::micros(1), command);
    }
    let mut scene = Scene::default();
    let (mut revision, mut working) = (0, BTreeMap::new());
    for record in world.run_until(END) {
        match &record.event {
            Event::Wrote { write } => {
                assert!(write.revision > revision, "resourceVersion grows");
                revision = write.revision;
            }
            Event::Started { controller, worker, key } => {
                let other = working.insert((controller.clone(), key.clone()), *worker);
                assert_eq!(other, None, "one worker per key");
            }
            Event::Finished { controller, key, .. } => {
                working.remove(&(controller.clone(), key.clone()));
            }
            Event::Process { process, state: ProcessState::Down, .. } => {
                working.retain(|(controller, _), _| controller.process != *process);
            }
            _ => {}
        }
        scene.apply(&record);
    }
    check(&world, &scene);
}

fn check(world: &World, scene: &Scene) {
    let orders = GroupResource::new("scope.dev", "kitchenorders");
    let stored = scene.objects.get(&orders).expect("orders are there");
    for (key, order) in stored.iter() {
        assert_eq!(order.int(&["status", "prepared"]), order.int(&["spec", "dishes"]), "{key} is cooked");
    }
    let replicas = ["operator", "operator-1"].into_iter().filter_map(|name| world.process(name));
    let leading: Vec<_> = replicas.filter(|p| p.election().is_none_or(|election| election.leads)).collect();
    let [process] = leading.as_slice() else { panic!("{} replicas lead", leading.len()) };
    assert_eq!(process.state(), ProcessState::Running);
    for (id, port) in process.ports().iter().filter(|(id, _)| id.resource == orders) {
        let versions = |object: &engine::object::Object| object.resource_version().to_string();
        let cached: BTreeMap<&Key, String> =
            port.informer().indexer().objects().iter().map(|(k, o)| (k, versions(o))).collect();
        let server: BTreeMap<&Key, String> = stored.iter().map(|(k, o)| (k, versions(o))).collect();
        assert_eq!(cached, server, "the cache {} converges to the server", id.resource);
    }
    for runner in process.runners().values() {
        assert!(!runner.queue().has_work(), "nothing waits");
        assert_eq!(runner.workers().running().count(), 0, "nobody works");
    }
}

#[test]
fn clusters_with_faults_mend_themselves() {
    let failed: Vec<u64> = std::thread::scope(|scope| {
        let parts: Vec<_> = (0..2)
            .map(|part| {
                scope.spawn(move || {
                    let mine = (1..=SEEDS).filter(move |seed| seed % 2 == part);
                    mine.filter(|seed| std::panic::catch_unwind(|| play(*seed)).is_err()).take(5).collect::<Vec<_>>()
                })
            })
            .collect();
        parts.into_iter().flat_map(|part| part.join().unwrap_or_else(|_| vec![0])).collect()
    });
    assert!(failed.is_empty(), "seeds {failed:?} fail");
}
