//! What a web application is made of: one Service, and a Deployment for each track.

use crate::object::{Object, ObjectView};
use crate::operators::support::controller_reference;
use serde_json::{Value, json};

/// The two halves of an application on trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Track {
    Stable,
    Canary,
}

impl Track {
    pub fn word(self) -> &'static str {
        match self {
            Track::Stable => "stable",
            Track::Canary => "canary",
        }
    }

    /// The name of the track's Deployment.
    pub fn name(self, app: &Object) -> String {
        format!("{}-{}", app.name(), self.word())
    }
}

/// Selects the pods of both tracks, so that each gets the share of the traffic that it has of the pods.
pub fn service(app: &Object) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"name": app.name(), "namespace": app.namespace(), "labels": {"scope.dev/app": app.name()},
            "ownerReferences": controller_reference(app)},
        "spec": {"selector": {"scope.dev/app": app.name()},
            "ports": [{"name": "http", "port": 80, "targetPort": "http", "protocol": "TCP"}]},
    })
}

pub fn deployment(app: &Object, track: Track, image: &str, replicas: i64) -> Value {
    let labels = json!({"scope.dev/app": app.name(), "scope.dev/track": track.word()});
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": track.name(app), "namespace": app.namespace(), "labels": labels,
            "ownerReferences": controller_reference(app)},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "web", "image": image,
                    "ports": [{"name": "http", "containerPort": app.int(&["spec", "port"]).unwrap_or(8080)}]}]},
            },
        },
    })
}
