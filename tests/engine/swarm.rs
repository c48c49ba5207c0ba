//! Ten thousand runs with faults drawn by seed: an informer, a queue and workers against a small server that is cut,
//! compacted, refuses, forgets to answer in time, and a client that crashes and starts with empty hands.
//!
//! In every run: one worker a key; within one life of the client a worker never sees an older version than before; when
//! the faults end, the cache equals the server, nothing waits, and the last run of each key saw the last version of its
//! object, so nothing was lost in between. Versions at the server only grow.

use engine::api::message::{WatchEvent, WatchEventType};
use engine::api::status::ApiStatus;
use engine::client::call::{Call, CallError, CallId, Input, ListPage, Scope, WatchCall};
use engine::client::informer::{HandlerId, Informer, InformerSpec};
use engine::client::reflector::INITIAL_EVENTS_END;
use engine::controller::result::{Ended, ReconcileError, ReconcileResult, apply, decide};
use engine::ids::{Gvr, Key};
use engine::object::{Object, ObjectView};
use engine::rng::Rng;
use engine::time::{SimTime, Span};
use engine::workqueue::rate_limiter::Limiter;
use engine::workqueue::{AddOptions, Got, WorkQueue};
use serde_json::json;
use std::collections::{BTreeMap, VecDeque};

const SEEDS: u64 = 10_000;
const STEPS: usize = 120;
const KEYS: u64 = 5;
/// Rounds after the last fault within which everything must have come to rest.
const ROUNDS_MAX: usize = 400;

#[derive(Default)]
struct Server {
    version: u64,
    objects: BTreeMap<Key, Object>,
    history: Vec<(u64, WatchEventType, Object)>,
    /// Versions up to this one are gone from the history.
    compacted: u64,
}

impl Server {
    fn write(&mut self, rng: &mut Rng) {
        let key = Key::new("shop", &format!("c{}", rng.below(KEYS)));
        let before = self.version;
        self.version += rng.between(1, 3);
        assert!(self.version > before, "versions grow");
        let object = Object::new(json!({"metadata": {"namespace": "shop", "name": &*key.name,
            "resourceVersion": self.version.to_string()}}));
        let known = self.objects.contains_key(&key);
        let kind = match (known, rng.below(4)) {
            (true, 0) => WatchEventType::Deleted,
            (true, _) => WatchEventType::Modified,
            (false, _) => WatchEventType::Added,
        };
        if kind == WatchEventType::Deleted {
            self.objects.remove(&key);
        } else {
            self.objects.insert(key, object.clone());
        }
        self.history.push((self.version, kind, object));
    }

    /// Forgets the history up to a version.
    fn compact(&mut self, upto: u64) {
        self.compacted = self.compacted.max(upto);
        self.history.retain(|(version, ..)| *version > upto);
    }
}

/// An open watch: what it still has to say of the initial events, and how far it has read the history.
struct Open {
    call: CallId,
    initial: VecDeque<WatchEvent>,
    read: u64,
}

struct Client {
    informer: Informer,
    handler: HandlerId,
    queue: WorkQueue,
    calls: VecDeque<Call>,
    open: Option<Open>,
    workers: Vec<Option<Key>>,
    /// What the last run of a key saw: the version, or 0 for no object.
    seen: BTreeMap<Key, u64>,
}

impl Client {
    fn new(now: SimTime, rng: &mut Rng) -> Self {
        let mut spec = InformerSpec::new(Scope::new(Gvr::new("demo.example", "v1", "caches"), ""));
        spec.settings.watch_list = rng.chance(500);
        let mut informer = Informer::new(spec, rng.fork("informer"));
        let handler = informer.add_handler(now, None);
        informer.start(now);
        let queue = if rng.chance(500) {
            WorkQueue::classic(Limiter::default_controller())
        } else {
            WorkQueue::priority(Limiter::default_priority())
        };
        let workers = vec![None; usize::try_from(rng.between(1, 3)).unwrap_or(1)];
        Client { informer, handler, queue, calls: VecDeque::new(), open: None, workers, seen: BTreeMap::new() }
    }
}

struct Run {
    now: SimTime,
    rng: Rng,
    server: Server,
    client: Client,
}

fn refusal(rng: &mut Rng) -> CallError {
    match rng.below(6) {
        0 => CallError::status(ApiStatus::new(410, "Expired", "too old")),
        1 => CallError::status(ApiStatus::new(429, "TooManyRequests", "later")),
        2 => CallError::status(ApiStatus::internal("boom")),
        3 => CallError::status(ApiStatus::new(504, "Timeout", "Too large resource version")),
        4 => CallError::ConnectionRefused,
        _ => CallError::Network("unexpected EOF".to_string()),
    }
}

impl Run {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let client = Client::new(SimTime::ZERO, &mut rng);
        Run { now: SimTime::ZERO, rng, server: Server::default(), client }
    }

    fn input(&mut self, input: Input) {
        self.client.informer.input(self.now, input);
    }

    /// Sends what the informer wants to send; closing a watch takes effect at once.
    fn collect_calls(&mut self) {
        for call in self.client.informer.take_calls() {
            match call {
                Call::StopWatch(id) => self.client.open = self.client.open.take().filter(|open| open.call != id),
                call => self.client.calls.push_back(call),
            }
        }
    }

    /// The server answers the oldest request, or refuses it.
    fn answer(&mut self, fail: bool) {
        self.collect_calls();
        let Some(call) = self.client.calls.pop_front() else { return };
        match call {
            Call::List(list) => {
                let answer = if fail {
                    Err(refusal(&mut self.rng))
                } else {
                    let items = self.server.objects.values().cloned().collect();
                    Ok(ListPage { resource_version: self.server.version.to_string(), items, ..ListPage::default() })
                };
                self.input(Input::Listed(list.id, answer));
            }
            Call::Watch(watch) if fail => {
                let error = refusal(&mut self.rng);
                self.input(Input::WatchFailed(watch.id, error));
            }
            Call::Watch(watch) => self.open(&watch),
            Call::StopWatch(_) => {}
        }
    }

    fn open(&mut self, watch: &WatchCall) {
        let from: u64 = watch.resource_version.parse().unwrap_or(0);
        if !watch.initial_events && from < self.server.compacted {
            let gone = ApiStatus::new(410, "Expired", "too old resource version");
            if self.rng.chance(500) {
                self.input(Input::WatchFailed(watch.id, CallError::status(gone)));
            } else {
                self.input(Input::WatchOpened(watch.id));
                let event = WatchEvent { kind: WatchEventType::Error, object: Object::new(gone.to_body()) };
                self.input(Input::Event(watch.id, event));
            }
            return;
        }
        let mut open = Open { call: watch.id, initial: VecDeque::new(), read: from };
        if watch.initial_events {
            open.read = self.server.version;
            let added = |object: &Object| WatchEvent { kind: WatchEventType::Added, object: object.clone() };
            open.initial.extend(self.server.objects.values().map(added));
            let mark = json!({"metadata": {"resourceVersion": self.server.version.to_string(),
                "annotations": {INITIAL_EVENTS_END: "true"}}});
            open.initial.push_back(WatchEvent { kind: WatchEventType::Bookmark, object: Object::new(mark) });
        }
        self.client.open = Some(open);
        self.input(Input::WatchOpened(watch.id));
    }

    /// One event comes through the watch; answers whether there was one.
    fn deliver(&mut self) -> bool {
        let Some(open) = &mut self.client.open else { return false };
        let call = open.call;
        let event = open.initial.pop_front().or_else(|| {
            let at = self.server.history.partition_point(|(version, ..)| *version <= open.read);
            let (version, kind, object) = self.server.history.get(at)?;
            open.read = *version;
            Some(WatchEvent { kind: *kind, object: object.clone() })
        });
        let Some(event) = event else { return false };
        self.input(Input::Event(call, event));
        true
    }

    fn close_watch(&mut self, broken: bool) {
        if let Some(open) = self.client.open.take() {
            let input = if broken { Input::WatchBroke(open.call) } else { Input::WatchClosed(open.call) };
            self.input(input);
        }
    }

    fn error_event(&mut self) {
        let Some(call) = self.client.open.as_ref().map(|open| open.call) else { return };
        let status = match self.rng.below(3) {
            0 => ApiStatus::new(410, "Expired", "too old"),
            1 => ApiStatus::new(429, "TooManyRequests", "later"),
            _ => ApiStatus::internal("boom"),
        };
        let event = WatchEvent { kind: WatchEventType::Error, object: Object::new(status.to_body()) };
        self.input(Input::Event(call, event));
    }

    fn process(&mut self) -> bool {
        self.client.informer.process().is_some()
    }

    /// The handler takes one call and names the key.
    fn handle(&mut self) -> bool {
        let client = &mut self.client;
        let Some(notification) = client.informer.next_notification(client.handler) else { return false };
        client.queue.add(self.now, &notification.object().key(), AddOptions::now());
        client.informer.finished(client.handler);
        true
    }

    /// An idle worker takes a key and looks at the cache.
    fn take(&mut self) -> bool {
        let client = &mut self.client;
        let Some(idle) = client.workers.iter().position(Option::is_none) else { return false };
        if !client.informer.handler_synced(client.handler) {
            return false;
        }
        let Got::Key(key, _) = client.queue.get(self.now) else { return false };
        assert!(!client.workers.iter().flatten().any(|held| *held == key), "{key} is worked on twice at once");
        let version = client.informer.get(&key).map_or(0, |o| o.resource_version().parse().unwrap_or(0));
        let before = client.seen.insert(key.clone(), version).unwrap_or(0);
        assert!(version == 0 || version >= before, "{key} went back from {before} to {version}");
        client.workers[idle] = Some(key);
        true
    }

    fn finish(&mut self, worker: usize, well: bool) {
        let Some(key) = self.client.workers[worker].take() else { return };
        let draw = if well { 9 } else { self.rng.below(10) };
        let result = |requeue_after_us, requeue| ReconcileResult { requeue_after_us, requeue, priority: None };
        let ended = match draw {
            0 | 1 => Ended::Failed(ReconcileError::Plain("no".to_string()), result(0, false)),
            2 => Ended::Returned(result(1_500_000, false)),
            3 => Ended::Returned(result(0, true)),
            4 => Ended::Panicked("boom".to_string()),
            5 => Ended::Failed(ReconcileError::Terminal(None), result(0, false)),
            _ => Ended::Returned(result(0, false)),
        };
        apply(&mut self.client.queue, self.now, &key, &decide(&ended, 0));
    }

    fn pass(&mut self, span: Span) {
        self.now += span;
        self.client.informer.advance(self.now);
        self.client.queue.advance(self.now);
    }

    fn step(&mut self) {
        match self.rng.below(100) {
            0..22 => self.server.write(&mut self.rng),
            22..32 => self.answer(false),
            32..48 => drop(self.deliver()),
            48..60 => drop(self.process()),
            60..70 => drop(self.handle()),
            70..78 => drop(self.take()),
            78..85 => {
                let worker = self.rng.below(self.client.workers.len() as u64) as usize;
                self.finish(worker, false);
            }
            85..91 => {
                let span = Span::millis(self.rng.below(3_000));
                self.pass(span);
            }
            91..93 => self.close_watch(true),
            93 => self.close_watch(false),
            94..96 => self.answer(true),
            // An open watch has what it will say in its own buffer.
            96 => {
                let upto = self.client.open.as_ref().map_or(self.server.version, |open| open.read);
                self.server.compact(upto);
            }
            97 | 98 => self.error_event(),
            _ => self.client = Client::new(self.now, &mut self.rng),
        }
    }

    fn rests(&self) -> bool {
        let client = &self.client;
        client.calls.is_empty()
            && client.open.as_ref().is_some_and(|open| open.initial.is_empty())
            && client.informer.fifo().is_empty()
            && client.workers.iter().all(Option::is_none)
            && !client.queue.has_work()
            && client.queue.delayed().next().is_none()
            && *client.informer.indexer().objects() == self.server.objects
    }

    /// No faults any more: everything goes on until nothing is left to do.
    fn settle(&mut self) {
        for _ in 0..ROUNDS_MAX {
            self.answer(false);
            while self.deliver() {}
            while self.process() {}
            while self.handle() {}
            while self.take() {}
            for worker in 0..self.client.workers.len() {
                self.finish(worker, true);
            }
            self.collect_calls();
            if self.rests() {
                return;
            }
            let due = [self.client.informer.next_deadline(), self.client.queue.next_deadline()];
            let next = due.into_iter().flatten().min().unwrap_or(self.now);
            self.pass(next.since(self.now));
        }
        panic!("it does not come to rest");
    }

    fn check(&self) {
        for (key, object) in &self.server.objects {
            let version: u64 = object.resource_version().parse().unwrap_or(0);
            assert_eq!(self.client.seen.get(key), Some(&version), "the last change of {key} was lost");
        }
        for (key, version) in &self.client.seen {
            assert!(*version == 0 || self.server.objects.contains_key(key), "the deletion of {key} was lost");
        }
    }
}

fn play(seed: u64) {
    let mut run = Run::new(seed);
    for _ in 0..STEPS {
        run.step();
    }
    run.settle();
    run.check();
}

#[test]
fn ten_thousand_runs_with_faults_lose_nothing_and_converge() {
    let threads = 2;
    let failed: Vec<u64> = std::thread::scope(|scope| {
        let parts: Vec<_> = (0..threads)
            .map(|part| {
                scope.spawn(move || {
                    let mine = (1..=SEEDS).filter(move |seed| seed % threads == part);
                    mine.filter(|seed| std::panic::catch_unwind(|| play(*seed)).is_err()).take(3).collect::<Vec<_>>()
                })
            })
            .collect();
        parts.into_iter().flat_map(|part| part.join().unwrap_or_else(|_| vec![0])).collect()
    });
    assert!(failed.is_empty(), "seeds {failed:?} fail");
}
