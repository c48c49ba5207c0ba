//! What cases are played on.

use engine::api::message::{Request, Response, WatchEvent};
use engine::api::server::{ApiServer, Profile};
use engine::ids::WatchId;
use engine::time::{SimTime, Span};
use serde_json::Value;

/// A cluster in virtual time.
pub trait Cluster {
    fn handle(&mut self, request: &Request) -> Response;
    /// Lets time pass.
    fn run(&mut self, span: Span);
    fn watch_events(&mut self, watch: WatchId) -> Vec<WatchEvent>;
    fn close_watch(&mut self, watch: WatchId);

    /// The namespace of the case was made.
    fn begin(&mut self, _namespace: &str) {}

    /// Stands in for scheduler and kubelet.
    ///
    /// # Errors
    /// When there is no such pod, or no controllers.
    fn kubelet(&mut self, _namespace: &str, _step: &Value) -> Result<(), String> {
        Err("this case needs controllers".to_string())
    }

    /// Runs until nothing changes and answers what was observed, in the form of the recording.
    ///
    /// # Errors
    /// When there are no controllers.
    fn settle(&mut self, _namespace: &str, _step: &Value) -> Result<Value, String> {
        Err("this case needs controllers".to_string())
    }
}

/// The API server alone.
pub struct Bare {
    server: ApiServer,
    now: SimTime,
}

impl Bare {
    pub fn new() -> Self {
        // Some time has passed since the cluster was made, as in every recording.
        let mut bare = Bare { server: ApiServer::new(1, Profile::default()), now: SimTime::ZERO };
        bare.run(Span::secs(10));
        bare
    }
}

impl Cluster for Bare {
    fn handle(&mut self, request: &Request) -> Response {
        let response = self.server.handle(self.now, request);
        self.server.take_commits();
        response
    }

    fn run(&mut self, span: Span) {
        let end = self.now + span;
        while let Some(at) = self.server.due().filter(|at| *at <= end) {
            self.now = self.now.max(at);
            self.server.tick(self.now);
            self.server.take_commits();
        }
        self.now = end;
    }

    fn watch_events(&mut self, watch: WatchId) -> Vec<WatchEvent> {
        self.server.watch_events(self.now, watch)
    }

    fn close_watch(&mut self, watch: WatchId) {
        self.server.close_watch(watch);
    }
}
