//! `operatorscope bench`: speeds and sizes as one line of JSON; `bench deployment N`: the cost of bringing N pods up.

use engine::library;
use engine::object::Object;
use engine::recording::Recording;
use engine::scenario::Scenario;
use engine::time::{SimTime, Span};
use engine::world::{ClusterSpec, World};
use serde_json::{Map, Value, json};
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

const USAGE: &str = "usage: operatorscope bench [--dist DIR] [--page JSON] | bench deployment N";
/// Seeks that are averaged, to instants spread over the run.
const SEEKS: u64 = 60;
/// How long the native model is played for its speed.
const PLAY_SECONDS: f64 = 2.0;
/// Pods that a node takes, as a kubelet's default is.
const PODS_PER_NODE: usize = 110;
/// Virtual time after which a roll-out has failed.
const ROLLOUT_MAX: SimTime = SimTime(3_600_000_000);

pub fn bench(args: &[String]) -> Result<ExitCode, String> {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["deployment", n] => {
            println!("{}", deployment(n.parse().map_err(|_| format!("{n}: not a number of pods"))?)?);
            Ok(ExitCode::SUCCESS)
        }
        ["deployment", ..] => Err(USAGE.to_string()),
        options => {
            println!("{}", speeds(options)?);
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn speeds(options: &[&str]) -> Result<Value, String> {
    let (scenario, records) = longest()?;
    let mut line = json!({
        "events_per_s": events_per_second(&scenario).round(),
        "longest": {"scenario": scenario.name, "records": records},
        "seek_ms": seek_ms(&scenario),
    });
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

fn start(scenario: &Scenario) -> World {
    let mut world = World::new(&ClusterSpec::from(scenario));
    for (at, command) in scenario.commands() {
        world.submit(at, command);
    }
    world
}

fn seek_ms(scenario: &Scenario) -> Value {
    let mut recording = Recording::of(scenario);
    recording.seek(scenario.until);
    let (mut sum, mut most) = (0.0, 0.0_f64);
    for i in 0..SEEKS {
        // A step that shares no factor with the number of seeks visits every part, back and forth.
        let at = SimTime(scenario.until.0 / SEEKS * (i * 37 % SEEKS));
        let began = Instant::now();
        recording.seek(at);
        let ms = began.elapsed().as_secs_f64() * 1e3;
        sum += ms;
        most = most.max(ms);
    }
    json!({"mean": round(sum / SEEKS as f64), "max": round(most)})
}

fn round(number: f64) -> f64 {
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

/// From apply until all pods of a Deployment are ready.
fn deployment(pods: usize) -> Result<Value, String> {
    let nodes = pods.div_ceil(PODS_PER_NODE).max(3);
    let text = format!(
        "apiVersion: operatorscope.dev/v1alpha1\nkind: Scenario\nmetadata: {{name: deployment}}\nspec:\n  title: {{en: Deployment, zh: Deployment}}\n  cluster: {{nodes: {nodes}}}\n  until: 1h\n  manifests: |\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {{name: web, namespace: default}}\n    spec:\n      replicas: {pods}\n      selector: {{matchLabels: {{app: web}}}}\n      template:\n        metadata: {{labels: {{app: web}}}}\n        spec:\n          containers:\n          - {{name: web, image: \"web:1\"}}\n"
    );
    let scenario = Scenario::parse(&text).map_err(|e| e.to_string())?;
    let mut world = start(&scenario);
    let (mut records, mut cpu_ms) = (0, 0.0);
    let mut until = SimTime::ZERO;
    while until < ROLLOUT_MAX {
        until += Span::secs(1);
        // Only the model is measured, not the look at what it has done.
        let before = cpu();
        while world.next_at().is_some_and(|at| at <= until) {
            records += world.step().unwrap_or_default().len();
        }
        cpu_ms += cpu() - before;
        if world.objects().any(|object| ready(object, pods)) {
            return Ok(
                json!({"pods": pods, "cpu_ms": round(cpu_ms), "records": records, "virtual_s": until.0 / 1_000_000,
                "peak_mb": peak_mb(), "cpu_ms_per_pod": round(cpu_ms / pods.max(1) as f64)}),
            );
        }
    }
    Err(format!("after an hour of virtual time the {pods} pods are not ready"))
}

fn ready(object: &Object, pods: usize) -> bool {
    object["kind"] == "Deployment" && object["status"]["readyReplicas"] == json!(pods)
}

/// CPU time of this process in ms, as Linux counts it.
fn cpu() -> f64 {
    let text = fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or_default() / 1e6
}

/// The most memory this process has held, in MB.
fn peak_mb() -> u64 {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|l| l.trim().trim_end_matches("kB").trim().parse::<u64>().ok()).unwrap_or_default() / 1024
}
