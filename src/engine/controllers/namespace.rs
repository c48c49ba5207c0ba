//! Namespaces that are being deleted: pods go first, then everything else, then the namespace.
//!
//! Mirrors `pkg/controller/namespace/deletion/namespaced_resources_deleter.go`.

use super::core;
use crate::api::crd::lifecycle::set_condition;
use crate::api::kinds::KINDS;
use crate::api::message::{Method, Request};
use crate::event::Phase;
use crate::ids::{Gvr, Key};
use crate::object::{Object, ObjectView};
use crate::process::context::{Action, Context, Expect, Stop};
use crate::process::controller::{Controller, Handler, Source};
use crate::time::Span;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// How soon it looks again while something is left.
const AGAIN: Span = Span::secs(5);

pub struct Namespaces;

fn definitions() -> Gvr {
    Gvr::new("apiextensions.k8s.io", "v1", "customresourcedefinitions")
}

impl Controller for Namespaces {
    fn name(&self) -> &'static str {
        "namespace-controller"
    }

    fn sources(&self) -> Vec<Source> {
        vec![Source::new(core("namespaces"), Handler::ForObject)]
    }

    fn reconcile(&self, cx: &mut Context, key: &Key) -> Result<Action, Stop> {
        let Some(namespace) = cx.get(&core("namespaces"), key).filter(|n| n.deleting()) else {
            return Ok(Action::done());
        };
        let mut left = Left::default();
        left.clear(cx, &core("pods"), namespace.name())?;
        if left.is_empty() {
            for gvr in kinds(cx)? {
                left.clear(cx, &gvr, namespace.name())?;
            }
        }
        if !left.is_empty() {
            left.report(cx, &namespace)?;
            cx.no_write("objects are left");
            return Ok(Action::after(AGAIN));
        }
        cx.at(Phase::Act, "finalize", namespace.name());
        let mut done = Value::clone(&namespace);
        crate::object::remove(&mut done, &["spec", "finalizers"]);
        crate::object::remove(&mut done, &["metadata", "resourceVersion"]);
        let path = format!("{}/finalize", core("namespaces").object(&Key::new("", namespace.name())));
        cx.send(Request::new(Method::Put, path).body(done)).or_not_found()?;
        Ok(Action::done())
    }
}

/// Every namespaced kind but pods, custom ones last.
fn kinds(cx: &mut Context) -> Result<Vec<Gvr>, Stop> {
    let built_in = KINDS.iter().filter(|k| k.namespaced && !k.virtual_only && k.plural != "pods").map(|k| k.gvr());
    let list = cx.send(Request::new(Method::Get, definitions().collection("")))?;
    Ok(built_in.chain(list.list(&["items"]).iter().filter_map(custom)).collect())
}

/// The served version of a namespaced definition.
fn custom(crd: &Value) -> Option<Gvr> {
    let version = crd.list(&["spec", "versions"]).iter().find(|v| v.get("served") == Some(&json!(true)))?;
    let served = crd.condition("Established") == "True" && crd.text(&["spec", "scope"]) == "Namespaced";
    served.then(|| {
        Gvr::new(crd.text(&["spec", "group"]), version.text(&["name"]), crd.text(&["spec", "names", "plural"]))
    })
}

/// What was found in a namespace: how many of a kind, and how many with a finalizer.
#[derive(Default)]
struct Left {
    kinds: Vec<(String, usize)>,
    finalizers: BTreeMap<String, usize>,
}

impl Left {
    fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Deletes what is there and counts it.
    fn clear(&mut self, cx: &mut Context, gvr: &Gvr, namespace: &str) -> Result<(), Stop> {
        let list: Object = cx.send(Request::new(Method::Get, gvr.collection(namespace)))?;
        let items = list.list(&["items"]);
        if items.is_empty() {
            return Ok(());
        }
        cx.at(Phase::Act, "clear", gvr.resource.to_string());
        cx.send(Request::new(Method::Delete, gvr.collection(namespace)))?;
        // What had no finalizer is gone by now, pods apart.
        let pods = &*gvr.resource == "pods";
        let held = items.iter().filter(|i| pods || !i.finalizers().is_empty()).count();
        let name = if gvr.group.is_empty() { format!("{}.", gvr.resource) } else { gvr.group_resource().to_string() };
        self.kinds.push((name, held.max(1)));
        for finalizer in items.iter().flat_map(ObjectView::finalizers) {
            *self.finalizers.entry(finalizer.to_string()).or_default() += 1;
        }
        Ok(())
    }

    /// Writes down why the namespace stays (`namespaced_resources_deleter.go`, `status_condition_utils.go`).
    fn report(&self, cx: &mut Context, namespace: &Object) -> Result<(), Stop> {
        let kinds: Vec<String> = self.kinds.iter().map(|(k, n)| format!("{k} has {n} resource instances")).collect();
        let held: Vec<String> = self.finalizers.iter().map(|(f, n)| format!("{f} in {n} resource instances")).collect();
        let content = format!("Some resources are remaining: {}", kinds.join(", "));
        let finalizers = format!("Some content in the namespace has finalizers remaining: {}", held.join(", "));
        let wanted = [
            (
                "NamespaceDeletionDiscoveryFailure",
                false,
                "ResourcesDiscovered",
                "All resources successfully discovered",
            ),
            (
                "NamespaceDeletionGroupVersionParsingFailure",
                false,
                "ParsedGroupVersions",
                "All legacy kube types successfully parsed",
            ),
            (
                "NamespaceDeletionContentFailure",
                false,
                "ContentDeleted",
                "All content successfully deleted, may be waiting on finalization",
            ),
            ("NamespaceContentRemaining", true, "SomeResourcesRemain", content.as_str()),
            match self.finalizers.is_empty() {
                true => (
                    "NamespaceFinalizersRemaining",
                    false,
                    "ContentHasNoFinalizers",
                    "All content-preserving finalizers finished",
                ),
                false => ("NamespaceFinalizersRemaining", true, "SomeFinalizersRemain", finalizers.as_str()),
            },
        ];
        let now = cx.now();
        let mut new = Value::clone(namespace);
        for (kind, status, reason, message) in wanted {
            set_condition(&mut new, now, kind, status, reason, message);
        }
        if new != **namespace {
            let conditions = new.at(&["status", "conditions"]).cloned();
            let status = json!({"status": {"conditions": conditions}});
            cx.patch(&core("namespaces"), &Key::new("", namespace.name()), "status", status).or_not_found()?;
        }
        Ok(())
    }
}
