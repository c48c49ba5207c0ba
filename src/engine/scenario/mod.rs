//! Scenario documents: `apiVersion: operatorscope.dev/v1alpha1`, `kind: Scenario`.
//!
//! A scenario says what a run starts from (seed, nodes, knobs, operators, manifests), what is done to it and when, and what
//! must then be true. It is read from outside, so every failure names the field and what would be right there, and
//! every list has a limit. [`Scenario::to_value`] writes the document back; reading that gives the same scenario.

mod duration;
mod expect;
mod heard;
mod read;
mod write;

pub use duration::{parse_duration, show_duration};
pub use expect::{Expectation, Judge, Selection, Subject, Test, Verdict, When};
pub use heard::Heard;
pub use read::ScenarioError;

use crate::command::Command;
use crate::knobs::Knobs;
use crate::object::Object;
use crate::time::{SimTime, Span};
use std::collections::BTreeSet;

pub const API_VERSION: &str = "operatorscope.dev/v1alpha1";
pub const KIND: &str = "Scenario";

/// Actions of one scenario: a person cannot follow more, and a link has to carry them.
pub const ACTIONS_MAX: usize = 1_000;
/// Expectations of one scenario; each is looked at after every step.
pub const EXPECTATIONS_MAX: usize = 500;
/// Nodes of the cluster: each has a kubelet with its own watch, and the stage draws a handful.
pub const NODES_MAX: usize = 50;
/// Operators in the operator process.
pub const OPERATORS_MAX: usize = 50;
/// Reported cases that one scenario shows.
pub const CASES_MAX: usize = 20;
/// How long a run may be told to go on: a day of virtual time covers every back-off ceiling many times.
pub const UNTIL_MAX: Span = Span::secs(86_400);
/// How long a run goes on when the scenario does not say.
pub const UNTIL_DEFAULT: Span = Span::secs(60);
/// Characters of a title or introduction: what the page can show.
pub const TEXT_CHARS_MAX: usize = 5_000;

/// A text in the two languages of the page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bilingual {
    pub en: String,
    pub zh: String,
}

impl Bilingual {
    /// The text in `language`, or the other one where that is empty.
    #[must_use]
    pub fn get(&self, language: &str) -> &str {
        let (first, second) = if language.starts_with("zh") { (&self.zh, &self.en) } else { (&self.en, &self.zh) };
        if first.is_empty() { second } else { first }
    }
}

/// Something done to the cluster at an instant of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    pub at: SimTime,
    pub command: Command,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    pub name: String,
    pub title: Bilingual,
    pub intro: Bilingual,
    pub seed: u64,
    pub nodes: Vec<String>,
    /// Built-in controllers that are switched off.
    pub off: BTreeSet<String>,
    /// Only knobs that differ from their default are written.
    pub knobs: Knobs,
    pub operators: Vec<String>,
    /// Applied when the run begins, one after the other.
    pub manifests: Vec<Object>,
    /// In the order of their times.
    pub actions: Vec<Action>,
    pub until: SimTime,
    pub expect: Vec<Expectation>,
    /// Numbers of the reported cases that it shows, as in `tests/scenarios/CASES`.
    pub cases: Vec<String>,
}

impl Scenario {
    /// A scenario around manifests of the reader's own.
    #[must_use]
    pub fn of_manifests(name: &str, manifests: Vec<Object>, operators: Vec<String>) -> Self {
        Scenario {
            name: name.to_string(),
            title: Bilingual::default(),
            intro: Bilingual::default(),
            seed: 1,
            nodes: default_nodes(),
            off: BTreeSet::new(),
            knobs: Knobs::default(),
            operators,
            manifests,
            actions: Vec::new(),
            until: SimTime::ZERO + UNTIL_DEFAULT,
            expect: Vec::new(),
            cases: Vec::new(),
        }
    }

    /// Every command of the run with its time: the manifests first, then the actions.
    pub fn commands(&self) -> impl Iterator<Item = (SimTime, Command)> + '_ {
        let apply = (!self.manifests.is_empty()).then(|| Command::Apply { manifests: self.manifests.clone() });
        let actions = self.actions.iter().map(|action| (action.at, action.command.clone()));
        apply.map(|command| (SimTime::ZERO, command)).into_iter().chain(actions)
    }
}

fn default_nodes() -> Vec<String> {
    ["node-a", "node-b", "node-c"].map(str::to_string).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{FailNext, Failure};

    const FULL: &str = r#"
apiVersion: operatorscope.dev/v1alpha1
kind: Scenario
metadata: {name: self-healing}
spec:
  title: {en: Self-healing, zh: 自愈}
  intro: {en: A pod dies., zh: 一个 Pod 死掉。}
  seed: 7
  cluster:
    nodes: 2
    off: [garbage-collector]
    knobs: {latencyMs: 50}
  operators: [redis]
  manifests: |
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: a}
    ---
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: b}
  actions:
  - {at: 5s, do: nodeDown, node: node-b}
  - {at: 1m30s, do: failNext, failure: conflict, resource: pods}
  - {at: 3500ms, do: killPod, name: cache-1}
  - {at: 6s, do: apply, manifests: [{apiVersion: v1, kind: Secret, metadata: {name: s}}]}
  - {at: 7s, do: kubectl, line: "scale rediscluster/cache --replicas=5"}
  until: 2m
  expect:
  - {at: 4s, that: {kind: Pod, name: cache-1, path: "status.conditions[Ready]", equals: "False"}}
  - {eventually: 60s, that: {kind: Pod, count: 3}}
  - {always: 0s, that: {kind: Pod, atMost: 3}}
"#;

    fn field_error(text: &str) -> (String, String) {
        match Scenario::parse(text) {
            Err(ScenarioError::Field { path, message }) => (path, message),
            other => panic!("a field error was expected, not {other:?}"),
        }
    }

    #[test]
    fn a_full_document_is_read() {
        let s = Scenario::parse(FULL).expect("well formed");
        assert_eq!((s.name.as_str(), s.seed, s.nodes.len(), s.manifests.len()), ("self-healing", 7, 2, 2));
        assert_eq!(s.title.get("zh-CN"), "自愈");
        assert_eq!(s.knobs.get("latencyMs"), 50);
        assert_eq!(s.until, SimTime(120_000_000));
        let times: Vec<u64> = s.actions.iter().map(|a| a.at.0 / 1_000).collect();
        assert_eq!(times, [3_500, 5_000, 6_000, 7_000, 90_000]);
        let kill = Command::KillPod { namespace: "default".into(), name: "cache-1".into() };
        assert_eq!(s.actions[0].command, kill);
        let fail = FailNext {
            failure: Failure::Conflict,
            count: 1,
            process: String::new(),
            resource: "pods".into(),
            verb: String::new(),
            name: String::new(),
        };
        assert_eq!(s.actions[4].command, Command::FailNext(fail));
        assert_eq!(s.commands().count(), 6);
        assert_eq!(s.expect.len(), 3);
    }

    #[test]
    fn what_is_written_reads_back_the_same() {
        let scenario = Scenario::parse(FULL).expect("well formed");
        let text = crate::yaml::to_yaml(&scenario.to_value());
        assert_eq!(Scenario::parse(&text).expect("reads back"), scenario, "{text}");
        let plain = Scenario::of_manifests("own", scenario.manifests, vec!["redis".into()]);
        assert_eq!(Scenario::from_value(&plain.to_value()).expect("reads back"), plain);
    }

    #[test]
    fn errors_name_the_field_and_what_would_be_right() {
        for (from, to, path, says) in [
            ("at: 5s, do: nodeDown", "at: soon, do: nodeDown", "spec.actions[0].at", "3s"),
            ("do: nodeDown", "do: nodeGone", "spec.actions[0]", "nodeGone"),
            ("node: node-b", "nod: node-b", "spec.actions[0]", "node"),
            ("latencyMs: 50", "latencyMs: -1", "spec.cluster.knobs.latencyMs", "between"),
            ("seed: 7", "seed: -7", "spec.seed", "number"),
            ("until: 2m", "until: 48h", "spec.until", "24h"),
            ("until: 2m", "untill: 2m", "spec.untill", "unknown field"),
            ("count: 3", "counts: 3", "spec.expect[1].that.counts", "unknown field"),
            ("{at: 4s, that", "{that", "spec.expect[0]", "eventually"),
            ("nodes: 2", "nodes: 2000", "spec.cluster.nodes", "50"),
            ("name: self-healing", "name: Self_Healing", "metadata.name", "lower case"),
            ("kind: ConfigMap\n    metadata: {name: b}", "metadata: {name: b}", "spec.manifests", "kind not set"),
        ] {
            let text = FULL.replacen(from, to, 1);
            assert_ne!(text, FULL, "{from}");
            let (found, message) = field_error(&text);
            assert_eq!(found, path, "{message}");
            assert!(message.contains(says), "{path}: {message}");
        }
    }

    #[test]
    fn another_kind_of_document_is_told_apart() {
        assert!(matches!(Scenario::parse("apiVersion: v1\nkind: Pod\n"), Err(ScenarioError::NotAScenario)));
        assert!(matches!(Scenario::parse("a: ["), Err(ScenarioError::Text(_))));
        let newer = FULL.replacen("v1alpha1", "v9", 1);
        assert_eq!(field_error(&newer).0, "apiVersion");
    }
}
