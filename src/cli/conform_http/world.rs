//! A whole cluster to play cases on: the controllers of the control plane, no scheduler and no kubelet.

use super::cluster::Cluster;
use engine::api::message::{Method, Request, Response, WatchEvent};
use engine::ids::WatchId;
use engine::object::{Object, ObjectView};
use engine::time::{SimTime, Span};
use engine::world::{ClusterSpec, World};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How long nothing may change before a cluster counts as settled, and how long that is waited for.
const STILL: Span = Span::secs(3);
const SETTLE_MAX: Span = Span::secs(180);
/// The kinds that recordings look at.
const KINDS: [&str; 7] =
    ["ConfigMap", "ControllerRevision", "Deployment", "PersistentVolumeClaim", "Pod", "ReplicaSet", "StatefulSet"];

/// The world, and what was seen of it since the last look.
pub struct Whole {
    world: World,
    now: SimTime,
    revision: u64,
    /// Uid to kind, name, whether it is dying, and its place in the order of creation.
    known: BTreeMap<String, (String, String, bool, usize)>,
    born: usize,
    changes: Vec<Value>,
    namespace: String,
}

impl Whole {
    pub fn new() -> Self {
        let spec = ClusterSpec {
            nodes: Vec::new(),
            off: ["default-scheduler", "persistentvolume-binder"].map(str::to_string).into(),
            ..ClusterSpec::default()
        };
        let mut whole = Whole {
            world: World::new(&spec),
            now: SimTime::ZERO,
            revision: 0,
            known: BTreeMap::new(),
            born: 0,
            changes: Vec::new(),
            namespace: String::new(),
        };
        whole.run(Span::secs(10));
        whole
    }

    fn look(&mut self) {
        if self.world.api().revision() == self.revision {
            return;
        }
        self.revision = self.world.api().revision();
        let mut seen: BTreeMap<String, (String, String, bool)> = BTreeMap::new();
        for object in self.world.objects() {
            if observed(object, &self.namespace) {
                seen.insert(
                    object.uid().to_string(),
                    (object.kind().to_string(), object.name().to_string(), object.deleting()),
                );
            }
        }
        let gone: Vec<String> = self.known.keys().filter(|uid| !seen.contains_key(*uid)).cloned().collect();
        for uid in gone {
            if let Some((kind, name, dying, _)) = self.known.remove(&uid) {
                // A pod that goes at once is marked and removed in one step of the world, by two writes.
                if kind == "Pod" && !dying {
                    self.changes.push(json!(["DELETING", kind, name]));
                }
                self.changes.push(json!(["DELETED", kind, name]));
            }
        }
        for (uid, (kind, name, dying)) in seen {
            let was = self.known.get(&uid).map(|k| k.2);
            if was.is_none() {
                self.changes.push(json!(["ADDED", kind, name]));
            }
            if dying && was != Some(true) {
                self.changes.push(json!(["DELETING", kind, name]));
            }
            let born = self.known.get(&uid).map_or(self.born, |k| k.3);
            self.born += 1;
            self.known.insert(uid, (kind, name, dying, born));
        }
    }

    fn pods(&self, step: &Map<String, Value>, verb: &str) -> Vec<Object> {
        let pattern = step[verb].as_str().unwrap_or("");
        let image = step.get("image").and_then(Value::as_str);
        let mut pods: Vec<Object> = self
            .world
            .objects()
            .filter(|o| observed(o, &self.namespace) && o.kind() == "Pod")
            .filter(|o| match pattern.strip_suffix('*') {
                Some(prefix) => o.name().starts_with(prefix) && fits(o, verb),
                None => o.name() == pattern,
            })
            .filter(|o| image.is_none_or(|i| image_of(o) == i))
            .cloned()
            .collect();
        pods.sort_by_key(|o| self.known.get(o.uid()).map_or(usize::MAX, |k| k.3));
        pods.truncate(step.get("count").and_then(Value::as_u64).unwrap_or(u64::MAX) as usize);
        pods
    }

    fn send(&mut self, method: Method, path: String, body: Value) -> Result<(), String> {
        let mut request = Request::new(method, path).body(body);
        if method == Method::Patch {
            request.content_type = "application/strategic-merge-patch+json".to_string();
        }
        request.user = engine::world::admin();
        request.agent = "kubelet".into();
        let response = self.handle(&request);
        if response.success() { Ok(()) } else { Err(format!("kubelet: {} {}", response.code, response.body)) }
    }

    fn act(&mut self, pod: &Object, verb: &str) -> Result<(), String> {
        let path = format!("/api/v1/namespaces/{}/pods/{}", pod.namespace(), pod.name());
        if verb == "gone" {
            return self.send(Method::Delete, path, json!({"gracePeriodSeconds": 0}));
        }
        if pod.text(&["spec", "nodeName"]).is_empty() {
            let binding = json!({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": pod.name()},
                "target": {"apiVersion": "v1", "kind": "Node", "name": "node-1"}});
            self.send(Method::Post, format!("{path}/binding"), binding)?;
        }
        let phase = match verb {
            "fail" => "Failed",
            "succeed" => "Succeeded",
            _ => "Running",
        };
        let ready = if verb == "ready" { "True" } else { "False" };
        // The condition keeps its time while its status stays.
        let mut condition = json!({"type": "Ready", "status": ready});
        if pod.condition("Ready") != ready {
            condition["lastTransitionTime"] = Value::from(self.now.rfc3339());
        }
        self.send(
            Method::Patch,
            format!("{path}/status"),
            json!({"status": {"phase": phase, "conditions": [condition]}}),
        )
    }
}

fn fits(pod: &Object, verb: &str) -> bool {
    let (phase, ready) = (pod.text(&["status", "phase"]), pod.condition("Ready") == "True");
    match verb {
        "gone" => pod.deleting(),
        _ if pod.deleting() => false,
        _ if matches!(phase, "Failed" | "Succeeded") => false,
        "ready" => !ready,
        "running" => phase != "Running",
        "notReady" => ready,
        "fail" => phase != "Failed",
        _ => phase != "Succeeded",
    }
}

fn image_of(pod: &Value) -> &str {
    pod.list(&["spec", "containers"]).first().map_or("", |c| c.text(&["image"]))
}

fn observed(object: &Object, namespace: &str) -> bool {
    object.namespace() == namespace && KINDS.contains(&object.kind()) && object.name() != "kube-root-ca.crt"
}

impl Cluster for Whole {
    fn handle(&mut self, request: &Request) -> Response {
        let response = self.world.ask(request);
        self.look();
        response
    }

    fn run(&mut self, span: Span) {
        let end = self.now + span;
        while self.world.next_at().is_some_and(|at| at <= end) {
            self.world.step();
            self.look();
        }
        self.world.run_until(end);
        self.now = end;
    }

    fn watch_events(&mut self, _watch: WatchId) -> Vec<WatchEvent> {
        Vec::new()
    }

    fn close_watch(&mut self, _watch: WatchId) {}

    fn begin(&mut self, namespace: &str) {
        self.namespace = namespace.to_string();
    }

    fn kubelet(&mut self, _namespace: &str, step: &Value) -> Result<(), String> {
        let verbs = ["ready", "running", "notReady", "fail", "succeed", "gone"];
        let step = step.as_object().ok_or("a kubelet step is an object")?;
        let verb = verbs.into_iter().find(|v| step.contains_key(*v)).ok_or("unknown kubelet verb")?;
        let mut pods = self.pods(step, verb);
        for _ in 0..100 {
            if !pods.is_empty() {
                break;
            }
            // The pod may be on its way.
            self.run(Span::millis(100));
            pods = self.pods(step, verb);
        }
        if pods.is_empty() {
            return Err(format!("no pod {} to make {verb}", step[verb]));
        }
        for pod in &pods {
            self.act(pod, verb)?;
            self.run(Span::millis(5));
        }
        Ok(())
    }

    fn settle(&mut self, namespace: &str, _step: &Value) -> Result<Value, String> {
        let (start, mut last) = (self.now, self.changes.len());
        let mut since = self.now;
        while self.now.since(since) < STILL && self.now.since(start) < SETTLE_MAX {
            let revision = self.revision;
            self.run(Span::millis(250));
            if self.changes.len() != last || self.revision != revision {
                last = self.changes.len();
                since = self.now;
            }
        }
        let mut objects: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
        for object in self.world.objects().filter(|o| observed(o, namespace)) {
            let kind = KINDS.iter().find(|k| **k == object.kind()).copied().unwrap_or("");
            objects.entry(kind).or_default().push(short(object));
        }
        Ok(json!({"changes": std::mem::take(&mut self.changes), "objects": objects}))
    }
}

/// An object in the short form of recordings.
fn short(object: &Arc<Value>) -> Value {
    let kind = object.kind();
    if kind == "ControllerRevision" {
        let hash = object.label("controller.kubernetes.io/hash").or_else(|| object.label("controller-revision-hash"));
        return json!({"revision": object.int(&["revision"]), "hash": hash.unwrap_or("")});
    }
    let mut out = json!({"name": object.name()});
    if object.deleting() {
        out["deleting"] = json!(true);
    }
    if !object.finalizers().is_empty() {
        out["finalizers"] = json!(object.finalizers());
    }
    let owners: Vec<String> =
        object.owner_references().iter().map(|r| format!("{}/{}", r.text(&["kind"]), r.text(&["name"]))).collect();
    if !owners.is_empty() {
        out["owners"] = json!(owners);
    }
    match kind {
        "Pod" => short_pod(object, &mut out),
        "Deployment" | "ReplicaSet" | "StatefulSet" => short_workload(object, &mut out),
        _ => {}
    }
    out
}

fn short_pod(pod: &Value, out: &mut Value) {
    out["phase"] = Value::from(pod.text(&["status", "phase"]));
    out["ready"] = Value::from(pod.condition("Ready") == "True");
    out["image"] = Value::from(image_of(pod));
    if let Some(hash) = pod.label("controller-revision-hash").or_else(|| pod.label("pod-template-hash")) {
        out["revision"] = Value::from(hash);
    }
}

fn short_workload(object: &Value, out: &mut Value) {
    out["generation"] = Value::from(object.generation());
    out["replicas"] = object.at(&["spec", "replicas"]).cloned().unwrap_or(Value::Null);
    let mut status = object.get("status").cloned().unwrap_or_else(|| json!({}));
    if let Some(conditions) = status.get_mut("conditions") {
        let mut list: Vec<Value> = conditions
            .as_array()
            .into_iter()
            .flatten()
            .map(|c| json!([c.text(&["type"]), c.text(&["status"]), c.text(&["reason"])]))
            .collect();
        list.sort_by_key(Value::to_string);
        *conditions = Value::from(list);
    }
    out["status"] = status;
    if object.kind() != "StatefulSet" {
        out["annotations"] = object.at(&["metadata", "annotations"]).cloned().unwrap_or_else(|| json!({}));
    }
}
