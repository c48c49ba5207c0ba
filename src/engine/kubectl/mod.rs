//! kubectl: a typed line in, requests out, and the words a person knows.
//!
//! **Flow.** [`parse`] reads a line; a [`Session`] carries it out. It never waits and never sends anything itself:
//! [`Session::advance`] answers with what was printed and what it needs next, and the caller feeds it the answer.
//! Inside, every verb is straight-line code that runs again from the top after each answer and finds the earlier
//! answers in its log, as reconcilers of this model do. So a session is plain data and can be copied at any point.
//!
//! Divergence from Kubernetes: built-in kinds are known without discovery, as from a filled cache; tables are made
//! here and not by the server; `apply` waits for a definition that stands in the same files; `edit` takes the edited
//! text as its file, and the text before after it; `explain` knows custom resources only; `describe` has the forms of the common
//! kinds and the general one for the rest.

mod age;
mod apply;
mod columns;
mod complete;
mod create;
mod declared;
mod delete;
mod describe;
mod describe_kinds;
mod drain;
mod explain;
mod flags;
mod get;
mod history;
mod jsonpath;
mod line;
mod modify;
mod observe;
mod output;
mod pick;
mod resources;
mod revisions;
mod rollout;
mod session;
mod table;
mod tabs;
mod threeway;
mod verbs;
mod wait;

#[cfg(test)]
mod server_tests;
#[cfg(test)]
mod tests;

pub use complete::{Known, complete};
pub use history::History;
pub use line::{Command, Files, Usage, parse};
pub use modify::edit_text;
pub use session::{Ask, Line, Session};
