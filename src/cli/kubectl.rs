//! `operatorscope kubectl [LINE]...`: a cluster that takes kubectl lines, from the arguments or the standard input.
//!
//! The line `sleep 30s` lets virtual time pass. Files that `-f` names are read from the disk.

use engine::command::Command;
use engine::event::Event;
use engine::kubectl::{Files, parse};
use engine::manifest;
use engine::object::Object;
use engine::scenario::parse_duration;
use engine::time::Span;
use engine::world::{ClusterSpec, World};
use std::io::BufRead;
use std::process::ExitCode;

/// How long one line may take in virtual time before the next one is read.
const LINE_MAX: Span = Span::secs(120);
/// How long a line has the word before the next, so that an endless watch shows something.
const LINE_MIN: Span = Span::millis(200);

pub fn kubectl(lines: &[String]) -> Result<ExitCode, String> {
    let mut world = World::new(&ClusterSpec::default());
    world.run_until(world.now() + Span::secs(1));
    if lines.is_empty() {
        for line in std::io::stdin().lock().lines() {
            one(&mut world, line.map_err(|why| why.to_string())?.trim())?;
        }
    }
    for line in lines {
        one(&mut world, line.trim())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn one(world: &mut World, line: &str) -> Result<(), String> {
    if line.is_empty() || line.starts_with('#') {
        return Ok(());
    }
    let (wait, idle) = match line.strip_prefix("sleep ") {
        Some(text) => (parse_duration(text.trim()).ok_or_else(|| format!("{line}: write it as sleep 30s"))?, true),
        None => {
            let command = Command::Kubectl { line: line.to_string(), manifests: manifests(line)? };
            world.submit(world.now(), command);
            (LINE_MAX, false)
        }
    };
    let (first, last) = (world.now() + LINE_MIN, world.now() + wait);
    while world.now() < last {
        let done = !idle && world.kubectl_idle();
        if done && world.now() >= first {
            break;
        }
        let until = if done { first } else { last };
        let at = world.next_at().map_or(until, |at| at.min(until));
        for record in world.run_until(at) {
            if let Event::Printed { text, failed, .. } = &record.event {
                if *failed { eprintln!("{text}") } else { println!("{text}") }
            }
        }
    }
    Ok(())
}

/// What the files of a line hold.
fn manifests(line: &str) -> Result<Vec<Object>, String> {
    let Ok(words) = parse(line, &Files::from([("-".to_string(), Vec::new())])) else { return Ok(Vec::new()) };
    let mut objects = Vec::new();
    for name in words.all("filename") {
        let text = std::fs::read_to_string(name).map_err(|why| format!("{name}: {why}"))?;
        objects.extend(manifest::parse_objects(&text).map_err(|why| format!("{name}: {why}"))?);
    }
    Ok(objects)
}
