//! The columns that a definition declares for its custom resources.

use super::age::since;
use super::jsonpath::{Template, shown};
use super::table::Column;
use crate::object::ObjectView;
use crate::time::SimTime;
use serde_json::Value;

/// A column a definition declares.
#[derive(Clone, Debug)]
pub struct Custom {
    pub column: Column,
    date: bool,
    path: Option<Template>,
}

/// The columns of a custom resource in one version of its definition.
pub fn declared(definition: &Value, version: &str) -> Vec<Custom> {
    let name = Custom {
        column: Column { name: "Name".into(), wide: false },
        date: false,
        path: Template::path(".metadata.name").ok(),
    };
    let age = Custom {
        column: Column { name: "Age".into(), wide: false },
        date: true,
        path: Template::path(".metadata.creationTimestamp").ok(),
    };
    let versions = definition.list(&["spec", "versions"]);
    let columns = versions
        .iter()
        .find(|v| v.text(&["name"]) == version)
        .map_or(&[][..], |v| v.list(&["additionalPrinterColumns"]));
    if columns.is_empty() {
        return vec![name, age];
    }
    let read = |c: &Value| Custom {
        column: Column { name: c.text(&["name"]).to_string(), wide: c.int(&["priority"]).unwrap_or(0) > 0 },
        date: c.text(&["type"]) == "date",
        path: Template::path(c.text(&["jsonPath"])).ok(),
    };
    std::iter::once(name).chain(columns.iter().map(read)).collect()
}

/// The cells of a custom resource. What is absent is an empty cell.
pub fn custom_cells(columns: &[Custom], object: &Value, now: SimTime) -> Vec<String> {
    let cell = |c: &Custom| {
        let found = c.path.as_ref().map(|p| p.values(object)).unwrap_or_default();
        match found.first() {
            None => String::new(),
            Some(value) if c.date => since(Some(value), now),
            Some(_) => found.into_iter().map(shown).collect::<Vec<_>>().join(" "),
        }
    };
    columns.iter().map(cell).collect()
}
