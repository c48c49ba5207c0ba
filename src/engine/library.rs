//! The scenarios that come with the page.

use crate::recording::Recording;
use crate::scenario::{Scenario, ScenarioError};
use crate::world::ClusterSpec;

macro_rules! scenarios {
    ($($name:literal),* $(,)?) => {
        /// Name and document of every scenario, in the order of the menu.
        pub const SCENARIOS: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../tests/scenarios/", $name, ".yaml")))),*];
    };
}

scenarios!(
    "control-loop",
    "custom-resources",
    "core-resources",
    "ordered-rollout",
    "self-healing",
    "rolling-update",
    "finalizer-backup",
    "conflict-and-backoff",
    "status-unchanged",
    "status-changes",
    "generation-predicate",
    "order-is-data",
    "nil-replicas",
    "generated-names",
    "fixed-names",
    "stale-put",
    "filtered-cache",
    "requeue-and-event",
    "requeue-and-event-classic",
    "failures-and-ceiling",
    "expired-version",
    "malformed-object",
    "cached-read",
    "two-leaders",
    "client-throttling",
    "canary-release",
    "outside-bucket",
);

/// Reads a scenario of the library.
///
/// # Errors
/// Only if the document itself is wrong, which a test rules out.
pub fn load(name: &str) -> Option<Result<Scenario, ScenarioError>> {
    SCENARIOS.iter().find(|(known, _)| *known == name).map(|(_, text)| Scenario::parse(text))
}

impl From<&Scenario> for ClusterSpec {
    fn from(scenario: &Scenario) -> Self {
        ClusterSpec {
            seed: scenario.seed,
            nodes: scenario.nodes.clone(),
            operators: scenario.operators.clone(),
            off: scenario.off.clone(),
            knobs: scenario.knobs.clone(),
            ..ClusterSpec::default()
        }
    }
}

impl Recording {
    /// The run a scenario describes, at its beginning.
    #[must_use]
    pub fn of(scenario: &Scenario) -> Self {
        Recording::new(ClusterSpec::from(scenario), scenario.commands().collect())
    }
}
