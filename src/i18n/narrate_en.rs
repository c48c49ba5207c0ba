//! Every record as an English sentence. The match is total: a new record does not compile without its sentence.

use super::deeds::{failure, thing, typed};
use crate::model::number::span;
use engine::api::message::WatchEventType;
use engine::event::{Carries, Event, Message, Outcome, ProcessState, QueueOp, Write};

pub fn sentence(event: &Event) -> String {
    match event {
        Event::Commanded { command } => format!("You: {}.", typed(command)),
        Event::Printed { text, failed, .. } => {
            format!("{}: {}", if *failed { "Refused" } else { "kubectl" }, text.trim())
        }
        Event::Exited { process, code } => format!("{process} ends with exit code {code}."),
        Event::Sent { message } => sent(message),
        Event::Delivered { message } => format!("{} has {}.", message.to, carried(message)),
        Event::Lost { message, why } => format!("Lost on the way to {}: {} ({why}).", message.to, carried(message)),
        Event::Handled { user, code, reason, message, .. } if *code >= 400 => {
            format!("The server refuses {user}: {code} {reason}. {message}")
        }
        Event::Handled { user, code, .. } => format!("The server answers {user} with {code}."),
        Event::Wrote { write } => wrote(write),
        Event::WatchOpened { process, resource, revision, .. } => {
            format!("{process} watches {resource} from revision {revision} on.")
        }
        Event::WatchClosed { process, resource, why, .. } => {
            format!("The watch of {process} on {resource} ended: {why}.")
        }
        Event::Listed { informer, revision, contents } => {
            format!("{} has listed {} {}, revision {revision}.", informer.process, contents.len(), informer.resource)
        }
        Event::FifoPushed { informer, kind, key, .. } => {
            format!("{} {key} waits in the FIFO of {}.", kind.word(), informer.process)
        }
        Event::Cached { informer, key, revision, .. } => {
            format!("The cache of {} has {key} at revision {revision}.", informer.process)
        }
        Event::Notified { key, enqueued, .. } if enqueued.is_empty() => {
            format!("A predicate drops the change of {key}.")
        }
        Event::Notified { controller, key, enqueued, .. } => {
            let keys: Vec<_> = enqueued.iter().map(ToString::to_string).collect();
            format!("The handler of {} turns the change of {key} into {}.", controller.controller, keys.join(", "))
        }
        Event::Queue { controller, op, key, shot } => queue(op, &key.to_string(), &controller.controller, shot.len),
        Event::Started { controller, key, .. } => format!("{} begins to reconcile {key}.", controller.controller),
        Event::At { controller, note, line, .. } => {
            format!("{}: {}", controller.controller, if note.is_empty() { line } else { &**note })
        }
        Event::NoWrite { controller, key, why, .. } => {
            format!("{} leaves {key} as it is: {why}.", controller.controller)
        }
        Event::Finished { controller, key, outcome, .. } => {
            format!("{} is done with {key}: {}.", controller.controller, ended(outcome))
        }
        Event::Process { process, state, why } => turned(process, *state, why),
        Event::Leading { process, leads } => format!("{process} {}.", if *leads { "leads" } else { "no longer leads" }),
        Event::Tokens { process, .. } => format!("The rate limit of {process} moves on."),
        Event::Tuned { process, setting, value } => match value {
            Some(value) => format!("{process}: {setting} is {value} now."),
            None => format!("{process}: {setting} is as everywhere again."),
        },
        Event::Announced { controller, reason, message, .. } => {
            format!("{} reports {reason}: {message}.", controller.controller)
        }
        Event::FaultArmed { fault } => {
            format!("{} waits for the next {} writes ×{}.", failure(fault.failure), fault.resource, fault.count)
        }
        Event::FaultFired { failure: hit, .. } => format!("The request is hit by {}.", failure(*hit)),
        Event::KnobSet { knob, value } => format!("{knob} is now {value}."),
        Event::InvariantBroken { invariant, detail } => format!("Broken: {invariant}. {detail}"),
    }
}

fn wrote(write: &Write) -> String {
    let done = match write.kind {
        WatchEventType::Added => "created",
        WatchEventType::Deleted => "deleted",
        _ => "changed",
    };
    format!("{} {done} by {}: revision {}.", thing(&write.resource, "", &write.key), write.user, write.revision)
}

fn turned(process: &str, state: ProcessState, why: &str) -> String {
    let now = match state {
        ProcessState::Running => "runs",
        ProcessState::Frozen => "is frozen",
        ProcessState::Down => "is down",
    };
    format!("{process} {now}: {why}.")
}

fn sent(message: &Message) -> String {
    match &message.carries {
        Carries::Request { verb, resource, subresource, key, .. } => {
            format!("{} asks: {verb} {}.", message.from, thing(resource, subresource, key))
        }
        Carries::Answer { code, reason, .. } => format!("The answer to {} is on its way: {code} {reason}.", message.to),
        Carries::Watch { kind, resource, key, .. } => {
            format!("The server tells {}: {} {}.", message.to, kind.word(), thing(resource, "", key))
        }
    }
}

fn carried(message: &Message) -> String {
    match &message.carries {
        Carries::Request { verb, resource, subresource, key, .. } => {
            format!("the request {verb} {}", thing(resource, subresource, key))
        }
        Carries::Answer { code, resource, key, .. } => format!("the answer {code} for {}", thing(resource, "", key)),
        Carries::Watch { kind, resource, key, .. } => {
            format!("the event {} {}", kind.word(), thing(resource, "", key))
        }
    }
}

fn queue(op: &QueueOp, key: &str, controller: &str, depth: usize) -> String {
    match op {
        QueueOp::Added => format!("{key} joins the queue of {controller}; depth {depth}."),
        QueueOp::Merged => format!("{key} is waiting already: one ticket does."),
        QueueOp::AddedWhileProcessing => format!("{key} is being worked on and will come back after."),
        QueueOp::Delayed(after) => format!("{key} will be queued in {}.", span(*after)),
        QueueOp::BackedOff { after, failures } => format!("{key} backs off {} after failure {failures}.", span(*after)),
        QueueOp::Due => format!("{key} is due."),
        QueueOp::Got => format!("A worker takes {key}."),
        QueueOp::Done => format!("The worker puts {key} away."),
        QueueOp::Forgotten => format!("The failures of {key} are forgotten."),
    }
}

fn ended(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Done => "nothing more to do".to_string(),
        Outcome::RequeueAfter(after) => format!("look again in {}", span(*after)),
        Outcome::Requeue => "look again soon".to_string(),
        Outcome::Failed { code, message } => format!("failed with {code}, {message}"),
        Outcome::Terminal { message } => format!("failed for good, {message}"),
        Outcome::Panicked { message } => format!("panicked, {message}"),
    }
}
