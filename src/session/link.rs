//! The run as a link, and a link as a run.

use super::{Notice, Session};
use crate::i18n::{Lang, Skin};
use crate::web;
use engine::command::Command;
use engine::ids::EventId;
use engine::scenario::{Action, Scenario};
use engine::share::{self, ShareError, SharedRun, Source};
use engine::time::SimTime;
use leptos::prelude::*;

impl Session {
    /// Writes the run so far into the address and gives it back.
    ///
    /// # Errors
    /// When the run is too large for a link.
    pub fn share(&self) -> Result<String, ShareError> {
        let link = share::encode(&self.shared())?;
        let address = web::address::with_fragment(&link);
        web::address::replace(&address);
        web::address::copy(&address);
        Ok(address)
    }

    fn shared(&self) -> SharedRun {
        self.read(|run| {
            let r = &run.recording;
            let (kept, commands) = split(&run.scenario, r.commands());
            let whole = kept.len() == run.scenario.actions.len() && engine::library::load(&run.library).is_some();
            let source = if whole {
                Source::Library(run.library.clone())
            } else {
                Source::Own(Box::new(Scenario { actions: kept, ..run.scenario.clone() }))
            };
            let settled = r.records().partition_point(|record| record.at <= r.now()) == r.cursor();
            SharedRun {
                source,
                seed: run.scenario.seed,
                commands,
                at: r.now(),
                record: EventId(if settled { 0 } else { r.cursor() as u64 }),
                hash: r.trace_hash(),
                language: self.lang.get_untracked().code().to_string(),
                view: self.skin.get_untracked().code().to_string(),
            }
        })
    }

    pub(super) fn open_shared(&self, shared: SharedRun) -> Result<(), ShareError> {
        let (scenario, library) = match shared.source {
            Source::Own(scenario) => (*scenario, String::new()),
            Source::Library(name) => match engine::library::load(&name) {
                Some(Ok(scenario)) => (scenario, name),
                _ => {
                    let message = format!("the library has no scenario {name:?}");
                    return Err(ShareError::Unplayable { path: "s".to_string(), message });
                }
            },
        };
        if let Some(lang) = Lang::of(&shared.language) {
            self.lang.set(lang);
        }
        self.skin.set(Skin::of(&shared.view));
        self.load(Scenario { seed: shared.seed, ..scenario }, &library);
        self.change(|run| {
            for (at, command) in shared.commands {
                run.recording.seek(SimTime(at.0.saturating_sub(1)));
                run.recording.submit(command);
            }
            run.recording.seek(shared.at);
            if shared.record.0 > 0 {
                run.recording.seek_event(usize::try_from(shared.record.0).unwrap_or(0));
            }
        });
        let (at, hash) = (self.now.get_untracked(), self.read(|run| run.recording.trace_hash()));
        self.extent.update(|e| e.end = e.end.max(at));
        if shared.hash != 0 && shared.hash != hash {
            let text = self.lang.get_untracked().text().link_differs.to_string();
            self.notice.set(Some(Notice { text, offer: None }));
        }
        self.look_ahead();
        Ok(())
    }
}

/// The scenario's own actions that are still part of the run, and what the reader did beside them.
pub(super) fn split(scenario: &Scenario, commands: &[(SimTime, Command)]) -> (Vec<Action>, Vec<(SimTime, Command)>) {
    let mut rest: Vec<_> = commands.to_vec();
    let mut take =
        |wanted: &(SimTime, Command)| rest.iter().position(|c| c == wanted).map(|i| rest.remove(i)).is_some();
    let mut kept = Vec::new();
    let applied = usize::from(!scenario.manifests.is_empty());
    for (i, command) in scenario.commands().enumerate() {
        let there = take(&command);
        if i >= applied && there {
            kept.push(Action { at: command.0, command: command.1 });
        }
    }
    (kept, rest)
}
