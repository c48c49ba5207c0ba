//! Which objects a command is about: names, `TYPE/NAME`, selectors, `--all`, or files.

use super::resources::{Res, named, of_kind};
use super::session::{Cx, Flow};
use crate::api::message::{Method, Request};
use crate::object::{Object, ObjectView};
use serde_json::{Value, json};
use std::sync::Arc;

/// One object a command is about.
#[derive(Clone, Debug)]
pub struct Picked {
    pub res: Res,
    pub namespace: String,
    pub name: String,
    /// `error when deleting "x.yaml": ` and its like need the file it came from; empty otherwise.
    pub source: String,
}

impl Picked {
    pub fn path(&self) -> String {
        self.res.path(&self.namespace, &self.name)
    }
    pub fn live(&self, cx: &mut Cx) -> Flow<Object> {
        cx.fetch(self.path())
    }
}

/// Types with the names that go with them; no names stands for all objects.
pub fn groups(cx: &mut Cx, args: &[String]) -> Flow<Vec<(Res, Vec<String>)>> {
    if args.iter().any(|a| a.contains('/')) {
        let mut out: Vec<(Res, Vec<String>)> = Vec::new();
        for arg in args {
            let Some((word, name)) = arg.split_once('/').filter(|(_, n)| !n.is_empty() && !n.contains('/')) else {
                return Err(cx.fail(
                    "there is no need to specify a resource type as a separate argument when passing arguments in \
                     resource/name form (e.g. 'kubectl get resource/<resource_name>' instead of 'kubectl get resource \
                     resource/<resource_name>'",
                ));
            };
            for res in named(cx, word)? {
                match out.last_mut() {
                    Some((known, names)) if *known == res => names.push(name.to_string()),
                    _ => out.push((res, vec![name.to_string()])),
                }
            }
        }
        return Ok(out);
    }
    let Some((types, names)) = args.split_first() else { return Ok(Vec::new()) };
    Ok(named(cx, types)?.into_iter().map(|res| (res, names.to_vec())).collect())
}

/// The resource of an object in a file; says so when its kind is not served.
pub fn of_file(cx: &mut Cx, object: &Value, source: &str) -> Flow<Option<Res>> {
    let gvk = object.gvk();
    let found = of_kind(cx, &gvk)?;
    if found.is_none() {
        cx.code = 1;
        cx.err(format!(
            "error: resource mapping not found for name: \"{}\" namespace: \"{}\" from \"{source}\": no matches for kind \
             \"{}\" in version \"{}\"\nensure CRDs are installed first",
            object.name(),
            object.namespace(),
            gvk.kind,
            gvk.api_version()
        ));
    }
    Ok(found)
}

/// The namespace of an object in a file.
pub fn namespace_of(cx: &mut Cx, res: &Res, object: &Value) -> Flow<String> {
    if !res.namespaced {
        return Ok(String::new());
    }
    let wanted = cx.namespace();
    match (object.namespace(), cx.command.flag("namespace").is_some()) {
        ("", _) => Ok(wanted),
        (own, true) if own != wanted => Err(cx.fail(format!(
            "the namespace from the provided object \"{own}\" does not match the namespace \"{wanted}\". You must pass \
             '--namespace={own}' to perform this operation."
        ))),
        (own, _) => Ok(own.to_string()),
    }
}

/// Every object the command names. Without names it needs a selector or `--all`.
pub fn pick(cx: &mut Cx, args: &[String]) -> Flow<Vec<Picked>> {
    let mut out = Vec::new();
    for (source, object) in cx.command.objects.clone() {
        let Some(res) = of_file(cx, &object, &source)? else { continue };
        let namespace = namespace_of(cx, &res, &object)?;
        out.push(Picked { res, namespace, name: object.name().to_string(), source });
    }
    if args.is_empty() {
        if out.is_empty() && cx.code == 0 {
            return Err(cx.fail(
                "you must provide one or more resources by argument or filename.\nExample resource specifications \
                 include:\n   '-f rsrc.yaml'\n   '--filename=rsrc.json'\n   '<resource> <name>'\n   '<resource>'",
            ));
        }
        return Ok(out);
    }
    let selecting = cx.command.flag("selector").is_some() || cx.command.flag("field-selector").is_some();
    for (res, names) in groups(cx, args)? {
        let namespace = if res.namespaced { cx.namespace() } else { String::new() };
        if !names.is_empty() && (selecting || cx.command.on("all")) {
            let what = if selecting { "selector" } else { "all flag" };
            return Err(cx.fail(format!("name cannot be provided when a {what} is specified")));
        }
        if names.is_empty() && !selecting && !cx.command.on("all") {
            return Err(cx.fail("resource(s) were provided, but no name was specified"));
        }
        if names.is_empty() {
            for item in list(cx, &res, &namespace)?.list(&["items"]) {
                let namespace = item.namespace().to_string();
                let (name, source) = (item.name().to_string(), String::new());
                out.push(Picked { res: res.clone(), namespace, name, source });
            }
        }
        out.extend(names.into_iter().map(|name| Picked {
            res: res.clone(),
            namespace: namespace.clone(),
            name,
            source: String::new(),
        }));
    }
    Ok(out)
}

/// A list with the selectors of the command, all its pieces together.
pub fn list(cx: &mut Cx, res: &Res, namespace: &str) -> Flow<Object> {
    let mut whole: Option<Value> = None;
    let mut token = String::new();
    loop {
        let mut request = selecting(cx, Request::new(Method::Get, res.collection(namespace))).query("limit", "500");
        if !token.is_empty() {
            request = request.query("continue", token);
        }
        let response = cx.call(request)?;
        let page = cx.check(response)?;
        token = page.text(&["metadata", "continue"]).to_string();
        let Some(list) = &mut whole else {
            if token.is_empty() {
                return Ok(page);
            }
            whole = Some((*page).clone());
            continue;
        };
        if let Some(items) = list.get_mut("items").and_then(Value::as_array_mut) {
            items.extend(page.list(&["items"]).iter().cloned());
        }
        if token.is_empty() {
            return Ok(Arc::new(std::mem::replace(list, json!({}))));
        }
    }
}

/// Adds the selectors of the command.
pub fn selecting(cx: &Cx, mut request: Request) -> Request {
    for (flag, parameter) in [("field-selector", "fieldSelector"), ("selector", "labelSelector")] {
        if let Some(text) = cx.command.flag(flag).filter(|t| !t.is_empty()) {
            request = request.query(parameter, text);
        }
    }
    request
}
