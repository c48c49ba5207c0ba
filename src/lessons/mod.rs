//! Lessons: short texts bound to what happens in a run, never to the clock.
//!
//! A step ends with the first record after the step before that shows its sign. So a lesson is at the right step
//! wherever the reader stands in time, and in every future of the run.

mod catalog;
mod catalog_more;
mod progress;
mod sign;

pub use progress::{current, marks};
pub use sign::Sign;

use crate::i18n::Lang;
use engine::command::{Command, FailNext, Failure};
use engine::recording::Recording;
use engine::scenario::Scenario;
use engine::time::SimTime;

/// A text in English and in Chinese.
pub type Both = [&'static str; 2];

#[must_use]
pub fn text(both: &Both, lang: Lang) -> &'static str {
    both[usize::from(lang == Lang::Zh)]
}

/// A part of the stage that a step points at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Kubectl,
    Server,
    Informer,
    Queue,
    Reconcile,
    Nodes,
    Outside,
}

pub struct Step {
    pub part: Part,
    pub text: Both,
    pub until: Sign,
}

/// Something the reader, or a question, does to the run.
pub enum Deed {
    KillPod(&'static str),
    CrashMidReconcile,
    DropWatch,
    Conflicts(u32),
    Kubectl(&'static str),
    Set(&'static str, i64),
}

impl Deed {
    #[must_use]
    pub fn command(&self) -> Command {
        let process = || "operator".to_string();
        match self {
            Deed::KillPod(name) => Command::KillPod { namespace: "default".to_string(), name: (*name).to_string() },
            Deed::CrashMidReconcile => {
                Command::CrashInReconcile { process: process(), after_requests: 1, restart_ms: 1_000 }
            }
            Deed::DropWatch => Command::DropWatch { process: process(), resource: String::new() },
            Deed::Conflicts(count) => Command::FailNext(FailNext {
                failure: Failure::Conflict,
                count: *count,
                process: process(),
                resource: String::new(),
                verb: "write".to_string(),
                name: String::new(),
            }),
            Deed::Kubectl(line) => Command::Kubectl { line: (*line).to_string(), manifests: Vec::new() },
            Deed::Set(knob, value) => Command::Set { knob: (*knob).to_string(), value: *value },
        }
    }
}

/// Asked of the reader, answered by the model: how often the sign shows when the lesson's run goes on to its end.
pub struct Question {
    pub ask: Both,
    /// Done first, at this instant in microseconds.
    pub then: Option<(u64, Deed)>,
    pub count: Sign,
}

pub struct Lesson {
    pub number: u8,
    /// Name in an address.
    pub slug: &'static str,
    pub name: Both,
    pub scenario: &'static str,
    pub intro: Both,
    pub steps: &'static [Step],
    /// One thing to break, and what to look for.
    pub breaks: (Both, Deed),
    pub question: Question,
    /// Scenarios of the library where this goes wrong.
    pub pitfalls: &'static [&'static str],
}

/// Every lesson, in the order of the course.
pub fn all() -> impl Iterator<Item = &'static Lesson> {
    catalog::FIRST.iter().chain(catalog_more::MORE)
}

#[must_use]
pub fn find(slug: &str) -> Option<&'static Lesson> {
    all().find(|lesson| lesson.slug == slug)
}

impl Question {
    /// Runs the scenario to its end, with the deed, and counts.
    #[must_use]
    pub fn answer(&self, scenario: &Scenario) -> usize {
        let mut run = Recording::of(scenario);
        if let Some((at, deed)) = &self.then {
            run.advance_to(SimTime(*at));
            run.submit(deed.command());
        }
        run.advance_to(scenario.until);
        let happened = &run.records()[..run.cursor()];
        happened.iter().filter(|record| self.count.shows(record)).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn played(lesson: &Lesson) -> (Scenario, Recording) {
        let scenario = engine::library::load(lesson.scenario).expect(lesson.slug).expect("it is well formed");
        let mut run = Recording::of(&scenario);
        run.advance_to(scenario.until);
        (scenario, run)
    }

    #[test]
    fn every_step_of_every_lesson_comes_true_in_its_run() {
        let missed = all().filter_map(|lesson| {
            let marks = marks(played(lesson).1.records(), lesson.steps);
            let step = marks.iter().position(Option::is_none)?;
            Some(format!("{}: step {} never ends; marks {marks:?}", lesson.slug, step + 1))
        });
        assert_eq!(missed.collect::<Vec<_>>(), Vec::<String>::new());
    }

    #[test]
    fn every_question_has_an_answer_worth_asking_for() {
        for lesson in all() {
            let (scenario, _) = played(lesson);
            let answer = lesson.question.answer(&scenario);
            assert_eq!(answer, lesson.question.answer(&scenario), "{}", lesson.slug);
            assert!(answer < 200, "{}: {answer}", lesson.slug);
        }
    }

    #[test]
    fn lessons_are_numbered_named_and_point_to_scenarios_that_exist() {
        let numbers: Vec<u8> = all().map(|lesson| lesson.number).collect();
        assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{numbers:?}");
        for lesson in all() {
            assert!((2..=6).contains(&lesson.steps.len()), "{}", lesson.slug);
            for name in lesson.pitfalls {
                assert!(engine::library::load(name).is_some(), "{}: {name}", lesson.slug);
            }
            let texts = lesson.steps.iter().map(|step| &step.text).chain([
                &lesson.name,
                &lesson.intro,
                &lesson.breaks.0,
                &lesson.question.ask,
            ]);
            for [en, zh] in texts {
                assert!(!en.is_empty() && zh.chars().any(|c| c > '\u{2e80}'), "{}: {en} / {zh}", lesson.slug);
            }
        }
    }
}
