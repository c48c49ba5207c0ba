//! Reading a definition as the typed form does: fields it does not have fall away and are named, wrong types are
//! refused, and nulls are absent. Schemas have a reader of their own, see `keywords`.

use super::keywords::decode_schema;
use crate::api::schema::field::FieldPath;
use serde_json::{Map, Value};

/// What a field holds.
enum Holds {
    Text,
    Flag,
    /// A truth value that is written out even when the client leaves it out.
    Said,
    Whole,
    Texts,
    Fields(&'static [(&'static str, Holds)]),
    List(&'static [(&'static str, Holds)]),
    Schema,
    Anything,
}

use Holds::{Anything, Fields, Flag, List, Said, Schema, Text, Texts, Whole};

const NAMES: &[(&str, Holds)] = &[
    ("plural", Text),
    ("singular", Text),
    ("shortNames", Texts),
    ("kind", Text),
    ("listKind", Text),
    ("categories", Texts),
];
const SERVICE: &[(&str, Holds)] = &[("namespace", Text), ("name", Text), ("path", Text), ("port", Whole)];
const CLIENT: &[(&str, Holds)] = &[("url", Text), ("service", Fields(SERVICE)), ("caBundle", Text)];
const WEBHOOK: &[(&str, Holds)] = &[("clientConfig", Fields(CLIENT)), ("conversionReviewVersions", Texts)];
const CONVERSION: &[(&str, Holds)] = &[("strategy", Text), ("webhook", Fields(WEBHOOK))];
const SCALE: &[(&str, Holds)] =
    &[("specReplicasPath", Text), ("statusReplicasPath", Text), ("labelSelectorPath", Text)];
const SUBRESOURCES: &[(&str, Holds)] = &[("status", Fields(&[])), ("scale", Fields(SCALE))];
const COLUMN: &[(&str, Holds)] =
    &[("name", Text), ("type", Text), ("format", Text), ("description", Text), ("priority", Whole), ("jsonPath", Text)];
const VERSION: &[(&str, Holds)] = &[
    ("name", Text),
    ("served", Said),
    ("storage", Said),
    ("deprecated", Flag),
    ("deprecationWarning", Text),
    ("schema", Fields(&[("openAPIV3Schema", Schema)])),
    ("subresources", Fields(SUBRESOURCES)),
    ("additionalPrinterColumns", List(COLUMN)),
    ("selectableFields", List(&[("jsonPath", Text)])),
];
const SPEC: &[(&str, Holds)] = &[
    ("group", Text),
    ("names", Fields(NAMES)),
    ("scope", Text),
    ("versions", List(VERSION)),
    ("conversion", Fields(CONVERSION)),
    ("preserveUnknownFields", Flag),
];
const CONDITION: &[(&str, Holds)] = &[
    ("type", Text),
    ("status", Text),
    ("reason", Text),
    ("message", Text),
    ("lastTransitionTime", Text),
    ("observedGeneration", Whole),
];
const STATUS: &[(&str, Holds)] = &[
    ("conditions", List(CONDITION)),
    ("acceptedNames", Fields(NAMES)),
    ("storedVersions", Texts),
    ("observedGeneration", Whole),
];
const DEFINITION: &[(&str, Holds)] =
    &[("apiVersion", Text), ("kind", Text), ("metadata", Anything), ("spec", Fields(SPEC)), ("status", Fields(STATUS))];

/// Reads a definition in place; `unknown` collects the paths of fields that it does not have.
///
/// # Errors
/// A sentence about a field of the wrong type.
pub fn decode(object: &mut Value, unknown: &mut Vec<String>) -> Result<(), String> {
    fields(object, DEFINITION, &FieldPath::Root, unknown)
}

fn wrong(path: &FieldPath) -> String {
    format!("json: cannot unmarshal into Go struct field CustomResourceDefinition.{path}")
}

fn fields(
    value: &mut Value,
    known: &[(&str, Holds)],
    path: &FieldPath,
    unknown: &mut Vec<String>,
) -> Result<(), String> {
    let Some(map) = value.as_object_mut() else { return Err(wrong(path)) };
    map.retain(|name, value| {
        let is_known = known.iter().any(|(n, _)| n == name);
        if !is_known {
            unknown.push(path.child_text(name));
        }
        is_known && !value.is_null()
    });
    for (name, holds) in known {
        if matches!(holds, Said) {
            map.entry(*name).or_insert(Value::Bool(false));
        }
        if let Some(value) = map.get_mut(*name) {
            field(value, holds, &path.child(name), unknown)?;
        }
    }
    Ok(())
}

fn field(value: &mut Value, holds: &Holds, path: &FieldPath, unknown: &mut Vec<String>) -> Result<(), String> {
    let good = match holds {
        Anything => true,
        Text => value.is_string(),
        Flag | Said => value.is_boolean(),
        Whole => value.as_i64().is_some_and(|n| i32::try_from(n).is_ok() || path.to_string().ends_with("Generation")),
        Texts => value.as_array().is_some_and(|list| list.iter().all(Value::is_string)),
        Schema => return decode_schema(value, &path.to_string(), unknown),
        Fields(known) => return fields(value, known, path, unknown),
        List(known) => {
            let Some(list) = value.as_array_mut() else { return Err(wrong(path)) };
            for (i, item) in list.iter_mut().enumerate() {
                // A null in a list of structs reads as an empty one.
                if item.is_null() {
                    *item = Value::Object(Map::new());
                }
                fields(item, known, &path.index(i), unknown)?;
            }
            true
        }
    };
    if good { Ok(()) } else { Err(wrong(path)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn version(schema: Value) -> Value {
        json!({"spec": {"versions": [{"name": "v1", "storage": true, "schema": {"openAPIV3Schema": schema}}]}})
    }

    #[test]
    fn a_typo_falls_away_and_is_named_in_the_definition_and_in_its_schema() {
        let mut object = version(json!({"type": "object", "properties": {"a": {"type": "string", "maxLenght": 3}}}));
        object["spec"]["scop"] = json!("Cluster");
        let mut unknown = Vec::new();
        decode(&mut object, &mut unknown).unwrap();
        assert_eq!(unknown, ["spec.scop", "spec.versions[0].schema.openAPIV3Schema.properties.a.maxLenght"]);
        assert_eq!(object["spec"]["versions"][0]["served"], false);
        assert_eq!(object["spec"]["scop"], Value::Null);
    }

    #[test]
    fn a_field_of_the_wrong_type_cannot_be_read() {
        let bad = [
            json!({"spec": []}),
            json!({"spec": {"versions": {}}}),
            version(json!({"minLength": "x"})),
            version(json!([])),
        ];
        for mut object in bad {
            assert!(decode(&mut object, &mut Vec::new()).is_err(), "{object}");
        }
    }
}
