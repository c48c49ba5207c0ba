//! What stands in the console: what was typed, what came back, and what a line needs before it can be given.

use engine::command::Command;
use engine::event::{Event, Record};
use engine::kubectl::{Files, parse};
use engine::object::Object;
use std::sync::Arc;

/// Lines of output that are shown; a terminal's window is about this long too, and a page that holds more scrolls badly.
pub const LINES_MAX: usize = 300;

/// One part of the transcript.
#[derive(Clone, Debug, PartialEq)]
pub struct Spoken {
    /// Position of its record.
    pub index: u32,
    pub voice: Voice,
    pub text: Arc<str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voice {
    Typed,
    Out,
    Err,
}

/// Everything that was typed and printed, gathered from the records once each.
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    folded: usize,
    hash: u64,
    spoken: Vec<Spoken>,
    /// From each of these positions on, so many commands are running.
    running: Vec<(u32, usize)>,
}

impl Transcript {
    /// Takes in what is new; begins again when the run is no longer the one folded.
    pub fn catch_up(&mut self, records: &[Record]) {
        let known = self.folded.checked_sub(1).map(|i| records.get(i).map(|r| r.hash));
        if known.is_some_and(|hash| hash != Some(self.hash)) {
            *self = Transcript::default();
        }
        for (i, record) in records.iter().enumerate().skip(self.folded) {
            self.fold(u32::try_from(i).unwrap_or(u32::MAX), &record.event);
        }
        self.folded = records.len();
        self.hash = records.last().map_or(0, |r| r.hash);
    }

    fn fold(&mut self, index: u32, event: &Event) {
        let count = self.running.last().map_or(0, |(_, n)| *n);
        let (voice, text, count) = match event {
            Event::Commanded { command } => match &**command {
                Command::Kubectl { line, .. } => (Voice::Typed, line.as_str().into(), count + 1),
                Command::Apply { .. } => (Voice::Typed, "apply -f -".into(), count + 1),
                Command::Interrupt => (Voice::Typed, "^C".into(), count),
                _ => return,
            },
            Event::Printed { text, failed, .. } => (if *failed { Voice::Err } else { Voice::Out }, text.clone(), count),
            Event::Exited { .. } => {
                self.running.push((index, count.saturating_sub(1)));
                return;
            }
            _ => return,
        };
        self.running.push((index, count));
        self.spoken.push(Spoken { index, voice, text });
    }

    /// How many commands run when `cursor` records lie behind.
    #[must_use]
    pub fn running(&self, cursor: usize) -> usize {
        let at = self.running.partition_point(|(i, _)| (*i as usize) < cursor);
        at.checked_sub(1).map_or(0, |at| self.running[at].1)
    }

    /// How many parts have been said when `cursor` records lie behind.
    #[must_use]
    pub fn said(&self, cursor: usize) -> usize {
        self.spoken.partition_point(|s| (s.index as usize) < cursor)
    }

    /// The parts to show of the first `said`, without the `cleared` ones before, and whether some were left out.
    /// At most [`LINES_MAX`] lines, the newest.
    #[must_use]
    pub fn shown(&self, cleared: usize, said: usize) -> (&[Spoken], bool) {
        let from = if cleared > said { 0 } else { cleared };
        let all = &self.spoken[from.min(said)..said];
        let mut lines = 0;
        let fits = all.iter().rev().take_while(|s| {
            lines += s.text.lines().count().max(1);
            lines <= LINES_MAX
        });
        let kept = fits.count().max(usize::from(!all.is_empty()));
        (&all[all.len() - kept..], kept < all.len())
    }
}

/// The text of one part, cut if it alone is longer than what is shown.
#[must_use]
pub fn cut(text: &str) -> (String, bool) {
    let mut lines = text.lines();
    let kept: Vec<&str> = lines.by_ref().take(LINES_MAX).collect();
    (kept.join("\n"), lines.next().is_some())
}

/// What a line needs before it can be given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Need {
    Nothing,
    /// The manifests of this name.
    Files(String),
    /// Opens the object in an editor.
    Editor,
}

#[must_use]
pub fn need(line: &str) -> Need {
    let Ok(command) = parse(line, &Files::from([("-".to_string(), Vec::new())])) else { return Need::Nothing };
    match command.all("filename").first() {
        Some(name) => Need::Files(name.clone()),
        None if command.verb == "edit" => Need::Editor,
        None => Need::Nothing,
    }
}

/// What an edit sends: the edited objects, and after them the same as they were when the editor opened. `None` when
/// nothing but comments is left, which gives the edit up.
#[must_use]
pub fn edited(before: Vec<Object>, after: Vec<Object>) -> Option<Vec<Object>> {
    (!after.is_empty()).then(|| [after, before].concat())
}

/// The line with the word at the cursor replaced, and where the cursor stands then (in bytes). One candidate is put in
/// whole; of several, what they share.
#[must_use]
pub fn filled(line: &str, cursor: usize, candidates: &[String]) -> Option<(String, usize)> {
    let first = candidates.first()?;
    let shared = candidates.iter().skip(1).fold(first.as_str(), |shared, word| {
        let same = shared.char_indices().zip(word.chars()).take_while(|((_, a), b)| a == b);
        &shared[..same.last().map_or(0, |((at, c), _)| at + c.len_utf8())]
    });
    let (head, tail) = line.split_at_checked(cursor)?;
    let open = head.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    if shared.len() < head.len() - open {
        return None;
    }
    // After a whole word the next one may begin; `custom-columns=` and its like go on.
    let gap = if candidates.len() == 1 && !shared.ends_with(['=', '/']) && !tail.starts_with(' ') { " " } else { "" };
    let head = [&head[..open], shared, gap].concat();
    let at = head.len();
    Some((head + tail, at))
}

#[cfg(test)]
mod tests;
