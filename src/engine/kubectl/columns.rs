//! What the table of each kind shows (kubernetes `pkg/printers/internalversion/printers.go`).

use super::age::{human, since};
use super::jsonpath::shown;
use super::table::Column;
use crate::object::ObjectView;
use crate::time::SimTime;
use serde_json::Value;

/// Heads of a kind's table; a leading `+` marks the wide ones.
fn heads(group: &str, kind: &str) -> &'static [&'static str] {
    match (group, kind) {
        ("", "Pod") => {
            &["Name", "Ready", "Status", "Restarts", "Age", "+IP", "+Node", "+Nominated Node", "+Readiness Gates"]
        }
        ("apps", "Deployment") => {
            &["Name", "Ready", "Up-to-date", "Available", "Age", "+Containers", "+Images", "+Selector"]
        }
        ("apps", "ReplicaSet") => {
            &["Name", "Desired", "Current", "Ready", "Age", "+Containers", "+Images", "+Selector"]
        }
        ("apps", "StatefulSet") => &["Name", "Ready", "Age", "+Containers", "+Images"],
        ("apps", "DaemonSet") => {
            &["Name", "Desired", "Current", "Ready", "Up-to-date", "Available", "Node Selector", "Age"]
        }
        ("apps", "ControllerRevision") => &["Name", "Controller", "Revision", "Age"],
        ("", "Service") => &["Name", "Type", "Cluster-IP", "External-IP", "Port(s)", "Age", "+Selector"],
        ("", "Node") => &["Name", "Status", "Roles", "Age", "Version", "+Internal-IP", "+External-IP"],
        ("", "Namespace") => &["Name", "Status", "Age"],
        ("", "ConfigMap") => &["Name", "Data", "Age"],
        ("", "Secret") => &["Name", "Type", "Data", "Age"],
        ("", "ServiceAccount") => &["Name", "Secrets", "Age"],
        ("", "Endpoints") => &["Name", "Endpoints", "Age"],
        ("", "PersistentVolumeClaim") => &[
            "Name",
            "Status",
            "Volume",
            "Capacity",
            "Access Modes",
            "StorageClass",
            "VolumeAttributesClass",
            "Age",
            "+VolumeMode",
        ],
        ("", "PersistentVolume") => &[
            "Name",
            "Capacity",
            "Access Modes",
            "Reclaim Policy",
            "Status",
            "Claim",
            "StorageClass",
            "VolumeAttributesClass",
            "Reason",
            "Age",
            "+VolumeMode",
        ],
        ("" | "events.k8s.io", "Event") => &["Last Seen", "Type", "Reason", "Object", "Message"],
        ("coordination.k8s.io", "Lease") => &["Name", "Holder", "Age"],
        ("batch", "Job") => &["Name", "Status", "Completions", "Duration", "Age"],
        ("batch", "CronJob") => &["Name", "Schedule", "Timezone", "Suspend", "Active", "Last Schedule", "Age"],
        ("policy", "PodDisruptionBudget") => {
            &["Name", "Min Available", "Max Unavailable", "Allowed Disruptions", "Age"]
        }
        ("rbac.authorization.k8s.io", "Role" | "ClusterRole") => &["Name", "Created At"],
        ("rbac.authorization.k8s.io", "RoleBinding" | "ClusterRoleBinding") => {
            &["Name", "Role", "Age", "+Users", "+Groups", "+ServiceAccounts"]
        }
        ("apiextensions.k8s.io", "CustomResourceDefinition") => &["Name", "Created At"],
        _ => &["Name", "Age"],
    }
}

/// The columns of a built-in kind.
pub fn builtin(group: &str, kind: &str) -> Vec<Column> {
    heads(group, kind)
        .iter()
        .map(|h| Column { name: h.trim_start_matches('+').to_string(), wide: h.starts_with('+') })
        .collect()
}

/// The cells of an object of a built-in kind, wide ones too.
pub fn cells(group: &str, kind: &str, object: &Value, now: SimTime) -> Vec<String> {
    let name = object.name().to_string();
    let created = object.at(&["metadata", "creationTimestamp"]);
    let age = since(created, now);
    let count = |path: &[&str]| object.int(path).unwrap_or(0).to_string();
    let text = |path: &[&str]| object.text(path).to_string();
    let created_at = || created.and_then(Value::as_str).unwrap_or("").to_string();
    let (containers, images) = workload(object);
    match (group, kind) {
        ("", "Pod") => pod(object, age, now),
        ("apps", "Deployment") => {
            let ready = format!("{}/{}", count(&["status", "readyReplicas"]), count(&["spec", "replicas"]));
            let (updated, available) = (count(&["status", "updatedReplicas"]), count(&["status", "availableReplicas"]));
            vec![name, ready, updated, available, age, containers, images, selector(object)]
        }
        ("apps", "ReplicaSet") => {
            let (desired, current) = (count(&["spec", "replicas"]), count(&["status", "replicas"]));
            vec![name, desired, current, count(&["status", "readyReplicas"]), age, containers, images, selector(object)]
        }
        ("apps", "StatefulSet") => {
            let ready = format!("{}/{}", count(&["status", "readyReplicas"]), count(&["spec", "replicas"]));
            vec![name, ready, age, containers, images]
        }
        ("apps", "DaemonSet") => vec![
            name,
            count(&["status", "desiredNumberScheduled"]),
            count(&["status", "currentNumberScheduled"]),
            count(&["status", "numberReady"]),
            count(&["status", "updatedNumberScheduled"]),
            count(&["status", "numberAvailable"]),
            pairs(object.at(&["spec", "template", "spec", "nodeSelector"])),
            age,
        ],
        ("apps", "ControllerRevision") => vec![name, controller(object), count(&["revision"]), age],
        ("", "Service") => service(object, age),
        ("", "Node") => node(object, age),
        ("", "Namespace") => vec![name, text(&["status", "phase"]), age],
        ("", "ConfigMap") => vec![name, (size(object, "data") + size(object, "binaryData")).to_string(), age],
        ("", "Secret") => vec![name, text(&["type"]), size(object, "data").to_string(), age],
        ("", "ServiceAccount") => vec![name, object.list(&["secrets"]).len().to_string(), age],
        ("", "Endpoints") => vec![name, endpoints(object), age],
        ("", "PersistentVolumeClaim") => claim(object, age),
        ("", "PersistentVolume") => volume(object, age),
        ("" | "events.k8s.io", "Event") => event(object, now),
        ("batch", "Job") => job(object, age, now),
        ("batch", "CronJob") => cron_job(object, age, now),
        ("policy", "PodDisruptionBudget") => {
            let bound = |f: &str| object.at(&["spec", f]).map_or("N/A".to_string(), shown);
            vec![name, bound("minAvailable"), bound("maxUnavailable"), count(&["status", "disruptionsAllowed"]), age]
        }
        ("coordination.k8s.io", "Lease") => vec![name, text(&["spec", "holderIdentity"]), age],
        ("rbac.authorization.k8s.io", "Role" | "ClusterRole")
        | ("apiextensions.k8s.io", "CustomResourceDefinition") => vec![name, created_at()],
        ("rbac.authorization.k8s.io", "RoleBinding" | "ClusterRoleBinding") => {
            let role = format!("{}/{}", object.text(&["roleRef", "kind"]), object.text(&["roleRef", "name"]));
            vec![
                name,
                role,
                age,
                subjects(object, "User"),
                subjects(object, "Group"),
                subjects(object, "ServiceAccount"),
            ]
        }
        _ => vec![name, age],
    }
}

fn size(object: &Value, field: &str) -> usize {
    object.get(field).and_then(Value::as_object).map_or(0, serde_json::Map::len)
}

fn or_none(text: String) -> String {
    if text.is_empty() { "<none>".to_string() } else { text }
}

/// `a=b,c=d`, or `<none>`.
pub fn pairs(map: Option<&Value>) -> String {
    let entries = map.and_then(Value::as_object).into_iter().flatten();
    or_none(entries.map(|(k, v)| format!("{k}={}", shown(v))).collect::<Vec<_>>().join(","))
}

/// Names and images of the containers of a template.
fn workload(object: &Value) -> (String, String) {
    let containers = object.list(&["spec", "template", "spec", "containers"]);
    let join = |field: &str| containers.iter().map(|c| c.text(&[field])).collect::<Vec<_>>().join(",");
    (join("name"), join("image"))
}

fn selector(object: &Value) -> String {
    let mut parts: Vec<String> = Vec::new();
    if let Some(labels) = object.at(&["spec", "selector", "matchLabels"]).and_then(Value::as_object) {
        parts.extend(labels.iter().map(|(k, v)| format!("{k}={}", shown(v))));
    }
    for demand in object.list(&["spec", "selector", "matchExpressions"]) {
        let values: Vec<String> = demand.list(&["values"]).iter().map(shown).collect();
        let key = demand.text(&["key"]);
        parts.push(match demand.text(&["operator"]) {
            "In" => format!("{key} in ({})", values.join(",")),
            "NotIn" => format!("{key} notin ({})", values.join(",")),
            "DoesNotExist" => format!("!{key}"),
            _ => key.to_string(),
        });
    }
    or_none(parts.join(","))
}

fn controller(object: &Value) -> String {
    let Some(owner) = object.controller_ref() else { return "<none>".to_string() };
    let gvk = owner.gvk();
    let dot = if gvk.group.is_empty() { "" } else { "." };
    format!("{}{dot}{}/{}", gvk.kind.to_lowercase(), gvk.group, owner.text(&["name"]))
}

fn subjects(object: &Value, kind: &str) -> String {
    let of_kind = object.list(&["subjects"]).iter().filter(|s| s.kind() == kind);
    let name = |s: &Value| match s.text(&["namespace"]) {
        "" => s.text(&["name"]).to_string(),
        namespace => format!("{namespace}/{}", s.text(&["name"])),
    };
    of_kind.map(name).collect::<Vec<_>>().join(", ")
}

/// `Running`, `CrashLoopBackOff`, `Init:0/2`, `Terminating`: the word for what a pod is doing.
pub fn pod_status(pod: &Value) -> String {
    let mut status = pod.text(&["status", "reason"]);
    if status.is_empty() {
        status = pod.text(&["status", "phase"]);
    }
    let mut status = status.to_string();
    let mut initializing = false;
    let inits = pod.list(&["spec", "initContainers"]).len();
    for (at, container) in pod.list(&["status", "initContainerStatuses"]).iter().enumerate() {
        let exit = container.int(&["state", "terminated", "exitCode"]);
        let sidecar_up =
            container.at(&["started"]) == Some(&Value::Bool(true)) && container.at(&["state", "running"]).is_some();
        if exit == Some(0) || sidecar_up {
            continue;
        }
        let waiting = container.text(&["state", "waiting", "reason"]);
        status = match exit {
            Some(code) => format!("Init:{}", ended(container, code)),
            None if !waiting.is_empty() && waiting != "PodInitializing" => format!("Init:{waiting}"),
            None => format!("Init:{at}/{inits}"),
        };
        initializing = true;
        break;
    }
    if !initializing {
        let mut running = false;
        for container in pod.list(&["status", "containerStatuses"]).iter().rev() {
            let waiting = container.text(&["state", "waiting", "reason"]);
            if !waiting.is_empty() {
                status = waiting.to_string();
            } else if let Some(code) = container.int(&["state", "terminated", "exitCode"]) {
                status = ended(container, code);
            } else if container.at(&["state", "running"]).is_some() {
                running |= container.at(&["ready"]) == Some(&Value::Bool(true));
            }
        }
        if status == "Completed" && running {
            status = if pod.condition("Ready") == "True" { "Running" } else { "NotReady" }.to_string();
        }
    }
    match (pod.deleting(), pod.text(&["status", "reason"])) {
        (true, "NodeLost") => "Unknown".to_string(),
        (true, _) if !matches!(pod.text(&["status", "phase"]), "Succeeded" | "Failed") => "Terminating".to_string(),
        _ => or_unknown(status),
    }
}

fn or_unknown(status: String) -> String {
    if status.is_empty() { "Unknown".to_string() } else { status }
}

fn ended(container: &Value, code: i64) -> String {
    let reason = container.text(&["state", "terminated", "reason"]);
    match container.int(&["state", "terminated", "signal"]) {
        _ if !reason.is_empty() => reason.to_string(),
        Some(signal) if signal != 0 => format!("Signal:{signal}"),
        _ => format!("ExitCode:{code}"),
    }
}

fn pod(object: &Value, age: String, now: SimTime) -> Vec<String> {
    let statuses = object.list(&["status", "containerStatuses"]);
    let ready = statuses.iter().filter(|c| c.at(&["ready"]) == Some(&Value::Bool(true))).count();
    let total = object.list(&["spec", "containers"]).len();
    let restarts: i64 = statuses.iter().filter_map(|c| c.int(&["restartCount"])).fold(0, i64::saturating_add);
    let last = statuses
        .iter()
        .filter_map(|c| c.at(&["lastState", "terminated", "finishedAt"])?.as_str())
        .filter_map(SimTime::parse_rfc3339)
        .max();
    let restarts = match last {
        Some(then) if restarts > 0 => format!("{restarts} ({} ago)", human(now.since(then).as_secs())),
        _ => restarts.to_string(),
    };
    let shown_or_none = |path: &[&str]| or_none(object.text(path).to_string());
    vec![
        object.name().to_string(),
        format!("{ready}/{total}"),
        pod_status(object),
        restarts,
        age,
        shown_or_none(&["status", "podIP"]),
        shown_or_none(&["spec", "nodeName"]),
        shown_or_none(&["status", "nominatedNodeName"]),
        "<none>".to_string(),
    ]
}

fn service(object: &Value, age: String) -> Vec<String> {
    let kind = match object.text(&["spec", "type"]) {
        "" => "ClusterIP",
        kind => kind,
    };
    let external = match kind {
        "LoadBalancer" => "<pending>".to_string(),
        "ExternalName" => object.text(&["spec", "externalName"]).to_string(),
        _ => "<none>".to_string(),
    };
    let port = |p: &Value| {
        let protocol = if p.text(&["protocol"]).is_empty() { "TCP" } else { p.text(&["protocol"]) };
        match p.int(&["nodePort"]) {
            Some(node) if node > 0 => format!("{}:{node}/{protocol}", p.int(&["port"]).unwrap_or(0)),
            _ => format!("{}/{protocol}", p.int(&["port"]).unwrap_or(0)),
        }
    };
    let ports = or_none(object.list(&["spec", "ports"]).iter().map(port).collect::<Vec<_>>().join(","));
    let ip = or_none(object.text(&["spec", "clusterIP"]).to_string());
    vec![object.name().to_string(), kind.to_string(), ip, external, ports, age, pairs(object.at(&["spec", "selector"]))]
}

fn node(object: &Value, age: String) -> Vec<String> {
    let mut status = match object.condition("Ready") {
        "True" => "Ready".to_string(),
        "" => "Unknown".to_string(),
        _ => "NotReady".to_string(),
    };
    if object.at(&["spec", "unschedulable"]) == Some(&Value::Bool(true)) {
        status.push_str(",SchedulingDisabled");
    }
    let labels = object.at(&["metadata", "labels"]).and_then(Value::as_object);
    let roles: Vec<&str> = labels
        .into_iter()
        .flatten()
        .filter_map(|(k, _)| k.strip_prefix("node-role.kubernetes.io/"))
        .filter(|r| !r.is_empty())
        .collect();
    let address = |kind: &str| {
        let found = object.list(&["status", "addresses"]).iter().find(|a| a.text(&["type"]) == kind);
        or_none(found.map_or(String::new(), |a| a.text(&["address"]).to_string()))
    };
    let version = object.text(&["status", "nodeInfo", "kubeletVersion"]).to_string();
    let roles = or_none(roles.join(","));
    vec![object.name().to_string(), status, roles, age, version, address("InternalIP"), address("ExternalIP")]
}

fn endpoints(object: &Value) -> String {
    let mut all = Vec::new();
    for subset in object.list(&["subsets"]) {
        for address in subset.list(&["addresses"]) {
            for port in subset.list(&["ports"]) {
                all.push(format!("{}:{}", address.text(&["ip"]), port.int(&["port"]).unwrap_or(0)));
            }
        }
    }
    let more = all.len().saturating_sub(3);
    all.truncate(3);
    match more {
        0 => or_none(all.join(",")),
        more => format!("{} + {more} more...", all.join(",")),
    }
}

fn job(object: &Value, age: String, now: SimTime) -> Vec<String> {
    let is = |kind: &str| object.condition(kind) == "True";
    let status = match (is("Complete"), is("Failed"), is("Suspended"), object.deleting()) {
        (true, ..) => "Complete",
        (_, true, ..) => "Failed",
        (_, _, _, true) => "Terminating",
        (_, _, true, _) => "Suspended",
        _ => "Running",
    };
    let done = object.int(&["status", "succeeded"]).unwrap_or(0);
    let wanted = object.int(&["spec", "completions"]).or(object.int(&["spec", "parallelism"])).unwrap_or(1);
    let time = |field: &str| SimTime::parse_rfc3339(object.text(&["status", field]));
    let duration = match (time("startTime"), time("completionTime")) {
        (None, _) => String::new(),
        (Some(start), end) => human(end.unwrap_or(now).since(start).as_secs()),
    };
    vec![object.name().to_string(), status.to_string(), format!("{done}/{wanted}"), duration, age]
}

fn cron_job(object: &Value, age: String, now: SimTime) -> Vec<String> {
    let suspend = object.at(&["spec", "suspend"]) == Some(&Value::Bool(true));
    let last = object.at(&["status", "lastScheduleTime"]).map_or("<none>".to_string(), |t| since(Some(t), now));
    vec![
        object.name().to_string(),
        object.text(&["spec", "schedule"]).to_string(),
        or_none(object.text(&["spec", "timeZone"]).to_string()),
        if suspend { "True" } else { "False" }.to_string(),
        object.list(&["status", "active"]).len().to_string(),
        last,
        age,
    ]
}

/// `RWO,ROX`.
fn access_modes(modes: &[Value]) -> String {
    let short = |m: &Value| match m.as_str().unwrap_or("") {
        "ReadWriteOnce" => "RWO",
        "ReadOnlyMany" => "ROX",
        "ReadWriteMany" => "RWX",
        "ReadWriteOncePod" => "RWOP",
        _ => "",
    };
    modes.iter().map(short).collect::<Vec<_>>().join(",")
}

fn claim(object: &Value, age: String) -> Vec<String> {
    let bound = !object.text(&["spec", "volumeName"]).is_empty();
    let status = if object.deleting() { "Terminating" } else { object.text(&["status", "phase"]) };
    let text = |path: &[&str]| object.text(path).to_string();
    let unset = |path: &[&str]| match object.text(path) {
        "" => "<unset>".to_string(),
        text => text.to_string(),
    };
    vec![
        object.name().to_string(),
        status.to_string(),
        text(&["spec", "volumeName"]),
        if bound { text(&["status", "capacity", "storage"]) } else { String::new() },
        if bound { access_modes(object.list(&["status", "accessModes"])) } else { String::new() },
        text(&["spec", "storageClassName"]),
        unset(&["spec", "volumeAttributesClassName"]),
        age,
        unset(&["spec", "volumeMode"]),
    ]
}

fn volume(object: &Value, age: String) -> Vec<String> {
    let text = |path: &[&str]| object.text(path).to_string();
    let claim = match object.text(&["spec", "claimRef", "name"]) {
        "" => String::new(),
        name => format!("{}/{name}", object.text(&["spec", "claimRef", "namespace"])),
    };
    vec![
        object.name().to_string(),
        text(&["spec", "capacity", "storage"]),
        access_modes(object.list(&["spec", "accessModes"])),
        text(&["spec", "persistentVolumeReclaimPolicy"]),
        text(&["status", "phase"]),
        claim,
        text(&["spec", "storageClassName"]),
        "<unset>".to_string(),
        text(&["status", "reason"]),
        age,
        text(&["spec", "volumeMode"]),
    ]
}

fn event(object: &Value, now: SimTime) -> Vec<String> {
    let last = [["lastTimestamp"], ["eventTime"], ["firstTimestamp"]]
        .iter()
        .find_map(|p| object.at(p).filter(|v| v.as_str().is_some_and(|s| !s.is_empty())))
        .or_else(|| object.at(&["metadata", "creationTimestamp"]));
    let about = |field: &str| {
        let object = object.at(&[field])?;
        Some(format!("{}/{}", object.text(&["kind"]).to_lowercase(), object.text(&["name"])))
    };
    let message = if object.text(&["message"]).is_empty() { object.text(&["note"]) } else { object.text(&["message"]) };
    vec![
        since(last, now),
        object.text(&["type"]).to_string(),
        object.text(&["reason"]).to_string(),
        about("involvedObject").or_else(|| about("regarding")).unwrap_or_default(),
        message.trim().to_string(),
    ]
}
