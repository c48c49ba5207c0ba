//! A definition as the server uses it, read from the stored object.

use super::lifecycle::{self, ESTABLISHED, NAMES_ACCEPTED, TERMINATING};
use crate::api::apply;
use crate::api::schema::cel::{CompiledRules, compile_quietly};
use crate::api::schema::structural::Structural;
use crate::ids::GroupResource;
use crate::object::ObjectView;
use serde_json::Value;
use std::sync::Arc;

/// How the kind is called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    pub plural: String,
    pub singular: String,
    pub kind: String,
    pub list_kind: String,
    pub short_names: Vec<String>,
    pub categories: Vec<String>,
}

/// Where the scale of an object stands, as declared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scale {
    pub spec_replicas: String,
    pub status_replicas: String,
    /// Empty when not declared.
    pub label_selector: String,
}

/// One column of `kubectl get`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    pub kind: String,
    pub format: String,
    pub json_path: String,
    pub priority: i64,
}

/// One version of the kind.
#[derive(Clone, Debug)]
pub struct Version {
    pub name: String,
    pub served: bool,
    pub storage: bool,
    /// The warning that each request through this version carries.
    pub deprecation: Option<String>,
    pub schema: Option<Arc<Structural>>,
    pub rules: Arc<CompiledRules>,
    /// The schema with metadata, by which applied configurations merge.
    pub typed: Arc<Structural>,
    /// Declares `/status`.
    pub status: bool,
    pub scale: Option<Scale>,
    pub columns: Vec<Column>,
    /// Paths that field selectors may name, with their leading dot.
    pub selectable_fields: Vec<String>,
}

/// How objects get from one version to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Conversion {
    None,
    Webhook {
        /// The address as error texts print it.
        address: String,
        bundle_valid: bool,
    },
}

/// A definition, parsed.
#[derive(Clone, Debug)]
pub struct Definition {
    pub uid: String,
    /// `plural.group`.
    pub name: String,
    pub group: String,
    pub namespaced: bool,
    pub names: Names,
    pub versions: Vec<Version>,
    /// Index of the version objects are stored in.
    pub storage: usize,
    pub conversion: Conversion,
    pub preserve_unknown: bool,
    /// Changes whenever the spec does and is never 0: objects stored under it need no second look.
    pub shape: u64,
    /// Discovery lists it.
    pub established: bool,
    /// Its objects are being removed, so none may be created.
    pub terminating: bool,
}

impl Definition {
    /// Reads a stored definition; `None` when it declares no version, which a stored one never does.
    #[must_use]
    pub fn parse(object: &Value) -> Option<Self> {
        let group = object.text(&["spec", "group"]);
        let names = names(object);
        let versions: Vec<Version> = object
            .list(&["spec", "versions"])
            .iter()
            .map(|v| version(v, &format!("{group}/{} {}", v.text(&["name"]), names.kind)))
            .collect();
        if versions.is_empty() {
            return None;
        }
        Some(Definition {
            uid: object.uid().to_string(),
            name: object.name().to_string(),
            group: group.to_string(),
            namespaced: object.text(&["spec", "scope"]) == "Namespaced",
            storage: versions.iter().position(|v| v.storage).unwrap_or(0),
            names,
            versions,
            conversion: conversion(object),
            preserve_unknown: object.at(&["spec", "preserveUnknownFields"]) == Some(&Value::Bool(true)),
            shape: shape(object),
            established: object.condition(ESTABLISHED) == "True",
            terminating: object.condition(TERMINATING) == "True",
        })
    }

    /// Whether the paths of a stored definition are served at all.
    #[must_use]
    pub fn serves(object: &Value) -> bool {
        object.condition(NAMES_ACCEPTED) == "True" || object.condition(ESTABLISHED) == "True"
    }

    #[must_use]
    pub fn version(&self, name: &str) -> Option<&Version> {
        self.versions.iter().find(|v| v.name == name)
    }

    #[must_use]
    pub fn storage_version(&self) -> &Version {
        &self.versions[self.storage]
    }

    /// The collection its objects are stored in.
    #[must_use]
    pub fn resource(&self) -> GroupResource {
        GroupResource::new(&self.group, &self.names.plural)
    }
}

fn texts(list: &[Value]) -> Vec<String> {
    list.iter().filter_map(Value::as_str).map(str::to_string).collect()
}

/// The accepted kinds, and the wanted ones where nothing was accepted yet.
fn names(object: &Value) -> Names {
    let text = |field: &str| match object.text(&["status", "acceptedNames", field]) {
        "" => object.text(&["spec", "names", field]).to_string(),
        accepted => accepted.to_string(),
    };
    Names {
        plural: object.text(&["spec", "names", "plural"]).to_string(),
        singular: text("singular"),
        kind: text("kind"),
        list_kind: text("listKind"),
        short_names: texts(object.list(&["status", "acceptedNames", "shortNames"])),
        categories: texts(object.list(&["status", "acceptedNames", "categories"])),
    }
}

fn version(value: &Value, title: &str) -> Version {
    let flag = |field: &str| value.get(field).and_then(Value::as_bool).unwrap_or(false);
    let schema = value.at(&["schema", "openAPIV3Schema"]).and_then(|s| Structural::parse(s).ok());
    let typed = Arc::new(apply::with_metadata(schema.as_deref(), &apply::metadata_schema()));
    let rules = schema.as_ref().map(|s| compile_quietly(s, true)).unwrap_or_default();
    let deprecation = flag("deprecated").then(|| match value.text(&["deprecationWarning"]) {
        "" => format!("{title} is deprecated"),
        said => said.to_string(),
    });
    Version {
        name: value.text(&["name"]).to_string(),
        served: flag("served"),
        storage: flag("storage"),
        deprecation,
        schema,
        rules: Arc::new(rules),
        typed,
        status: value.at(&["subresources", "status"]).is_some_and(|v| !v.is_null()),
        scale: value.at(&["subresources", "scale"]).filter(|v| v.is_object()).map(scale),
        columns: value.list(&["additionalPrinterColumns"]).iter().map(column).collect(),
        selectable_fields: value
            .list(&["selectableFields"])
            .iter()
            .map(|f| f.text(&["jsonPath"]).to_string())
            .collect(),
    }
}

fn scale(value: &Value) -> Scale {
    Scale {
        spec_replicas: value.text(&["specReplicasPath"]).to_string(),
        status_replicas: value.text(&["statusReplicasPath"]).to_string(),
        label_selector: value.text(&["labelSelectorPath"]).to_string(),
    }
}

fn column(value: &Value) -> Column {
    Column {
        name: value.text(&["name"]).to_string(),
        kind: value.text(&["type"]).to_string(),
        format: value.text(&["format"]).to_string(),
        json_path: value.text(&["jsonPath"]).to_string(),
        priority: value.int(&["priority"]).unwrap_or(0),
    }
}

fn conversion(object: &Value) -> Conversion {
    if object.text(&["spec", "conversion", "strategy"]) != "Webhook" {
        return Conversion::None;
    }
    let config = object.at(&["spec", "conversion", "webhook", "clientConfig"]).unwrap_or(&Value::Null);
    let address = match config.text(&["url"]) {
        "" => {
            let (name, namespace) = (config.text(&["service", "name"]), config.text(&["service", "namespace"]));
            let port = config.int(&["service", "port"]).unwrap_or(443);
            format!("https://{name}.{namespace}.svc:{port}{}", config.text(&["service", "path"]))
        }
        url => url.to_string(),
    };
    Conversion::Webhook { address, bundle_valid: lifecycle::bundle_valid(object) }
}

/// FNV-1a over what decides the shape of stored objects.
fn shape(object: &Value) -> u64 {
    let text = format!("{}{}", object.uid(), object.get("spec").unwrap_or(&Value::Null));
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
    hash.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn crd() -> Value {
        json!({"metadata": {"name": "ws.a.b", "uid": "u"}, "spec": {"group": "a.b", "scope": "Namespaced",
            "names": {"plural": "ws", "singular": "w", "kind": "W", "listKind": "WList"},
            "versions": [{"name": "v1", "served": true, "storage": false, "deprecated": true},
                {"name": "v2", "served": true, "storage": true, "subresources": {"status": {}}}]}})
    }

    #[test]
    fn a_definition_knows_its_storage_version() {
        let d = Definition::parse(&crd()).unwrap();
        assert_eq!((d.storage, d.storage_version().name.as_str()), (1, "v2"));
        assert!(d.versions[1].status && !d.versions[0].status);
        assert_eq!(d.versions[0].deprecation.as_deref(), Some("a.b/v1 W is deprecated"));
    }

    #[test]
    fn every_change_of_the_spec_changes_the_shape() {
        let mut other = crd();
        other["spec"]["versions"][0]["served"] = json!(false);
        assert_ne!(Definition::parse(&crd()).unwrap().shape, Definition::parse(&other).unwrap().shape);
    }
}
