//! Which image runs on how many pods: decided from what is asked and from how far the stable track has come.

use crate::object::{Object, ObjectView};

/// Where a trial stands, in the word the status shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trial {
    /// Nobody asked for one.
    None,
    Progressing,
    /// The stable track is taking over the image; the canary serves until it has.
    Promoting,
    Promoted,
    Aborted,
}

impl Trial {
    pub fn word(self) -> &'static str {
        match self {
            Trial::None => "None",
            Trial::Progressing => "Progressing",
            Trial::Promoting => "Promoting",
            Trial::Promoted => "Promoted",
            Trial::Aborted => "Aborted",
        }
    }
}

/// What should run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub trial: Trial,
    pub stable_image: String,
    pub stable: i64,
    pub canary_image: String,
    /// 0: there is no canary Deployment.
    pub canary: i64,
}

impl Plan {
    /// `stable` is the Deployment as it stands, if there is one.
    pub fn of(app: &Object, stable: Option<&Object>) -> Plan {
        let replicas = app.int(&["spec", "replicas"]).unwrap_or(2);
        let image = app.text(&["spec", "image"]).to_string();
        let canary_image = app.text(&["spec", "canary", "image"]).to_string();
        let share = canary_share(replicas, app.int(&["spec", "canary", "weight"]).unwrap_or(20));
        let plain = Plan { trial: Trial::None, stable_image: image, stable: replicas, canary_image, canary: 0 };
        if plain.canary_image.is_empty() {
            return plain;
        }
        match app.text(&["spec", "canary", "decision"]) {
            // A bad canary does not get one request more: its pods go before the stable ones have come back.
            "Abort" => Plan { trial: Trial::Aborted, ..plain },
            "Promote" => {
                let promoted = Plan { stable_image: plain.canary_image.clone(), trial: Trial::Promoted, ..plain };
                if stable.is_some_and(|s| runs(s, &promoted.stable_image) && rolled_out(s, replicas)) {
                    promoted
                } else {
                    Plan { trial: Trial::Promoting, canary: share, ..promoted }
                }
            }
            _ => Plan { trial: Trial::Progressing, stable: replicas - share, canary: share, ..plain },
        }
    }
}

/// `weight` percent of the pods, rounded up, so that a small weight is tried on one pod at least.
fn canary_share(replicas: i64, weight: i64) -> i64 {
    (replicas * weight + 99) / 100
}

fn runs(deployment: &Object, image: &str) -> bool {
    deployment.list(&["spec", "template", "spec", "containers"]).first().is_some_and(|c| c.text(&["image"]) == image)
}

/// As `kubectl rollout status` judges: the controller has seen the newest spec, and all pods are new and available.
pub fn rolled_out(deployment: &Object, replicas: i64) -> bool {
    let count = |field: &str| deployment.int(&["status", field]).unwrap_or(0);
    deployment.int(&["spec", "replicas"]) == Some(replicas)
        && count("observedGeneration") >= deployment.generation()
        && count("updatedReplicas") == replicas
        && count("replicas") == replicas
        && count("availableReplicas") == replicas
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use std::sync::Arc;

    fn app(canary: Value) -> Object {
        Arc::new(json!({"spec": {"image": "web:1", "replicas": 5, "canary": canary}}))
    }

    fn stable(image: &str, available: i64) -> Object {
        Arc::new(json!({"metadata": {"generation": 2}, "spec": {"replicas": 5,
            "template": {"spec": {"containers": [{"image": image}]}}},
            "status": {"observedGeneration": 2, "replicas": 5, "updatedReplicas": 5, "availableReplicas": available}}))
    }

    #[test]
    fn the_weight_splits_the_replicas_and_never_loses_one() {
        for weight in 0..=100 {
            let plan = Plan::of(&app(json!({"image": "web:2", "weight": weight})), None);
            assert_eq!(plan.stable + plan.canary, 5, "{weight}");
            assert_eq!(plan.canary > 0, weight > 0, "{weight}");
        }
    }

    #[test]
    fn a_promoted_canary_serves_until_the_stable_track_carries_everything() {
        let app = app(json!({"image": "web:2", "weight": 40, "decision": "Promote"}));
        for (stable, trial, canary) in [
            (stable("web:1", 5), Trial::Promoting, 2),
            (stable("web:2", 4), Trial::Promoting, 2),
            (stable("web:2", 5), Trial::Promoted, 0),
        ] {
            let plan = Plan::of(&app, Some(&stable));
            assert_eq!((plan.trial, plan.stable_image.as_str(), plan.canary), (trial, "web:2", canary));
        }
    }

    #[test]
    fn an_aborted_canary_goes_at_once() {
        let plan =
            Plan::of(&app(json!({"image": "web:2", "weight": 40, "decision": "Abort"})), Some(&stable("web:1", 3)));
        assert_eq!((plan.trial, plan.stable, plan.stable_image.as_str(), plan.canary), (Trial::Aborted, 5, "web:1", 0));
    }
}
