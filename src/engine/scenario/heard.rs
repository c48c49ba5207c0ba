//! What an expectation can count beside objects: answers of the server, words of kubectl, writes.

use crate::event::Event;
use crate::object::ObjectView;

/// Records that are counted from the beginning of the run; what is empty matches any.
#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    /// Requests that were answered with this code; `says` is a part of the message of a refusal.
    Answered { code: u16, user: String, says: String },
    /// Lines of kubectl that hold these words.
    Printed { says: String },
    /// Writes: ADDED, MODIFIED or DELETED.
    Wrote { what: String, kind: String, namespace: String, name: String },
}

impl Heard {
    #[must_use]
    pub fn fits(&self, event: &Event) -> bool {
        let is = |wanted: &str, found: &str| wanted.is_empty() || wanted == found;
        match (self, event) {
            (Heard::Answered { code, user, says }, Event::Handled { user: by, code: with, message, .. }) => {
                code == with && is(user, by) && message.contains(says.as_str())
            }
            (Heard::Printed { says }, Event::Printed { text, .. }) => text.contains(says.as_str()),
            (Heard::Wrote { what, kind, namespace, name }, Event::Wrote { write }) => {
                let object = write.new.as_ref().or(write.old.as_ref());
                is(what, write.kind.word())
                    && object.is_some_and(|o| is(kind, o.kind()) && is(namespace, o.namespace()) && is(name, o.name()))
            }
            _ => false,
        }
    }
}
