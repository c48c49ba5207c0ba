//! What a controller is: the resources it watches, how their events become keys, and a reconcile.

use super::context::{Action, Context, Stop};
use super::memory::Memory;
use crate::client::reflector::Decode;
pub use crate::controller::predicate::Predicate;
use crate::ids::{Gvr, Key};
use crate::object::Object;

/// One call of an informer's handler.
#[derive(Clone, Debug, PartialEq)]
pub enum Notice {
    Add {
        object: Object,
        initial: bool,
    },
    Update {
        old: Object,
        new: Object,
    },
    /// `tombstone`: the client only knows that the object is gone; this is its last known state.
    Delete {
        object: Object,
        tombstone: bool,
    },
}

impl Notice {
    /// The object as it is now, or was last.
    #[must_use]
    pub fn object(&self) -> &Object {
        match self {
            Notice::Add { object, .. } | Notice::Delete { object, .. } => object,
            Notice::Update { new, .. } => new,
        }
    }
}

/// How the events of a source become keys.
#[derive(Clone, Debug, PartialEq)]
pub enum Handler {
    /// The object's own key (`For`).
    ForObject,
    /// Keys of the owners of this group and kind (`Owns`); the controller only, unless `any_owner`.
    ForOwner { group: &'static str, kind: &'static str, any_owner: bool },
    /// [`Controller::map`] decides (`Watches`).
    Map,
}

/// One watched resource.
#[derive(Clone, Debug)]
pub struct Source {
    pub gvr: Gvr,
    /// Empty watches all namespaces.
    pub namespace: String,
    pub label_selector: String,
    pub field_selector: String,
    pub handler: Handler,
    /// All must let an event through.
    pub predicates: Vec<Predicate>,
    /// Set for a typed client: one object that cannot be read as its type blinds the whole informer.
    pub decode: Option<Decode>,
}

impl Source {
    #[must_use]
    pub fn new(gvr: Gvr, handler: Handler) -> Self {
        Source {
            gvr,
            namespace: String::new(),
            label_selector: String::new(),
            field_selector: String::new(),
            handler,
            predicates: Vec::new(),
            decode: None,
        }
    }
    #[must_use]
    pub fn with(mut self, predicate: Predicate) -> Self {
        self.predicates.push(predicate);
        self
    }
    #[must_use]
    pub fn typed(mut self, decode: Decode) -> Self {
        self.decode = Some(decode);
        self
    }
    #[must_use]
    pub fn fields(mut self, selector: impl Into<String>) -> Self {
        self.field_selector = selector.into();
        self
    }
}

/// Which queue a controller works from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueKind {
    /// client-go's, with the default controller rate limiter.
    Classic,
    /// controller-runtime's priority queue, exponential backoff only.
    Priority,
}

/// Read access to the caches of the process a controller runs in.
pub trait Caches {
    fn get(&self, gvr: &Gvr, key: &Key) -> Option<Object>;
    /// All objects, or those of one namespace, in key order.
    fn list(&self, gvr: &Gvr, namespace: &str) -> Vec<Object>;
    /// Objects that name this uid in an ownerReference, in key order.
    fn owned_by(&self, gvr: &Gvr, uid: &str) -> Vec<Object>;
    /// Objects of a namespace without a controlling owner, in key order.
    fn orphans(&self, gvr: &Gvr, namespace: &str) -> Vec<Object>;
    /// The version up to which the cache knows the server.
    fn version(&self, gvr: &Gvr) -> u64;
    /// A read asked for a collection that is not cached yet, so what was answered does not count.
    fn missed(&self) -> bool {
        false
    }
}

/// A controller: logic without state. State lives in [`Memory`], the caches and the queue.
pub trait Controller: Send + Sync {
    fn name(&self) -> &'static str;
    fn sources(&self) -> Vec<Source>;
    /// Straight-line code that is run again from the top whenever an answer has arrived; see [`Context`].
    ///
    /// # Errors
    /// [`Stop::Pending`] while an answer is on its way; a failure otherwise.
    fn reconcile(&self, cx: &mut Context, key: &Key) -> Result<Action, Stop>;

    fn workers(&self) -> u32 {
        1
    }
    fn queue(&self) -> QueueKind {
        QueueKind::Priority
    }
    /// Keys for an event of a source with [`Handler::Map`].
    fn map(&self, _gvr: &Gvr, _notice: &Notice, _caches: &dyn Caches, _memory: &mut Memory) -> Vec<Key> {
        Vec::new()
    }
    /// Sees every event of every source before it becomes keys: for expectations and the like.
    fn observe(&self, _gvr: &Gvr, _notice: &Notice, _memory: &mut Memory) {}
    /// Collections it reads without naming them as a source are watched with [`Handler::Map`] from then on.
    fn follows_reads(&self) -> bool {
        false
    }
    /// Keys to start with, for controllers that work without an event.
    fn initial_keys(&self) -> Vec<Key> {
        Vec::new()
    }
}
