//! The API server itself.

use crate::api::message::*;
pub use crate::store::Commit;
use crate::ids::*;
use crate::object::*;
use crate::time::*;
use std::sync::Arc;
#[derive(Clone, Debug, Default)]
pub struct Profile {}
#[derive(Clone)]
pub struct ApiServer;
impl ApiServer {
    pub fn new(_: u64, _: Profile) -> Self {
        todo!()
    }
    pub fn handle(&mut self, _: SimTime, _: &Request) -> Response {
        todo!()
    }
    pub fn take_commits(&mut self) -> Vec<Commit> {
        todo!()
    }
    pub fn pending_watches(&self) -> Vec<WatchId> {
        todo!()
    }
    pub fn watch_events(&mut self, _: SimTime, _: WatchId) -> Vec<WatchEvent> {
        todo!()
    }
    pub fn close_watch(&mut self, _: WatchId) {
        todo!()
    }
    pub fn watch_open(&self, _: WatchId) -> bool {
        todo!()
    }
    pub fn due(&self) -> Option<SimTime> {
        todo!()
    }
    pub fn due_is_housekeeping(&self) -> bool {
        todo!()
    }
    pub fn tick(&mut self, _: SimTime) {
        todo!()
    }
    pub fn peek(&self, _: &GroupResource, _: &Key) -> Option<Object> {
        todo!()
    }
    pub fn cluster_scoped(&self, _: &GroupResource) -> bool {
        todo!()
    }
}
