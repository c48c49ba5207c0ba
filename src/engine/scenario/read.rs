//! From a document to a [`Scenario`], with the path of every field that is wrong.

use super::expect::{Expectation, Selection, Subject, Test, When};
use super::*;
use crate::manifest::{self, ManifestError};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// Why a document is not a scenario that can be played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScenarioError {
    /// The text is not YAML or JSON.
    Text(ManifestError),
    /// A document of another kind: objects to be applied, perhaps.
    NotAScenario,
    Field {
        path: String,
        message: String,
    },
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScenarioError::Text(error) => error.fmt(f),
            ScenarioError::NotAScenario => {
                write!(f, "not a scenario: one document with apiVersion {API_VERSION} and kind {KIND} is expected")
            }
            ScenarioError::Field { path, message } => write!(f, "{path}: {message}"),
        }
    }
}
impl std::error::Error for ScenarioError {}

impl Scenario {
    /// Reads a text that holds one scenario document.
    pub fn parse(text: &str) -> Result<Scenario, ScenarioError> {
        let documents = manifest::parse(text).map_err(ScenarioError::Text)?;
        match documents.as_slice() {
            [one] => Scenario::from_value(&one.value),
            _ => Err(ScenarioError::NotAScenario),
        }
    }

    /// Reads a document that is already parsed.
    pub fn from_value(document: &Value) -> Result<Scenario, ScenarioError> {
        let root = Field { value: document, path: String::new() };
        let api_version = root.optional("apiVersion").map_or(Ok(""), |v| v.text())?;
        let group = API_VERSION.split('/').next().unwrap_or("");
        if document.get("kind").and_then(Value::as_str) != Some(KIND) || !api_version.starts_with(group) {
            return Err(ScenarioError::NotAScenario);
        }
        if api_version != API_VERSION {
            return root.must("apiVersion")?.wrong(format!("this version reads {API_VERSION}"));
        }
        root.only(&["apiVersion", "kind", "metadata", "spec"])?;
        let spec = root.must("spec")?;
        spec.only(&[
            "title",
            "intro",
            "seed",
            "cluster",
            "operators",
            "manifests",
            "actions",
            "until",
            "expect",
            "cases",
        ])?;
        let mut scenario = Scenario::of_manifests(&name(&root)?, Vec::new(), Vec::new());
        read_texts(&spec, &mut scenario)?;
        if let Some(cluster) = spec.optional("cluster") {
            read_cluster(&cluster, &mut scenario)?;
        }
        if let Some(operators) = spec.optional("operators") {
            scenario.operators = operators.texts(OPERATORS_MAX)?;
        }
        if let Some(manifests) = spec.optional("manifests") {
            scenario.manifests = objects(&manifests)?;
        }
        if let Some(cases) = spec.optional("cases") {
            scenario.cases = cases.texts(CASES_MAX)?;
        }
        if let Some(until) = spec.optional("until") {
            scenario.until = until.time()?;
        }
        for action in spec.optional("actions").map_or(Ok(Vec::new()), |a| a.list(ACTIONS_MAX))? {
            scenario.actions.push(Action { at: action.must("at")?.time()?, command: command(&action)? });
        }
        scenario.actions.sort_by_key(|action| action.at);
        for expectation in spec.optional("expect").map_or(Ok(Vec::new()), |e| e.list(EXPECTATIONS_MAX))? {
            scenario.expect.push(read_expectation(&expectation)?);
        }
        Ok(scenario)
    }
}

fn name(root: &Field) -> Result<String, ScenarioError> {
    let name = root.must("metadata")?.must("name")?;
    let text = name.text()?;
    let fits = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-' || c == b'.';
    if text.is_empty() || text.len() > 253 || !text.bytes().all(fits) {
        return name.wrong("a name has 1 to 253 lower case letters, digits, dots and dashes");
    }
    Ok(text.to_string())
}

fn read_texts(spec: &Field, scenario: &mut Scenario) -> Result<(), ScenarioError> {
    for (field, slot) in [("title", &mut scenario.title), ("intro", &mut scenario.intro)] {
        let Some(texts) = spec.optional(field) else { continue };
        texts.only(&["en", "zh"])?;
        for (language, slot) in [("en", &mut slot.en), ("zh", &mut slot.zh)] {
            let Some(text) = texts.optional(language) else { continue };
            *slot = text.text()?.to_string();
            if slot.chars().count() > TEXT_CHARS_MAX {
                return text.wrong(format!("longer than {TEXT_CHARS_MAX} characters"));
            }
        }
    }
    if let Some(seed) = spec.optional("seed") {
        scenario.seed = seed.number()?;
    }
    Ok(())
}

fn read_cluster(cluster: &Field, scenario: &mut Scenario) -> Result<(), ScenarioError> {
    cluster.only(&["nodes", "off", "knobs"])?;
    if let Some(nodes) = cluster.optional("nodes") {
        scenario.nodes = match nodes.value.as_u64() {
            Some(n) if n > NODES_MAX as u64 => return nodes.wrong(format!("at most {NODES_MAX} nodes")),
            Some(n) => (0..n).map(node_name).collect(),
            None => nodes.texts(NODES_MAX)?,
        };
    }
    if let Some(off) = cluster.optional("off") {
        scenario.off = off.texts(NODES_MAX)?.into_iter().collect();
    }
    let Some(knobs) = cluster.optional("knobs") else { return Ok(()) };
    let Value::Object(map) = knobs.value else { return knobs.wrong("a mapping from knob to number is expected") };
    for name in map.keys() {
        let knob = knobs.must(name)?;
        let Some(value) = knob.value.as_i64() else { return knob.wrong("a whole number is expected") };
        scenario.knobs.set(name, value).or_else(|message| knob.wrong(message))?;
    }
    Ok(())
}

/// node-a, node-b, …, node-z, node-26, …
fn node_name(index: u64) -> String {
    match u8::try_from(index) {
        Ok(letter) if letter < 26 => format!("node-{}", char::from(b'a' + letter)),
        _ => format!("node-{index}"),
    }
}

/// Objects written as a list or as the text of a manifest.
fn objects(field: &Field) -> Result<Vec<Object>, ScenarioError> {
    if let Value::String(text) = field.value {
        return manifest::parse_objects(text).or_else(|error| field.wrong(error.to_string()));
    }
    let mut objects = Vec::new();
    for object in field.list(manifest::DOCUMENTS_MAX)? {
        manifest::check_object(object.value).or_else(|message| object.wrong(message))?;
        objects.push(Arc::new(object.value.clone()));
    }
    Ok(objects)
}

/// An action is the command's own fields beside `at`.
fn command(action: &Field) -> Result<Command, ScenarioError> {
    let Value::Object(given) = action.value else { return action.wrong("a mapping is expected") };
    let mut fields = given.clone();
    fields.remove("at");
    if let Some(manifests) = action.optional("manifests") {
        let objects = objects(&manifests)?.iter().map(|o| o.as_ref().clone()).collect();
        fields.insert("manifests".to_string(), Value::Array(objects));
    }
    if fields.get("do").and_then(Value::as_str) == Some("killPod") {
        fields.entry("namespace").or_insert_with(|| Value::from("default"));
    }
    let command: Command = match serde_json::from_value(Value::Object(fields.clone())) {
        Ok(command) => command,
        Err(error) => return action.wrong(error.to_string()),
    };
    // A field the command does not know would be lost in silence; what it knows it writes back.
    let known = serde_json::to_value(&command).unwrap_or_default();
    match fields.iter().find(|(name, value)| known.get(name.as_str()).is_none() && !is_empty(value)) {
        Some((unknown, _)) => action.wrong(format!("unknown field {unknown:?} for this action")),
        None => Ok(command),
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

fn read_expectation(field: &Field) -> Result<Expectation, ScenarioError> {
    field.only(&["at", "eventually", "always", "that"])?;
    let found: Vec<When> =
        [("at", When::At as fn(SimTime) -> When), ("eventually", When::Eventually), ("always", When::Always)]
            .into_iter()
            .filter_map(|(name, when)| field.optional(name).map(|f| f.time().map(when)))
            .collect::<Result<_, _>>()?;
    let [when] = found.as_slice() else {
        return field.wrong("exactly one of at, eventually (until when) or always (from when) is expected");
    };
    let that = field.must("that")?;
    let subject = read_subject(&that)?;
    let number = |name: &str| that.optional(name).map(|f| f.number()).transpose();
    let mut tests = Vec::new();
    tests.extend(that.optional("equals").map(|f| Test::Equals(f.value.clone())));
    if let Some(exists) = that.optional("exists") {
        match exists.value {
            Value::Bool(b) => tests.push(Test::Exists(*b)),
            _ => return exists.wrong("true or false is expected"),
        }
    }
    tests.extend(number("count")?.map(Test::Count));
    tests.extend(number("atLeast")?.map(Test::AtLeast));
    tests.extend(number("atMost")?.map(Test::AtMost));
    let [test] = tests.as_slice() else {
        return that.wrong("exactly one of equals, exists, count, atLeast or atMost is expected");
    };
    if matches!((&subject, test), (Subject::Heard(_), Test::Equals(_))) {
        return that.wrong("what is counted has no value: count, atLeast, atMost or exists is expected");
    }
    Ok(Expectation { when: *when, subject, test: test.clone() })
}

const TESTS: [&str; 5] = ["equals", "exists", "count", "atLeast", "atMost"];

/// What is spoken of: objects by their kind, or what was answered, printed or written.
fn read_subject(that: &Field) -> Result<Subject, ScenarioError> {
    let text = |name: &str| that.optional(name).map_or(Ok(String::new()), |f| f.text().map(str::to_string));
    let only = |own: &[&str]| that.only(&[own, &TESTS].concat());
    if let Some(code) = that.optional("answered") {
        only(&["answered", "user", "says"])?;
        let Ok(code) = u16::try_from(code.number()?) else { return code.wrong("an HTTP status code is expected") };
        return Ok(Subject::Heard(Heard::Answered { code, user: text("user")?, says: text("says")? }));
    }
    if that.optional("printed").is_some() {
        only(&["printed"])?;
        return Ok(Subject::Heard(Heard::Printed { says: text("printed")? }));
    }
    if let Some(wrote) = that.optional("wrote") {
        only(&["wrote", "kind", "namespace", "name"])?;
        let what = wrote.text()?.to_string();
        if !["", "ADDED", "MODIFIED", "DELETED"].contains(&what.as_str()) {
            return wrote.wrong("ADDED, MODIFIED or DELETED is expected");
        }
        let (kind, namespace, name) = (text("kind")?, text("namespace")?, text("name")?);
        return Ok(Subject::Heard(Heard::Wrote { what, kind, namespace, name }));
    }
    only(&["kind", "apiVersion", "name", "namespace", "path"])?;
    Ok(Subject::Objects(Selection {
        kind: that.must("kind")?.text()?.to_string(),
        api_version: text("apiVersion")?,
        namespace: text("namespace")?,
        name: text("name")?,
        path: text("path")?,
    }))
}

/// A value and where it stands in the document.
struct Field<'a> {
    value: &'a Value,
    path: String,
}

impl<'a> Field<'a> {
    fn wrong<T>(&self, message: impl Into<String>) -> Result<T, ScenarioError> {
        Err(ScenarioError::Field { path: self.path.clone(), message: message.into() })
    }

    fn under(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_string() } else { format!("{}.{name}", self.path) }
    }

    /// An absent field and an explicit null are the same.
    fn optional(&self, name: &str) -> Option<Field<'a>> {
        let value = self.value.get(name).filter(|v| !v.is_null())?;
        Some(Field { value, path: self.under(name) })
    }

    fn must(&self, name: &str) -> Result<Field<'a>, ScenarioError> {
        match self.optional(name) {
            Some(field) => Ok(field),
            None => Err(ScenarioError::Field { path: self.under(name), message: "required".to_string() }),
        }
    }

    fn only(&self, known: &[&str]) -> Result<(), ScenarioError> {
        let Value::Object(map) = self.value else { return self.wrong("a mapping is expected") };
        match map.keys().find(|name| !known.contains(&name.as_str())) {
            Some(name) => {
                let message = format!("unknown field; known are {}", known.join(", "));
                Err(ScenarioError::Field { path: self.under(name), message })
            }
            None => Ok(()),
        }
    }

    fn text(&self) -> Result<&'a str, ScenarioError> {
        self.value.as_str().map_or_else(|| self.wrong("text is expected"), Ok)
    }

    fn number(&self) -> Result<u64, ScenarioError> {
        self.value.as_u64().map_or_else(|| self.wrong("a whole number from 0 up is expected"), Ok)
    }

    fn time(&self) -> Result<SimTime, ScenarioError> {
        let Some(span) = self.value.as_str().and_then(parse_duration) else {
            return self.wrong("a time such as 3s, 500ms or 1m30s is expected");
        };
        if span > UNTIL_MAX {
            return self.wrong(format!("at most {}", show_duration(UNTIL_MAX)));
        }
        Ok(SimTime::ZERO + span)
    }

    fn list(&self, max: usize) -> Result<Vec<Field<'a>>, ScenarioError> {
        let Value::Array(items) = self.value else { return self.wrong("a list is expected") };
        if items.len() > max {
            return self.wrong(format!("at most {max} entries"));
        }
        Ok(items.iter().enumerate().map(|(i, value)| Field { value, path: format!("{}[{i}]", self.path) }).collect())
    }

    fn texts(&self, max: usize) -> Result<Vec<String>, ScenarioError> {
        self.list(max)?.iter().map(|item| item.text().map(str::to_string)).collect()
    }
}
