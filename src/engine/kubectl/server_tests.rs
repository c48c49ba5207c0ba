//! Claims about kubectl against the real server of the model.

use super::{Ask, Files, Session, parse};
use crate::api::message::{Request, User, WatchEvent};
use crate::api::server::{ApiServer, Profile};
use crate::ids::WatchId;
use crate::time::{SimTime, Span};
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// A server, a clock, and what was given for files.
pub struct Cluster {
    api: ApiServer,
    now: SimTime,
    files: Files,
}

impl Cluster {
    pub fn new() -> Self {
        Cluster { api: ApiServer::new(1, Profile::default()), now: SimTime::ZERO, files: Files::new() }
    }

    pub fn file(&mut self, name: &str, objects: &[Value]) {
        self.files.insert(name.to_string(), objects.iter().cloned().map(Arc::new).collect());
    }

    fn pass(&mut self, until: SimTime) {
        while let Some(due) = self.api.due().filter(|due| *due <= until) {
            self.now = self.now.max(due);
            self.api.tick(self.now);
        }
        self.now = self.now.max(until);
    }

    /// What a line prints, both outputs in their order, and the exit code behind them when it is not zero.
    pub fn run(&mut self, line: &str) -> String {
        let user = User { name: "admin".into(), groups: vec!["system:masters".into()] };
        let command = match parse(line, &self.files) {
            Ok(command) => command,
            Err(usage) => return format!("{}\n[1]", usage.0),
        };
        let mut session = Session::new(command, user, self.now);
        let mut printed = Vec::new();
        let mut inbox: BTreeMap<WatchId, VecDeque<WatchEvent>> = BTreeMap::new();
        for _ in 0..2_000 {
            let (lines, ask) = session.advance();
            printed.extend(lines.into_iter().map(|l| l.text));
            match ask {
                Ask::Send(request) => {
                    self.pass(self.now + Span::millis(1));
                    let response = self.handle(&request);
                    session.answered(self.now, response);
                }
                Ask::Sleep(until) => {
                    self.pass(until);
                    session.woke(self.now);
                }
                Ask::Event { watch, until } => {
                    let events = self.api.watch_events(self.now, watch);
                    inbox.entry(watch).or_default().extend(events);
                    match (inbox.get_mut(&watch).and_then(VecDeque::pop_front), self.api.due(), until) {
                        (Some(event), ..) => session.event(self.now, Some(event)),
                        (None, Some(due), Some(until)) if due < until => self.pass(due),
                        (None, _, Some(until)) => {
                            self.pass(until);
                            session.woke(self.now);
                        }
                        (None, _, None) => session.event(self.now, None),
                    }
                }
                Ask::Exit(0) => return printed.join("\n"),
                Ask::Exit(code) => return format!("{}\n[{code}]", printed.join("\n")),
            }
        }
        panic!("{line} does not end");
    }

    fn handle(&mut self, request: &Request) -> crate::api::message::Response {
        let response = self.api.handle(self.now, request);
        self.api.take_commits();
        response
    }
}

fn widgets() -> Value {
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "widgets.demo.example"},
        "spec": {"group": "demo.example", "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "shortNames": ["wd"], "categories": ["all"]},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"}},
                "additionalPrinterColumns": [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
                    {"name": "Ready", "type": "string", "jsonPath": ".status.conditions[?(@.type=='Ready')].status"}],
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                    "spec": {"type": "object", "required": ["size"], "properties": {"size": {"type": "integer", "minimum": 1, "description": "How large."},
                        "color": {"type": "string"}},
                        "x-kubernetes-validations": [{"rule": "self.size < 10", "message": "too large"}]},
                    "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}}}]}})
}

fn widget(name: &str, spec: Value) -> Value {
    json!({"apiVersion": "demo.example/v1", "kind": "Widget", "metadata": {"name": name}, "spec": spec})
}

fn deployment() -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "labels": {"app": "web"}},
        "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "web"}}, "template": {"metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "web", "image": "nginx:1.25", "ports": [{"containerPort": 80}]}]}}}})
}

#[test]
fn a_deployment_is_applied_changed_and_left_alone() {
    let mut c = Cluster::new();
    let mut newer = deployment();
    newer["spec"]["template"]["spec"]["containers"][0]["image"] = json!("nginx:1.26");
    c.file("web.yaml", &[deployment()]);
    c.file("newer.yaml", &[newer]);
    assert_eq!(c.run("apply -f web.yaml"), "deployment.apps/web created");
    assert_eq!(c.run("apply -f web.yaml"), "deployment.apps/web unchanged");
    assert_eq!(c.run("scale deploy web --replicas=5"), "deployment.apps/web scaled");
    assert_eq!(c.run("apply -f newer.yaml"), "deployment.apps/web configured");
    assert_eq!(
        c.run("get deploy web -o jsonpath='{.spec.template.spec.containers[0].image} {.spec.replicas}'"),
        "nginx:1.26 3"
    );
    assert_eq!(c.run("set image deploy/web web=nginx:1.27"), "deployment.apps/web image updated");
    assert_eq!(c.run("rollout pause deploy/web"), "deployment.apps/web paused");
    assert_eq!(c.run("rollout pause deploy/web"), "error: deployments.apps \"web\" is already paused\n[1]");
    assert!(c.run("get deploy -o wide").contains("web          nginx:1.27   app=web"));
}

#[test]
fn a_person_without_rights_is_refused_in_the_words_of_the_server() {
    let mut c = Cluster::new();
    let refused = "Error from server (Forbidden): pods is forbidden: User \"bob\" cannot list resource \"pods\" in API group \"\" in the \
                   namespace \"default\"\n[1]";
    assert_eq!(c.run("get pods --as bob"), refused);
    assert_eq!(
        c.run("create role reader --verb=get,list --resource=pods"),
        "role.rbac.authorization.k8s.io/reader created"
    );
    assert_eq!(
        c.run("create rolebinding r --role=reader --user=bob"),
        "rolebinding.rbac.authorization.k8s.io/r created"
    );
    assert_eq!(c.run("get pods --as bob"), "No resources found in default namespace.");
    assert_eq!(c.run("auth can-i list pods --as bob"), "yes");
    assert_eq!(c.run("auth can-i delete pods --as bob"), "no\n[1]");
    assert_eq!(c.run("auth can-i delete pods"), "yes");
}

#[test]
fn a_definition_and_its_objects_may_stand_in_one_file() {
    let mut c = Cluster::new();
    c.file("all.yaml", &[widgets(), widget("a", json!({"size": 3}))]);
    let head = "customresourcedefinition.apiextensions.k8s.io/widgets.demo.example";
    assert_eq!(c.run("apply -f all.yaml"), format!("{head} created\nwidget.demo.example/a created"));
    assert_eq!(c.run("apply -f all.yaml"), format!("{head} unchanged\nwidget.demo.example/a unchanged"));
    assert_eq!(c.run("get wd -A"), "NAMESPACE   NAME   SIZE   READY\ndefault     a      3      ");
    assert_eq!(c.run("get all"), "NAME                    SIZE   READY\nwidget.demo.example/a   3      ");
    assert_eq!(c.run("scale wd a --replicas=5"), "widget.demo.example/a scaled");
    assert_eq!(c.run("get wd a -o jsonpath={.spec}"), "{\"size\":5}");
    assert!(c.run("get wd -w").starts_with("NAME   SIZE   READY\na      5"));
    let patch = "patch wd a --type=merge -p '{\"spec\":{\"size\":6}}'";
    assert_eq!(c.run(patch), "widget.demo.example/a patched");
    assert_eq!(c.run(patch), "widget.demo.example/a patched (no change)");
    assert!(c.run("describe wd a").contains("Spec:\n  Size:  6\nEvents:  <none>"));
    assert_eq!(
        c.run("wait wd a --for=condition=Ready --timeout=1s"),
        "error: timed out waiting for the condition on widgets/a\n[1]"
    );
    assert!(
        c.run("delete -f all.yaml")
            .starts_with(&format!("{} \"widgets.demo.example\" deleted", head.split('/').next().unwrap()))
    );
    assert_eq!(c.run("get wd"), "error: the server doesn't have a resource type \"wd\"\n[1]");
}

#[test]
fn a_refused_object_is_explained() {
    let mut c = Cluster::new();
    c.file("crd.yaml", &[widgets()]);
    c.file("w.yaml", &[widget("b", json!({"size": 20}))]);
    c.file("typo.yaml", &[widget("b", json!({"size": 2, "colour": "red"}))]);
    c.file("none.yaml", &[json!({"apiVersion": "no.such/v1", "kind": "Thing", "metadata": {"name": "t"}})]);
    c.run("apply -f crd.yaml");
    c.run("wait crd widgets.demo.example --for=condition=Established");
    assert_eq!(c.run("apply -f w.yaml"), "The Widget \"b\" is invalid: spec: Invalid value: too large\n[1]");
    assert_eq!(
        c.run("apply -f typo.yaml"),
        "Error from server (BadRequest): error when creating \"typo.yaml\": Widget in version \"v1\" cannot be handled as a Widget: \
         strict decoding error: unknown field \"spec.colour\"\n[1]"
    );
    assert_eq!(
        c.run("apply -f none.yaml"),
        "error: resource mapping not found for name: \"t\" namespace: \"\" from \"none.yaml\": no matches for kind \"Thing\" in \
         version \"no.such/v1\"\nensure CRDs are installed first\n[1]"
    );
}

#[test]
fn a_node_is_drained_of_its_pods() {
    let mut c = Cluster::new();
    let pod = |name: &str| {
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "x"}], "terminationGracePeriodSeconds": 0}})
    };
    c.file("all.yaml", &[json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}), pod("a"), pod("b")]);
    assert_eq!(c.run("create -f all.yaml"), "node/n created\npod/a created\npod/b created");
    assert!(
        c.run("drain n")
            .contains("cannot delete Pods that declare no controller (use --force to override): default/a, default/b")
    );
    let drained = c.run("drain n --force --grace-period=0");
    assert_eq!(
        drained,
        "node/n already cordoned\nevicting pod default/a\nevicting pod default/b\npod/a evicted\npod/b evicted\nnode/n drained"
    );
    assert_eq!(c.run("uncordon n"), "node/n uncordoned");
}

#[test]
fn a_workload_is_exposed_by_its_selector() {
    let mut c = Cluster::new();
    c.file("web.yaml", &[deployment()]);
    c.run("apply -f web.yaml");
    assert_eq!(c.run("expose deploy web --type=NodePort"), "service/web exposed");
    assert_eq!(c.run("get svc web -o jsonpath='{.spec.selector.app} {.spec.ports[0].port}'"), "web 80");
}

#[test]
fn events_are_told_by_object() {
    let mut c = Cluster::new();
    let event = |name: &str, pod: &str, at: &str| {
        json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": name, "namespace": "default"},
        "involvedObject": {"kind": "Pod", "name": pod, "namespace": "default"}, "type": "Normal", "reason": "Pulled", "message": "m", "lastTimestamp": at})
    };
    c.file("e.yaml", &[event("x", "a", "2026-01-01T00:00:00Z"), event("y", "b", "2026-01-01T00:00:00Z")]);
    c.run("create -f e.yaml");
    assert_eq!(
        c.run("events --for pod/a"),
        "LAST SEEN   TYPE     REASON   OBJECT   MESSAGE\n0s          Normal   Pulled   pod/a    m"
    );
    assert_eq!(c.run("events -n kube-system"), "No events found in kube-system namespace.");
}
