//! The world outside the cluster: backup storage, buckets, DNS. A tiny store with names and a switch to break it.
//!
//! `POST /outside/KIND/NAME` makes or replaces a thing, `GET` reads it, `DELETE` removes it; `KIND` is free.

use crate::api::message::{Body, Method, Request, Response};
use crate::api::status::ApiStatus;
use serde_json::{Value, json};
use std::collections::BTreeMap;
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
            Method::Post | Method::Put | Method::Patch => {
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
}
