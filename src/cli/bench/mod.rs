//! `operatorscope bench`: speeds and sizes as one line of JSON; `bench PART`: one part of it.

mod client;
mod deployment;
mod long;
mod server;

use engine::library;
use engine::recording::Recording;
use engine::scenario::Scenario;
use engine::time::SimTime;
use engine::world::{ClusterSpec, World};
use serde_json::{Map, Value, json};
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

const USAGE: &str = "usage: operatorscope bench [--dist DIR] [--page JSON] | bench deployment N | bench client | bench server | bench long";
/// Sizes of the Deployment whose cost is told.
const DEPLOYMENTS: [&str; 4] = ["10", "50", "100", "1000"];
/// Seeks that are averaged, to instants spread over the run.
const SEEKS: u64 = 60;
/// How long the native model is played for its speed.
const PLAY_SECONDS: f64 = 2.0;

pub fn bench(args: &[String]) -> Result<ExitCode, String> {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let line = match words.as_slice() {
        ["deployment", n] => deployment::deployment(n.parse().map_err(|_| format!("{n}: not a number of pods"))?)?,
        ["client"] => client::measure(),
        ["server"] => server::measure()?,
        ["long"] => long::measure()?,
        ["deployment" | "client" | "server" | "long", ..] => return Err(USAGE.to_string()),
        options => speeds(options)?,
    };
    println!("{line}");
    Ok(ExitCode::SUCCESS)
}

/// A part in a process of its own, so that its memory is its own.
fn part(words: &[&str]) -> Result<Value, String> {
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let answer = Command::new(program).arg("bench").args(words).output().map_err(|e| e.to_string())?;
    serde_json::from_slice(&answer.stdout).map_err(|e| format!("bench {}: {e}", words.join(" ")))
}

fn speeds(options: &[&str]) -> Result<Value, String> {
    let (scenario, records) = longest()?;
    let mut line = json!({
        "events_per_s": events_per_second(&scenario).round(),
        "longest": {"scenario": scenario.name, "records": records},
        "seek_ms": seek_ms(&scenario),
        "long": part(&["long"])?,
        "server": part(&["server"])?,
        "client": part(&["client"])?,
    });
    let deployments: Result<Vec<Value>, String> = DEPLOYMENTS.iter().map(|n| part(&["deployment", n])).collect();
    line["deployments"] = Value::from(deployments?);
    for pair in options.chunks(2) {
        match pair {
            ["--dist", dir] => line["dist_kb"] = sizes(Path::new(dir))?,
            ["--page", text] => line["page"] = serde_json::from_str(text).map_err(|e| format!("--page: {e}"))?,
            _ => return Err(USAGE.to_string()),
        }
    }
    Ok(line)
}

/// The scenario of the library that makes most records.
fn longest() -> Result<(Scenario, usize), String> {
    let mut found = None;
    for (name, text) in library::SCENARIOS {
        let scenario = Scenario::parse(text).map_err(|e| format!("{name}: {e}"))?;
        let mut recording = Recording::of(&scenario);
        recording.seek(scenario.until);
        if found.as_ref().is_none_or(|(_, records)| *records < recording.cursor()) {
            found = Some((scenario, recording.cursor()));
        }
    }
    found.ok_or_else(|| "the library is empty".to_string())
}

fn events_per_second(scenario: &Scenario) -> f64 {
    let (began, mut records) = (Instant::now(), 0);
    while began.elapsed().as_secs_f64() < PLAY_SECONDS {
        let mut world = start(scenario);
        while world.next_at().is_some_and(|at| at <= scenario.until) {
            records += world.step().unwrap_or_default().len();
        }
    }
    records as f64 / began.elapsed().as_secs_f64()
}

pub fn start(scenario: &Scenario) -> World {
    let mut world = World::new(&ClusterSpec::from(scenario));
    for (at, command) in scenario.commands() {
        world.submit(at, command);
    }
    world
}

fn seek_ms(scenario: &Scenario) -> Value {
    let mut recording = Recording::of(scenario);
    recording.seek(scenario.until);
    seeks(&mut recording, scenario.until)
}

/// The cost of going to instants all over a run that is known.
pub fn seeks(recording: &mut Recording, until: SimTime) -> Value {
    let (mut sum, mut most) = (0.0, 0.0_f64);
    for i in 0..SEEKS {
        // A step that shares no factor with the number of seeks visits every part, back and forth.
        let at = SimTime(until.0 / SEEKS * (i * 37 % SEEKS));
        let began = Instant::now();
        recording.seek(at);
        let ms = began.elapsed().as_secs_f64() * 1e3;
        sum += ms;
        most = most.max(ms);
    }
    json!({"mean": round(sum / SEEKS as f64), "max": round(most)})
}

pub fn round(number: f64) -> f64 {
    (number * 1e3).round() / 1e3
}

/// KB of each file, as it is and as brotli makes it.
fn sizes(dir: &Path) -> Result<Value, String> {
    let mut files: Vec<_> = fs::read_dir(dir).map_err(|e| format!("{}: {e}", dir.display()))?.flatten().collect();
    files.sort_by_key(fs::DirEntry::file_name);
    let (mut table, mut sum) = (Map::new(), 0);
    for path in files.iter().map(fs::DirEntry::path).filter(|path| path.is_file()) {
        let raw = fs::metadata(&path).map_err(|e| e.to_string())?.len();
        let small = Command::new("brotli").args(["-c", "-q", "11"]).arg(&path).output();
        let small =
            small.map_err(|e| format!("brotli: {e}; install it with your system's package manager"))?.stdout.len();
        sum += small;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        table.insert(name, json!({"raw": kb(raw), "brotli": kb(small as u64)}));
    }
    table.insert("first load, brotli".to_string(), json!(kb(sum as u64)));
    Ok(Value::Object(table))
}

fn kb(bytes: u64) -> f64 {
    (bytes as f64 / 102.4).round() / 10.0
}

/// The most memory this process has held, in MB.
pub fn peak_mb() -> u64 {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|l| l.trim().trim_end_matches("kB").trim().parse::<u64>().ok()).unwrap_or_default() / 1024
}
