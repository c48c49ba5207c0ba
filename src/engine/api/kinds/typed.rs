//! The typed form of built-in kinds, read from one table: how a body is decoded and how applied configurations merge.
//!
//! Flow: `types.txt` is parsed once; [`decode`] walks an object along its kind, [`merge_schema`] gives the same knowledge
//! to an apply.
//!
//! Divergence from Kubernetes: kinds that the table does not have, and fields it calls `any`, are taken as they come.

use crate::api::schema::structural::Structural;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

const TABLE: &str = include_str!("types.txt");

#[derive(Clone, Debug, PartialEq)]
enum Shape {
    Text,
    Int32,
    Int64,
    Flag,
    IntOrText,
    Quantity,
    Any,
    Map(Box<Type>),
    /// The keys items are told apart by; `None` for an atomic list, no keys at all for a set.
    List(Box<Type>, Option<Vec<&'static str>>),
    Struct(&'static str),
}

#[derive(Clone, Debug, PartialEq)]
struct Type {
    shape: Shape,
    atomic: bool,
    keep_empty: bool,
    default: Option<&'static str>,
}

#[derive(Clone, Debug, Default)]
struct Struct {
    fields: BTreeMap<&'static str, Type>,
    open: bool,
    kind: bool,
}

type Types = BTreeMap<&'static str, Struct>;

fn types() -> &'static Types {
    static TYPES: OnceLock<Types> = OnceLock::new();
    TYPES.get_or_init(|| TABLE.lines().filter(|line| !line.starts_with('#')).filter_map(line).collect())
}

fn line(text: &'static str) -> Option<(&'static str, Struct)> {
    let mut words = text.split_whitespace().peekable();
    let kind = words.next_if_eq(&"kind").is_some();
    let mut out = Struct { kind, ..Struct::default() };
    let name = words.next()?;
    if kind {
        for (field, word) in [("apiVersion", "s"), ("kind", "s"), ("metadata", "ObjectMeta")] {
            out.fields.insert(field, parse(word));
        }
    }
    for word in words {
        match word.split_once(':') {
            Some((field, word)) => drop(out.fields.insert(field, parse(word))),
            None => out.open = word == "...",
        }
    }
    Some((name, out))
}

fn parse(word: &'static str) -> Type {
    let (word, keep_empty) = word.strip_suffix('?').map_or((word, false), |w| (w, true));
    let (word, default) = word.split_once('~').map_or((word, None), |(w, d)| (w, Some(d)));
    let (word, atomic) = word.strip_prefix('@').map_or((word, false), |w| (w, true));
    let inside = |open, close| word.strip_prefix(open).and_then(|w: &'static str| w.strip_suffix(close));
    let shape = if let Some(value) = inside('{', '}') {
        Shape::Map(Box::new(parse(value)))
    } else if let Some(item) = inside('[', ']') {
        match item.split_once('=') {
            Some((item, keys)) => {
                let keys = keys.split('+').filter(|k| !k.is_empty()).collect();
                Shape::List(Box::new(parse(item)), Some(keys))
            }
            None => Shape::List(Box::new(parse(item)), None),
        }
    } else {
        match word {
            "s" => Shape::Text,
            "i" => Shape::Int32,
            "l" => Shape::Int64,
            "b" => Shape::Flag,
            "is" => Shape::IntOrText,
            "q" => Shape::Quantity,
            "any" => Shape::Any,
            name => Shape::Struct(name),
        }
    };
    Type { shape, atomic, keep_empty, default }
}

/// Reads an object as its kind does: fields the kind does not know fall away and are named in `unknown`, nulls and what
/// the typed object leaves out when empty are absent.
///
/// # Errors
/// A sentence about a value of the wrong type.
pub fn decode(kind: &'static str, object: &mut Value, unknown: &mut Vec<String>) -> Result<(), String> {
    let (Some(fields), Some(known)) = (object.as_object_mut(), types().get(kind).filter(|t| t.kind)) else {
        return Ok(());
    };
    // The common path has read the metadata.
    let metadata = fields.remove("metadata");
    let outcome = read_struct(kind, known, fields, "", unknown);
    if let Some(metadata) = metadata {
        fields.insert("metadata".to_string(), metadata);
    }
    outcome
}

fn read_struct(
    name: &'static str,
    known: &Struct,
    fields: &mut Map<String, Value>,
    path: &str,
    unknown: &mut Vec<String>,
) -> Result<(), String> {
    let place = |field: &str| if path.is_empty() { field.to_string() } else { format!("{path}.{field}") };
    let mut gone = Vec::new();
    for (field, value) in fields.iter_mut() {
        match known.fields.get(field.as_str()) {
            Some(_) if value.is_null() => gone.push(field.clone()),
            Some(ty) => {
                let at = place(field);
                read(ty, value, &at, unknown).map_err(|why| why.replace("$", &format!("{name}.{at}")))?;
                if !ty.keep_empty && is_empty(ty, value) {
                    gone.push(field.clone());
                }
            }
            None if known.open => {}
            None => {
                unknown.push(place(field));
                gone.push(field.clone());
            }
        }
    }
    fields.retain(|field, _| !gone.contains(field));
    Ok(())
}

/// What `omitempty` leaves out; a struct always stays.
fn is_empty(ty: &Type, value: &Value) -> bool {
    match (&ty.shape, value) {
        (Shape::Text, Value::String(text)) => text.is_empty(),
        (Shape::Int32 | Shape::Int64, number) => number.as_i64() == Some(0),
        (Shape::Flag, flag) => *flag == Value::Bool(false),
        (Shape::Map(_), Value::Object(map)) => map.is_empty(),
        (Shape::List(..), Value::Array(list)) => list.is_empty(),
        _ => false,
    }
}

fn wrong(value: &Value, wanted: &str) -> String {
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    format!("json: cannot unmarshal {found} into Go struct field $ of type {wanted}")
}

fn read(ty: &Type, value: &mut Value, path: &str, unknown: &mut Vec<String>) -> Result<(), String> {
    let wanted = match (&ty.shape, &mut *value) {
        (Shape::Any, _)
        | (Shape::Text, Value::String(_))
        | (Shape::Flag, Value::Bool(_))
        | (Shape::Quantity, Value::String(_))
        | (Shape::IntOrText, Value::String(_)) => return Ok(()),
        (Shape::Int32 | Shape::IntOrText, number) if number.as_i64().is_some_and(|n| i32::try_from(n).is_ok()) => {
            return Ok(());
        }
        (Shape::Int64, number) if number.is_i64() => return Ok(()),
        (Shape::Quantity, Value::Number(number)) => {
            *value = Value::from(number.to_string());
            return Ok(());
        }
        (Shape::Map(inner), Value::Object(map)) => {
            for (key, entry) in map.iter_mut() {
                if entry.is_null() && inner.shape == Shape::Text {
                    *entry = Value::from("");
                }
                read(inner, entry, &format!("{path}.{key}"), unknown)?;
            }
            return Ok(());
        }
        (Shape::List(inner, _), Value::Array(list)) => {
            for (at, item) in list.iter_mut().enumerate() {
                read(inner, item, &format!("{path}[{at}]"), unknown)?;
            }
            return Ok(());
        }
        (Shape::Struct(name), Value::Object(fields)) => {
            return types().get(name).map_or(Ok(()), |known| read_struct(name, known, fields, path, unknown));
        }
        (Shape::Text | Shape::Quantity, _) => "string",
        (Shape::Int32 | Shape::IntOrText, _) => "int32",
        (Shape::Int64, _) => "int64",
        (Shape::Flag, _) => "bool",
        (Shape::Map(_), _) => "map[string]string",
        (Shape::List(..), _) => "[]interface {}",
        (Shape::Struct(name), _) => name,
    };
    Err(wrong(value, wanted))
}

/// How configurations of a kind merge; nothing for a kind that the table does not have.
#[must_use]
pub fn merge_schema(kind: &str) -> Option<Arc<Structural>> {
    static SCHEMAS: OnceLock<BTreeMap<&str, Arc<Structural>>> = OnceLock::new();
    let kinds = || types().iter().filter(|(_, known)| known.kind);
    let parse = |known: &Struct| Structural::parse(&struct_schema(known)).ok();
    let all = SCHEMAS.get_or_init(|| kinds().filter_map(|(name, known)| Some((*name, parse(known)?))).collect());
    all.get(kind).cloned()
}

fn struct_schema(known: &Struct) -> Value {
    let fields: Map<String, Value> = known.fields.iter().map(|(name, ty)| ((*name).to_string(), schema(ty))).collect();
    json!({"type": "object", "properties": fields, "x-kubernetes-preserve-unknown-fields": known.open})
}

fn schema(ty: &Type) -> Value {
    let mut out = match &ty.shape {
        Shape::Text => json!({"type": "string"}),
        Shape::Int32 | Shape::Int64 => json!({"type": "integer"}),
        Shape::Flag => json!({"type": "boolean"}),
        Shape::IntOrText | Shape::Quantity => json!({"x-kubernetes-int-or-string": true}),
        Shape::Any => json!({"x-kubernetes-preserve-unknown-fields": true}),
        Shape::Map(value) => json!({"type": "object", "additionalProperties": schema(value)}),
        Shape::List(item, None) => json!({"type": "array", "items": schema(item)}),
        Shape::List(item, Some(keys)) if keys.is_empty() => {
            json!({"type": "array", "items": schema(item), "x-kubernetes-list-type": "set"})
        }
        Shape::List(item, Some(keys)) => json!({"type": "array", "items": schema(item),
            "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys}),
        Shape::Struct(name) => types().get(name).map_or(Value::Null, struct_schema),
    };
    if ty.atomic {
        out["x-kubernetes-map-type"] = json!("atomic");
    }
    if let Some(default) = ty.default {
        out["default"] = json!(default);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(kind: &'static str, mut object: Value) -> Result<(Value, Vec<String>), String> {
        let mut unknown = Vec::new();
        decode(kind, &mut object, &mut unknown)?;
        Ok((object, unknown))
    }

    #[test]
    fn every_struct_that_is_named_is_described() {
        fn named(ty: &Type) -> Option<&'static str> {
            match &ty.shape {
                Shape::Map(inner) | Shape::List(inner, _) => named(inner),
                Shape::Struct(name) => Some(name),
                _ => None,
            }
        }
        for known in types().values() {
            for name in known.fields.values().filter_map(named) {
                assert!(types().contains_key(name), "{name}");
            }
        }
    }

    #[test]
    fn fields_a_kind_does_not_know_fall_away_and_are_named() {
        let pod = json!({"metadata": {"name": "a"}, "spec": {"containers": [{"name": "c", "imgae": "x"}], "sise": 1}});
        let (pod, unknown) = read("Pod", pod).unwrap();
        assert_eq!(pod["spec"], json!({"containers": [{"name": "c"}]}));
        assert_eq!(unknown, ["spec.containers[0].imgae", "spec.sise"]);
    }

    #[test]
    fn a_wrong_type_is_refused_with_the_field() {
        let why = read("ConfigMap", json!({"data": {"n": 1}})).unwrap_err();
        assert_eq!(why, "json: cannot unmarshal number into Go struct field ConfigMap.data of type string");
        assert!(read("Deployment", json!({"spec": {"replicas": "3"}})).is_err());
        assert!(read("Deployment", json!({"spec": {"replicas": 3_000_000_000_u64}})).is_err());
        assert!(read("Pod", json!({"spec": []})).is_err());
    }

    #[test]
    fn empty_fields_are_absent_unless_they_are_pointers() {
        let (set, _) =
            read("Deployment", json!({"spec": {"replicas": 0, "minReadySeconds": 0, "paused": false}})).unwrap();
        assert_eq!(set["spec"], json!({"replicas": 0}));
        assert_eq!(read("ConfigMap", json!({"data": {}, "binaryData": null})).unwrap().0, json!({}));
    }

    #[test]
    fn containers_merge_by_name_and_ports_by_number_and_protocol() {
        let pod = merge_schema("Pod").unwrap();
        let containers = &pod.properties["spec"].properties["containers"];
        assert_eq!(format!("{:?}", containers.list_type), r#"Map(["name"])"#);
        let ports = &containers.items.as_ref().unwrap().properties["ports"];
        assert_eq!(format!("{:?}", ports.list_type), r#"Map(["containerPort", "protocol"])"#);
        assert!(merge_schema("Node").is_none());
    }
}
