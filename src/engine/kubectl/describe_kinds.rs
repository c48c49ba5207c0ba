//! `describe` of the built-in kinds people look at most.

use super::columns::{pairs, pod_status};
use super::describe::{long_time, marks};
use super::jsonpath::shown;
use super::resources::{Res, builtin};
use super::session::{Cx, Flow};
use crate::object::ObjectView;
use serde_json::Value;

/// The lines of an object, with tabs between columns; none for a kind without a form of its own.
pub fn lines(cx: &mut Cx, res: &Res, object: &Value) -> Flow<Option<Vec<String>>> {
    if !res.builtin {
        return Ok(None);
    }
    Ok(Some(match res.kind.as_str() {
        "Pod" => pod(object),
        "Deployment" => deployment(cx, object)?,
        "ReplicaSet" => replica_set(cx, object)?,
        "StatefulSet" => stateful_set(cx, object)?,
        "Service" => service(object),
        "ConfigMap" => config_map(object),
        "Secret" => secret(object),
        "Namespace" => namespace(object),
        _ => return Ok(None),
    }))
}

fn head(object: &Value) -> Vec<String> {
    vec![format!("Name:\t{}", object.name()), format!("Namespace:\t{}", object.namespace())]
}

fn labels_and_annotations(object: &Value) -> Vec<String> {
    let mut lines = marks("", "Labels", object.at(&["metadata", "labels"]));
    lines.extend(marks("", "Annotations", object.at(&["metadata", "annotations"])));
    lines
}

fn controlled_by(object: &Value) -> Option<String> {
    let owner = object.controller_ref()?;
    Some(format!("Controlled By:\t{}/{}", owner.kind(), owner.text(&["name"])))
}

fn or_none(text: &str) -> &str {
    if text.is_empty() { "<none>" } else { text }
}

fn pod(object: &Value) -> Vec<String> {
    let mut lines = head(object);
    lines.push(format!("Priority:\t{}", object.int(&["spec", "priority"]).unwrap_or(0)));
    let account = match object.text(&["spec", "serviceAccountName"]) {
        "" => "default",
        account => account,
    };
    lines.push(format!("Service Account:\t{account}"));
    let node = match (object.text(&["spec", "nodeName"]), object.text(&["status", "hostIP"])) {
        ("", _) => "<none>".to_string(),
        (node, ip) => format!("{node}/{ip}"),
    };
    lines.push(format!("Node:\t{node}"));
    if let Some(start) = object.at(&["status", "startTime"]) {
        lines.push(format!("Start Time:\t{}", long_time(Some(start))));
    }
    lines.extend(labels_and_annotations(object));
    let status = pod_status(object);
    match object.int(&["metadata", "deletionGracePeriodSeconds"]) {
        Some(grace) if object.deleting() => {
            lines.push(format!("Status:\tTerminating (lasts {})", "<unknown>"));
            lines.push(format!("Termination Grace Period:\t{grace}s"));
        }
        _ => lines.push(format!("Status:\t{}", or_none(object.text(&["status", "phase"])))),
    }
    if !object.text(&["status", "reason"]).is_empty() || status == "Unknown" {
        lines.push(format!("Reason:\t{}", object.text(&["status", "reason"])));
    }
    let ip = object.text(&["status", "podIP"]);
    lines.push(format!("IP:\t{ip}"));
    lines.push(if ip.is_empty() { "IPs:\t<none>".to_string() } else { "IPs:".to_string() });
    if !ip.is_empty() {
        lines.push(format!("  IP:\t{ip}"));
    }
    lines.extend(controlled_by(object));
    for (title, spec, state) in [
        ("Init Containers", "initContainers", "initContainerStatuses"),
        ("Containers", "containers", "containerStatuses"),
    ] {
        let specs = object.list(&["spec", spec]);
        if !specs.is_empty() {
            lines.push(format!("{title}:"));
            specs.iter().for_each(|c| container(c, object.list(&["status", state]), "  ", &mut lines));
        }
    }
    let conditions = object.list(&["status", "conditions"]);
    if !conditions.is_empty() {
        lines.push("Conditions:".to_string());
        lines.push("  Type\tStatus".to_string());
        lines.extend(conditions.iter().map(|c| format!("  {}\t{}", c.text(&["type"]), c.text(&["status"]))));
    }
    lines.extend(volumes(object.list(&["spec", "volumes"]), ""));
    lines.push(format!("Node-Selectors:\t{}", pairs(object.at(&["spec", "nodeSelector"]))));
    lines.push(format!("Tolerations:\t{}", or_none(&tolerations(object))));
    lines
}

fn tolerations(object: &Value) -> String {
    let one = |t: &Value| {
        let mut text = t.text(&["key"]).to_string();
        if !t.text(&["value"]).is_empty() {
            text = format!("{text}={}", t.text(&["value"]));
        }
        if !t.text(&["effect"]).is_empty() {
            text = format!("{text}:{}", t.text(&["effect"]));
        }
        if t.text(&["operator"]) == "Exists" {
            text = format!("{text} op=Exists");
        }
        match t.int(&["tolerationSeconds"]) {
            Some(seconds) => format!("{text} for {seconds}s"),
            None => text,
        }
    };
    object.list(&["spec", "tolerations"]).iter().map(one).collect::<Vec<_>>().join("\n\t")
}

fn volumes(volumes: &[Value], indent: &str) -> Vec<String> {
    if volumes.is_empty() {
        return vec![format!("{indent}Volumes:\t<none>")];
    }
    let mut lines = vec![format!("{indent}Volumes:")];
    for volume in volumes {
        lines.push(format!("{indent}  {}:", volume.text(&["name"])));
        let source = volume.as_object().and_then(|m| m.iter().find(|(k, _)| *k != "name"));
        let (kind, detail) = match source.map(|(k, v)| (k.as_str(), v)) {
            Some(("configMap", v)) => {
                ("ConfigMap (a volume populated by a ConfigMap)", Some(("Name", v.text(&["name"]))))
            }
            Some(("secret", v)) => {
                ("Secret (a volume populated by a Secret)", Some(("SecretName", v.text(&["secretName"]))))
            }
            Some(("persistentVolumeClaim", v)) => (
                "PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)",
                Some(("ClaimName", v.text(&["claimName"]))),
            ),
            Some(("emptyDir", _)) => ("EmptyDir (a temporary directory that shares a pod's lifetime)", None),
            Some((other, _)) => (other, None),
            None => ("<unknown>", None),
        };
        lines.push(format!("{indent}    Type:\t{kind}"));
        lines.extend(detail.map(|(k, v)| format!("{indent}    {k}:\t{v}")));
    }
    lines
}

fn container(spec: &Value, states: &[Value], indent: &str, lines: &mut Vec<String>) {
    let name = spec.text(&["name"]);
    let state = states.iter().find(|s| s.text(&["name"]) == name);
    lines.push(format!("{indent}{name}:"));
    let inner = "    ";
    let mut say = |text: String| lines.push(format!("{inner}{text}"));
    if let Some(state) = state {
        say(format!("Container ID:\t{}", state.text(&["containerID"])));
    }
    say(format!("Image:\t{}", spec.text(&["image"])));
    let ports: Vec<String> = spec
        .list(&["ports"])
        .iter()
        .map(|p| {
            let protocol = if p.text(&["protocol"]).is_empty() { "TCP" } else { p.text(&["protocol"]) };
            format!("{}/{protocol}", p.int(&["containerPort"]).unwrap_or(0))
        })
        .collect();
    say(format!("{}:\t{}", if ports.len() > 1 { "Ports" } else { "Port" }, or_none(&ports.join(", "))));
    if let Some(state) = state {
        running(state.get("state"), "State", &mut say);
        if state.get("lastState").and_then(Value::as_object).is_some_and(|m| !m.is_empty()) {
            running(state.get("lastState"), "Last State", &mut say);
        }
        let ready = if state.get("ready") == Some(&Value::Bool(true)) { "True" } else { "False" };
        say(format!("Ready:\t{ready}"));
        say(format!("Restart Count:\t{}", state.int(&["restartCount"]).unwrap_or(0)));
    }
    let env = spec.list(&["env"]);
    say(if env.is_empty() { "Environment:\t<none>".to_string() } else { "Environment:".to_string() });
    for variable in env {
        let value =
            if variable.get("valueFrom").is_some() { "<set from elsewhere>" } else { variable.text(&["value"]) };
        say(format!("  {}:\t{value}", variable.text(&["name"])));
    }
    let mounts = spec.list(&["volumeMounts"]);
    say(if mounts.is_empty() { "Mounts:\t<none>".to_string() } else { "Mounts:".to_string() });
    for mount in mounts {
        let mode = if mount.get("readOnly") == Some(&Value::Bool(true)) { "ro" } else { "rw" };
        say(format!("  {} from {} ({mode})", mount.text(&["mountPath"]), mount.text(&["name"])));
    }
}

fn running(state: Option<&Value>, title: &str, say: &mut impl FnMut(String)) {
    let state = state.unwrap_or(&Value::Null);
    if let Some(running) = state.get("running") {
        say(format!("{title}:\tRunning"));
        say(format!("  Started:\t{}", long_time(running.get("startedAt"))));
    } else if let Some(ended) = state.get("terminated") {
        say(format!("{title}:\tTerminated"));
        say(format!("  Reason:\t{}", ended.text(&["reason"])));
        say(format!("  Exit Code:\t{}", ended.int(&["exitCode"]).unwrap_or(0)));
        say(format!("  Started:\t{}", long_time(ended.get("startedAt"))));
        say(format!("  Finished:\t{}", long_time(ended.get("finishedAt"))));
    } else {
        say(format!("{title}:\tWaiting"));
        let reason = state.text(&["waiting", "reason"]);
        if !reason.is_empty() {
            say(format!("  Reason:\t{reason}"));
        }
    }
}

fn template(object: &Value, lines: &mut Vec<String>) {
    let template = object.at(&["spec", "template"]).unwrap_or(&Value::Null);
    lines.push("Pod Template:".to_string());
    lines.extend(marks("  ", "Labels", template.at(&["metadata", "labels"])));
    if template.at(&["metadata", "annotations"]).is_some() {
        lines.extend(marks("  ", "Annotations", template.at(&["metadata", "annotations"])));
    }
    lines.push("  Containers:".to_string());
    template.list(&["spec", "containers"]).iter().for_each(|c| container(c, &[], "   ", lines));
    lines.extend(volumes(template.list(&["spec", "volumes"]), "  "));
}

fn selector(object: &Value) -> String {
    pairs(object.at(&["spec", "selector", "matchLabels"]))
}

/// The objects of a kind that `object` controls.
fn owned(cx: &mut Cx, kind: &str, object: &Value) -> Flow<Vec<Value>> {
    let Some(res) = builtin().find(|r| r.kind == kind) else { return Ok(Vec::new()) };
    let response = cx.get(res.collection(object.namespace()))?;
    let mine = |o: &&Value| o.controller_ref().is_some_and(|r| r.text(&["uid"]) == object.uid());
    Ok(response.body.list(&["items"]).iter().filter(mine).cloned().collect())
}

fn pods_status(cx: &mut Cx, object: &Value) -> Flow<String> {
    let pods = owned(cx, "Pod", object)?;
    let count = |phase: &str| pods.iter().filter(|p| p.text(&["status", "phase"]) == phase).count();
    Ok(format!(
        "Pods Status:\t{} Running / {} Waiting / {} Succeeded / {} Failed",
        count("Running"),
        count("Pending"),
        count("Succeeded"),
        count("Failed")
    ))
}

fn conditions(object: &Value, lines: &mut Vec<String>) {
    let all = object.list(&["status", "conditions"]);
    if all.is_empty() {
        return;
    }
    lines.extend(["Conditions:", "  Type\tStatus\tReason", "  ----\t------\t------"].map(str::to_string));
    lines.extend(
        all.iter().map(|c| format!("  {}\t{}\t{}", c.text(&["type"]), c.text(&["status"]), c.text(&["reason"]))),
    );
}

fn deployment(cx: &mut Cx, object: &Value) -> Flow<Vec<String>> {
    let count = |path: &[&str]| object.int(path).unwrap_or(0);
    let mut lines = head(object);
    lines.push(format!("CreationTimestamp:\t{}", long_time(object.at(&["metadata", "creationTimestamp"]))));
    lines.extend(labels_and_annotations(object));
    lines.push(format!("Selector:\t{}", selector(object)));
    lines.push(format!(
        "Replicas:\t{} desired | {} updated | {} total | {} available | {} unavailable",
        count(&["spec", "replicas"]),
        count(&["status", "updatedReplicas"]),
        count(&["status", "replicas"]),
        count(&["status", "availableReplicas"]),
        count(&["status", "unavailableReplicas"])
    ));
    lines.push(format!("StrategyType:\t{}", object.text(&["spec", "strategy", "type"])));
    lines.push(format!("MinReadySeconds:\t{}", count(&["spec", "minReadySeconds"])));
    if let Some(rolling) = object.at(&["spec", "strategy", "rollingUpdate"]) {
        let part = |field: &str| rolling.get(field).map(shown).unwrap_or_default();
        lines.push(format!(
            "RollingUpdateStrategy:\t{} max unavailable, {} max surge",
            part("maxUnavailable"),
            part("maxSurge")
        ));
    }
    template(object, &mut lines);
    conditions(object, &mut lines);
    let sets = owned(cx, "ReplicaSet", object)?;
    let revision = object.annotation("deployment.kubernetes.io/revision").unwrap_or("");
    let show = |s: &Value| {
        let (made, wanted) = (s.int(&["status", "replicas"]).unwrap_or(0), s.int(&["spec", "replicas"]).unwrap_or(0));
        format!("{} ({made}/{wanted} replicas created)", s.name())
    };
    let current = |s: &&Value| s.annotation("deployment.kubernetes.io/revision") == Some(revision);
    let new: Vec<String> = sets.iter().filter(current).map(show).collect();
    let old: Vec<String> = sets.iter().filter(|s| !current(s)).map(show).collect();
    lines.push(format!("OldReplicaSets:\t{}", or_none(&old.join(", "))));
    lines.push(format!("NewReplicaSet:\t{}", or_none(&new.join(", "))));
    Ok(lines)
}

fn replica_set(cx: &mut Cx, object: &Value) -> Flow<Vec<String>> {
    let mut lines = head(object);
    lines.push(format!("Selector:\t{}", selector(object)));
    lines.extend(labels_and_annotations(object));
    lines.extend(controlled_by(object));
    let (now, wanted) =
        (object.int(&["status", "replicas"]).unwrap_or(0), object.int(&["spec", "replicas"]).unwrap_or(0));
    lines.push(format!("Replicas:\t{now} current / {wanted} desired"));
    lines.push(pods_status(cx, object)?);
    template(object, &mut lines);
    conditions(object, &mut lines);
    Ok(lines)
}

fn stateful_set(cx: &mut Cx, object: &Value) -> Flow<Vec<String>> {
    let mut lines = head(object);
    lines.push(format!("CreationTimestamp:\t{}", long_time(object.at(&["metadata", "creationTimestamp"]))));
    lines.push(format!("Selector:\t{}", selector(object)));
    lines.extend(labels_and_annotations(object));
    let (wanted, total) =
        (object.int(&["spec", "replicas"]).unwrap_or(0), object.int(&["status", "replicas"]).unwrap_or(0));
    lines.push(format!("Replicas:\t{wanted} desired | {total} total"));
    lines.push(format!("Update Strategy:\t{}", object.text(&["spec", "updateStrategy", "type"])));
    if let Some(partition) = object.int(&["spec", "updateStrategy", "rollingUpdate", "partition"]) {
        lines.push(format!("  Partition:\t{partition}"));
    }
    lines.push(pods_status(cx, object)?);
    template(object, &mut lines);
    let claims = object.list(&["spec", "volumeClaimTemplates"]);
    lines.push(if claims.is_empty() { "Volume Claims:\t<none>".to_string() } else { "Volume Claims:".to_string() });
    for claim in claims {
        lines.push(format!("  Name:\t{}", claim.name()));
        lines.push(format!("  StorageClass:\t{}", claim.text(&["spec", "storageClassName"])));
        lines.push(format!("  Capacity:\t{}", claim.text(&["spec", "resources", "requests", "storage"])));
    }
    Ok(lines)
}

fn service(object: &Value) -> Vec<String> {
    let mut lines = head(object);
    lines.extend(labels_and_annotations(object));
    lines.push(format!("Selector:\t{}", pairs(object.at(&["spec", "selector"]))));
    lines.push(format!("Type:\t{}", object.text(&["spec", "type"])));
    lines.push(format!("IP Family Policy:\t{}", object.text(&["spec", "ipFamilyPolicy"])));
    let families: Vec<String> = object.list(&["spec", "ipFamilies"]).iter().map(shown).collect();
    lines.push(format!("IP Families:\t{}", or_none(&families.join(","))));
    lines.push(format!("IP:\t{}", or_none(object.text(&["spec", "clusterIP"]))));
    for port in object.list(&["spec", "ports"]) {
        let name = match port.text(&["name"]) {
            "" => "<unset>",
            name => name,
        };
        let protocol = if port.text(&["protocol"]).is_empty() { "TCP" } else { port.text(&["protocol"]) };
        lines.push(format!("Port:\t{name}\t{}/{protocol}", port.int(&["port"]).unwrap_or(0)));
        lines.push(format!("TargetPort:\t{}/{protocol}", port.get("targetPort").map(shown).unwrap_or_default()));
    }
    lines.push(format!("Session Affinity:\t{}", object.text(&["spec", "sessionAffinity"])));
    lines
}

fn config_map(object: &Value) -> Vec<String> {
    let mut lines = head(object);
    lines.extend(labels_and_annotations(object));
    lines.extend(["", "Data", "===="].map(str::to_string));
    for (key, value) in object.get("data").and_then(Value::as_object).into_iter().flatten() {
        lines.extend([format!("{key}:"), "----".to_string(), shown(value), String::new()]);
    }
    lines.extend(["", "BinaryData", "====", ""].map(str::to_string));
    lines
}

fn secret(object: &Value) -> Vec<String> {
    let mut lines = head(object);
    lines.extend(labels_and_annotations(object));
    lines.extend([String::new(), format!("Type:\t{}", object.text(&["type"]))]);
    lines.extend(["", "Data", "===="].map(str::to_string));
    for (key, value) in object.get("data").and_then(Value::as_object).into_iter().flatten() {
        // Four characters of base64 stand for three bytes.
        let text = value.as_str().unwrap_or("");
        let bytes = text.len() / 4 * 3 - text.bytes().rev().take_while(|b| *b == b'=').count().min(text.len() / 4 * 3);
        lines.push(format!("{key}:\t{bytes} bytes"));
    }
    lines
}

fn namespace(object: &Value) -> Vec<String> {
    let mut lines = vec![format!("Name:\t{}", object.name())];
    lines.extend(labels_and_annotations(object));
    lines.push(format!("Status:\t{}", object.text(&["status", "phase"])));
    lines.extend(["", "No resource quota.", "", "No LimitRange resource."].map(str::to_string));
    lines
}
