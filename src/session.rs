//! One run on the page: owns the recording and is the only one who changes it. Views read signals.
//!
//! One signal for each rate of change: the picture changes by event, `now` by frame.

mod boot;
mod lesson;
mod link;
mod navigate;

use crate::i18n::{Lang, Skin, Text, Theme, Words};
use crate::model::console::Transcript;
use crate::model::lanes::Lanes;
use crate::model::number::scaled;
use crate::model::objects::ObjectId;
use crate::model::same::Same;
use crate::route::{Options, Place};
use crate::web;
use engine::command::Command;
use engine::event::Record;
use engine::ids::EventId;
use engine::recording::{Direction, Recording, Unit};
use engine::scenario::Scenario;
use engine::scene::Scene;
use engine::time::{SimTime, Span};
use leptos::prelude::*;
use std::sync::Arc;

/// A longer pause between two pictures does not count: the reader was away.
const FRAME_MAX_MS: f64 = 100.0;
/// Steps of the model in one slice of looking ahead: a few milliseconds.
const SLICE_STEPS: usize = 150;
/// How much further a run goes when it is played past its end.
const EXTENSION: Span = Span::secs(30);

/// Speeds are powers of two.
pub const SPEED_MIN: i32 = -6;
pub const SPEED_MAX: i32 = 6;

/// The run and what is worked out beside it.
pub struct Run {
    pub recording: Recording,
    pub lanes: Lanes,
    /// What was typed and printed.
    pub transcript: Transcript,
    /// What the run was begun with.
    pub scenario: Scenario,
    /// Its name in the library; empty for the reader's own.
    pub library: String,
}

/// Where the cursor stands in what is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    pub cursor: usize,
    pub known: usize,
    /// Where the timeline ends.
    pub end: SimTime,
    pub branches: usize,
}

/// Something the reader is told above the stage.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    pub text: String,
    /// A scenario that is offered instead.
    pub offer: Option<String>,
}

/// See the module's text.
#[derive(Clone, Copy)]
pub struct Session {
    run: StoredValue<Run, LocalStorage>,
    pub scene: RwSignal<Same<Scene>>,
    pub now: RwSignal<SimTime>,
    pub extent: RwSignal<Extent>,
    /// Grows when the lanes have changed.
    pub lanes: RwSignal<u32>,
    /// Grows when another run begins.
    pub edition: RwSignal<u32>,
    pub playing: RwSignal<bool>,
    pub speed: RwSignal<i32>,
    pub object: RwSignal<Option<ObjectId>>,
    pub record: RwSignal<Option<EventId>>,
    pub notice: RwSignal<Option<Notice>>,
    pub lang: RwSignal<Lang>,
    pub theme: RwSignal<Theme>,
    pub skin: RwSignal<Skin>,
    pub narrow: RwSignal<bool>,
    pub help: RwSignal<bool>,
    pub place: RwSignal<Place>,
    /// What the address asked for beside the place.
    pub options: StoredValue<Options>,
    /// Where playing begins, where it ends if not at the end, and whether it begins again then.
    range: StoredValue<(SimTime, Option<SimTime>, bool)>,
    /// The reader acts outside the script of a lesson.
    pub off_script: RwSignal<bool>,
    following: StoredValue<Option<lesson::Following>>,
    frames: StoredValue<u32>,
}

/// The session of the page.
pub fn use_session() -> Session {
    expect_context::<Session>()
}

impl Session {
    pub fn new(scenario: Scenario, library: &str) -> Self {
        let (scene, extent) = (RwSignal::new(Same(Arc::default())), RwSignal::new(Extent::default()));
        let (lanes, edition, playing) = (RwSignal::new(0), RwSignal::new(0), RwSignal::new(false));
        let session = Session {
            run: StoredValue::new_local(Run::new(scenario, library)),
            scene,
            now: RwSignal::new(SimTime::ZERO),
            extent,
            lanes,
            edition,
            playing,
            speed: RwSignal::new(-1),
            object: RwSignal::new(None),
            record: RwSignal::new(None),
            notice: RwSignal::new(None),
            lang: RwSignal::new(Lang::En),
            theme: RwSignal::new(Theme::Light),
            skin: RwSignal::new(Skin::Cluster),
            narrow: RwSignal::new(false),
            help: RwSignal::new(false),
            place: RwSignal::new(Place::Sandbox),
            options: StoredValue::new(Options::default()),
            range: StoredValue::new((SimTime::ZERO, None, false)),
            off_script: RwSignal::new(false),
            following: StoredValue::new(None),
            frames: StoredValue::new(0),
        };
        session.begin();
        session
    }

    /// The words of the language, and of the skin.
    pub fn t(&self) -> &'static Text {
        self.lang.get().text()
    }
    /// The words of the home page, lessons and embedding.
    pub fn h(&self) -> &'static crate::i18n::home::Home {
        crate::i18n::home::of(self.lang.get())
    }
    fn h_untracked(&self) -> &'static crate::i18n::home::Home {
        crate::i18n::home::of(self.lang.get_untracked())
    }
    pub fn w(&self) -> &'static Words {
        Words::of(self.lang.get(), self.skin.get())
    }

    /// Reads from the run.
    pub fn read<R>(&self, read: impl FnOnce(&Run) -> R) -> R {
        self.run.with_value(read)
    }

    pub fn with_record<R>(&self, index: usize, read: impl FnOnce(&Record) -> R) -> Option<R> {
        self.read(|run| run.recording.records().get(index).map(read))
    }

    /// Changes the run and shows what became of it.
    fn change(&self, change: impl FnOnce(&mut Run)) {
        self.run.update_value(|run| {
            change(run);
            run.transcript.catch_up(run.recording.records());
            if run.lanes.catch_up(run.recording.records()) {
                self.lanes.update(|n| *n += 1);
            }
        });
        self.sync();
    }

    fn sync(&self) {
        let (scene, now, mut extent) = self.read(|run| {
            let r = &run.recording;
            let extent = Extent {
                cursor: r.cursor(),
                known: r.records().len(),
                end: SimTime::ZERO,
                branches: r.branches().len(),
            };
            (Same(r.scene()), r.now(), extent)
        });
        let end = self.extent.with_untracked(|e| e.end);
        extent.end = if now >= end { now.max(end) } else { end };
        if self.scene.with_untracked(|old| *old != scene) {
            self.scene.set(scene);
        }
        if self.now.get_untracked() != now {
            self.now.set(now);
        }
        if self.extent.get_untracked() != extent {
            self.extent.set(extent);
        }
    }

    /// Shows a run from its beginning.
    fn begin(&self) {
        self.pause();
        let end = self.read(|run| run.scenario.until);
        self.extent.set(Extent { end, ..Extent::default() });
        self.object.set(None);
        self.record.set(None);
        self.edition.update(|n| *n += 1);
        self.change(|_| ());
        self.look_ahead();
    }

    /// Begins another run.
    pub fn load(&self, scenario: Scenario, library: &str) {
        self.run.set_value(Run::new(scenario, library));
        self.begin();
    }

    /// Works out the run up to the timeline's end in small slices, so that the future can be drawn.
    fn look_ahead(&self) {
        let (session, edition) = (*self, self.edition.get_untracked());
        web::soon(move || {
            if session.edition.get_untracked() != edition {
                return;
            }
            let end = session.extent.with_untracked(|e| e.end);
            let mut done = false;
            session.change(|run| done = run.recording.foresee(end, SLICE_STEPS));
            if !done {
                session.look_ahead();
            }
        });
    }

    pub fn toggle(&self) {
        if self.playing.get_untracked() { self.pause() } else { self.play() }
    }

    pub fn pause(&self) {
        self.playing.set(false);
        self.frames.update_value(|n| *n += 1);
    }

    pub fn play(&self) {
        let end = self.extent.with_untracked(|e| e.end);
        if self.now.get_untracked() >= end {
            self.extent.update(|e| e.end = end + EXTENSION);
            self.look_ahead();
        }
        self.pause();
        self.playing.set(true);
        self.frame(web::clock(), self.frames.get_value());
    }

    fn frame(&self, last: f64, turn: u32) {
        let session = *self;
        web::next_frame(move || {
            if session.frames.get_value() != turn {
                return;
            }
            let clock = web::clock();
            let passed = (clock - last).clamp(0.0, FRAME_MAX_MS);
            let span = scaled((passed * 1_000.0) as u64, session.speed.get_untracked());
            let (from, stop, looped) = session.range.get_value();
            let end = session.extent.with_untracked(|e| e.end).min(stop.unwrap_or(SimTime(u64::MAX)));
            let to = (session.now.get_untracked() + span).min(end);
            session.change(|run| run.recording.advance_to(to));
            if to < end || looped {
                if to >= end {
                    session.seek(from);
                }
                session.frame(clock, turn);
            } else {
                session.pause();
            }
        });
    }

    pub fn faster(&self, by: i32) {
        self.speed.update(|e| *e = (*e + by).clamp(SPEED_MIN, SPEED_MAX));
    }

    /// Moves to an instant.
    pub fn seek(&self, at: SimTime) {
        self.change(|run| run.recording.seek(at));
    }

    /// Moves to an instant and stops there.
    pub fn visit(&self, at: SimTime) {
        self.pause();
        self.seek(at);
    }

    pub fn step(&self, direction: Direction, unit: Unit) {
        self.pause();
        self.change(|run| run.recording.step(direction, unit));
        let last = self.read(|run| run.recording.cursor()) as u64;
        self.record.set(Some(EventId(last)).filter(|id| id.0 > 0));
        let now = self.now.get_untracked();
        if now > self.extent.with_untracked(|e| e.end) {
            self.extent.update(|e| e.end = now);
        }
    }

    /// Stands right after a record, and looks at it.
    pub fn visit_record(&self, id: EventId) {
        self.pause();
        self.change(|run| run.recording.seek_event(usize::try_from(id.0).unwrap_or(0)));
        self.record.set(Some(id));
    }

    /// Does something to the cluster now.
    pub fn submit(&self, command: Command) {
        // Whoever acts wants to see what becomes of it, not the beginning again.
        self.range.set_value((SimTime::ZERO, None, false));
        self.change(|run| run.recording.submit(command));
        let now = self.now.get_untracked();
        self.extent.update(|e| e.end = e.end.max(now + EXTENSION));
        self.look_ahead();
    }

    /// Takes up the future that was left last; the present one takes its place.
    pub fn other_future(&self) {
        self.pause();
        self.change(|run| {
            if let Some(last) = run.recording.branches().len().checked_sub(1) {
                run.recording.switch_branch(last);
            }
        });
        self.look_ahead();
    }

    #[must_use]
    pub fn trace_hash(&self) -> String {
        format!("{:016x}", self.read(|run| run.recording.trace_hash()))
    }
}

impl Run {
    fn new(scenario: Scenario, library: &str) -> Self {
        Run {
            recording: Recording::of(&scenario),
            lanes: Lanes::default(),
            transcript: Transcript::default(),
            scenario,
            library: library.to_string(),
        }
    }
}
