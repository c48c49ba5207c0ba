//! Namespaces that are being deleted: pods go first, then everything else, then the namespace.
//!
//! Mirrors `pkg/controller/namespace/deletion/namespaced_resources_deleter.go`.

use super::core;
use crate::api::kinds::KINDS;
use crate::api::message::{Method, Request};
use crate::event::Phase;
use crate::ids::{Gvr, Key};
use crate::object::{Object, ObjectView};
use crate::process::context::{Action, Context, Expect, Stop};
use crate::process::controller::{Controller, Handler, Source};
use crate::time::Span;
use serde_json::{Value, json};

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
        if clear(cx, &core("pods"), namespace.name())? > 0 {
            return Ok(Action::after(AGAIN));
        }
        let mut left = 0;
        for gvr in kinds(cx)? {
            left += clear(cx, &gvr, namespace.name())?;
        }
        if left > 0 {
            cx.no_write(format!("{left} objects are left"));
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

/// Deletes what is there; answers how much was.
fn clear(cx: &mut Context, gvr: &Gvr, namespace: &str) -> Result<usize, Stop> {
    let list: Object = cx.send(Request::new(Method::Get, gvr.collection(namespace)))?;
    let found = list.list(&["items"]).len();
    if found > 0 {
        cx.at(Phase::Act, "clear", gvr.resource.to_string());
        cx.send(Request::new(Method::Delete, gvr.collection(namespace)))?;
    }
    Ok(found)
}
