//! From a [`Scenario`] back to its document. What has its default value is left out.

use super::expect::{Expectation, Subject, Test, When};
use super::*;
use crate::knobs::KNOBS;
use serde_json::{Map, Value, json};

impl Scenario {
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut spec = Map::new();
        let mut put = |name: &str, value: Value, default: bool| {
            if !default {
                spec.insert(name.to_string(), value);
            }
        };
        put("title", bilingual(&self.title), self.title == Bilingual::default());
        put("intro", bilingual(&self.intro), self.intro == Bilingual::default());
        put("cases", json!(self.cases), self.cases.is_empty());
        put("seed", json!(self.seed), false);
        let cluster = self.cluster();
        put("cluster", json!(cluster), cluster.is_empty());
        put("operators", json!(self.operators), self.operators.is_empty());
        put("manifests", json!(self.manifests), self.manifests.is_empty());
        put("actions", self.actions.iter().map(action).collect(), self.actions.is_empty());
        put("until", time(self.until), false);
        put("expect", self.expect.iter().map(expectation).collect(), self.expect.is_empty());
        json!({"apiVersion": API_VERSION, "kind": KIND, "metadata": {"name": self.name}, "spec": spec})
    }

    fn cluster(&self) -> Map<String, Value> {
        let mut cluster = Map::new();
        if self.nodes != default_nodes() {
            cluster.insert("nodes".to_string(), json!(self.nodes));
        }
        if !self.off.is_empty() {
            cluster.insert("off".to_string(), json!(self.off));
        }
        let turned = KNOBS.iter().filter(|k| self.knobs.get(k.name) != k.default);
        let knobs: Map<String, Value> = turned.map(|k| (k.name.to_string(), json!(self.knobs.get(k.name)))).collect();
        if !knobs.is_empty() {
            cluster.insert("knobs".to_string(), Value::Object(knobs));
        }
        cluster
    }
}

fn bilingual(texts: &Bilingual) -> Value {
    json!({"en": texts.en, "zh": texts.zh})
}

fn time(at: SimTime) -> Value {
    Value::from(show_duration(at - SimTime::ZERO))
}

fn action(action: &Action) -> Value {
    let mut value = serde_json::to_value(&action.command).unwrap_or_default();
    value["at"] = time(action.at);
    value
}

fn expectation(e: &Expectation) -> Value {
    let mut that = subject(&e.subject);
    let (test, value) = match &e.test {
        Test::Equals(value) => ("equals", value.clone()),
        Test::Exists(yes) => ("exists", Value::from(*yes)),
        Test::Count(n) => ("count", Value::from(*n)),
        Test::AtLeast(n) => ("atLeast", Value::from(*n)),
        Test::AtMost(n) => ("atMost", Value::from(*n)),
    };
    that.insert(test.to_string(), value);
    let (when, at) = match e.when {
        When::At(at) => ("at", at),
        When::Eventually(at) => ("eventually", at),
        When::Always(at) => ("always", at),
    };
    let mut value = json!({"that": that});
    value[when] = time(at);
    value
}

fn subject(subject: &Subject) -> Map<String, Value> {
    let texts: Vec<(&str, &str)> = match subject {
        Subject::Objects(o) => vec![
            ("kind", &o.kind),
            ("apiVersion", &o.api_version),
            ("namespace", &o.namespace),
            ("name", &o.name),
            ("path", &o.path),
        ],
        Subject::Heard(Heard::Answered { user, says, .. }) => vec![("user", user), ("says", says)],
        Subject::Heard(Heard::Printed { says }) => vec![("printed", says)],
        Subject::Heard(Heard::Wrote { what, kind, namespace, name }) => {
            vec![("wrote", what), ("kind", kind), ("namespace", namespace), ("name", name)]
        }
    };
    let given = texts.into_iter().filter(|(_, text)| !text.is_empty());
    let mut that: Map<String, Value> = given.map(|(name, text)| (name.to_string(), Value::from(text))).collect();
    if let Subject::Heard(Heard::Answered { code, .. }) = subject {
        that.insert("answered".to_string(), Value::from(*code));
    }
    that
}
