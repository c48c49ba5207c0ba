//! The garbage collector: what nobody owns any more goes, what is deleted in the foreground goes last, and what is to be
//! orphaned is let go of first.
//!
//! Mirrors `pkg/controller/garbagecollector`. Keys are `version/plural/name` under the namespace of the object.
//!
//! Divergence from Kubernetes: the graph is the caches themselves.

use crate::api::kinds::{KINDS, find_kind};
use crate::event::Phase;
use crate::ids::{Gvk, Gvr, Key};
use crate::object::{Object, ObjectView};
use crate::process::context::{Action, Context, Expect, Stop};
use crate::process::controller::{Caches, Controller, Handler, Notice, Source};
use crate::process::memory::Memory;
use serde_json::{Value, json};

const FOREGROUND: &str = "foregroundDeletion";
const ORPHAN: &str = "orphan";
/// Kinds that neither own nor are owned, or that are too many to watch.
const LEFT_OUT: [&str; 3] = ["events", "leases", "nodes"];
/// Key of the pass that looks for custom kinds.
const DISCOVER: &str = "discover";

pub struct Garbage;

fn definitions() -> Gvr {
    Gvr::new("apiextensions.k8s.io", "v1", "customresourcedefinitions")
}

fn built_in() -> impl Iterator<Item = Gvr> {
    KINDS.iter().filter(|k| !k.virtual_only && !LEFT_OUT.contains(&k.plural)).map(|k| k.gvr())
}

fn key_of(gvr: &Gvr, object: &Object) -> Key {
    let group = if gvr.group.is_empty() { String::new() } else { format!("{}/", gvr.group) };
    Key::new(object.namespace(), &format!("{group}{}/{}/{}", gvr.version, gvr.resource, object.name()))
}

fn parse(key: &Key) -> Option<(Gvr, Key)> {
    let parts: Vec<&str> = key.name.split('/').collect();
    let (gvr, name) = match parts[..] {
        [version, resource, name] => (Gvr::new("", version, resource), name),
        [group, version, resource, name] => (Gvr::new(group, version, resource), name),
        _ => return None,
    };
    Some((gvr, Key::new(&key.namespace, name)))
}

/// One custom kind, as it is remembered.
fn remember(crd: &Value) -> Option<(String, Value)> {
    let version = crd.list(&["spec", "versions"]).iter().find(|v| v.get("storage") == Some(&json!(true)))?;
    if crd.condition("Established") != "True" || crd.deleting() {
        return None;
    }
    let text = |path: &[&str]| crd.text(path).to_string();
    let (group, kind) = (text(&["spec", "group"]), text(&["spec", "names", "kind"]));
    let known = json!({"group": group, "version": version.text(&["name"]), "plural": text(&["spec", "names", "plural"]),
        "namespaced": crd.text(&["spec", "scope"]) == "Namespaced"});
    Some((format!("kind/{group}/{kind}"), known))
}

fn gvr_of(known: &Value) -> Gvr {
    Gvr::new(known.text(&["group"]), known.text(&["version"]), known.text(&["plural"]))
}

/// Where the kind of an owner reference lives, and whether in namespaces.
fn resolve(memory: &Memory, gvk: &Gvk) -> Option<(Gvr, bool)> {
    if let Some(kind) = find_kind(&gvk.group, &gvk.kind).filter(|k| k.version == &*gvk.version) {
        return Some((kind.gvr(), kind.namespaced));
    }
    let known = memory.get(&format!("kind/{}/{}", gvk.group, gvk.kind))?;
    Some((gvr_of(known), known.get("namespaced") == Some(&json!(true))))
}

fn held_for_dependents(object: &Object) -> bool {
    object.deleting() && object.finalizers().iter().any(|f| matches!(*f, FOREGROUND | ORPHAN))
}

impl Controller for Garbage {
    fn name(&self) -> &'static str {
        "garbage-collector-controller"
    }

    fn sources(&self) -> Vec<Source> {
        built_in().map(|gvr| Source::new(gvr, Handler::Map)).collect()
    }

    fn follows_reads(&self) -> bool {
        true
    }

    fn map(&self, gvr: &Gvr, notice: &Notice, caches: &dyn Caches, memory: &mut Memory) -> Vec<Key> {
        let object = notice.object();
        let mut keys = Vec::new();
        if *gvr == definitions() {
            keys.push(Key::new("", DISCOVER));
        }
        if let Notice::Delete { .. } = notice {
            let customs: Vec<Gvr> = memory.with_prefix("kind/").map(|(_, k)| gvr_of(k)).collect();
            for kind in built_in().chain(customs) {
                keys.extend(caches.owned_by(&kind, object.uid()).iter().map(|d| key_of(&kind, d)));
            }
            keys.extend(waiting_owners(object, caches, memory));
        } else if !object.owner_references().is_empty() || held_for_dependents(object) {
            keys.push(key_of(gvr, object));
        }
        if let Notice::Update { old, new } = notice
            && old.owner_references() != new.owner_references()
        {
            keys.extend(waiting_owners(old, caches, memory));
        }
        keys
    }

    fn reconcile(&self, cx: &mut Context, key: &Key) -> Result<Action, Stop> {
        if &*key.name == DISCOVER {
            return discover(cx);
        }
        let Some((gvr, key)) = parse(key) else { return Ok(Action::done()) };
        let Some(object) = cx.get(&gvr, &key) else { return Ok(Action::done()) };
        if object.deleting() {
            return dying(cx, &gvr, &object);
        }
        attempt(cx, &gvr, &object)
    }
}

/// The owners of an object that wait for it: they look again when it is gone or lets go of them.
fn waiting_owners(object: &Object, caches: &dyn Caches, memory: &Memory) -> Vec<Key> {
    let mut keys = Vec::new();
    for reference in object.owner_references() {
        let gvk = Gvk::parse(reference.text(&["apiVersion"]), reference.text(&["kind"]));
        let Some((gvr, namespaced)) = resolve(memory, &gvk) else { continue };
        let namespace = if namespaced { object.namespace() } else { "" };
        if let Some(owner) = caches.get(&gvr, &Key::new(namespace, reference.text(&["name"]))) {
            keys.extend(held_for_dependents(&owner).then(|| key_of(&gvr, &owner)));
        }
    }
    keys
}

/// Begins to watch the kinds that definitions brought.
fn discover(cx: &mut Context) -> Result<Action, Stop> {
    let found: Vec<(String, Value)> = cx.list(&definitions(), "").iter().filter_map(|crd| remember(crd)).collect();
    for (_, known) in &found {
        cx.list(&gvr_of(known), "");
    }
    cx.memory(move |memory| {
        let before: Vec<String> = memory.with_prefix("kind/").map(|(n, _)| n.to_string()).collect();
        for name in before {
            memory.remove(&name);
        }
        for (name, known) in &found {
            memory.set(name, known.clone());
        }
        Value::Null
    });
    Ok(Action::done())
}

/// Where an owner stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    Solid,
    Dangling,
    Waiting,
}

fn standing(cx: &mut Context, object: &Object, reference: &Value) -> Result<Standing, Stop> {
    let (version, kind) = (reference.text(&["apiVersion"]).to_string(), reference.text(&["kind"]).to_string());
    let gvk = Gvk::parse(&version, &kind);
    let resolved = cx.memory(move |memory| match resolve(memory, &gvk) {
        Some((gvr, namespaced)) => json!([&*gvr.group, &*gvr.version, &*gvr.resource, namespaced]),
        None => Value::Null,
    });
    let Some([group, version, plural, namespaced]) =
        resolved.as_array().and_then(|l| <&[Value; 4]>::try_from(&l[..]).ok())
    else {
        return Err(Stop::Failed(format!("unable to get REST mapping for {version}/{kind}.")));
    };
    let gvr = Gvr::new(group.text(&[]), version.text(&[]), plural.text(&[]));
    let namespace = if *namespaced == json!(true) { object.namespace() } else { "" };
    let key = Key::new(namespace, reference.text(&["name"]));
    let uid = reference.text(&["uid"]);
    let cached = cx.get(&gvr, &key).filter(|o| o.uid() == uid);
    let owner = match cached {
        Some(owner) => Some(owner),
        None => cx.live_get(&gvr, &key).or_not_found()?.filter(|o| o.uid() == uid),
    };
    Ok(match owner {
        None => Standing::Dangling,
        Some(o) if o.deleting() && o.finalizers().contains(&FOREGROUND) => Standing::Waiting,
        Some(_) => Standing::Solid,
    })
}

/// Decides about an object by what its owners are.
fn attempt(cx: &mut Context, gvr: &Gvr, object: &Object) -> Result<Action, Stop> {
    let references = object.owner_references();
    let mut standings = Vec::new();
    for reference in references {
        standings.push(standing(cx, object, reference)?);
    }
    if references.is_empty() || standings.iter().all(|s| *s == Standing::Solid) {
        return Ok(Action::done());
    }
    if standings.contains(&Standing::Solid) {
        let solid = references.iter().zip(&standings).filter(|(_, s)| **s == Standing::Solid).map(|(r, _)| r.clone());
        cx.at(Phase::Act, "let go", object.name());
        let metadata = json!({"ownerReferences": solid.collect::<Vec<_>>(), "uid": object.uid()});
        cx.patch(gvr, &object.key(), "", json!({"metadata": metadata})).or_not_found()?;
        return Ok(Action::done());
    }
    let waited_for = standings.contains(&Standing::Waiting);
    let own = if waited_for { dependents(cx, object) } else { Vec::new() };
    if own.iter().any(|(_, d)| d.deleting() && d.finalizers().contains(&FOREGROUND)) {
        unblock(cx, gvr, object)?;
    }
    let owns = !own.is_empty();
    let policy = match () {
        () if owns => "Foreground",
        () if object.finalizers().contains(&ORPHAN) => "Orphan",
        () if object.finalizers().contains(&FOREGROUND) => "Foreground",
        () => "Background",
    };
    cx.at(Phase::Act, "collect", object.name());
    let options = json!({"propagationPolicy": policy, "preconditions": {"uid": object.uid()}});
    match cx.delete(gvr, &object.key(), options).or_not_found() {
        Err(Stop::Api(status)) if status.is_conflict() => Ok(Action::done()),
        other => other.map(|_| Action::done()),
    }
}

/// A circle of owners that wait for each other is broken up: this one no longer holds up its owners.
fn unblock(cx: &mut Context, gvr: &Gvr, object: &Object) -> Result<(), Stop> {
    let mut references = object.owner_references().to_vec();
    for reference in &mut references {
        if reference.get("blockOwnerDeletion") == Some(&json!(true)) {
            reference["blockOwnerDeletion"] = json!(false);
        }
    }
    if references.as_slice() != object.owner_references() {
        cx.at(Phase::Act, "unblock", object.name());
        let metadata = json!({"ownerReferences": references, "uid": object.uid()});
        cx.patch(gvr, &object.key(), "", json!({"metadata": metadata})).or_not_found()?;
    }
    Ok(())
}

fn dependents(cx: &mut Context, owner: &Object) -> Vec<(Gvr, Object)> {
    let customs = cx.memory(|m| m.with_prefix("kind/").map(|(_, k)| k.clone()).collect());
    let customs: Vec<Gvr> = customs.as_array().into_iter().flatten().map(gvr_of).collect();
    let mut found = Vec::new();
    for gvr in built_in().chain(customs) {
        found.extend(cx.owned_by(&gvr, owner.uid()).iter().map(|d| (gvr.clone(), d.clone())));
    }
    found
}

/// An object that is held until its dependents are gone, or are let go of.
fn dying(cx: &mut Context, gvr: &Gvr, object: &Object) -> Result<Action, Stop> {
    let finalizers = object.finalizers();
    if finalizers.contains(&ORPHAN) {
        for (kind, dependent) in dependents(cx, object) {
            let kept: Vec<Value> =
                dependent.owner_references().iter().filter(|r| r.text(&["uid"]) != object.uid()).cloned().collect();
            let patch = json!({"metadata": {"ownerReferences": kept, "uid": dependent.uid()}});
            cx.patch(&kind, &dependent.key(), "", patch).or_not_found()?;
        }
        return release(cx, gvr, object, ORPHAN);
    }
    if !finalizers.contains(&FOREGROUND) {
        return Ok(Action::done());
    }
    let found = dependents(cx, object);
    let blocking = |d: &Object| {
        d.owner_references()
            .iter()
            .any(|r| r.text(&["uid"]) == object.uid() && r.get("blockOwnerDeletion") == Some(&json!(true)))
    };
    if !found.iter().any(|(_, d)| blocking(d)) {
        return release(cx, gvr, object, FOREGROUND);
    }
    for (kind, dependent) in found.iter().filter(|(_, d)| !d.deleting()) {
        attempt(cx, kind, dependent)?;
    }
    Ok(Action::done())
}

fn release(cx: &mut Context, gvr: &Gvr, object: &Object, finalizer: &str) -> Result<Action, Stop> {
    let kept: Vec<&str> = object.finalizers().into_iter().filter(|f| *f != finalizer).collect();
    cx.at(Phase::Act, "release", finalizer);
    let metadata = json!({"finalizers": kept, "resourceVersion": object.resource_version()});
    cx.patch(gvr, &object.key(), "", json!({"metadata": metadata})).or_not_found()?;
    Ok(Action::done())
}
