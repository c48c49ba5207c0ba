//! The API server: one request in, one answer out, at a virtual instant.
//!
//! **Flow.** [`ApiServer::handle`] resolves the address, authorizes, and hands over to one file per verb; writes all pass
//! [`write`]. What was committed is taken with [`ApiServer::take_commits`], what watches have to say with
//! [`ApiServer::watch_events`]. **Guarantees.** A request that fails changes nothing. A clone shares the store until
//! one side writes.
//!
//! Divergence from Kubernetes: every request is answered at the instant it is handled; a list of a future revision
//! is refused at once and not after three seconds of waiting.

mod authorize;
mod body;
mod bootstrap;
mod call;
mod create;
mod definitions;
mod delete;
mod list;
mod namespace;
mod patch;
mod pod;
mod read;
mod registry;
mod review;
mod scale;
mod update;
mod watch;
mod write;

pub use crate::store::Commit;

use super::discovery;
use super::message::{Method, Request, Response, Stage, StageStep, WatchEvent};
use super::route::{ResourcePath, Route};
use super::status::ApiStatus;
use crate::ids::{GroupResource, Key, WatchId};
use crate::object::Object;
use crate::rng::Rng;
use crate::store::Store;
use crate::time::SimTime;
use call::Call;
use registry::Registry;
use std::sync::Arc;
use watch::Watches;

/// Settings of a server that a run may choose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// Whose requests are followed through the stages, with the object after each.
    pub trace: Trace,
}

/// Whose requests are followed through the stages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trace {
    Nobody,
    /// People, that is kubectl.
    #[default]
    People,
    Everybody,
}

/// The server with everything it keeps.
#[derive(Clone, Debug)]
pub struct ApiServer {
    store: Store,
    registry: Registry,
    watches: Watches,
    rng: Rng,
    profile: Profile,
    commits: Vec<Arc<Commit>>,
}

/// An answer, or the failure that becomes one.
type Outcome<T> = Result<T, ApiStatus>;

impl ApiServer {
    #[must_use]
    pub fn new(seed: u64, profile: Profile) -> Self {
        let mut server = ApiServer {
            store: Store::default(),
            registry: Registry::new(),
            watches: Watches::default(),
            rng: Rng::new(seed),
            profile,
            commits: Vec::new(),
        };
        server.bootstrap();
        server
    }

    /// Answers one request.
    pub fn handle(&mut self, now: SimTime, request: &Request) -> Response {
        match Route::parse(&request.path) {
            Route::Resource(path) => self.resource(now, request, &path),
            other => match self.authorize_url(request) {
                Ok(()) => self.document(request, &other),
                Err(status) => status.into(),
            },
        }
    }

    fn resource(&mut self, now: SimTime, request: &Request, path: &ResourcePath) -> Response {
        if let Err(status) = self.authorize(request, path) {
            let refused = Some(status.message.clone());
            let stages = vec![StageStep { stage: Stage::Authorize, after: None, refused }];
            return Response { stages, ..Response::from(status) };
        }
        let Some(resource) = self.registry.find(path.group, path.version, path.resource) else {
            return ApiStatus::page_not_found().into();
        };
        let deprecation = resource.deprecation().map(str::to_string);
        let mut call = match Call::new(now, request, path, resource, self.profile.trace) {
            Ok(call) => call,
            Err(status) => return status.into(),
        };
        call.warnings.extend(deprecation);
        let outcome = self.dispatch(&mut call);
        let mut response = match outcome {
            Ok(response) => response,
            Err(status) => {
                call.refuse(&status);
                status.into()
            }
        };
        response.warnings.append(&mut call.warnings);
        response.stages = call.stages;
        response
    }

    fn dispatch(&mut self, call: &mut Call) -> Outcome<Response> {
        call.passed(Stage::Authorize, None, &serde_json::Value::Null);
        let named = !call.path.name.is_empty();
        match (call.request.method, named, call.path.subresource) {
            (_, true, "scale") if call.resource.has_scale => self.scale(call),
            (_, true, "binding" | "eviction") if call.resource.is("", "pods") => self.pod_subresource(call),
            (Method::Put, true, "finalize") if call.resource.is("", "namespaces") => self.finalize_namespace(call),
            (Method::Get, true, "") if call.flag("watch") => self.watch(call),
            (Method::Get, true, "") => self.get(call),
            (Method::Get, true, "status") if call.resource.has_status => self.get(call),
            (Method::Put, true, "") => self.update(call),
            (Method::Put, true, "status") if call.resource.has_status => self.update(call),
            (Method::Patch, true, "") => self.patch(call),
            (Method::Patch, true, "status") if call.resource.has_status => self.patch(call),
            (Method::Delete, true, "") => self.delete(call),
            (Method::Get, false, _) if call.flag("watch") => self.watch(call),
            (Method::Get, false, _) => self.list(call),
            (Method::Post, _, "") => self.create(call),
            (Method::Delete, false, _) => self.delete_collection(call),
            (Method::Put | Method::Patch, false, _) => {
                Err(ApiStatus::bad_request("the name of the object could not be determined: name must be provided"))
            }
            _ if call.has_subresource() => {
                Err(ApiStatus::method_not_allowed(&call.resource.group_resource(), call.verb()))
            }
            _ => Err(ApiStatus::page_not_found()),
        }
    }

    /// What is no object: discovery documents, version, health.
    fn document(&self, _request: &Request, route: &Route) -> Response {
        match route {
            Route::Other("/healthz" | "/livez" | "/readyz") => Response::ok(200, Arc::new("ok".into())),
            _ => match discovery::document(route, self.registry.definitions()) {
                Some(document) => Response::ok(200, Arc::new(document)),
                None => ApiStatus::page_not_found().into(),
            },
        }
    }

    /// What was committed since the last call, in order.
    pub fn take_commits(&mut self) -> Vec<Arc<Commit>> {
        std::mem::take(&mut self.commits)
    }

    /// Watches with something to say, in the order of their numbers.
    #[must_use]
    pub fn pending_watches(&self) -> Vec<WatchId> {
        self.watches.pending()
    }

    /// Takes what a watch has to say.
    pub fn watch_events(&mut self, _now: SimTime, watch: WatchId) -> Vec<WatchEvent> {
        self.watches.take(watch, &self.store)
    }

    pub fn close_watch(&mut self, watch: WatchId) {
        self.watches.close(watch);
    }

    /// Whether a watch goes on after what it has said.
    #[must_use]
    pub fn watch_open(&self, watch: WatchId) -> bool {
        self.watches.is_open(watch)
    }

    /// When the server next has something to do of its own.
    #[must_use]
    pub fn due(&self) -> Option<SimTime> {
        let housekeeping = self.watches.due().into_iter().chain([self.store.compaction_due()]);
        housekeeping.chain(self.registry.due()).min()
    }

    /// Whether what is due next is nothing a learner waits for.
    #[must_use]
    pub fn due_is_housekeeping(&self) -> bool {
        self.registry.due().is_none_or(|at| Some(at) != self.due())
    }

    /// Does what is due.
    pub fn tick(&mut self, now: SimTime) {
        if self.store.compaction_due() <= now {
            self.store.compact(now);
        }
        self.watches.tick(now);
        self.run_lifecycle(now);
    }

    /// Reads an object as it is stored.
    #[must_use]
    pub fn peek(&self, resource: &GroupResource, key: &Key) -> Option<Object> {
        self.store.get(resource, key).map(|s| s.object.clone())
    }

    /// Every object as it is stored, kind by kind.
    pub fn objects(&self) -> impl Iterator<Item = &Object> {
        self.store.objects()
    }

    #[must_use]
    pub fn cluster_scoped(&self, resource: &GroupResource) -> bool {
        self.registry.any_version(resource).is_some_and(|r| !r.namespaced)
    }

    #[must_use]
    pub fn revision(&self) -> u64 {
        self.store.revision()
    }

    /// Forgets all history, as an administrator's compaction of etcd does; watches from the past then end in 410.
    pub fn compact(&mut self, now: SimTime) {
        self.store.compact_to_present(now);
    }
}
