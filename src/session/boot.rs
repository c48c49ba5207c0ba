//! How a session begins: settings, the home scenario, the empty sandbox.

use super::{SPEED_MAX, SPEED_MIN, Session};
use crate::i18n::{Lang, Skin, Theme};
use crate::web;
use crate::web::keys::Key;
use engine::recording::{Direction, Unit};
use engine::scenario::{Bilingual, Scenario};
use engine::time::SimTime;
use leptos::prelude::*;

/// What runs when nothing was asked for.
pub const HOME: &str = "ordered-rollout";
/// An empty cluster with all operators.
pub const SANDBOX: &str = "sandbox";

#[must_use]
pub fn sandbox() -> Scenario {
    let operators = engine::operators::NAMES.iter().map(ToString::to_string).collect();
    let title = Bilingual { en: "Sandbox".to_string(), zh: "沙盒".to_string() };
    let intro = Bilingual {
        en: "An empty cluster with every operator. Apply your own definitions and resources, then break things."
            .to_string(),
        zh: "一个空集群，所有 Operator 都在。放进你自己的定义和资源，再动手搞破坏。".to_string(),
    };
    Scenario { title, intro, ..Scenario::of_manifests(SANDBOX, Vec::new(), operators) }
}

impl Session {
    /// Makes the session of the page, with the reader's settings, and opens the address.
    pub fn boot() -> Self {
        let session = Session::new(sandbox(), SANDBOX);
        session.settings();
        session.keys();
        web::media::on_hidden(move || session.pause());
        web::expose::offer(move || session.trace_hash(), move || session.now.get_untracked().0 as f64);
        session.follow_lesson();
        session.follow_address();
        session
    }

    fn settings(self) {
        let chinese = if web::media::prefers_chinese() { Lang::Zh } else { Lang::En };
        self.lang.set(web::store::read("lang").and_then(|l| Lang::of(&l)).unwrap_or(chinese));
        let dark = if web::media::prefers_dark() { Theme::Dark } else { Theme::Light };
        self.theme.set(web::store::read("theme").and_then(|t| Theme::of(&t)).unwrap_or(dark));
        self.skin.set(Skin::of(&web::store::read("view").unwrap_or_default()));
        self.narrow.set(web::media::narrow());
        web::media::on_resize(move || {
            if self.narrow.get_untracked() != web::media::narrow() {
                self.narrow.set(web::media::narrow());
            }
        });
        Effect::new(move |_| {
            web::media::mark_root("lang", if self.lang.get() == Lang::Zh { "zh-Hans" } else { "en" });
            web::media::mark_root("data-theme", self.theme.get().code());
            web::media::mark_root("data-view", self.skin.get().code());
        });
    }

    /// Sets a setting and remembers it.
    pub fn set_lang(&self, lang: Lang) {
        self.lang.set(lang);
        web::store::write("lang", lang.code());
    }
    pub fn set_theme(&self, theme: Theme) {
        self.theme.set(theme);
        web::store::write("theme", theme.code());
    }
    pub fn set_skin(&self, skin: Skin) {
        self.skin.set(skin);
        web::store::write("view", skin.code());
    }

    fn keys(self) {
        web::keys::listen(move |key, shift| {
            let unit = if shift { Unit::Reconcile } else { Unit::Event };
            match key {
                Key::Space => self.toggle(),
                Key::Right => self.step(Direction::Forward, unit),
                Key::Left => self.step(Direction::Back, unit),
                Key::Up if self.speed.get_untracked() < SPEED_MAX => self.faster(1),
                Key::Down if self.speed.get_untracked() > SPEED_MIN => self.faster(-1),
                Key::Up | Key::Down => {}
                Key::Home => self.visit(SimTime::ZERO),
                Key::End => self.visit(self.extent.with_untracked(|e| e.end)),
                Key::Help => self.help.update(|on| *on = !*on),
                Key::Escape if self.help.get_untracked() => self.help.set(false),
                Key::Escape => return false,
            }
            true
        });
    }
}
