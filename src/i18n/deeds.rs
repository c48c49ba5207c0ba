//! Words shared by both narrators: what does not change with the language.

use engine::api::message::Request;
use engine::command::{Command, Failure};
use engine::event::Carries;
use engine::ids::{GroupResource, Key};
use engine::object::ObjectView;

/// `pods cache-0`, `redisclusters/status cache`.
#[must_use]
pub fn thing(resource: &GroupResource, subresource: &str, key: &Key) -> String {
    let slash = if subresource.is_empty() { "" } else { "/" };
    let space = if key.name.is_empty() { "" } else { " " };
    format!("{}{slash}{subresource}{space}{}", resource.resource, key.name)
}

#[must_use]
pub fn failure(failure: Failure) -> &'static str {
    match failure {
        Failure::Conflict => "409 Conflict",
        Failure::TooManyRequests => "429 Too Many Requests",
        Failure::Internal => "500 Internal Error",
        Failure::Unavailable => "503 Service Unavailable",
        Failure::Timeout => "504 Timeout",
        Failure::LostAnswer => "lost answer",
    }
}

/// The command as it would be typed.
#[must_use]
pub fn typed(command: &Command) -> String {
    match command {
        Command::Apply { manifests } => {
            let names: Vec<_> = manifests.iter().map(|m| format!("{}/{}", m.kind(), m.name())).collect();
            format!("kubectl apply {}", shortened(&names))
        }
        Command::Kubectl { line, .. } => format!("kubectl {}", line.trim_start_matches("kubectl ")),
        Command::Interrupt => "Ctrl-C".to_string(),
        Command::Request { .. } => {
            command.request().map_or_else(String::new, |r: Request| format!("{:?} {}", r.method, r.path))
        }
        Command::KillPod { name, .. } => format!("kill pod {name}"),
        Command::NodeDown { node } => format!("{node} down"),
        Command::NodeUp { node } => format!("{node} up"),
        Command::DropWatch { process, resource } => format!("drop watch {process} {resource}"),
        Command::StallWatch { process, resource } => format!("stall watch {process} {resource}"),
        Command::FailNext(fault) => {
            format!("fail next {} ×{}: {}", fault.resource, fault.count, failure(fault.failure))
        }
        Command::Crash { process, .. } => format!("crash {process}"),
        Command::CrashInReconcile { process, .. } => format!("crash {process} mid-reconcile"),
        Command::Freeze { process } => format!("freeze {process}"),
        Command::Thaw { process } => format!("thaw {process}"),
        Command::Stop { process } => format!("stop {process}"),
        Command::Start { process } => format!("start {process}"),
        Command::ClockRate { process, percent } => format!("clock of {process} at {percent} %"),
        Command::Partition { process } => format!("partition {process}"),
        Command::Heal { process } => format!("heal {process}"),
        Command::Lag { process, resource, ms } => format!("lag {process} {resource} {}", amount(*ms)),
        Command::Latency { process, ms } => format!("latency {process} {}", amount(*ms)),
        Command::MissEvents { process, resource, count } => format!("miss {count} events of {resource} in {process}"),
        Command::OldServer { process, on } => {
            format!("{process} reads from an old server: {}", if *on { "on" } else { "off" })
        }
        Command::CacheScope { process, namespace, label_selector, .. } => {
            format!("cache of {process}: {namespace} {label_selector}")
        }
        Command::Switch { process, controller, on } => {
            format!("{process}/{controller} {}", if *on { "on" } else { "off" })
        }
        Command::Compact => "compact the history".to_string(),
        Command::Set { knob, value } => format!("{knob} = {value}"),
    }
}

fn amount(ms: Option<u64>) -> String {
    ms.map_or_else(|| "as the knob says".to_string(), |ms| format!("{ms} ms"))
}

fn shortened(names: &[String]) -> String {
    const SHOWN: usize = 3;
    let shown = names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN { format!("{shown} +{}", names.len() - SHOWN) } else { shown }
}

/// The few letters on a pill.
#[must_use]
pub fn pill(carries: &Carries) -> String {
    match carries {
        Carries::Request { verb, resource, subresource, key, .. } => {
            let what = if !subresource.is_empty() {
                subresource
            } else if key.name.is_empty() {
                &resource.resource
            } else {
                &key.name
            };
            format!("{} {}", verb.to_uppercase(), clipped(what))
        }
        Carries::Answer { code, key, resource, .. } => {
            format!("{code} {}", clipped(if key.name.is_empty() { &resource.resource } else { &key.name }))
        }
        Carries::Watch { kind, key, resource, .. } => {
            format!(
                "{} {}",
                &kind.word()[..3],
                clipped(if key.name.is_empty() { &resource.resource } else { &key.name })
            )
        }
    }
}

/// The beginning of a long name.
#[must_use]
pub fn clipped(name: &str) -> String {
    clip(name, 14)
}

/// At most `max` characters, with a mark where the rest was.
#[must_use]
pub fn clip(text: &str, max: usize) -> String {
    if text.chars().count() <= max { text.to_string() } else { text.chars().take(max - 1).chain(['…']).collect() }
}
