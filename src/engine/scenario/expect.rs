//! What a scenario promises, and the judge who looks on while it is played.
//!
//! Flow: after every step [`Judge::look`] is shown the objects as they stand; [`Judge::finish`] gives the verdicts.
//! An expectation speaks of the objects of one kind, narrowed by name and namespace. With a path, `equals` holds when at least one object
//! is there and all have that value; `exists` when an object has (or, negated, none has) the field; the counts count objects that have it.
//! Or it counts what has happened since the run began: requests that were answered with a code, words that kubectl printed, writes of a
//! kind. The judge hears of those by [`Judge::hear`].

use super::heard::Heard;
use crate::event::Record;
use crate::object::{Object, ObjectView};
use crate::time::SimTime;
use serde_json::Value;

/// When an expectation must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// At this instant, after everything due then has happened.
    At(SimTime),
    /// At some instant up to this one.
    Eventually(SimTime),
    /// From this instant to the end of the run.
    Always(SimTime),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    Equals(Value),
    Exists(bool),
    Count(u64),
    AtLeast(u64),
    AtMost(u64),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    pub when: When,
    pub subject: Subject,
    pub test: Test,
}

/// What an expectation speaks of.
#[derive(Clone, Debug, PartialEq)]
pub enum Subject {
    Objects(Selection),
    Heard(Heard),
}

/// Objects of one kind; what is empty matches any.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    pub kind: String,
    pub api_version: String,
    pub namespace: String,
    pub name: String,
    /// `status.conditions[Ready]`, `spec.containers[0].image`, `metadata.labels['a.b/c']`; empty means the object itself.
    pub path: String,
}

impl Expectation {
    /// Whether it holds of these objects, after `heard` records that it speaks of.
    #[must_use]
    pub fn holds<'a>(&self, objects: impl Iterator<Item = &'a Object>, heard: u64) -> bool {
        match &self.subject {
            Subject::Objects(selection) => self.holds_of(selection, objects),
            Subject::Heard(_) => self.counts(heard),
        }
    }

    fn holds_of<'a>(&self, selection: &Selection, objects: impl Iterator<Item = &'a Object>) -> bool {
        let mut all_equal = true;
        let (mut matching, mut with_field) = (0_u64, 0_u64);
        for object in objects.filter(|o| selection.speaks_of(o)) {
            matching += 1;
            let found = lookup(object, &selection.path);
            with_field += u64::from(found.is_some());
            if let Test::Equals(wanted) = &self.test {
                all_equal &= found == Some(wanted);
            }
        }
        match self.test {
            Test::Equals(_) => matching > 0 && all_equal,
            _ => self.counts(with_field),
        }
    }

    fn counts(&self, found: u64) -> bool {
        match self.test {
            // A number has no value to be equal to; the reader refuses it.
            Test::Equals(_) => false,
            Test::Exists(yes) => (found > 0) == yes,
            Test::Count(n) => found == n,
            Test::AtLeast(n) => found >= n,
            Test::AtMost(n) => found <= n,
        }
    }
}

impl Selection {
    fn speaks_of(&self, object: &Object) -> bool {
        let fits = |wanted: &str, found: &str| wanted.is_empty() || wanted == found;
        fits(&self.kind, object.kind())
            && fits(&self.api_version, object.text(&["apiVersion"]))
            && fits(&self.namespace, object.namespace())
            && fits(&self.name, object.name())
    }
}

/// The value at a path. `conditions[Type]` is that condition's status.
fn lookup<'a>(object: &'a Value, path: &str) -> Option<&'a Value> {
    let mut at = object;
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('[') {
            let (index, after) = inner.split_once(']')?;
            at = index_into(at, index)?;
            rest = after.strip_prefix('.').unwrap_or(after);
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            at = at.get(&rest[..end])?;
            rest = rest[end..].strip_prefix('.').unwrap_or(&rest[end..]);
        }
    }
    Some(at)
}

fn index_into<'a>(value: &'a Value, index: &str) -> Option<&'a Value> {
    if let Some(key) = index.strip_prefix('\'').and_then(|k| k.strip_suffix('\'')) {
        return value.get(key);
    }
    let items = value.as_array()?;
    match index.parse::<usize>() {
        Ok(i) => items.get(i),
        Err(_) => items.iter().find(|c| c.get("type").and_then(Value::as_str) == Some(index))?.get("status"),
    }
}

/// How one expectation came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Held,
    /// `at` and `eventually`: not at that instant. `always`: broken first at that instant.
    Failed(SimTime),
    /// The run ended before it could be judged.
    NotReached,
}

/// Follows a run and keeps the verdict of each expectation.
#[derive(Clone, Debug)]
pub struct Judge {
    pending: Vec<Pending>,
}

#[derive(Clone, Debug)]
struct Pending {
    expectation: Expectation,
    verdict: Option<Verdict>,
    heard: u64,
}

impl Judge {
    #[must_use]
    pub fn new(expectations: &[Expectation]) -> Self {
        let pending = |e: &Expectation| Pending { expectation: e.clone(), verdict: None, heard: 0 };
        Judge { pending: expectations.iter().map(pending).collect() }
    }

    /// Hears of a record, before it looks at what became of it.
    pub fn hear(&mut self, record: &Record) {
        for pending in &mut self.pending {
            if let Subject::Heard(heard) = &pending.expectation.subject {
                pending.heard += u64::from(heard.fits(&record.event));
            }
        }
    }

    /// Shows the objects as they stand from `now` until just before `next`.
    pub fn look<'a, I: Iterator<Item = &'a Object>>(&mut self, now: SimTime, next: SimTime, objects: impl Fn() -> I) {
        for Pending { expectation, verdict, heard } in self.pending.iter_mut().filter(|p| p.verdict.is_none()) {
            let holds = || expectation.holds(objects(), *heard);
            *verdict = match expectation.when {
                When::At(at) if now <= at && at < next => {
                    Some(if holds() { Verdict::Held } else { Verdict::Failed(at) })
                }
                When::Eventually(_) if holds() => Some(Verdict::Held),
                When::Eventually(at) if at < next => Some(Verdict::Failed(at)),
                When::Always(from) if from < next && !holds() => Some(Verdict::Failed(now.max(from))),
                _ => None,
            };
        }
    }

    /// The verdicts, in the order of the document, for a run that ended at `now`.
    #[must_use]
    pub fn finish(self, now: SimTime) -> Vec<(Expectation, Verdict)> {
        let ended = |e: &Expectation| match e.when {
            When::Always(from) if from <= now => Verdict::Held,
            When::At(_) | When::Eventually(_) | When::Always(_) => Verdict::NotReached,
        };
        let judged = |p: Pending| (p.verdict.unwrap_or_else(|| ended(&p.expectation)), p.expectation);
        self.pending.into_iter().map(judged).map(|(verdict, expectation)| (expectation, verdict)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::sync::Arc;

    fn pod(name: &str, ready: &str) -> Object {
        Arc::new(json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": "default", "labels": {"a.b/c": "d"}},
            "spec": {"containers": [{"image": "x:1"}]}, "status": {"conditions": [{"type": "Ready", "status": ready}]}}))
    }
    fn that(path: &str, test: Test, when: When) -> Expectation {
        let selection = Selection { kind: "Pod".into(), path: path.into(), ..Selection::default() };
        Expectation { when, subject: Subject::Objects(selection), test }
    }

    #[test]
    fn paths_reach_lists_conditions_and_dotted_keys() {
        let pod = pod("a", "True");
        for (path, wanted) in [
            ("status.conditions[Ready]", json!("True")),
            ("spec.containers[0].image", json!("x:1")),
            ("metadata.labels['a.b/c']", json!("d")),
        ] {
            assert_eq!(lookup(&pod, path), Some(&wanted), "{path}");
        }
        for path in ["status.conditions[Gone]", "spec.containers[9]", "a[", "spec.containers[x", "..", "["] {
            assert_eq!(lookup(&pod, path), None, "{path}");
        }
    }

    #[test]
    fn tests_speak_of_the_objects_they_name() {
        let pods = [pod("a", "True"), pod("b", "False")];
        let now = When::At(SimTime::ZERO);
        let ready = |name: &str| {
            let mut all = that("status.conditions[Ready]", Test::Equals(json!("True")), now);
            if let Subject::Objects(selection) = &mut all.subject {
                selection.name = name.into();
            }
            all
        };
        assert!(ready("a").holds(pods.iter(), 0));
        assert!(!ready("b").holds(pods.iter(), 0));
        assert!(!ready("").holds(pods.iter(), 0));
        assert!(!ready("nobody").holds(pods.iter(), 0));
        assert!(that("", Test::Count(2), now).holds(pods.iter(), 0));
        assert!(!that("", Test::Exists(false), now).holds(pods.iter(), 0));
        assert!(that("spec.nodeName", Test::Exists(false), now).holds(pods.iter(), 0));
        assert!(
            that("", Test::AtMost(2), now).holds(pods.iter(), 0)
                && that("", Test::AtLeast(2), now).holds(pods.iter(), 0)
        );
    }

    #[test]
    fn the_judge_tells_instants_from_spans() {
        let second = |s: u64| SimTime(s * 1_000_000);
        let expectations = [
            that("", Test::Count(1), When::At(second(1))),
            that("", Test::Count(1), When::At(second(3))),
            that("", Test::Count(2), When::Eventually(second(5))),
            that("", Test::Count(3), When::Eventually(second(4))),
            that("", Test::AtMost(1), When::Always(second(0))),
            that("", Test::AtMost(2), When::Always(second(0))),
            that("", Test::Count(2), When::At(second(9))),
        ];
        let mut judge = Judge::new(&expectations);
        let (one, two) = ([pod("a", "True")], [pod("a", "True"), pod("b", "True")]);
        judge.look(second(0), second(2), || one.iter());
        judge.look(second(2), second(6), || two.iter());
        let verdicts: Vec<Verdict> = judge.finish(second(6)).into_iter().map(|(_, v)| v).collect();
        use Verdict::{Failed, Held, NotReached};
        assert_eq!(verdicts, [Held, Failed(second(3)), Held, Failed(second(4)), Failed(second(2)), Held, NotReached]);
    }
}
