//! Going from place to place: the address follows the reader, and the reader's steps back are followed.

use super::{Notice, Session, boot};
use crate::lessons;
use crate::model::gauge::is_ready;
use crate::route::{Place, Route};
use crate::web;
use engine::command::Command;
use engine::share;
use engine::time::SimTime;
use leptos::prelude::*;

impl Session {
    /// Opens what the address holds and follows the reader's steps back and forward.
    pub fn follow_address(self) {
        let here = move || Route::parse(&web::address::query(), &web::address::fragment());
        self.show(here().place);
        web::address::on_travel(move || self.show(here().place));
    }

    /// Goes to a place, with a step in the history.
    pub fn go(&self, place: Place) {
        let route = Route { place: place.clone(), options: self.options.get_value() };
        web::address::push(&web::address::with_fragment(&route.fragment()));
        self.show(place);
    }

    /// Shows a place without touching the address.
    fn show(&self, place: Place) {
        self.notice.set(None);
        let opened = match &place {
            Place::Home | Place::About => self.begin_library(boot::HOME),
            Place::Sandbox => {
                self.load(boot::sandbox(), boot::SANDBOX);
                true
            }
            Place::Scenario(name) => self.begin_library(name),
            Place::Lesson(slug) => lessons::find(slug).is_some_and(|lesson| self.begin_library(lesson.scenario)),
            Place::Shared(link) => self.open_link(link),
        };
        if !opened {
            if self.notice.with_untracked(Option::is_none) {
                let text = self.h_untracked().no_such_place.to_string();
                self.notice.set(Some(Notice { text, offer: Some(boot::HOME.to_string()) }));
            }
            return self.place.set(Place::Scenario(String::new()));
        }
        let home = place == Place::Home;
        let range = self.options.with_value(|options| (options.from, options.to, options.looped || home));
        self.range.set_value(range);
        let shared = matches!(place, Place::Shared(_));
        self.place.set(place);
        if range.0 > SimTime::ZERO && !shared {
            self.seek(range.0);
        }
        if !shared && self.moves() {
            self.play();
        }
    }

    fn begin_library(&self, name: &str) -> bool {
        let Some(Ok(scenario)) = engine::library::load(name) else { return false };
        self.load(scenario, name);
        true
    }

    fn open_link(&self, link: &str) -> bool {
        match share::decode(link).and_then(|run| self.open_shared(run)) {
            Ok(()) => true,
            Err(error) => {
                let text = self.lang.get_untracked().refusal(&error);
                self.notice.set(Some(Notice { text, offer: Some(boot::HOME.to_string()) }));
                false
            }
        }
    }

    /// Kills a ready pod of the run, at the instant shown or, where there is none yet, when the run has settled.
    pub fn break_something(&self) {
        let ready = |session: &Session| {
            session.scene.with_untracked(|scene| {
                let mut pods = scene.of("", "pods").filter(|(_, pod)| is_ready(pod));
                pods.next().map(|(key, _)| key.clone())
            })
        };
        if ready(self).is_none() {
            self.visit(self.extent.with_untracked(|e| e.end));
        }
        if let Some(key) = ready(self) {
            let (namespace, name) = (key.namespace.to_string(), key.name.to_string());
            self.submit(Command::KillPod { namespace, name });
        }
        let library = self.read(|run| run.library.clone());
        web::address::push(&web::address::with_fragment(&Place::Scenario(library.clone()).fragment()));
        self.place.set(Place::Scenario(library));
        self.play();
    }

    /// Whether things may move by themselves.
    #[must_use]
    pub fn moves(&self) -> bool {
        self.options.with_value(|options| options.motion).unwrap_or_else(|| !web::media::reduced_motion())
    }

    /// Begins a scenario of the library and plays it.
    pub fn load_library(&self, name: &str) {
        self.go(if name == boot::SANDBOX { Place::Sandbox } else { Place::Scenario(name.to_string()) });
    }
}
