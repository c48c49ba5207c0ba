//! Access reviews: a question about what somebody may do, answered and not stored.

use super::authorize::allows;
use super::call::Call;
use super::{ApiServer, Outcome};
use crate::api::message::{Response, User};
use crate::object::{self, ObjectView};
use serde_json::{Value, json};
use std::sync::Arc;

impl ApiServer {
    pub(super) fn review(&mut self, call: &mut Call) -> Outcome<Response> {
        let mut answer = self.body(call)?;
        let who = if answer.kind().starts_with("Self") {
            call.request.user.clone()
        } else {
            let groups = answer.list(&["spec", "groups"]).iter().filter_map(Value::as_str).map(Arc::from).collect();
            User { name: answer.text(&["spec", "user"]).into(), groups }
        };
        object::set(&mut answer, &["status"], json!({"allowed": allows(&who)}));
        Ok(Response::ok(201, Arc::new(answer)))
    }
}
