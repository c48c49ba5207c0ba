//! Faults that wait for the requests they will hit.

use crate::api::message::{Method, Request, Response};
use crate::api::status::ApiStatus;
use crate::command::{FailNext, Failure};
use crate::event::{Carries, Message};
use std::sync::Arc;

/// Armed faults, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faults {
    armed: Vec<Arc<FailNext>>,
}

impl Faults {
    pub fn arm(&mut self, fault: Arc<FailNext>) {
        self.armed.push(fault);
    }

    /// The failure that hits this request, if one is armed for it; uses it up.
    pub fn hit(&mut self, message: &Message, request: &Request) -> Option<Failure> {
        if message.background {
            return None;
        }
        let at = self.armed.iter().position(|f| matches(f, message, request))?;
        let failure = self.armed[at].failure;
        let left = self.armed[at].count.saturating_sub(1);
        if left == 0 {
            self.armed.remove(at);
        } else {
            Arc::make_mut(&mut self.armed[at]).count = left;
        }
        Some(failure)
    }
}

fn matches(fault: &FailNext, message: &Message, request: &Request) -> bool {
    let Carries::Request { verb, resource, key, .. } = &message.carries else { return false };
    let by = if fault.process.is_empty() { &*message.from != "kubectl" } else { *fault.process == *message.from };
    let verb = if fault.verb.is_empty() { request.method != Method::Get } else { fault.verb == *verb };
    by && verb
        && (fault.resource.is_empty() || *fault.resource == *resource.resource)
        && (fault.name.is_empty() || *fault.name == *key.name)
}

/// The answer a client sees for an injected failure.
#[must_use]
pub fn answer(failure: Failure, message: &Message) -> Response {
    let Carries::Request { verb, resource, key, .. } = &message.carries else {
        return ApiStatus::internal("injected fault").into();
    };
    let status = match failure {
        Failure::Conflict => ApiStatus::conflict(
            resource,
            &key.name,
            "the object has been modified; please apply your changes to the latest version and try again",
        ),
        Failure::TooManyRequests => ApiStatus {
            retry_after_s: Some(1),
            ..ApiStatus::new(429, "TooManyRequests", "Too many requests, please try again later.")
        },
        Failure::Internal => ApiStatus::internal("injected fault"),
        Failure::Unavailable => ApiStatus::new(503, "ServiceUnavailable", "apiserver is shutting down"),
        Failure::Timeout => ApiStatus::new(
            504,
            "Timeout",
            format!(
                "Timeout: request did not complete within requested timeout - context deadline exceeded ({verb} {resource})"
            ),
        ),
        Failure::LostAnswer => ApiStatus::new(0, "", format!("{verb} {resource} {key}: unexpected EOF")),
    };
    status.into()
}
