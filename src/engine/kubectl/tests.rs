//! Claims about kubectl, against a server that is a map of paths.

use super::{Ask, Command, Files, Session, parse};
use crate::api::message::{Body, Method, Request, Response, User};
use crate::api::status::ApiStatus;
use crate::ids::GroupResource;
use crate::time::{SimTime, Span};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Answers by path; what is not there is not found. Writes are kept.
#[derive(Default)]
struct Server {
    bodies: BTreeMap<String, Value>,
    writes: Vec<(Method, String, Value)>,
}

impl Server {
    fn with(mut self, path: &str, body: Value) -> Self {
        self.bodies.insert(path.to_string(), body);
        self
    }

    fn handle(&mut self, request: &Request) -> Response {
        let sent = match &request.body {
            Body::Json(value) => (**value).clone(),
            _ => Value::Null,
        };
        if request.method != Method::Get {
            self.writes.push((request.method, request.path.clone(), sent.clone()));
        }
        match (request.method, self.bodies.get(&request.path)) {
            (Method::Get | Method::Delete, Some(body)) => {
                let body = Arc::new(body.clone());
                if request.method == Method::Delete {
                    self.bodies.remove(&request.path);
                }
                Response::ok(200, body)
            }
            (Method::Get | Method::Delete, None) => {
                let name = request.path.rsplit('/').next().unwrap_or("");
                ApiStatus::not_found(&GroupResource::new("", "pods"), name).into()
            }
            (Method::Post, _) => Response::ok(201, Arc::new(sent)),
            (_, Some(body)) => {
                let mut body = body.clone();
                crate::api::patch::merge::merge(&mut body, &sent);
                crate::object::set(&mut body, &["metadata", "resourceVersion"], json!("9"));
                Response::ok(200, Arc::new(body))
            }
            (_, None) => ApiStatus::not_found(&GroupResource::new("", "pods"), "x").into(),
        }
    }
}

fn now() -> SimTime {
    SimTime::parse_rfc3339("2027-01-01T01:00:00Z").unwrap()
}

/// Runs a line to its end: standard output, standard error, exit code.
fn run_with(server: &mut Server, line: &str, files: &Files) -> (String, String, i32) {
    let command = match parse(line, files) {
        Ok(command) => command,
        Err(usage) => return (String::new(), usage.0, 1),
    };
    drive(server, command)
}

fn drive(server: &mut Server, command: Command) -> (String, String, i32) {
    let mut session = Session::new(command, User::default(), now());
    let (mut out, mut err, mut at) = (Vec::new(), Vec::new(), now());
    for _ in 0..1_000 {
        let (lines, ask) = session.advance();
        for line in lines {
            if line.error { err.push(line.text) } else { out.push(line.text) }
        }
        match ask {
            Ask::Send(request) => {
                let response = server.handle(&request);
                session.answered(at, response);
            }
            Ask::Sleep(until) => {
                at = until;
                session.woke(at);
            }
            Ask::Event { .. } => session.event(at, None),
            Ask::Exit(code) => return (out.join("\n"), err.join("\n"), code),
        }
    }
    panic!("the command does not end");
}

fn run(server: &mut Server, line: &str) -> (String, String, i32) {
    run_with(server, line, &Files::new())
}

fn pod(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default", "resourceVersion": "5",
        "creationTimestamp": "2027-01-01T00:55:00Z", "labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c", "image": "nginx"}], "nodeName": "node-1"},
        "status": {"phase": "Running", "podIP": "10.0.0.1", "containerStatuses": [{"ready": true, "restartCount": 2,
            "state": {"running": {}}}]}})
}

const PODS: &str = "/api/v1/namespaces/default/pods";

fn pods() -> Server {
    let list = json!({"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "7"}, "items": [pod("a"), pod("longer")]});
    Server::default()
        .with(PODS, list)
        .with(&format!("{PODS}/a"), pod("a"))
        .with(&format!("{PODS}/longer"), pod("longer"))
}

fn file(objects: &[Value]) -> Files {
    [("-".to_string(), objects.iter().cloned().map(Arc::new).collect())].into_iter().collect()
}

#[test]
fn a_table_has_the_columns_of_its_kind() {
    let (out, _, code) = run(&mut pods(), "kubectl get po");
    assert_eq!(
        out,
        "NAME     READY   STATUS    RESTARTS   AGE\na        1/1     Running   2          5m\nlonger   1/1     Running   2          5m"
    );
    assert_eq!(code, 0);
    let (out, _, _) = run(&mut pods(), "get pods a --no-headers -o wide");
    assert_eq!(
        out,
        "a   1/1   Running   2     5m    10.0.0.1   node-1   <none>   <none>".replace("2     5m    ", "2   5m   ")
    );
    let (out, _, _) = run(&mut pods(), "get pod/a pod/longer -o name");
    assert_eq!(out, "pod/a\npod/longer");
}

#[test]
fn an_empty_list_is_told_on_the_standard_error() {
    let mut server = Server::default().with(PODS, json!({"items": [], "metadata": {}}));
    assert_eq!(run(&mut server, "get pods"), (String::new(), "No resources found in default namespace.".into(), 0));
}

#[test]
fn what_is_not_there_is_told_in_the_words_of_the_server() {
    let (_, err, code) = run(&mut pods(), "get pod nope");
    assert_eq!((err.as_str(), code), ("Error from server (NotFound): pods \"nope\" not found", 1));
    let mut server = Server::default().with("/apis", json!({"groups": []}));
    let (_, err, code) = run(&mut server, "get gadgets");
    assert_eq!((err.as_str(), code), ("error: the server doesn't have a resource type \"gadgets\"", 1));
    assert_eq!(
        run(&mut server, "gett pods").1,
        "error: unknown command \"gett\" for \"kubectl\"\n\nDid you mean this?\n\tget\n\tset\n"
    );
    assert!(run(&mut server, "get pods --wrong").1.starts_with("error: unknown flag: --wrong"));
}

#[test]
fn formats_print_the_whole_object_or_a_part() {
    let (out, _, _) = run(
        &mut pods(),
        r#"get pods -o jsonpath='{range .items[*]}{.metadata.name}{"\t"}{.spec.nodeName}{"\n"}{end}'"#,
    );
    assert_eq!(out, "a\tnode-1\nlonger\tnode-1\n");
    let (out, _, _) = run(&mut pods(), "get pods -o jsonpath='{.items[?(@.metadata.name==\"a\")].status.phase}'");
    assert_eq!(out, "Running");
    let (out, _, _) = run(&mut pods(), "get pods -o custom-columns=N:.metadata.name,X:.spec.nope");
    assert_eq!(out, "N        X\na        <none>\nlonger   <none>");
    assert!(run(&mut pods(), "get pod a -o yaml").0.starts_with("apiVersion: v1\nkind: Pod\n"));
    assert!(run(&mut pods(), "get pods -o what").1.contains("unable to match a printer"));
}

fn widgets() -> Server {
    let crd = json!({"spec": {"versions": [{"name": "v1", "additionalPrinterColumns": [
        {"name": "Size", "type": "integer", "jsonPath": ".spec.size"}, {"name": "More", "type": "string", "jsonPath": ".spec.x", "priority": 1},
        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}],
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object", "description": "What is wanted.",
            "properties": {"size": {"type": "integer"}}}}}}}]}});
    let widget = json!({"apiVersion": "demo.example/v1", "kind": "Widget", "metadata": {"name": "w", "namespace": "default", "resourceVersion": "3",
        "creationTimestamp": "2027-01-01T00:00:00Z"}, "spec": {"size": 3}});
    Server::default()
        .with(
            "/apis",
            json!({"groups": [{"name": "demo.example", "preferredVersion": {"groupVersion": "demo.example/v1"}}]}),
        )
        .with(
            "/apis/demo.example/v1",
            json!({"resources": [{"name": "widgets", "singularName": "widget", "kind": "Widget", "namespaced": true,
            "shortNames": ["wd"], "verbs": ["get"]}]}),
        )
        .with("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.demo.example", crd)
        .with("/apis/demo.example/v1/namespaces/default/widgets", json!({"metadata": {}, "items": [widget.clone()]}))
        .with("/apis/demo.example/v1/namespaces/default/widgets/w", widget)
}

#[test]
fn a_custom_resource_has_the_columns_of_its_definition() {
    assert_eq!(run(&mut widgets(), "get wd").0, "NAME   SIZE   AGE\nw      3      60m");
    assert_eq!(
        run(&mut widgets(), "get widgets.demo.example -o wide").0,
        "NAME   SIZE   MORE   AGE\nw      3             60m"
    );
    assert!(run(&mut widgets(), "explain widget.spec").0.contains("FIELD: spec <Object>"));
}

#[test]
fn apply_creates_configures_and_leaves_alone() {
    let manifest =
        json!({"apiVersion": "demo.example/v1", "kind": "Widget", "metadata": {"name": "n"}, "spec": {"size": 1}});
    let mut server = widgets();
    let (out, _, _) = run_with(&mut server, "apply -f w.yaml", &file(std::slice::from_ref(&manifest)));
    assert_eq!(out, "widget.demo.example/n created");
    let stored = server.writes[0].2.clone();
    let text = stored["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"].as_str().unwrap();
    assert_eq!(
        text,
        "{\"apiVersion\":\"demo.example/v1\",\"kind\":\"Widget\",\"metadata\":{\"annotations\":{},\"name\":\"n\",\"namespace\":\"default\"},\"spec\":{\"size\":1}}\n"
    );
    server.bodies.insert("/apis/demo.example/v1/namespaces/default/widgets/n".into(), stored);
    assert_eq!(run_with(&mut server, "apply -f -", &file(&[manifest])).0, "widget.demo.example/n unchanged");
    let other =
        json!({"apiVersion": "demo.example/v1", "kind": "Widget", "metadata": {"name": "n"}, "spec": {"color": "red"}});
    assert_eq!(run_with(&mut server, "apply -f -", &file(&[other])).0, "widget.demo.example/n configured");
    let patch = &server.writes.last().unwrap().2;
    assert_eq!(patch["spec"], json!({"color": "red", "size": null}));
}

#[test]
fn lists_of_built_in_kinds_merge_by_key() {
    use super::threeway::{Lists, patch};
    let last = json!({"spec": {"containers": [{"name": "a", "image": "1"}, {"name": "b", "image": "1"}]}});
    let live = json!({"spec": {"containers": [{"name": "a", "image": "1", "pull": "x"}, {"name": "b", "image": "1"}, {"name": "side"}]}});
    let wanted = json!({"spec": {"containers": [{"name": "a", "image": "2"}]}});
    assert_eq!(
        patch(&last, &live, &wanted, Lists::Merge),
        json!({"spec": {"$setElementOrder/containers": [{"name": "a"}],
        "containers": [{"name": "a", "image": "2"}, {"$patch": "delete", "name": "b"}]}})
    );
    let same = json!({"spec": {"containers": [{"name": "a", "image": "1"}, {"name": "b", "image": "1"}]}});
    assert_eq!(patch(&last, &live, &same, Lists::Merge), json!({}));
}

#[test]
fn an_invalid_object_lists_its_causes() {
    let mut session = Session::new(parse("get pod a", &Files::new()).unwrap(), User::default(), now());
    session.advance();
    let mut status = ApiStatus::new(422, "Invalid", "long");
    status.kind = "Widget".into();
    status.name = "w".into();
    for field in ["spec.a", "spec.b"] {
        status.causes.push(crate::api::status::Cause {
            reason: "x".into(),
            message: "Required value".into(),
            field: field.into(),
        });
    }
    session.answered(now(), status.into());
    let (lines, ask) = session.advance();
    assert_eq!(lines[0].text, "The Widget \"w\" is invalid: \n* spec.a: Required value\n* spec.b: Required value");
    assert_eq!(ask, Ask::Exit(1));
}

#[test]
fn delete_says_where_and_waits() {
    let (out, _, code) = run(&mut pods(), "delete pod a longer --grace-period=5");
    assert_eq!(out, "pod \"a\" deleted from default namespace\npod \"longer\" deleted from default namespace");
    assert_eq!(code, 0);
    let (out, err, _) = run(&mut pods(), "delete pod a --force --grace-period=0");
    assert_eq!(out, "pod \"a\" force deleted from default namespace");
    assert!(err.starts_with("Warning: Immediate deletion"));
    assert_eq!(run(&mut pods(), "delete pod").1, "error: resource(s) were provided, but no name was specified");
}

#[test]
fn labels_are_kept_unless_overwritten() {
    assert_eq!(run(&mut pods(), "label pod a tier=x").0, "pod/a labeled");
    assert_eq!(
        run(&mut pods(), "label pod a app=y").1,
        "error: 'app' already has a value (web), and --overwrite is false"
    );
    assert_eq!(run(&mut pods(), "label pod a app=y --overwrite").0, "pod/a labeled");
    assert_eq!(run(&mut pods(), "label pod a app-").0, "pod/a unlabeled");
    assert_eq!(run(&mut pods(), "label pod a app=web").0, "pod/a not labeled");
}

#[test]
fn a_rollout_is_told_until_it_is_done() {
    let deployment = |updated: i64| {
        json!({"metadata": {"name": "d", "namespace": "default", "generation": 1}, "spec": {"replicas": 2},
        "status": {"observedGeneration": 1, "updatedReplicas": updated, "replicas": updated, "availableReplicas": updated}})
    };
    let all = "/apis/apps/v1/namespaces/default/deployments";
    let server = |updated: i64| {
        let list = json!({"metadata": {"resourceVersion": "1"}, "items": [deployment(updated)]});
        Server::default().with(&format!("{all}/d"), deployment(updated)).with(all, list)
    };
    let (out, _, code) = run(&mut server(2), "rollout status deploy/d");
    assert_eq!((out.as_str(), code), ("deployment \"d\" successfully rolled out", 0));
    let (out, err, code) = run(&mut server(1), "rollout status deploy d --timeout=3s");
    assert_eq!(out, "Waiting for deployment \"d\" rollout to finish: 1 out of 2 new replicas have been updated...");
    assert_eq!((err.as_str(), code), ("error: timed out waiting for the condition", 1));
}

#[test]
fn waiting_ends_with_the_condition_or_the_time() {
    let (out, _, _) = run(&mut pods(), "wait pod/a --for=jsonpath='{.status.phase}'=Running");
    assert_eq!(out, "pod/a condition met");
    let (_, err, code) = run(&mut pods(), "wait pod/a --for=condition=Ready --timeout=2s");
    assert_eq!((err.as_str(), code), ("error: timed out waiting for the condition on pods/a", 1));
}

#[test]
fn verbs_without_a_meaning_here_are_refused_in_words() {
    assert!(run(&mut pods(), "logs a").1.contains("containers of the model run no program"));
    assert!(run(&mut pods(), "exec -it a -- sh").1.contains("containers of the model run no program"));
}

#[test]
fn ages_read_as_in_kubectl() {
    use super::age::human;
    for (seconds, text) in [
        (119, "119s"),
        (120, "2m"),
        (599, "9m59s"),
        (600, "10m"),
        (3 * 3600, "3h"),
        (8 * 3600 + 60, "8h"),
        (49 * 3600, "2d1h"),
        (8 * 86400, "8d"),
        (800 * 86400, "2y70d"),
    ] {
        assert_eq!(human(seconds), text);
    }
    assert_eq!(super::session::duration("1m30s"), Some(Span::secs(90)));
}

#[test]
fn completion_offers_what_may_stand_there() {
    struct World;
    impl super::Known for World {
        fn resources(&self) -> Vec<String> {
            vec!["pods".into(), "services".into()]
        }
        fn names(&self, _: &str, _: &str) -> Vec<String> {
            vec!["a".into(), "b".into()]
        }
        fn namespaces(&self) -> Vec<String> {
            vec!["default".into()]
        }
    }
    let at_end = |line: &str| super::complete(line, line.len(), &World);
    assert_eq!(at_end("kubectl roll"), ["rollout"]);
    assert_eq!(at_end("get po"), ["pods"]);
    assert_eq!(at_end("get pods "), ["a", "b"]);
    assert_eq!(at_end("get pod/"), ["pod/a", "pod/b"]);
    assert_eq!(at_end("rollout st"), ["status"]);
    assert_eq!(at_end("get pods -n "), ["default"]);
    assert_eq!(at_end("scale --rep"), ["--replicas"]);
}

#[test]
fn hostile_lines_are_refused_without_harm() {
    for line in [
        "get 'open",
        "get pods -o jsonpath={",
        "get pods -o jsonpath={.a[",
        "get pods -o jsonpath={range .a}",
        "get a/b/c",
        "-n",
        "--",
        "get pods -o jsonpath={..a[?(@",
        "",
    ] {
        let (_, err, code) = run(&mut pods(), line);
        assert!(!err.is_empty() && code == 1, "{line}");
    }
}

#[test]
fn nested_filters_are_stopped_by_a_limit() {
    let deep = format!("get pods -o jsonpath='{{.a{}{}}}'", "[?(@.b".repeat(1_000), ")]".repeat(1_000));
    assert!(run(&mut pods(), &deep).1.contains("filters"));
    let ranges = format!("get pods -o jsonpath='{}'", "{range .items[*]}".repeat(400));
    assert!(run(&mut pods(), &ranges).1.contains("nested too deep"));
}

/// Words that lines are put together from.
const WORDS: &[&str] = &[
    "get",
    "pods",
    "apply",
    "-f",
    "-",
    "delete",
    "a",
    "pod/a",
    "label",
    "x=y",
    "x-",
    "-o",
    "yaml",
    "jsonpath={.items[*]..name}",
    "-w",
    "scale",
    "--replicas=2",
    "rollout",
    "status",
    "undo",
    "wait",
    "--for=delete",
    "--for=condition=Ready",
    "--timeout=1s",
    "describe",
    "patch",
    "-p",
    "{",
    "[]",
    "{\"a\":null}",
    "--type=json",
    "create",
    "role",
    "set",
    "image",
    "c=d",
    "explain",
    "auth",
    "can-i",
    "-l",
    "a=b",
    "-A",
    "--",
    "'",
    "edit",
    "cm",
    "replace",
    "run",
    "--image=x",
    "🦀",
    "-n",
    "deploy",
    "sts/x",
    "all",
];

#[test]
fn random_lines_end_without_harm() {
    let mut rng = crate::rng::Rng::new(7);
    for _ in 0..20_000 {
        let count = 1 + rng.next_u64() % 8;
        let words: Vec<&str> = (0..count).map(|_| WORDS[(rng.next_u64() % WORDS.len() as u64) as usize]).collect();
        let line = words.join(" ");
        run_with(&mut pods(), &line, &file(&[pod("a"), json!({"apiVersion": "v1", "kind": "ConfigMap"})]));
        let _ = super::complete(&line, line.len() / 2, &Nobody);
    }
}

struct Nobody;
impl super::Known for Nobody {
    fn resources(&self) -> Vec<String> {
        vec!["pods".into()]
    }
    fn names(&self, _: &str, _: &str) -> Vec<String> {
        Vec::new()
    }
    fn namespaces(&self) -> Vec<String> {
        Vec::new()
    }
}

#[test]
fn the_arrow_keys_walk_through_what_was_typed() {
    let mut history = super::History::default();
    for line in ["get pods", "get pods", " ", "get svc"] {
        history.add(line);
    }
    assert_eq!(history.older("dra"), Some("get svc"));
    assert_eq!(history.older(""), Some("get pods"));
    assert_eq!(history.older(""), None);
    assert_eq!(history.newer(), Some("get svc"));
    assert_eq!(history.newer(), Some("dra"));
    assert_eq!(history.newer(), None);
    assert_eq!(history.find("pods"), Some("get pods"));
}

#[test]
fn a_stateful_set_tells_of_its_partition_even_when_that_is_zero() {
    let all = "/apis/apps/v1/namespaces/default/statefulsets";
    let set = json!({"metadata": {"name": "s", "namespace": "default", "generation": 1}, "spec": {"replicas": 2,
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}},
        "status": {"observedGeneration": 1, "readyReplicas": 2, "updatedReplicas": 2, "updateRevision": "r", "currentRevision": "r"}});
    let list = json!({"metadata": {"resourceVersion": "1"}, "items": [set.clone()]});
    let mut server = Server::default().with(&format!("{all}/s"), set).with(all, list);
    let (out, _, code) = run(&mut server, "rollout status sts/s");
    assert_eq!((out.as_str(), code), ("partitioned roll out complete: 2 new pods have been updated...", 0));
}
