//! The lesson that goes with the run: at which step it is, whether the reader has left the script, and the way back.

use super::{Session, link};
use crate::lessons::{self, Lesson, Part};
use crate::route::Place;
use engine::time::SimTime;
use leptos::prelude::*;

/// What is worked out once for every change of the run.
#[derive(Clone, Copy)]
pub struct Following {
    marks: Memo<Vec<Option<usize>>>,
}

impl Session {
    /// The lesson the reader is in.
    #[must_use]
    pub fn lesson(&self) -> Option<&'static Lesson> {
        self.place.with(lesson_of)
    }

    /// Follows the run from now on. Marks are looked for only when more of the run is known or another one begins.
    pub(super) fn follow_lesson(self) {
        let known = Memo::new(move |_| {
            (self.edition.get(), self.extent.with(|e| (e.known, e.branches)), self.place.with(Place::fragment))
        });
        let marks = Memo::new(move |_| {
            // Only a reading makes a memo work out its value and follow what it depends on.
            let _ = known.get();
            self.lesson()
                .map_or_else(Vec::new, |lesson| self.read(|run| lessons::marks(run.recording.records(), lesson.steps)))
        });
        self.following.set_value(Some(Following { marks }));
        Effect::new(move |_| {
            let _ = known.get();
            let off = self.lesson().is_some() && self.first_own_deed().is_some();
            if self.off_script.get_untracked() != off {
                self.off_script.set(off);
            }
        });
    }

    /// The step under way; as many as there are when all are done.
    #[must_use]
    pub fn step_now(&self) -> usize {
        let cursor = self.extent.with(|e| e.cursor);
        self.following.get_value().map_or(0, |f| f.marks.with(|marks| lessons::current(marks, cursor)))
    }

    /// The part of the stage the lesson points at.
    #[must_use]
    pub fn pointed_at(&self) -> Option<Part> {
        self.lesson()?.steps.get(self.step_now()).map(|step| step.part)
    }

    /// Stands where a step has just ended, or as far as the run is known.
    pub fn visit_step(&self, step: usize) {
        let mark = self.following.get_value().and_then(|f| f.marks.with_untracked(|m| m.get(step).copied().flatten()));
        match mark {
            Some(mark) => self.visit_record(engine::ids::EventId(mark as u64)),
            None => self.visit(self.extent.with_untracked(|e| e.end)),
        }
    }

    /// When the reader did something that the script does not have, or undid what it has.
    fn first_own_deed(&self) -> Option<SimTime> {
        self.read(|run| {
            let (_, own) = link::split(&run.scenario, run.recording.commands());
            own.iter().map(|(at, _)| *at).min()
        })
    }

    /// Begins the lesson's run again and goes to where the reader left it.
    pub fn back_to_script(&self) {
        let Some(at) = self.first_own_deed() else { return };
        let (scenario, library) = self.read(|run| (run.scenario.clone(), run.library.clone()));
        self.load(scenario, &library);
        self.seek(SimTime(at.0.saturating_sub(1)));
    }
}

fn lesson_of(place: &Place) -> Option<&'static Lesson> {
    match place {
        Place::Lesson(slug) => lessons::find(slug),
        _ => None,
    }
}
