//! Looking at one object until it is as wanted: read, then watch.

use super::pick::Picked;
use super::session::{Cx, Flow, Seen};
use crate::api::message::{Method, Request, WatchEventType};
use crate::object::ObjectView;
use crate::time::{SimTime, Span};
use serde_json::Value;

/// How long before the object is read again where a watch cannot be had.
const AGAIN: Span = Span::secs(1);

/// Whether the object came to be as wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Met,
    TimedOut,
}

/// Shows every state of the object to `judge`, nothing when it does not exist, until that says yes or the time is up.
pub fn until(
    cx: &mut Cx,
    one: &Picked,
    deadline: SimTime,
    judge: &mut dyn FnMut(&mut Cx, Option<&Value>) -> Flow<bool>,
) -> Flow<End> {
    let named = |request: Request| request.query("fieldSelector", format!("metadata.name={}", one.name));
    let collection = one.res.collection(&one.namespace);
    loop {
        let response = cx.call(named(Request::new(Method::Get, collection.clone())))?;
        let list = cx.check(response)?;
        let now = list.list(&["items"]).iter().find(|o| o.name() == one.name);
        if judge(cx, now)? {
            return Ok(End::Met);
        }
        if cx.now >= deadline {
            return Ok(End::TimedOut);
        }
        let request = Request::new(Method::Get, collection.clone())
            .query("watch", "true")
            .query("resourceVersion", list.resource_version());
        let response = cx.call(named(request))?;
        let Some(watch) = response.watch else {
            let left = deadline.since(cx.now);
            cx.sleep(AGAIN.min(left))?;
            continue;
        };
        loop {
            let event = match cx.event(watch, Some(deadline))? {
                Seen::Event(event) => event,
                Seen::Closed => break,
                Seen::TimedOut => return Ok(End::TimedOut),
            };
            let met = match event.kind {
                WatchEventType::Bookmark => false,
                WatchEventType::Error => break,
                WatchEventType::Deleted => judge(cx, None)?,
                WatchEventType::Added | WatchEventType::Modified => judge(cx, Some(&*event.object))?,
            };
            if met {
                return Ok(End::Met);
            }
        }
    }
}
