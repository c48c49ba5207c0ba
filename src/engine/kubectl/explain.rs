//! `explain` of custom resources, from the schema of their definition.

use super::resources::named;
use super::session::{Cx, Flow};
use crate::object::ObjectView;
use serde_json::Value;

/// The column at which descriptions are broken.
const WIDTH: usize = 76;

pub fn explain(cx: &mut Cx) -> Flow {
    let Some(word) = cx.command.args.first().cloned() else {
        return Err(cx.fail("You must specify the type of resource to explain. Use \"kubectl api-resources\" for a complete list of supported resources."));
    };
    let mut steps = word.split('.').map(str::to_string).collect::<Vec<_>>();
    let name = steps.remove(0);
    let Some(res) = named(cx, &name)?.into_iter().next() else { return Ok(()) };
    if res.builtin {
        return Err(cx.fail(format!(
            "the fields of {} are not described here; custom resources are, from the schema of their definition",
            res.plural()
        )));
    }
    let definition = cx.fetch(format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{}", res.plural()))?;
    let version = definition.list(&["spec", "versions"]).iter().find(|v| v.text(&["name"]) == &*res.gvr.version);
    let mut at = version.and_then(|v| v.at(&["schema", "openAPIV3Schema"])).unwrap_or(&Value::Null);
    for step in &steps {
        at = inner(at);
        let Some(next) = at.at(&["properties", step]) else {
            return Err(cx.fail(format!("field \"{step}\" does not exist")));
        };
        at = next;
    }
    let mut lines = vec![
        format!("GROUP:      {}", res.gvr.group),
        format!("KIND:       {}", res.kind),
        format!("VERSION:    {}", res.gvr.version),
        String::new(),
    ];
    if let Some(last) = steps.last() {
        lines.push(format!("FIELD: {last} <{}>\n", kind(at)));
    }
    lines.push("DESCRIPTION:".to_string());
    lines.extend(wrapped(describe(at), 4));
    if let Some(values) = at.at(&["enum"]).and_then(Value::as_array) {
        lines.push("    Possible enum values:".to_string());
        lines.extend(values.iter().map(|v| format!("     - `{v}`")));
    }
    let fields = inner(at).at(&["properties"]).and_then(Value::as_object);
    if let Some(fields) = fields.filter(|f| !f.is_empty()) {
        lines.push("\nFIELDS:".to_string());
        let required = inner(at).list(&["required"]);
        for (name, schema) in fields {
            let must = if required.iter().any(|r| r == name.as_str()) { " -required-" } else { "" };
            lines.push(format!("  {name}\t<{}>{must}", kind(schema)));
            lines.extend(wrapped(describe(schema), 4));
            lines.push(String::new());
        }
    }
    cx.out(lines.join("\n"));
    Ok(())
}

/// The schema whose fields are listed: through lists and maps.
fn inner(schema: &Value) -> &Value {
    match (schema.get("items"), schema.get("additionalProperties")) {
        (Some(items), _) => items,
        (None, Some(values)) if values.is_object() => values,
        _ => schema,
    }
}

fn describe(schema: &Value) -> &str {
    match schema.text(&["description"]) {
        "" => "<no description>",
        text => text,
    }
}

fn kind(schema: &Value) -> String {
    if schema.get("x-kubernetes-int-or-string") == Some(&Value::Bool(true)) {
        return "IntOrString".to_string();
    }
    match schema.text(&["type"]) {
        "array" => format!("[]{}", kind(schema.get("items").unwrap_or(&Value::Null))),
        "object" => match schema.get("additionalProperties") {
            Some(values) if values.is_object() => format!("map[string]{}", kind(values)),
            _ => "Object".to_string(),
        },
        "" => "Object".to_string(),
        plain => plain.to_string(),
    }
}

fn wrapped(text: &str, indent: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && line.chars().count() + word.chars().count() + 1 > WIDTH {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines.into_iter().map(|l| format!("{:indent$}{l}", "")).collect()
}
