//! `operatorscope run FILE`: plays a scenario or plain manifests and checks what the scenario promises.

use engine::event::Record;
use engine::manifest;
use engine::scenario::{Judge, Verdict};
use engine::scenario::{Scenario, ScenarioError, parse_duration};
use engine::time::SimTime;
use engine::world::{ClusterSpec, World};
use std::process::ExitCode;

/// How a run is followed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trace {
    None,
    Text,
    Ndjson,
}

struct Options {
    file: String,
    until: Option<SimTime>,
    seed: Option<u64>,
    trace: Trace,
    hash: bool,
}

impl Options {
    fn read(words: &[String]) -> Result<Self, String> {
        let mut options = Options { file: String::new(), until: None, seed: None, trace: Trace::None, hash: false };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
            match word.as_str() {
                "--until" => {
                    let text = value()?;
                    let span = parse_duration(text)
                        .ok_or_else(|| format!("--until {text}: write it as 90s, 1m30s or 500ms"))?;
                    options.until = Some(SimTime::ZERO + span);
                }
                "--seed" => {
                    let text = value()?;
                    options.seed = Some(text.parse().map_err(|_| format!("--seed {text}: not a whole number"))?);
                }
                "--trace" => {
                    options.trace = match value()?.as_str() {
                        "text" => Trace::Text,
                        "ndjson" => Trace::Ndjson,
                        other => return Err(format!("--trace {other}: it is text or ndjson")),
                    };
                }
                "--hash" => options.hash = true,
                flag if flag.starts_with("--") => return Err(format!("run does not know {flag}")),
                file => options.file = file.to_string(),
            }
        }
        if options.file.is_empty() {
            Err("run needs a file, or the name of a library scenario".to_string())
        } else {
            Ok(options)
        }
    }
}

/// The scenario in a file, or of the library; other manifests become one.
fn load(name: &str) -> Result<Scenario, String> {
    if let Some(scenario) = engine::library::load(name) {
        return scenario.map_err(|why| format!("{name}: {why}"));
    }
    let text = std::fs::read_to_string(name).map_err(|why| format!("{name}: {why}"))?;
    match Scenario::parse(&text) {
        Err(ScenarioError::NotAScenario) => {
            let manifests = manifest::parse_objects(&text).map_err(|why| format!("{name}: {why}"))?;
            let operators = engine::operators::NAMES.iter().map(|n| (*n).to_string()).collect();
            Ok(Scenario::of_manifests("manifests", manifests, operators))
        }
        other => other.map_err(|why| format!("{name}: {why}")),
    }
}

fn show(trace: Trace, record: &Record) {
    match trace {
        Trace::None => {}
        Trace::Text => {
            println!(
                "{:>10.3}s #{:<6} <- #{:<6} {:?}",
                record.at.0 as f64 / 1e6,
                record.id.0,
                record.cause.0,
                record.event
            );
        }
        Trace::Ndjson => match serde_json::to_string(record) {
            Ok(line) => println!("{line}"),
            Err(why) => eprintln!("record {}: {why}", record.id.0),
        },
    }
}

/// Plays a scenario to its end; answers the hash and what became of each promise.
fn play(scenario: &Scenario, trace: Trace) -> (u64, Vec<String>, usize) {
    let mut world = World::new(&ClusterSpec::from(scenario));
    for (at, command) in scenario.commands() {
        world.submit(at, command);
    }
    let mut judge = Judge::new(&scenario.expect);
    let mut records = 0;
    while world.next_at().is_some_and(|at| at <= scenario.until) {
        for record in world.step().unwrap_or_default() {
            records += 1;
            show(trace, &record);
            judge.hear(&record);
        }
        let next = world.next_at().unwrap_or(scenario.until).min(SimTime(scenario.until.0 + 1));
        judge.look(world.now(), next, || world.objects());
    }
    let end = SimTime(scenario.until.0 + 1);
    judge.look(world.now(), end, || world.objects());
    let verdicts = judge.finish(scenario.until).into_iter();
    let broken = verdicts.filter(|(_, v)| *v != Verdict::Held).map(|(e, v)| format!("{v:?}: {e:?}")).collect();
    (world.trace_hash(), broken, records)
}

pub fn run(words: &[String]) -> Result<ExitCode, String> {
    let options = Options::read(words)?;
    let mut scenario = load(&options.file)?;
    scenario.until = options.until.unwrap_or(scenario.until);
    scenario.seed = options.seed.unwrap_or(scenario.seed);
    let (hash, broken, records) = play(&scenario, options.trace);
    if options.hash {
        println!("{hash:016x}");
    }
    for line in &broken {
        eprintln!("{line}");
    }
    eprintln!(
        "{}: {records} records, {} of {} expectations held",
        scenario.name,
        scenario.expect.len() - broken.len(),
        scenario.expect.len()
    );
    Ok(if broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
