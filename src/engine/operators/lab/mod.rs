//! Small operators of `Cache`, each with one habit that people met in real clusters. Scenarios ask for them as `lab-…`.

mod owners;

use crate::event::Phase;
use crate::ids::{Gvr, Key};
use crate::object::{Object, ObjectView, set};
use crate::operators::support::{controller_reference, write_status};
use crate::process::context::{Action, Context, Expect, Stop, create};
use crate::process::controller::{Controller, Handler, Predicate, Source};
use crate::time::Span;
use serde_json::{Value, json};
use std::sync::Arc;

/// Writes of `lab-burst` in one reconcile.
const BURST: usize = 95;
/// `lab-counter` stops counting there, so that a run has an end.
const COUNT_MAX: usize = 40;

type Reconcile = fn(&mut Context, &Object) -> Result<Action, Stop>;

/// One habit.
struct Lab {
    name: &'static str,
    sources: fn() -> Vec<Source>,
    reconcile: Reconcile,
}

/// Every habit: name, what is watched, what is done.
const LABS: [Lab; 19] = [
    Lab { name: "lab-constant", sources: only_caches, reconcile: constant },
    Lab { name: "lab-counter", sources: only_caches, reconcile: counter },
    Lab { name: "lab-generation", sources: by_generation, reconcile: with_config },
    Lab { name: "lab-generated-name", sources: with_configs, reconcile: generated_name },
    Lab { name: "lab-fixed-name", sources: with_configs, reconcile: fixed_name },
    Lab { name: "lab-stale-put", sources: only_caches, reconcile: stale_put },
    Lab { name: "lab-filtered", sources: filtered_configs, reconcile: filtered },
    Lab { name: "lab-requeue", sources: only_caches, reconcile: requeue },
    Lab { name: "lab-secret", sources: only_caches, reconcile: live_secret },
    Lab { name: "lab-typed", sources: typed_caches, reconcile: constant },
    Lab { name: "lab-cached-secret", sources: only_caches, reconcile: cached_secret },
    Lab { name: "lab-mirror", sources: only_caches, reconcile: mirror },
    Lab { name: "lab-touch", sources: only_caches, reconcile: touch },
    Lab { name: "lab-burst", sources: only_caches, reconcile: burst },
    Lab { name: "lab-late-finalizer", sources: only_caches, reconcile: owners::late_finalizer },
    Lab { name: "lab-held-cache", sources: only_caches, reconcile: owners::held_cache },
    Lab { name: "lab-held-child", sources: with_configs, reconcile: owners::held_child },
    Lab { name: "lab-foreign-child", sources: only_caches, reconcile: owners::foreign_child },
    Lab { name: "lab-shared-child", sources: with_configs, reconcile: owners::shared_child },
];

/// The operator with this habit.
#[must_use]
pub fn named(name: &str) -> Option<Arc<dyn Controller>> {
    let lab = LABS.iter().find(|lab| lab.name == name)?;
    Some(Arc::new(Lab { name: lab.name, sources: lab.sources, reconcile: lab.reconcile }))
}

impl Controller for Lab {
    fn name(&self) -> &'static str {
        self.name
    }

    fn sources(&self) -> Vec<Source> {
        (self.sources)()
    }

    fn reconcile(&self, cx: &mut Context, key: &Key) -> Result<Action, Stop> {
        cx.at(Phase::Observe, "get", "");
        match cx.get(&caches(), key) {
            Some(cache) => (self.reconcile)(cx, &cache),
            None if self.name == "lab-mirror" => {
                cx.delete(&configs(), &Key::new(&key.namespace, &mirror_name(&key.name)), Value::Null)
                    .or_not_found()?;
                Ok(Action::done())
            }
            None => {
                cx.no_write("the cache is gone");
                Ok(Action::done())
            }
        }
    }
}

fn caches() -> Gvr {
    Gvr::new("demo.example", "v1", "caches")
}
fn configs() -> Gvr {
    Gvr::new("", "v1", "configmaps")
}
fn secrets() -> Gvr {
    Gvr::new("", "v1", "secrets")
}

fn only_caches() -> Vec<Source> {
    vec![Source::new(caches(), Handler::ForObject)]
}

fn owned() -> Handler {
    Handler::ForOwner { group: "demo.example", kind: "Cache", any_owner: false }
}

fn with_configs() -> Vec<Source> {
    vec![Source::new(caches(), Handler::ForObject), Source::new(configs(), owned())]
}

fn by_generation() -> Vec<Source> {
    with_configs().into_iter().map(|source| source.with(Predicate::GenerationChanged)).collect()
}

fn filtered_configs() -> Vec<Source> {
    let mut source = Source::new(configs(), owned());
    source.label_selector = "app=cache".to_string();
    vec![Source::new(caches(), Handler::ForObject), source]
}

fn typed_caches() -> Vec<Source> {
    vec![Source::new(caches(), Handler::ForObject).typed(tenant_is_text)]
}

/// The type of the operator says that a tenant is a string.
fn tenant_is_text(object: &Value) -> Result<(), String> {
    match object.at(&["spec", "tenant"]) {
        None | Some(Value::String(_)) => Ok(()),
        Some(_) => {
            Err("json: cannot unmarshal number into Go struct field CacheSpec.spec.tenant of type string".into())
        }
    }
}

fn ran(cx: &mut Context, cache: &Object) {
    cx.event(cache, false, "Reconciled", "looked at the cache");
}

/// Writes its status at the end of each run, always the same.
fn constant(cx: &mut Context, cache: &Object) -> Result<Action, Stop> {
    ran(cx, cache);
    put_status(cx, cache, json!({"phase": "Ready"}))?;
    Ok(Action::done())
}

/// Writes its status at the end of each run, never the same.
fn counter(cx: &mut Context, cache: &Object) -> Result<Action, Stop> {
    let mut runs = cache.list(&["status", "runs"]).to_vec();
    if runs.len() < COUNT_MAX {
        runs.push(json!(runs.len() + 1));
    }
    put_status(cx, cache, json!({"runs": runs}))?;
    Ok(Action::done())
}

fn put_status(cx: &mut Context, cache: &Object, status: Value) -> Result<Object, Stop> {
    cx.at(Phase::Status, "status", "");
    let mut changed = Value::clone(cache);
    set(&mut changed, &["status"], status);
    cx.update_status(&caches(), changed)
}

fn child(cache: &Object, name: Value) -> Value {
    let mut metadata = json!({"namespace": cache.namespace(), "labels": {"app": "cache", "job": cache.name()},
        "ownerReferences": controller_reference(cache)});
    for (field, value) in name.as_object().into_iter().flatten() {
        metadata[field] = value.clone();
    }
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"image": cache.text(&["spec", "image"])}})
}

fn with_config(cx: &mut Context, cache: &Object) -> Result<Action, Stop> {
    ran(cx, cache);
    if !cache.deleting() && cx.get(&configs(), &cache.key()).is_none() {
        cx.create(&configs(), child(cache, json!({"name": cache.name()}))).or_already_exists()?;
    }
    Ok(Action::done())
}

/// Makes a child when it sees none, under a name that the server draws.
fn generated_name(cx: &mut Context, cache: &Object) -> Result<Action, Stop> {
    child_and_status(cx, cache, json!({"generateName": "job-"}))
}

/// The same with a name that follows from the owner.
fn fixed_name(cx: &mut Context, cache: &Object) -> Result<Action, Stop> {
    child_and_status(cx, cache, json!({"name": format!("job-{}", cache.name())}))
}

fn child_and_status(cx: &mut Context, cache: &Object, name: Value) -> Result<Action, Stop> {
    if cx.owned_by(&configs(), cache.uid()).is_empty() {
        cx.at(Phase::Act, "create", "");
        cx.create(&configs(), child(cache, name)).or_already_exists()?;
    }
    write_status(cx, &caches(), cache, json!({"phase": "Started"}))?;
    Ok(Action::done())
}

/// Writes the status, forgets what came back, and writes the object with the version it read first.
fn stale_put(cx: &mut Context, cache: &Object) -> Result<Action, Stop> {
    put_status(cx, cache, json!({"phase": "Ready"}))?;
    let mut changed = Value::clone(cache);
    set(&mut changed, &["metadata", "annotations", "done"], json!("true"));
    cx.at(Phase::Act, "update", "");
    match cx.update(&caches(), changed) {
        Err(Stop::Api(status)) if status.is_conflict() => {
            cx.event(cache, true, "Conflict", "the object has been modified");
            Err(Stop::Api(status))
        }
        other => other.map(|_| Action::done()),
    }
}

/// Looks for its child in a cache that holds objects with a label only.
fn filtered(cx: &mut Context, cache: &Object) -> Result<Action, Stop> {
    if cx.get(&configs(), &cache.key()).is_none() {
        match cx.create(&configs(), child(cache, json!({"name": cache.name()}))) {
            Err(Stop::Api(status)) if status.is_already_exists() => {
                cx.event(cache, true, "Exists", "it is not there and cannot be made");
                return Err(Stop::Api(status));
            }
            other => other?,
        };
    }
    write_status(cx, &caches(), cache, json!({"phase": cache.text(&["spec", "image"])}))?;
    Ok(Action::done())
}

/// Asks once to be run again after a minute.
fn requeue(cx: &mut Context, cache: &Object) -> Result<Action, Stop> {
    ran(cx, cache);
    let uid = cache.uid().to_string();
    let first = cx.memory(|memory| {
        let first = memory.get(&uid).is_none();
        memory.set(&uid, json!(true));
        json!(first)
    });
    Ok(if first == json!(true) { Action::after(Span::secs(60)) } else { Action::done() })
}

/// Needs a Secret that it does not watch.
fn live_secret(cx: &mut Context, cache: &Object) -> Result<Action, Stop> {
    let secret = cx.live_get(&secrets(), &Key::new(cache.namespace(), "s"))?;
    put_status(cx, cache, json!({"secret": secret.name()}))?;
    Ok(Action::done())
}

/// Reads a Secret through the cache, which has to list and watch for that.
fn cached_secret(cx: &mut Context, cache: &Object) -> Result<Action, Stop> {
    let secret = cx.get(&secrets(), &Key::new(cache.namespace(), "s"));
    write_status(cx, &caches(), cache, json!({"secret": if secret.is_some() { "found" } else { "missing" }}))?;
    Ok(Action::done())
}

fn mirror_name(cache: &str) -> String {
    format!("mirror-{cache}")
}

/// Keeps a list of the images it has seen, without owner references; takes it away when the cache is gone.
fn mirror(cx: &mut Context, cache: &Object) -> Result<Action, Stop> {
    let image = cache.text(&["spec", "image"]);
    let key = Key::new(cache.namespace(), &mirror_name(cache.name()));
    match cx.live_get(&configs(), &key).or_not_found()? {
        None => {
            let made = json!({"apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"namespace": &*key.namespace, "name": &*key.name}, "data": {"seen": image}});
            cx.create(&configs(), made)?;
        }
        Some(config) if config.text(&["data", "seen"]).split(' ').next_back() != Some(image) => {
            let seen = format!("{} {image}", config.text(&["data", "seen"]));
            cx.patch(&configs(), &key, "", json!({"data": {"seen": seen}}))?;
        }
        Some(_) => cx.no_write("this image was seen before"),
    }
    Ok(Action::done())
}

/// Writes without a version, so that nothing can fence it.
fn touch(cx: &mut Context, cache: &Object) -> Result<Action, Stop> {
    if cache.annotation("touched").is_none() {
        cx.patch(&caches(), &cache.key(), "", json!({"metadata": {"annotations": {"touched": "true"}}}))?;
    }
    Ok(Action::done())
}

/// Many writes at once.
fn burst(cx: &mut Context, cache: &Object) -> Result<Action, Stop> {
    if cache.at(&["status", "phase"]).is_some() {
        return Ok(Action::done());
    }
    let made = |n: usize| create(&configs(), child(cache, json!({"name": format!("part-{n}")})));
    cx.send_all((0..BURST).map(made).collect())?;
    put_status(cx, cache, json!({"phase": "Done"}))?;
    Ok(Action::done())
}
