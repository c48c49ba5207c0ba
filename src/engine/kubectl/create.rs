//! `create` from files and from words, `run`, `replace`.

use super::apply::{LAST_APPLIED, said, write};
use super::output::done;
use super::pick::{Picked, namespace_of, of_file, pick};
use super::resources::{builtin, named};
use super::session::{Cx, Flow, Stop};
use crate::api::message::Method;
use crate::object::{ObjectView, set};
use serde_json::{Map, Value, json};
use std::sync::Arc;

pub fn create(cx: &mut Cx) -> Flow {
    let args = cx.command.args.clone();
    if args.is_empty() {
        if cx.command.flag("filename").is_none() {
            return Err(cx.fail("must specify one of -f and -k"));
        }
        for (source, object) in cx.command.objects.clone() {
            store(cx, &object, &source)?;
        }
        return Ok(());
    }
    let object = described(cx, &args)?;
    store(cx, &object, "")
}

/// Creates one object.
fn store(cx: &mut Cx, object: &Value, source: &str) -> Flow {
    let Some(res) = of_file(cx, object, source)? else { return Ok(()) };
    let namespace = namespace_of(cx, &res, object)?;
    let mut object = object.clone();
    if res.namespaced {
        set(&mut object, &["metadata", "namespace"], json!(namespace));
    }
    if cx.command.on("save-config") {
        let text = format!("{object}\n");
        set(&mut object, &["metadata", "annotations", LAST_APPLIED], json!(text));
    }
    if cx.command.flag("dry-run") == Some("client") {
        return done(cx, &res, &object, "created");
    }
    let request = write(cx, Method::Post, res.collection(&namespace), "kubectl-create").body(object);
    let response = cx.call(request)?;
    let doing = if source.is_empty() {
        format!("failed to create {}: ", res.singular)
    } else {
        format!("error when creating \"{source}\": ")
    };
    // Without a file kubectl says its own word before the server's.
    if source.is_empty() && !response.success() {
        cx.code = 1;
        let status = response.status().unwrap_or_default();
        if status.reason == "Invalid" {
            cx.refused(&response, "");
        } else {
            cx.err(format!("error: {doing}{}", status.message));
        }
        return Ok(());
    }
    said(cx, &res, &response, "created", &doing)
}

fn needs(cx: &mut Cx, flag: &'static str) -> Result<String, Stop> {
    match cx.command.flag(flag).map(str::to_string) {
        Some(value) => Ok(value),
        None => Err(cx.fail(format!("required flag(s) \"{flag}\" not set"))),
    }
}

/// The object that `create KIND NAME --flags` describes.
fn described(cx: &mut Cx, args: &[String]) -> Flow<Arc<Value>> {
    let (kind, rest) = (args[0].as_str(), &args[1..]);
    let (kind, rest) = match kind {
        "secret" => match rest.split_first() {
            Some((first, rest)) if first == "generic" => ("secret", rest),
            _ => return Err(cx.fail("of the kinds of secrets only generic can be made here")),
        },
        kind => (kind, rest),
    };
    let [name] = rest else {
        return Err(cx.fail(format!(
            "exactly one NAME is required, got {}\nSee 'kubectl create {kind} -h' for help and examples",
            rest.len()
        )));
    };
    let meta = json!({"name": name});
    Ok(Arc::new(match kind {
        "namespace" | "ns" => json!({"apiVersion": "v1", "kind": "Namespace", "metadata": meta}),
        "serviceaccount" | "sa" => json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta}),
        "configmap" | "cm" => {
            let data = literals(cx)?;
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data})
        }
        "secret" => {
            let data = literals(cx)?;
            json!({"apiVersion": "v1", "kind": "Secret", "metadata": meta, "type": "Opaque", "stringData": data})
        }
        "deployment" | "deploy" => {
            let image = needs(cx, "image")?;
            let replicas = cx.command.flag("replicas").and_then(|r| r.parse::<i64>().ok()).unwrap_or(1);
            let container = json!({"name": image_name(&image), "image": image});
            json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "labels": {"app": name}},
                "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template":
                    {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container]}}}})
        }
        "role" | "clusterrole" => {
            let rules = rules(cx)?;
            let kind = if kind == "role" { "Role" } else { "ClusterRole" };
            json!({"apiVersion": RBAC, "kind": kind, "metadata": meta, "rules": rules})
        }
        "rolebinding" | "clusterrolebinding" => binding(cx, kind, &meta)?,
        other => return Err(cx.fail(format!("unknown command \"{other}\" for \"kubectl create\""))),
    }))
}

const RBAC: &str = "rbac.authorization.k8s.io/v1";

/// `registry/path/nginx:1.2` gives `nginx`.
fn image_name(image: &str) -> String {
    let last = image.rsplit('/').next().unwrap_or(image);
    last.split([':', '@']).next().unwrap_or(last).to_string()
}

fn literals(cx: &mut Cx) -> Flow<Map<String, Value>> {
    let mut data = Map::new();
    for literal in cx.command.all("from-literal").to_vec() {
        let Some((key, value)) = literal.split_once('=') else {
            return Err(cx.fail(format!("invalid literal source {literal}, expected key=value")));
        };
        data.insert(key.to_string(), json!(value));
    }
    Ok(data)
}

fn split(values: &[String]) -> Vec<String> {
    values.iter().flat_map(|v| v.split(',')).map(str::to_string).collect()
}

fn rules(cx: &mut Cx) -> Flow<Vec<Value>> {
    let verbs = split(cx.command.all("verb"));
    if verbs.is_empty() {
        return Err(cx.fail("at least one verb must be specified"));
    }
    let mut rules: Vec<Value> = Vec::new();
    for word in split(cx.command.all("resource")) {
        let (name, sub) = word.split_once('/').map_or((word.as_str(), ""), |(a, b)| (a, b));
        let found = if name == "*" { None } else { named(cx, name)?.into_iter().next() };
        let (group, mut resource) = match found {
            Some(res) => (res.gvr.group.to_string(), res.gvr.resource.to_string()),
            None => ("*".to_string(), "*".to_string()),
        };
        if !sub.is_empty() {
            resource = format!("{resource}/{sub}");
        }
        match rules.iter_mut().find(|r| r["apiGroups"][0] == json!(group)) {
            Some(rule) => {
                if let Some(list) = rule["resources"].as_array_mut() {
                    list.push(json!(resource));
                }
            }
            None => rules.push(json!({"apiGroups": [group], "resources": [resource], "verbs": verbs})),
        }
    }
    if rules.is_empty() {
        return Err(cx.fail("at least one resource must be specified"));
    }
    let names = split(cx.command.all("resource-name"));
    if !names.is_empty() {
        rules.iter_mut().for_each(|r| r["resourceNames"] = json!(names));
    }
    Ok(rules)
}

fn binding(cx: &mut Cx, kind: &str, meta: &Value) -> Flow<Value> {
    let role = match (cx.command.flag("role"), cx.command.flag("clusterrole")) {
        (Some(role), None) if kind == "rolebinding" => ("Role", role.to_string()),
        (None, Some(role)) => ("ClusterRole", role.to_string()),
        _ => return Err(cx.fail("exactly one of clusterrole or role must be specified")),
    };
    let group = "rbac.authorization.k8s.io";
    let mut subjects = Vec::new();
    for (flag, kind) in [("user", "User"), ("group", "Group")] {
        for name in split(cx.command.all(flag)) {
            subjects.push(json!({"kind": kind, "apiGroup": group, "name": name}));
        }
    }
    for account in split(cx.command.all("serviceaccount")) {
        let Some((namespace, name)) = account.split_once(':') else {
            return Err(cx.fail("serviceaccount must be <namespace>:<name>"));
        };
        subjects.push(json!({"kind": "ServiceAccount", "namespace": namespace, "name": name}));
    }
    let kind = if kind == "rolebinding" { "RoleBinding" } else { "ClusterRoleBinding" };
    let role = json!({"apiGroup": group, "kind": role.0, "name": role.1});
    Ok(json!({"apiVersion": RBAC, "kind": kind, "metadata": meta, "subjects": subjects, "roleRef": role}))
}

/// `run NAME --image=…`: one pod.
pub fn run(cx: &mut Cx) -> Flow {
    let Some(name) = cx.command.args.first().cloned() else {
        return Err(cx.fail("NAME is required for run"));
    };
    let image = needs(cx, "image")?;
    let mut labels = Map::new();
    for pair in cx.command.flag("labels").unwrap_or("").split(',').filter(|p| !p.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        labels.insert(key.to_string(), json!(value));
    }
    if labels.is_empty() {
        labels.insert("run".into(), json!(name));
    }
    let mut spec = json!({"containers": [{"name": name, "image": image}]});
    if let Some(policy) = cx.command.flag("restart") {
        spec["restartPolicy"] = json!(policy);
    }
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels}, "spec": spec});
    let namespace = cx.namespace();
    let Some(res) = builtin().find(|r| r.kind == "Pod") else { return Ok(()) };
    let request = write(cx, Method::Post, res.collection(&namespace), "kubectl-run").body(pod);
    let response = cx.call(request)?;
    said(cx, &res, &response, "created", "")
}

/// `expose deployment NAME --port=80`: a Service in front of what a workload or Service selects.
pub fn expose(cx: &mut Cx) -> Flow {
    let args = cx.command.args.clone();
    for one in pick(cx, &args)? {
        let live = one.live(cx)?;
        let path: &[&str] = match one.res.kind.as_str() {
            "Service" => &["spec", "selector"],
            "Pod" => &["metadata", "labels"],
            _ => &["spec", "selector", "matchLabels"],
        };
        let Some(selector) = live.at(path).filter(|s| s.as_object().is_some_and(|m| !m.is_empty())).cloned() else {
            return Err(cx.fail("couldn't retrieve selectors via --selector flag or introspection"));
        };
        let declared = live
            .list(&["spec", "template", "spec", "containers"])
            .iter()
            .find_map(|c| c.list(&["ports"]).first()?.int(&["containerPort"]));
        let port = cx.command.flag("port").and_then(|p| p.parse::<i64>().ok()).or(declared);
        let Some(port) = port else {
            return Err(cx.fail("couldn't find port via --port flag or introspection"));
        };
        let target = match cx.command.flag("target-port") {
            None => json!(port),
            Some(text) => text.parse::<i64>().map_or(json!(text), |n| json!(n)),
        };
        let protocol = cx.command.flag("protocol").unwrap_or("TCP");
        let mut spec =
            json!({"selector": selector, "ports": [{"port": port, "targetPort": target, "protocol": protocol}]});
        if let Some(kind) = cx.command.flag("type") {
            spec["type"] = json!(kind);
        }
        let name = cx.command.flag("name").unwrap_or(&one.name).to_string();
        let mut meta = json!({"name": name});
        if let Some(labels) = live.at(&["metadata", "labels"]) {
            meta["labels"] = labels.clone();
        }
        let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": spec});
        let Some(res) = builtin().find(|r| r.kind == "Service") else { return Ok(()) };
        let request = write(cx, Method::Post, res.collection(&one.namespace), "kubectl-expose").body(service);
        let response = cx.call(request)?;
        said(cx, &res, &response, "exposed", "")?;
    }
    Ok(())
}

/// `replace -f`: a PUT of the whole object.
pub fn replace(cx: &mut Cx) -> Flow {
    if cx.command.flag("filename").is_none() {
        return Err(cx.fail("Must specify --filename to replace"));
    }
    for (source, object) in cx.command.objects.clone() {
        let Some(res) = of_file(cx, &object, &source)? else { continue };
        let namespace = namespace_of(cx, &res, &object)?;
        let mut path = res.path(&namespace, object.name());
        let mut object = (*object).clone();
        if res.namespaced {
            set(&mut object, &["metadata", "namespace"], json!(namespace));
        }
        let doing = format!("error when replacing \"{source}\": ");
        // The typed client sends the live version where the file names none.
        if object.resource_version().is_empty() && !cx.command.on("force") {
            let live = cx.get(path.clone())?;
            if !live.success() {
                cx.refused(&live, &doing);
                continue;
            }
            set(&mut object, &["metadata", "resourceVersion"], json!(live.body.resource_version()));
        }
        if let Some(sub) = cx.command.flag("subresource") {
            path = format!("{path}/{sub}");
        }
        let request = if cx.command.on("force") {
            let name = object.name().to_string();
            let old = Picked { res: res.clone(), namespace: namespace.clone(), name, source: source.clone() };
            super::delete::gone(cx, &old)?;
            cx.out(format!("{} \"{}\" deleted", res.label(), object.name()));
            write(cx, Method::Post, res.collection(&namespace), "kubectl-replace").body(object)
        } else {
            write(cx, Method::Put, path, "kubectl-replace").body(object)
        };
        let response = cx.call(request)?;
        said(cx, &res, &response, "replaced", &doing)?;
    }
    Ok(())
}
