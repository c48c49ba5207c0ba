//! The console: kubectl lines in, what kubectl prints out, as far as the cursor has come.

mod prompt;
mod screen;
mod sheet;

use crate::model::console::{Need, need};
use crate::session::{Session, use_session};
use engine::command::Command;
use engine::kubectl::{History, Line};
use engine::object::Object;
use leptos::prelude::*;

/// A text that a line waits for: manifests to send, or an object to edit.
#[derive(Clone, PartialEq)]
struct Sheet {
    line: String,
    /// What the text is at the beginning.
    text: String,
    /// The objects that an editor was opened for.
    before: Option<Vec<Object>>,
}

/// What the parts of the console share.
#[derive(Clone, Copy)]
struct Desk {
    session: Session,
    /// How many parts of the transcript were said when it was cleared.
    cleared: RwSignal<usize>,
    said: Memo<usize>,
    running: Memo<usize>,
    sheet: RwSignal<Option<Sheet>>,
    history: StoredValue<History>,
    /// Play goes on only until the commands have ended.
    borrowed: StoredValue<bool>,
}

impl Desk {
    fn new() -> Self {
        let session = use_session();
        let look = move |read: fn(&crate::session::Run, usize) -> usize| {
            session.lanes.track();
            let cursor = session.extent.with(|e| e.cursor);
            session.read(|run| read(run, cursor))
        };
        Desk {
            session,
            cleared: RwSignal::new(0),
            said: Memo::new(move |_| look(|run, cursor| run.transcript.said(cursor))),
            running: Memo::new(move |_| look(|run, cursor| run.transcript.running(cursor))),
            sheet: RwSignal::new(None),
            history: StoredValue::new(History::default()),
            borrowed: StoredValue::new(false),
        }
    }

    fn clear(&self) {
        self.cleared.set(self.said.get_untracked());
    }

    /// A line was entered: carries it out, or asks for the text it needs.
    fn enter(&self, line: &str) {
        let line = line.trim();
        self.history.update_value(|history| history.add(line));
        match need(line) {
            _ if line.is_empty() => {}
            _ if line == "clear" => self.clear(),
            Need::Nothing => self.give(line, Vec::new()),
            Need::Files(_) => {
                self.sheet.set(Some(Sheet { line: line.to_string(), text: String::new(), before: None }));
            }
            Need::Editor => self.open_editor(line),
        }
    }

    fn open_editor(&self, line: &str) {
        let opened: Vec<Line> = self.session.read(|run| run.recording.world_now().look(line));
        let text = opened.iter().map(|l| l.text.as_str()).collect::<Vec<_>>().join("\n---\n");
        match engine::manifest::parse_objects(&text) {
            Ok(before) if !opened.iter().any(|l| l.error) => {
                self.sheet.set(Some(Sheet { line: line.to_string(), text, before: Some(before) }));
            }
            // There is nothing to edit; kubectl says why.
            _ => self.give(line, Vec::new()),
        }
    }

    /// Gives a line to the cluster. Where time stands still it goes on until the line is answered.
    fn give(&self, line: &str, manifests: Vec<Object>) {
        let paused = !self.session.playing.get_untracked();
        self.session.submit(Command::Kubectl { line: line.to_string(), manifests });
        if paused && self.running.get_untracked() > 0 {
            self.session.play();
            self.borrowed.set_value(true);
        }
    }

    fn interrupt(&self) {
        if self.running.get_untracked() > 0 {
            self.session.submit(Command::Interrupt);
        }
    }
}

#[component]
pub fn Console() -> impl IntoView {
    let desk = Desk::new();
    let session = desk.session;
    Effect::new(move |_| {
        if desk.running.get() == 0 && desk.borrowed.get_value() {
            desk.borrowed.set_value(false);
            session.pause();
        }
    });
    Effect::new(move |_| {
        session.edition.track();
        desk.cleared.set(0);
        desk.sheet.set(None);
    });
    let state = move || match (desk.running.get(), session.playing.get()) {
        (0, _) => "",
        (_, true) => session.lang.get().console().runs,
        (_, false) => session.lang.get().console().still,
    };
    view! {
        <div class="console">
            {screen::screen(desk)}
            {move || match desk.sheet.get() {
                Some(sheet) => sheet::sheet(desk, sheet).into_any(),
                None => prompt::prompt(desk).into_any(),
            }}
            <p class="said" role="status" data-testid="console-state">{state}</p>
            <div class="row">
                <button data-testid="console-interrupt" disabled=move || desk.running.get() == 0 on:click=move |_| desk.interrupt()>"Ctrl-C"</button>
                <button data-testid="console-clear" on:click=move |_| desk.clear()>{move || session.lang.get().console().clear}</button>
            </div>
            <p class="hint">{move || session.lang.get().console().hint}</p>
        </div>
    }
}
