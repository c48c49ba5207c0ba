//! `get`.

use super::columns::{builtin, cells, pairs};
use super::declared::{Custom, custom_cells, declared};
use super::jsonpath::Template;
use super::output::{Format, format, print, visible};
use super::pick::{groups, list, of_file, selecting};
use super::resources::Res;
use super::session::{Cx, Flow, Seen};
use super::table::{Column, Table};
use crate::api::message::{Method, Request, WatchEventType};
use crate::object::{Object, ObjectView};
use serde_json::{Value, json};
use std::sync::Arc;

/// What one resource gave.
struct Found {
    res: Res,
    objects: Vec<Object>,
    /// The resourceVersion to watch from, where a list was read.
    revision: String,
    name: Option<String>,
}

pub fn get(cx: &mut Cx) -> Flow {
    if let Some(path) = cx.command.flag("raw").map(str::to_string) {
        let body = cx.fetch(path)?;
        cx.out(body.to_string());
        return Ok(());
    }
    let args = cx.command.args.clone();
    if args.is_empty() && cx.command.objects.is_empty() {
        cx.err(
            "You must specify the type of resource to get. Use \"kubectl api-resources\" for a complete list of \
             supported resources.\n",
        );
        return Err(cx.fail("Required resource not specified.\nSee 'kubectl get -h' for help and examples"));
    }
    let format = format(cx)?;
    let mut found = Vec::new();
    let wanted = wanted(cx, &args)?;
    let several = wanted.len() > 1;
    for (res, names) in wanted {
        read(cx, &res, &names, &mut found)?;
    }
    sort(cx, &mut found)?;
    if cx.command.on("watch") || cx.command.on("watch-only") {
        return follow(cx, found, several, format);
    }
    match format {
        Some(format) => printed(cx, found, &format),
        None => tables(cx, &found, several),
    }
}

fn wanted(cx: &mut Cx, args: &[String]) -> Flow<Vec<(Res, Vec<String>)>> {
    if !args.is_empty() {
        let groups = groups(cx, args)?;
        if cx.command.on("all-namespaces") && groups.iter().any(|(r, names)| r.namespaced && !names.is_empty()) {
            return Err(cx.fail("a resource cannot be retrieved by name across all namespaces"));
        }
        return Ok(groups);
    }
    let mut out = Vec::new();
    for (source, object) in cx.command.objects.clone() {
        if let Some(res) = of_file(cx, &object, &source)? {
            out.push((res, vec![object.name().to_string()]));
        }
    }
    Ok(out)
}

fn read(cx: &mut Cx, res: &Res, names: &[String], found: &mut Vec<Found>) -> Flow {
    let namespace = cx.namespace();
    if names.is_empty() {
        let list = list(cx, res, &namespace)?;
        // Items of a list come without type, which kubectl fills in.
        let whole = |item: &Value| {
            let mut item = item.clone();
            if let Some(map) = item.as_object_mut() {
                map.entry("apiVersion").or_insert_with(|| json!(res.api_version()));
                map.entry("kind").or_insert_with(|| json!(res.kind));
            }
            Arc::new(item)
        };
        let objects = list.list(&["items"]).iter().map(whole).collect();
        found.push(Found { res: res.clone(), objects, revision: list.resource_version().to_string(), name: None });
        return Ok(());
    }
    for name in names {
        let mut path = res.path(&namespace, name);
        if let Some(sub) = cx.command.flag("subresource") {
            path = format!("{path}/{sub}");
        }
        let response = cx.get(path)?;
        if response.code == 404 && cx.command.on("ignore-not-found") {
            continue;
        }
        if !response.success() {
            cx.refused(&response, "");
            continue;
        }
        let revision = response.body.resource_version().to_string();
        found.push(Found { res: res.clone(), objects: vec![response.body], revision, name: Some(name.clone()) });
    }
    Ok(())
}

fn sort(cx: &mut Cx, found: &mut [Found]) -> Flow {
    let Some(path) = cx.command.flag("sort-by").map(str::to_string) else { return Ok(()) };
    let template = Template::path(&path).map_err(|why| cx.fail(why))?;
    for part in found {
        part.objects.sort_by(|a, b| {
            let (a, b) = (template.values(a), template.values(b));
            let (a, b) = (a.first().copied().unwrap_or(&Value::Null), b.first().copied().unwrap_or(&Value::Null));
            match (a.as_f64(), b.as_f64()) {
                (Some(a), Some(b)) => a.total_cmp(&b),
                _ => super::jsonpath::shown(a).cmp(&super::jsonpath::shown(b)),
            }
        });
    }
    Ok(())
}

fn printed(cx: &mut Cx, found: Vec<Found>, format: &Format) -> Flow {
    let single = cx.command.args.len() <= 2 && found.len() == 1 && found[0].name.is_some();
    let objects: Vec<Value> = found.iter().flat_map(|f| &f.objects).map(|o| visible(cx, o)).collect();
    if *format == Format::Name {
        for part in &found {
            for object in &part.objects {
                cx.out(format!("{}/{}", part.res.label(), object.name()));
            }
        }
    } else if single {
        print(cx, format, &objects[0]);
    } else if !objects.is_empty() || (cx.code == 0 && !cx.command.on("ignore-not-found")) {
        let list = json!({"apiVersion": "v1", "items": objects, "kind": "List", "metadata": {"resourceVersion": ""}});
        print(cx, format, &list);
    }
    Ok(())
}

/// The columns of a resource, by which its rows are made.
struct View {
    custom: Option<Vec<Custom>>,
    shown: Vec<usize>,
    table: Table,
}

impl View {
    fn new(cx: &mut Cx, res: &Res) -> Flow<View> {
        let custom = if res.builtin { None } else { Some(declared(&*definition(cx, res)?, &res.gvr.version)) };
        let all: Vec<Column> = match &custom {
            Some(columns) => columns.iter().map(|c| c.column.clone()).collect(),
            None => builtin(&res.gvr.group, &res.kind),
        };
        let wide = cx.command.flag("output") == Some("wide");
        let shown: Vec<usize> = (0..all.len()).filter(|at| wide || !all[*at].wide).collect();
        let mut columns: Vec<Column> = shown.iter().map(|at| all[*at].clone()).collect();
        let plain = |name: &str| Column { name: name.to_string(), wide: false };
        if cx.command.on("all-namespaces") && res.namespaced {
            columns.insert(0, plain("Namespace"));
        }
        for label in labels(cx) {
            columns.push(plain(label.rsplit('/').next().unwrap_or("")));
        }
        if cx.command.on("show-labels") {
            columns.push(plain("Labels"));
        }
        Ok(View { custom, shown, table: Table::new(columns) })
    }

    fn add(&mut self, cx: &Cx, res: &Res, object: &Value, with_kind: bool) {
        let all = match &self.custom {
            Some(columns) => custom_cells(columns, object, cx.now),
            None => cells(&res.gvr.group, &res.kind, object, cx.now),
        };
        let mut row: Vec<String> = self.shown.iter().filter_map(|at| all.get(*at).cloned()).collect();
        if with_kind && res.kind != "Event" {
            row[0] = format!("{}/{}", res.label(), row[0]);
        }
        if cx.command.on("all-namespaces") && res.namespaced {
            row.insert(0, object.namespace().to_string());
        }
        row.extend(labels(cx).iter().map(|l| object.label(l).unwrap_or("").to_string()));
        if cx.command.on("show-labels") {
            row.push(pairs(object.at(&["metadata", "labels"])));
        }
        self.table.rows.push(row);
    }
}

fn labels(cx: &Cx) -> Vec<String> {
    cx.command.all("label-columns").iter().flat_map(|l| l.split(',')).map(str::to_string).collect()
}

/// The definition of a custom resource, or nothing where it may not be read.
fn definition(cx: &mut Cx, res: &Res) -> Flow<Object> {
    let path = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{}", res.plural());
    let response = cx.get(path)?;
    Ok(if response.success() { response.body } else { Arc::new(Value::Null) })
}

fn tables(cx: &mut Cx, found: &[Found], several: bool) -> Flow {
    let mut printed = 0;
    let mut at = 0;
    while at < found.len() {
        let res = &found[at].res;
        let end = at + found[at..].iter().take_while(|f| f.res == *res).count();
        let objects: Vec<&Object> = found[at..end].iter().flat_map(|f| &f.objects).collect();
        at = end;
        if objects.is_empty() {
            continue;
        }
        let mut view = View::new(cx, res)?;
        for object in objects {
            view.add(cx, res, object, several || cx.command.on("show-kind"));
        }
        let head = !cx.command.on("no-headers");
        let gap = if printed > 0 && head { "\n" } else { "" };
        let text = format!("{gap}{}", view.table.flush(head));
        cx.out(text);
        printed += 1;
    }
    if printed == 0 && cx.code == 0 && !cx.command.on("ignore-not-found") {
        let namespaced = found.iter().all(|f| f.res.namespaced) && !cx.command.on("all-namespaces");
        let place = if namespaced { format!(" in {} namespace.", cx.namespace()) } else { String::new() };
        cx.err(format!("No resources found{place}"));
    }
    Ok(())
}

/// `-w`: what is there, then every change as a line.
fn follow(cx: &mut Cx, found: Vec<Found>, several: bool, format: Option<Format>) -> Flow {
    if several || found.len() > 1 {
        return Err(cx.fail("you may only specify a single resource type"));
    }
    let Some(found) = found.into_iter().next() else { return Ok(()) };
    let mut view = View::new(cx, &found.res)?;
    let mut head = !cx.command.on("no-headers");
    let show = |cx: &mut Cx, view: &mut View, object: &Value, head: &mut bool| match &format {
        Some(format) => {
            let object = visible(cx, object);
            print(cx, format, &object);
        }
        None => {
            view.add(cx, &found.res, object, false);
            let text = view.table.flush(std::mem::take(head));
            cx.out(text);
        }
    };
    if !cx.command.on("watch-only") {
        match &format {
            None if !found.objects.is_empty() => {
                for object in &found.objects {
                    view.add(cx, &found.res, object, false);
                }
                let text = view.table.flush(std::mem::take(&mut head));
                cx.out(text);
            }
            _ => found.objects.iter().for_each(|o| show(cx, &mut view, o, &mut head)),
        }
    }
    let namespace = cx.namespace();
    let mut request = selecting(cx, Request::new(Method::Get, found.res.collection(&namespace)))
        .query("watch", "true")
        .query("resourceVersion", found.revision.clone());
    if let Some(name) = &found.name {
        request = request.query("fieldSelector", format!("metadata.name={name}"));
    }
    let response = cx.call(request)?;
    let watch = response.watch;
    cx.check(response)?;
    let Some(watch) = watch else { return Ok(()) };
    loop {
        match cx.event(watch, None)? {
            Seen::Event(event) => match event.kind {
                WatchEventType::Bookmark => {}
                WatchEventType::Error => {
                    let message = event.object.text(&["message"]).to_string();
                    return Err(cx.fail(message));
                }
                _ => show(cx, &mut view, &event.object, &mut head),
            },
            _ => return Ok(()),
        }
    }
}

/// `events`: what happened, oldest first, perhaps to one object only.
pub fn events(cx: &mut Cx) -> Flow {
    let mut about = None;
    if let Some(text) = cx.command.flag("for").map(str::to_string) {
        let Some((res, names)) = groups(cx, &[text])?.into_iter().next() else { return Ok(()) };
        about = names.into_iter().next().map(|name| (res.kind, name));
    }
    let Some(res) = super::resources::builtin().find(|r| r.kind == "Event") else { return Ok(()) };
    let namespace = cx.namespace();
    let list = list(cx, &res, &namespace)?;
    let wanted = |e: &&Value| match &about {
        None => true,
        Some((kind, name)) => {
            e.text(&["involvedObject", "kind"]) == kind && e.text(&["involvedObject", "name"]) == name
        }
    };
    let types = cx.command.flag("types").unwrap_or("").to_string();
    let of_type = |e: &&Value| types.is_empty() || types.split(',').any(|t| t == e.text(&["type"]));
    let mut events: Vec<&Value> = list.list(&["items"]).iter().filter(wanted).filter(of_type).collect();
    events.sort_by(|a, b| a.text(&["lastTimestamp"]).cmp(b.text(&["lastTimestamp"])));
    if events.is_empty() {
        let place = if namespace.is_empty() { String::new() } else { format!(" in {namespace} namespace.") };
        cx.err(format!("No events found{place}"));
        return Ok(());
    }
    let mut view = View::new(cx, &res)?;
    for event in events {
        view.add(cx, &res, event, false);
    }
    let text = view.table.flush(!cx.command.on("no-headers"));
    cx.out(text);
    Ok(())
}
