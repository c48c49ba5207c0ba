//! `apply`: client-side by three-way merge, or server-side.

use super::output::done;
use super::pick::{namespace_of, of_file};
use super::resources::{Res, of_kind};
use super::session::{Cx, Flow};
use super::threeway::{Lists, patch};
use crate::api::message::{Method, Request, Response};
use crate::object::{Object, ObjectView, set};
use crate::time::Span;
use serde_json::{Value, json};

/// kubectl's own annotation (api `core/v1/annotation_key_constants.go`).
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
const MANAGER: &str = "kubectl-client-side-apply";

/// How long an apply waits for a kind that is on its way to be served, and how often it looks.
const KIND_WAIT: Span = Span::secs(30);
const KIND_POLL: Span = Span::millis(500);

pub fn apply(cx: &mut Cx) -> Flow {
    if let Some(word) = cx.command.args.first() {
        let text = format!("Unexpected args: [{word}]\nSee 'kubectl apply -h' for help and examples");
        return Err(cx.fail(text));
    }
    if cx.command.flag("filename").is_none() && cx.command.objects.is_empty() {
        return Err(cx.fail("must specify one of -f and -k"));
    }
    let objects = cx.command.objects.clone();
    if objects.is_empty() {
        return Err(cx.fail("no objects passed to apply"));
    }
    let mut mapped = Vec::new();
    for (source, object) in &objects {
        let coming = cx.command.patient || defined_in(&objects, object);
        let known = if coming { None } else { of_file(cx, object, source)? };
        if known.is_some() || coming {
            mapped.push((known, source, object));
        }
    }
    for (known, source, object) in mapped {
        let res = match known {
            Some(res) => Some(res),
            None => awaited(cx, object, source)?,
        };
        if let Some(res) = res {
            one(cx, &res, source, object)?;
        }
    }
    Ok(())
}

/// Whether the definition of the object's kind stands among the objects.
fn defined_in(objects: &[(String, Object)], object: &Value) -> bool {
    let gvk = object.gvk();
    objects.iter().any(|(_, o)| {
        o.kind() == "CustomResourceDefinition"
            && o.text(&["spec", "group"]) == &*gvk.group
            && o.text(&["spec", "names", "kind"]) == &*gvk.kind
    })
}

fn awaited(cx: &mut Cx, object: &Value, source: &str) -> Flow<Option<Res>> {
    let until = cx.now + KIND_WAIT;
    loop {
        if let Some(res) = of_kind(cx, &object.gvk())? {
            return Ok(Some(res));
        }
        if cx.now >= until {
            return of_file(cx, object, source);
        }
        cx.sleep(KIND_POLL)?;
    }
}

fn one(cx: &mut Cx, res: &Res, source: &str, object: &Object) -> Flow {
    let namespace = namespace_of(cx, res, object)?;
    let mut wanted = (**object).clone();
    if res.namespaced {
        set(&mut wanted, &["metadata", "namespace"], json!(namespace));
    }
    if object.name().is_empty() {
        let generate = object.text(&["metadata", "generateName"]);
        let text = if generate.is_empty() {
            format!(
                "error when retrieving current configuration of:\nResource: \"{}\": resource name may not be empty",
                res.plural()
            )
        } else {
            format!("from {generate}: cannot use generate name with apply")
        };
        cx.code = 1;
        cx.err(format!("error: {text}"));
        return Ok(());
    }
    let path = res.path(&namespace, object.name());
    if cx.command.on("server-side") {
        return server_side(cx, res, &path, source, &wanted);
    }
    // What was applied is kept in an annotation, which is not part of it.
    let mut plain = wanted.clone();
    if let Some(annotations) = plain.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut) {
        annotations.remove(LAST_APPLIED);
    } else {
        set(&mut plain, &["metadata", "annotations"], json!({}));
    }
    set(&mut wanted, &["metadata", "annotations", LAST_APPLIED], json!(format!("{plain}\n")));
    let live = cx.get(path.clone())?;
    if live.code == 404 {
        let request = write(cx, Method::Post, res.collection(&namespace), MANAGER).body(wanted);
        let response = cx.call(request)?;
        return said(cx, res, &response, "created", &format!("error when creating \"{source}\": "));
    }
    if !live.success() {
        let doing = format!(
            "error when retrieving current configuration of:\n{}\nfrom server for: \"{source}\": ",
            about(res, &namespace, object.name())
        );
        cx.refused(&live, &doing);
        return Ok(());
    }
    client_side(cx, res, &path, source, &wanted, &live.body)
}

/// Sends the difference, if there is one.
fn client_side(cx: &mut Cx, res: &Res, path: &str, source: &str, wanted: &Value, live: &Object) -> Flow {
    let last = live.annotation(LAST_APPLIED);
    if last.is_none() {
        cx.err(format!(
            "Warning: resource {}/{} is missing the {LAST_APPLIED} annotation which is required by kubectl apply. kubectl \
             apply should only be used on resources created declaratively by either kubectl create --save-config or \
             kubectl apply. The missing annotation will be patched automatically.",
            res.gvr.resource,
            live.name()
        ));
    }
    let last = last.and_then(|text| serde_json::from_str(text).ok()).unwrap_or(Value::Null);
    let lists = if res.builtin && res.kind != "CustomResourceDefinition" { Lists::Merge } else { Lists::Replace };
    let change = patch(&last, live, wanted, lists);
    if change.as_object().is_none_or(serde_json::Map::is_empty) {
        return done(cx, res, live, "unchanged");
    }
    if live.deleting() {
        cx.err(format!("Warning: Detected changes to resource {} which is currently being deleted.", live.name()));
    }
    let mut request = write(cx, Method::Patch, path.to_string(), MANAGER).body(change.clone());
    request.content_type = match lists {
        Lists::Merge => "application/strategic-merge-patch+json",
        Lists::Replace => "application/merge-patch+json",
    }
    .to_string();
    let response = cx.call(request)?;
    let doing = format!(
        "error when applying patch:\n{change}\nto:\n{}\nfor: \"{source}\": error when patching \"{source}\": ",
        about(res, live.namespace(), live.name())
    );
    said(cx, res, &response, "configured", &doing)
}

/// How apply describes the object it failed on.
fn about(res: &Res, namespace: &str, name: &str) -> String {
    let gvr = &res.gvr;
    format!(
        "Resource: \"{}, Resource={}\", GroupVersionKind: \"{}, Kind={}\"\nName: \"{name}\", Namespace: \"{namespace}\"",
        gvr_head(res),
        gvr.resource,
        gvr_head(res),
        res.kind
    )
}

/// `apps/v1`, or `/v1` for the group without a name.
fn gvr_head(res: &Res) -> String {
    format!("{}/{}", res.gvr.group, res.gvr.version)
}

fn server_side(cx: &mut Cx, res: &Res, path: &str, source: &str, wanted: &Value) -> Flow {
    let mut request = write(cx, Method::Patch, path.to_string(), "kubectl").body(wanted.clone());
    if cx.command.on("force-conflicts") {
        request = request.query("force", "true");
    } else {
        request = request.query("force", "false");
    }
    request.content_type = "application/apply-patch+yaml".to_string();
    let response = cx.call(request)?;
    if response.code == 409 && response.status().is_some_and(|s| !s.causes.is_empty()) {
        let message = response.status().unwrap_or_default().message;
        return Err(cx.fail(format!(
            "{message}\nPlease review the fields above--they currently have other managers. Here\nare the ways you can \
             resolve this warning:\n* If you intend to manage all of these fields, please re-run the apply\n  command \
             with the `--force-conflicts` flag.\n* If you do not intend to manage all of the fields, please edit your\n  \
             manifest to remove references to the fields that should keep their\n  current managers.\n* You may co-own \
             fields by updating your manifest to match the existing\n  value; in this case, you'll become the manager if \
             the other manager(s)\n  stop managing the field (remove it from their configuration).\nSee \
             https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts"
        )));
    }
    said(cx, res, &response, "serverside-applied", &format!("error when applying \"{source}\": "))
}

/// A write as kubectl makes it: a field manager, strict validation, perhaps a dry run.
pub fn write(cx: &Cx, method: Method, path: String, manager: &str) -> Request {
    let mut request = Request::new(method, path).query("fieldManager", cx.manager(manager));
    let validation = match cx.command.flag("validate") {
        None | Some("true" | "strict") => "Strict",
        Some("warn") => "Warn",
        _ => "Ignore",
    };
    request = request.query("fieldValidation", validation);
    if cx.command.flag("dry-run") == Some("server") {
        request = request.query("dryRun", "All");
    }
    request
}

/// Says what was done, or why not; the command goes on either way.
pub fn said(cx: &mut Cx, res: &Res, response: &Response, what: &str, doing: &str) -> Flow {
    if response.success() {
        let body = response.body.clone();
        return done(cx, res, &body, what);
    }
    cx.refused(response, doing);
    Ok(())
}
