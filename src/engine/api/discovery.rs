//! Discovery: the documents that say which groups, versions and kinds are served, and the version of the server.
//!
//! Divergence from Kubernetes: the aggregated form and storage version hashes are left out.

use super::crd::{Definition, Version};
use super::kinds::{KINDS, Kind};
use super::route::Route;
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

const BUILT_IN_VERBS: [&str; 8] = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
/// In the order apiextensions writes them (`pkg/apiserver/customresource_discovery_controller.go`).
const CUSTOM_VERBS: [&str; 8] = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];
const DYING_VERBS: [&str; 5] = ["delete", "deletecollection", "get", "list", "watch"];
const SUBRESOURCE_VERBS: [&str; 3] = ["get", "patch", "update"];

/// The discovery document at an address; `None` where there is none.
#[must_use]
pub fn document<'a>(route: &Route, definitions: impl Iterator<Item = &'a Arc<Definition>>) -> Option<Value> {
    let served: Vec<&Definition> =
        definitions.map(|d| &**d).filter(|d| d.established && d.versions.iter().any(|v| v.served)).collect();
    match route {
        Route::CoreVersions => Some(json!({"kind": "APIVersions", "versions": ["v1"],
            "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1:6443"}]})),
        Route::Groups => Some(group_list(&served)),
        Route::Group(group) => {
            let mut document = groups(&served).remove(*group).map(|versions| one_group(group, &versions))?;
            document["kind"] = Value::from("APIGroup");
            document["apiVersion"] = Value::from("v1");
            Some(document)
        }
        Route::Resources { group, version } => resources(group, version, &served),
        Route::Other("/version") => Some(version()),
        _ => None,
    }
}

fn version() -> Value {
    json!({"major": "1", "minor": "36", "gitVersion": "v1.36.2", "gitTreeState": "clean", "goVersion": "go1.26",
        "compiler": "gc", "platform": "linux/amd64"})
}

/// Groups with their versions, the preferred one first.
fn groups(served: &[&Definition]) -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let built_in = KINDS.iter().map(|k| (k.group, k.version)).filter(|(group, _)| !group.is_empty());
    let custom =
        served.iter().flat_map(|d| d.versions.iter().filter(|v| v.served).map(|v| (d.group.as_str(), v.name.as_str())));
    for (group, version) in built_in.chain(custom) {
        let versions = all.entry(group.to_string()).or_default();
        if !versions.iter().any(|v| v == version) {
            versions.push(version.to_string());
        }
    }
    for versions in all.values_mut() {
        versions.sort_by_key(|v| Reverse(priority(v)));
    }
    all
}

/// How much a version is preferred: releases before betas before alphas, then the greater number; other names last,
/// in the order of the alphabet (apimachinery `pkg/version/helpers.go`).
fn priority(version: &str) -> (u8, u64, u64, Reverse<String>) {
    let other = (0, 0, 0, Reverse(version.to_string()));
    let Some(rest) = version.strip_prefix('v') else { return other };
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let Ok(major) = rest[..digits].parse::<u64>() else { return other };
    let (level, minor) = match &rest[digits..] {
        "" => (3, "0"),
        tail => match (tail.strip_prefix("beta"), tail.strip_prefix("alpha")) {
            (Some(minor), _) => (2, minor),
            (_, Some(minor)) => (1, minor),
            _ => return other,
        },
    };
    minor.parse().map_or(other, |minor| (level, major, minor, Reverse(String::new())))
}

fn one_group(group: &str, versions: &[String]) -> Value {
    let entry = |v: &String| json!({"groupVersion": format!("{group}/{v}"), "version": v});
    let all: Vec<Value> = versions.iter().map(entry).collect();
    json!({"name": group, "versions": all, "preferredVersion": versions.first().map(entry)})
}

fn group_list(served: &[&Definition]) -> Value {
    let list: Vec<Value> = groups(served).iter().map(|(group, versions)| one_group(group, versions)).collect();
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": list})
}

fn resources(group: &str, version: &str, served: &[&Definition]) -> Option<Value> {
    let mut list = Vec::new();
    for kind in KINDS.iter().filter(|k| k.group == group && k.version == version) {
        built_in(kind, &mut list);
    }
    for definition in served.iter().filter(|d| d.group == group) {
        if let Some(version) = definition.version(version).filter(|v| v.served) {
            custom(definition, version, &mut list);
        }
    }
    if list.is_empty() {
        return None;
    }
    let group_version = if group.is_empty() { version.to_string() } else { format!("{group}/{version}") };
    Some(json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": list}))
}

fn listed(mut entry: Value, short_names: &[String], categories: &[String]) -> Value {
    for (field, names) in [("shortNames", short_names), ("categories", categories)] {
        if !names.is_empty() {
            entry[field] = json!(names);
        }
    }
    entry
}

fn built_in(kind: &Kind, list: &mut Vec<Value>) {
    let texts = |names: &[&str]| names.iter().map(|n| (*n).to_string()).collect::<Vec<_>>();
    let verbs: &[&str] = if kind.virtual_only { &["create"] } else { &BUILT_IN_VERBS };
    let entry = json!({"name": kind.plural, "singularName": kind.singular, "namespaced": kind.namespaced,
        "kind": kind.kind, "verbs": verbs});
    list.push(listed(entry, &texts(kind.short_names), &texts(kind.categories)));
    if kind.has_scale {
        list.push(scale(kind.plural, kind.namespaced));
    }
    if kind.has_status {
        list.push(status(kind.plural, kind.namespaced, kind.kind));
    }
}

fn custom(definition: &Definition, version: &Version, list: &mut Vec<Value>) {
    let names = &definition.names;
    let verbs: &[&str] = if definition.terminating { &DYING_VERBS } else { &CUSTOM_VERBS };
    let entry = json!({"name": names.plural, "singularName": names.singular, "namespaced": definition.namespaced,
        "kind": names.kind, "verbs": verbs});
    list.push(listed(entry, &names.short_names, &names.categories));
    if version.status {
        list.push(status(&names.plural, definition.namespaced, &names.kind));
    }
    if version.scale.is_some() {
        list.push(scale(&names.plural, definition.namespaced));
    }
}

fn status(plural: &str, namespaced: bool, kind: &str) -> Value {
    json!({"name": format!("{plural}/status"), "singularName": "", "namespaced": namespaced, "kind": kind,
        "verbs": SUBRESOURCE_VERBS})
}

fn scale(plural: &str, namespaced: bool) -> Value {
    json!({"name": format!("{plural}/scale"), "singularName": "", "namespaced": namespaced, "group": "autoscaling",
        "version": "v1", "kind": "Scale", "verbs": SUBRESOURCE_VERBS})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_come_before_betas_and_the_greater_number_first() {
        let mut names = ["foo1", "v1alpha1", "v10", "v2", "v11beta2", "v3beta1"];
        names.sort_by_key(|v| Reverse(priority(v)));
        assert_eq!(names, ["v10", "v2", "v11beta2", "v3beta1", "v1alpha1", "foo1"]);
    }

    #[test]
    fn a_core_kind_lists_its_subresources() {
        let document = document(&Route::parse("/apis/apps/v1"), [].into_iter()).unwrap();
        let names: Vec<&str> =
            document["resources"].as_array().unwrap().iter().filter_map(|r| r["name"].as_str()).collect();
        assert!(names.contains(&"deployments/scale") && names.contains(&"statefulsets/status"));
    }
}
