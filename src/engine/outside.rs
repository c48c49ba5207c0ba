//! The world outside the cluster: backup storage, buckets, DNS. A tiny store with names, without owner references and
//! without a garbage collector: what nobody deletes stays.
//!
//! `POST /outside/KIND/NAME` makes or replaces a thing, `PATCH` changes fields of it, `GET` reads it,
//! `DELETE` removes it; `KIND` is free.

use crate::api::message::{Body, Method, Request, Response};
use crate::api::status::ApiStatus;
use crate::object::{Object, ObjectView};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Things that exist outside, by path.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outside {
    things: BTreeMap<String, Arc<Value>>,
}

impl Outside {
    pub fn handle(&mut self, request: &Request) -> Response {
        let path = request.path.trim_start_matches(crate::process::context::OUTSIDE).to_string();
        let missing = || ApiStatus::new(404, "NotFound", format!("{path} does not exist")).into();
        match request.method {
            Method::Get => self.things.get(&path).map_or_else(missing, |thing| Response::ok(200, thing.clone())),
            Method::Delete => match self.things.remove(&path) {
                Some(thing) => Response::ok(200, thing),
                None => missing(),
            },
            Method::Patch => {
                let Some(thing) = self.things.get_mut(&path) else { return missing() };
                if let (Body::Json(patch), Value::Object(fields)) = (&request.body, Arc::make_mut(thing)) {
                    fields.extend(patch.as_object().cloned().unwrap_or_default());
                }
                Response::ok(200, thing.clone())
            }
            Method::Post | Method::Put => {
                let body = match &request.body {
                    Body::Json(value) => value.clone(),
                    Body::Empty | Body::Text(_) => Arc::new(json!({})),
                };
                self.things.insert(path, body.clone());
                Response::ok(201, body)
            }
        }
    }

    /// Everything that exists, in order.
    pub fn things(&self) -> impl Iterator<Item = (&str, &Arc<Value>)> {
        self.things.iter().map(|(path, thing)| (path.as_str(), thing))
    }

    /// Paths of things whose `owner` is the uid of none of these objects: what somebody forgot to take away.
    pub fn leaks<'a>(&self, objects: impl Iterator<Item = &'a Object>) -> Vec<&str> {
        let alive: BTreeSet<&str> = objects.map(ObjectView::uid).collect();
        let leaked = |thing: &Value| !thing.text(&["owner"]).is_empty() && !alive.contains(thing.text(&["owner"]));
        self.things().filter(|(_, thing)| leaked(thing)).map(|(path, _)| path).collect()
    }
}
