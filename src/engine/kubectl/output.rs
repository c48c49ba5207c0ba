//! `-o`: how objects are printed.

use super::jsonpath::Template;
use super::resources::Res;
use super::session::{Cx, Flow};
use crate::object::{ObjectView, remove};
use crate::yaml::to_yaml;
use serde_json::Value;

/// A way to print objects other than in a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Format {
    Yaml,
    Json,
    Name,
    JsonPath(Template),
    /// Heads and the paths below them.
    Custom(Vec<(String, Template)>),
}

const ALLOWED: &str = "custom-columns,custom-columns-file,go-template,go-template-file,json,jsonpath,jsonpath-as-json,\
                       jsonpath-file,kyaml,name,template,templatefile,wide,yaml";

/// The wanted format; none for a table or plain words.
pub fn format(cx: &mut Cx) -> Flow<Option<Format>> {
    let Some(text) = cx.command.flag("output").map(str::to_string) else { return Ok(None) };
    let (name, rest) = text.split_once('=').map_or((text.as_str(), ""), |(a, b)| (a, b));
    let read = match name {
        "" | "wide" => return Ok(None),
        "yaml" | "kyaml" => Ok(Format::Yaml),
        "json" => Ok(Format::Json),
        "name" => Ok(Format::Name),
        "jsonpath" if rest.is_empty() => Err("template format specified but no template given".to_string()),
        "jsonpath" => {
            Template::parse(rest).map(Format::JsonPath).map_err(|why| format!("error parsing jsonpath {rest}, {why}"))
        }
        "custom-columns" => custom(rest).map(Format::Custom),
        "go-template" | "template" => Err("templates of Go are not understood here; use jsonpath".to_string()),
        _ => Err(format!(
            "unable to match a printer suitable for the output format \"{text}\", allowed formats are: {ALLOWED}"
        )),
    };
    read.map(Some).map_err(|why| cx.fail(why))
}

fn custom(spec: &str) -> Result<Vec<(String, Template)>, String> {
    if spec.is_empty() {
        return Err("custom-columns format specified but no custom columns given".into());
    }
    spec.split(',')
        .map(|column| {
            let (head, path) = column.split_once(':').ok_or_else(|| {
                format!("unexpected custom-columns spec: {column}, expected <header>:<json-path-expr>")
            })?;
            Template::path(path).map(|t| (head.to_string(), t))
        })
        .collect()
}

/// An object without what kubectl hides.
pub fn visible(cx: &Cx, object: &Value) -> Value {
    let mut object = object.clone();
    if !cx.command.on("show-managed-fields") {
        remove(&mut object, &["metadata", "managedFields"]);
    }
    object
}

/// Prints one object, or a list of them, in the format.
pub fn print(cx: &mut Cx, format: &Format, value: &Value) {
    match format {
        Format::Yaml => {
            let text = to_yaml(value);
            cx.out(text.trim_end_matches('\n'));
        }
        Format::Json => {
            let text = pretty(value);
            cx.out(text);
        }
        Format::Name => {
            let label = label_of(value);
            cx.out(format!("{label}/{}", value.name()));
        }
        Format::JsonPath(template) => {
            let text = template.print(value);
            cx.out(text);
        }
        Format::Custom(columns) => {
            let mut table = super::table::Table::of(&columns.iter().map(|(h, _)| h.as_str()).collect::<Vec<_>>());
            let items = if value.kind() == "List" { value.list(&["items"]) } else { std::slice::from_ref(value) };
            for item in items {
                let cell = |t: &Template| {
                    let found: Vec<String> = t.values(item).into_iter().map(super::jsonpath::shown).collect();
                    if found.is_empty() { "<none>".to_string() } else { found.join(",") }
                };
                table.rows.push(columns.iter().map(|(_, t)| cell(t)).collect());
            }
            let head = !cx.command.on("no-headers");
            let text = table.flush(head);
            cx.out(text);
        }
    }
}

/// Says what was done to an object, in the wanted format.
pub fn done(cx: &mut Cx, res: &Res, object: &Value, what: &str) -> Flow {
    let dry = match cx.command.flag("dry-run") {
        Some("client") => " (dry run)",
        Some("server") => " (server dry run)",
        _ => "",
    };
    match format(cx)? {
        None => cx.out(format!("{}/{} {what}{dry}", res.label(), object.name())),
        Some(Format::Name) => cx.out(format!("{}/{}", res.label(), object.name())),
        Some(format) => {
            let object = visible(cx, object);
            print(cx, &format, &object);
        }
    }
    Ok(())
}

pub fn label_of(value: &Value) -> String {
    let gvk = value.gvk();
    let kind = gvk.kind.to_lowercase();
    if gvk.group.is_empty() { kind } else { format!("{kind}.{}", gvk.group) }
}

/// JSON with four blanks a level, as kubectl prints it.
pub fn pretty(value: &Value) -> String {
    let mut out = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(b"    ");
    let mut serializer = serde_json::Serializer::with_formatter(&mut out, formatter);
    match serde::Serialize::serialize(value, &mut serializer) {
        Ok(()) => String::from_utf8_lossy(&out).into_owned(),
        Err(_) => value.to_string(),
    }
}
