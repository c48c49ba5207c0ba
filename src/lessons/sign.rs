//! Signs: what a record must show for a step of a lesson to end, or to be counted in an answer.

use engine::api::message::WatchEventType;
use engine::event::{Event, Outcome, ProcessState, QueueOp, Record, Write};
use engine::object::ObjectView;

/// A name that begins with the given text; the empty text fits every name.
type Name = &'static str;

pub enum Sign {
    /// An object was written: created, changed or deleted.
    Written(Name, Name),
    Created(Name, Name),
    Gone(Name, Name),
    /// Its condition of this type became True.
    Holds(Name, Name, &'static str),
    /// A number in it has this value.
    Counts(Name, Name, &'static [&'static str], i64),
    /// A text in it is this.
    Says(Name, Name, &'static [&'static str], &'static str),
    /// Deletion was asked for and finalizers hold it.
    Held(Name, Name),
    /// The server answered a request with this code.
    Answered(u16),
    /// The operator's informer took a whole list.
    Listed(Name),
    /// A key joined a ticket that was waiting or being worked on.
    Merged,
    /// A failure put a key off.
    BackedOff,
    Started(Name),
    RestedWithoutWrite,
    Failed,
    Finished,
    /// A process stopped, froze or ran again.
    Became(Name, ProcessState),
    /// The operator's client had to wait for a token.
    Throttled,
    Leads(Name),
}

/// The process whose loop lessons speak of.
fn operator(process: &str) -> bool {
    process.starts_with("operator")
}

impl Sign {
    #[must_use]
    pub fn shows(&self, record: &Record) -> bool {
        match &record.event {
            Event::Wrote { write } => self.written(write),
            Event::Handled { code, .. } => matches!(self, Sign::Answered(wanted) if wanted == code),
            Event::Listed { informer, .. } if operator(&informer.process) => {
                matches!(self, Sign::Listed(resource) if *resource == &*informer.resource.resource)
            }
            Event::Queue { controller, op, .. } if operator(&controller.process) => self.queued(op),
            Event::Started { controller, key, .. } if operator(&controller.process) => {
                matches!(self, Sign::Started(name) if key.name.starts_with(name))
            }
            Event::NoWrite { controller, .. } if operator(&controller.process) => {
                matches!(self, Sign::RestedWithoutWrite)
            }
            Event::Finished { controller, outcome, .. } if operator(&controller.process) => match self {
                Sign::Finished => true,
                Sign::Failed => matches!(outcome, Outcome::Failed { .. }),
                _ => false,
            },
            Event::Process { process, state, .. } => {
                matches!(self, Sign::Became(name, wanted) if process.starts_with(name) && wanted == state)
            }
            Event::Tokens { process, tokens } if operator(process) => {
                matches!(self, Sign::Throttled) && tokens.wait.0 > 0
            }
            Event::Leading { process, leads: true } => matches!(self, Sign::Leads(name) if &**process == *name),
            _ => false,
        }
    }

    fn queued(&self, op: &QueueOp) -> bool {
        match self {
            Sign::Merged => matches!(op, QueueOp::Merged | QueueOp::AddedWhileProcessing),
            Sign::BackedOff => matches!(op, QueueOp::BackedOff { .. }),
            _ => false,
        }
    }

    fn written(&self, write: &Write) -> bool {
        let fits =
            |resource: &str, name: &str| resource == &*write.resource.resource && write.key.name.starts_with(name);
        let there = || write.new.as_ref().filter(|_| write.kind != WatchEventType::Deleted);
        match self {
            Sign::Written(resource, name) => fits(resource, name),
            Sign::Created(resource, name) => write.kind == WatchEventType::Added && fits(resource, name),
            Sign::Gone(resource, name) => write.kind == WatchEventType::Deleted && fits(resource, name),
            Sign::Holds(resource, name, condition) => {
                fits(resource, name) && there().is_some_and(|object| object.condition(condition) == "True")
            }
            Sign::Counts(resource, name, path, wanted) => {
                fits(resource, name) && there().is_some_and(|object| object.int(path) == Some(*wanted))
            }
            Sign::Says(resource, name, path, wanted) => {
                fits(resource, name) && there().is_some_and(|object| object.text(path) == *wanted)
            }
            Sign::Held(resource, name) => {
                fits(resource, name)
                    && there().is_some_and(|o| o.deleting() && !o.list(&["metadata", "finalizers"]).is_empty())
            }
            _ => false,
        }
    }
}
