//! The lines typed before, for the arrow keys.

use std::collections::VecDeque;

/// Most lines that are remembered.
const LINES_MAX: usize = 500;

/// Lines from oldest to newest, and where the reader is among them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    lines: VecDeque<String>,
    /// How many steps back from the newest; zero is the line being typed.
    back: usize,
    /// The line being typed when the reader went back.
    draft: String,
}

impl History {
    /// Remembers a line; blanks and repeats of the newest are not kept.
    pub fn add(&mut self, line: &str) {
        self.back = 0;
        self.draft.clear();
        let line = line.trim();
        if line.is_empty() || self.lines.back().is_some_and(|l| l == line) {
            return;
        }
        self.lines.push_back(line.to_string());
        while self.lines.len() > LINES_MAX {
            self.lines.pop_front();
        }
    }

    /// The line before the one that is shown; `typed` is what stands there now.
    pub fn older(&mut self, typed: &str) -> Option<&str> {
        if self.back == self.lines.len() {
            return None;
        }
        if self.back == 0 {
            self.draft = typed.to_string();
        }
        self.back += 1;
        self.lines.get(self.lines.len() - self.back).map(String::as_str)
    }

    /// The line after the one that is shown; at the end what was being typed.
    pub fn newer(&mut self) -> Option<&str> {
        self.back = self.back.checked_sub(1)?;
        if self.back == 0 {
            return Some(&self.draft);
        }
        self.lines.get(self.lines.len() - self.back).map(String::as_str)
    }

    /// The newest line that holds `part`.
    #[must_use]
    pub fn find(&self, part: &str) -> Option<&str> {
        self.lines.iter().rev().find(|l| l.contains(part)).map(String::as_str)
    }
}
