//! A CRD read once, so that requests for its objects need not.

use crate::api::schema::cel::{self, CompiledRules};
use crate::api::schema::structural::Structural;
use crate::object::ObjectView;
use serde_json::Value;
use std::sync::Arc;

/// What `spec.names` says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    pub plural: String,
    pub singular: String,
    pub kind: String,
    pub list_kind: String,
    pub short_names: Vec<String>,
    pub categories: Vec<String>,
}

/// Where the scale subresource finds its numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scale {
    pub spec: String,
    pub status: String,
    pub selector: String,
}

/// One version.
#[derive(Clone, Debug)]
pub struct Version {
    pub name: String,
    pub served: bool,
    /// The text clients are warned with, when the version is deprecated.
    pub deprecation: Option<String>,
    pub schema: Option<Arc<Structural>>,
    pub rules: Arc<CompiledRules>,
    pub status: bool,
    pub scale: Option<Scale>,
    /// `additionalPrinterColumns` as written.
    pub columns: Vec<Value>,
    pub selectable_fields: Vec<String>,
}

/// One definition.
#[derive(Clone, Debug)]
pub struct Definition {
    pub name: String,
    pub group: String,
    pub names: Names,
    pub namespaced: bool,
    pub versions: Vec<Version>,
    /// Index of the storage version.
    pub storage: usize,
    /// Number of this reading; objects that were brought into its shape carry it.
    pub shape: u64,
}

fn texts(value: &Value, path: &[&str]) -> Vec<String> {
    value.list(path).iter().filter_map(Value::as_str).map(str::to_string).collect()
}

impl Names {
    #[must_use]
    pub fn parse(names: &Value) -> Self {
        let text = |field: &str| names.text(&[field]).to_string();
        Names {
            plural: text("plural"),
            singular: text("singular"),
            kind: text("kind"),
            list_kind: text("listKind"),
            short_names: texts(names, &["shortNames"]),
            categories: texts(names, &["categories"]),
        }
    }
}

impl Version {
    fn parse(version: &Value, group: &str, kind: &str) -> Self {
        let schema = version.at(&["schema", "openAPIV3Schema"]).and_then(|s| Structural::parse(s).ok());
        let rules = schema.as_ref().map(|s| cel::compile_quietly(s, true)).unwrap_or_default();
        let name = version.text(&["name"]).to_string();
        let flag = |field: &str| version.get(field) == Some(&Value::Bool(true));
        let said = version.text(&["deprecationWarning"]).to_string();
        let deprecation = flag("deprecated")
            .then(|| if said.is_empty() { format!("{group}/{name} {kind} is deprecated") } else { said });
        let scale = version.at(&["subresources", "scale"]).map(|scale| Scale {
            spec: scale.text(&["specReplicasPath"]).to_string(),
            status: scale.text(&["statusReplicasPath"]).to_string(),
            selector: scale.text(&["labelSelectorPath"]).to_string(),
        });
        Version {
            name,
            served: flag("served"),
            deprecation,
            schema,
            rules: Arc::new(rules),
            status: version.at(&["subresources", "status"]).is_some(),
            scale,
            columns: version.list(&["additionalPrinterColumns"]).to_vec(),
            selectable_fields: version
                .list(&["selectableFields"])
                .iter()
                .map(|f| f.text(&["jsonPath"]).to_string())
                .collect(),
        }
    }
}

impl Definition {
    /// Reads a stored CRD. `None` when it has no version to store in, which validation rules out.
    #[must_use]
    pub fn parse(crd: &Value, shape: u64) -> Option<Arc<Definition>> {
        let group = crd.text(&["spec", "group"]).to_string();
        let names = Names::parse(crd.at(&["status", "acceptedNames"]).or_else(|| crd.at(&["spec", "names"]))?);
        let written = crd.list(&["spec", "versions"]);
        let storage = written.iter().position(|v| v.get("storage") == Some(&Value::Bool(true)))?;
        let versions = written.iter().map(|v| Version::parse(v, &group, &names.kind)).collect();
        Some(Arc::new(Definition {
            name: crd.name().to_string(),
            namespaced: crd.text(&["spec", "scope"]) == "Namespaced",
            group,
            names,
            versions,
            storage,
            shape,
        }))
    }
}
