//! Claims about kubectl in the world: over the network, in virtual time.

use super::{ClusterSpec, World};
use crate::command::Command;
use crate::event::Event;
use crate::time::{SimTime, Span};
use serde_json::{Value, json};
use std::sync::Arc;

fn line(text: &str, manifests: &[Value]) -> Command {
    Command::Kubectl { line: text.to_string(), manifests: manifests.iter().cloned().map(Arc::new).collect() }
}

/// What is printed until `seconds` have passed, when the commands come a second apart.
fn printed(commands: Vec<Command>, seconds: u64) -> Vec<String> {
    let mut world = World::new(&ClusterSpec::default());
    for (at, command) in commands.into_iter().enumerate() {
        world.submit(SimTime::ZERO + Span::secs(1 + at as u64), command);
    }
    let records = world.run_until(SimTime::ZERO + Span::secs(seconds));
    let text = |e: &Event| match e {
        Event::Printed { text, .. } => Some(text.to_string()),
        _ => None,
    };
    records.iter().filter_map(|r| text(&r.event)).collect()
}

#[test]
fn a_line_is_carried_out_over_the_network() {
    let out = printed(vec![line("create cm c --from-literal=a=b", &[]), line("kubectl get cm c", &[])], 5);
    assert_eq!(out[0], "configmap/c created");
    assert!(out[1].starts_with("NAME   DATA   AGE\nc      1"), "{out:?}");
}

#[test]
fn a_watch_prints_changes_until_the_next_line() {
    let pod = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "late"}});
    let out = printed(
        vec![
            line("get cm -w", &[]),
            Command::Apply { manifests: vec![Arc::new(pod)] },
            line("get cm nope", &[]),
            line("create cm more", &[]),
        ],
        8,
    );
    let watched: Vec<&String> = out.iter().filter(|t| t.contains("late   0")).collect();
    assert_eq!(watched.len(), 1, "{out:?}");
    assert!(!out.iter().any(|t| t.starts_with("more ")), "{out:?}");
}

#[test]
fn a_delete_that_waits_does_not_hold_up_the_next_command() {
    let held = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "finalizers": ["demo.example/hold"]}});
    let out = printed(
        vec![
            line("apply -f -", &[held]),
            line("delete cm c", &[]),
            line("patch cm c --type=merge -p '{\"metadata\":{\"finalizers\":null}}'", &[]),
            line("get cm c", &[]),
        ],
        10,
    );
    assert_eq!(out[1], "configmap \"c\" deleted from default namespace");
    assert_eq!(out[2], "configmap/c patched");
    assert_eq!(out[3], "Error from server (NotFound): configmaps \"c\" not found");
}

#[test]
fn completion_knows_the_cluster() {
    let world = World::new(&ClusterSpec::default());
    let offered = |line: &str| crate::kubectl::complete(line, line.len(), &world);
    assert_eq!(offered("kubectl get statef"), ["statefulsets"]);
    assert_eq!(offered("describe ns kube-p"), ["kube-public"]);
    assert_eq!(offered("get pods -n kube-s"), ["kube-system"]);
    assert!(world.look("get ns default -o name")[0].text == "namespace/default");
}
