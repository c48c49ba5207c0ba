//! The faults: each becomes a command at the instant shown.

use crate::session::{Session, use_session};
use engine::command::{Command, FailNext, Failure};
use engine::event::ProcessState;
use leptos::prelude::*;

/// The process whose watch is dropped and that crashes.
const OPERATOR: &str = "operator";
const RESTART_MS: u64 = 1_000;

/// Names of things that can be a fault's target.
fn pods(session: &Session) -> Vec<String> {
    let scene = session.scene.get();
    let alive = scene.of("", "pods").map(|(key, _)| key.to_string());
    alive.collect()
}

fn kill(pod: &str) -> Command {
    let (namespace, name) = pod.split_once('/').unwrap_or(("default", pod));
    Command::KillPod { namespace: namespace.to_string(), name: name.to_string() }
}

fn fail(failure: Failure) -> Command {
    let any = String::new;
    Command::FailNext(FailNext {
        failure,
        count: 1,
        process: OPERATOR.to_string(),
        resource: any(),
        verb: "write".to_string(),
        name: any(),
    })
}

#[component]
fn Fault(name: &'static str, words: Signal<&'static str>, command: Command) -> impl IntoView {
    let session = use_session();
    let test = format!("fault-{name}");
    view! { <button class="fault" data-testid=test on:click=move |_| session.submit(command.clone())>{words}</button> }
}

#[component]
fn KillPod() -> impl IntoView {
    let session = use_session();
    let target = RwSignal::new(String::new());
    let names = Memo::new(move |_| pods(&session));
    let options = move || {
        names.get().into_iter().map(|n| view! { <option value=n.clone()>{n.clone()}</option> }).collect::<Vec<_>>()
    };
    view! {
        <div class="row">
            <button class="fault" data-testid="fault-kill-pod" disabled=move || names.with(Vec::is_empty) on:click=move |_| {
                let named = Some(target.get_untracked()).filter(|t| names.with_untracked(|n| n.contains(t)));
                if let Some(pod) = named.or_else(|| names.with_untracked(|n| n.first().cloned())) {
                    session.submit(kill(&pod));
                }
            }>{move || session.t().kill_pod}</button>
            <select data-testid="fault-pod" aria-label=move || session.t().target on:change=move |e| target.set(event_target_value(&e))>
                {options}
            </select>
        </div>
    }
}

#[component]
fn NodeDown() -> impl IntoView {
    let session = use_session();
    let target = RwSignal::new(String::new());
    let nodes = Memo::new(move |_| {
        let scene = session.scene.get();
        let kubelets =
            scene.processes.iter().filter_map(|(id, state)| Some((id.strip_prefix("kubelet/")?.to_string(), *state)));
        kubelets.collect::<Vec<_>>()
    });
    let chosen = move || {
        let wanted = target.get();
        nodes.with(|all| all.iter().find(|(n, _)| *n == wanted).or(all.first()).cloned())
    };
    let down = move || chosen().is_some_and(|(_, state)| state == ProcessState::Down);
    let options = move || {
        nodes.get().into_iter().map(|(n, _)| view! { <option value=n.clone()>{n.clone()}</option> }).collect::<Vec<_>>()
    };
    view! {
        <div class="row">
            <button class="fault" data-testid="fault-node-down" on:click=move |_| {
                if let Some((node, state)) = chosen() {
                    let up = state == ProcessState::Down;
                    session.submit(if up { Command::NodeUp { node } } else { Command::NodeDown { node } });
                }
            }>{move || if down() { session.t().node_up } else { session.t().node_down }}</button>
            <select data-testid="fault-node" aria-label=move || session.t().target on:change=move |e| target.set(event_target_value(&e))>
                {options}
            </select>
        </div>
    }
}

#[component]
pub fn Faults() -> impl IntoView {
    let session = use_session();
    let word = move |pick: fn(&crate::i18n::Text) -> &'static str| Signal::derive(move || pick(session.t()));
    let drop = Command::DropWatch { process: OPERATOR.to_string(), resource: String::new() };
    let crash = Command::CrashInReconcile { process: OPERATOR.to_string(), after_requests: 1, restart_ms: RESTART_MS };
    view! {
        <h3>{move || session.t().break_it}</h3>
        <KillPod/>
        <NodeDown/>
        <Fault name="drop-watch" words=word(|t| t.drop_watch) command=drop/>
        <Fault name="crash" words=word(|t| t.crash) command=crash/>
        <div class="row" role="group" aria-label=move || session.t().fail_write>
            <Fault name="conflict" words=word(|t| t.conflict) command=fail(Failure::Conflict)/>
            <Fault name="internal" words=word(|t| t.internal) command=fail(Failure::Internal)/>
            <Fault name="timeout" words=word(|t| t.timeout) command=fail(Failure::Timeout)/>
        </div>
        <p class="hint" aria-live="polite">
            {move || if session.scene.with(|s| s.armed.is_empty()) { "" } else { session.t().armed }}
        </p>
    }
}
