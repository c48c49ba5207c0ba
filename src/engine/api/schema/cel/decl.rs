//! What a structural schema declares to expressions.

use super::parse::RESERVED;
use super::types::{Decl, FieldDecl, ObjectDecl, Shape};
use super::value::ListKind;
use crate::api::schema::structural::{ListType, Structural, Type};
use std::sync::Arc;

/// apiserver `DefaultMaxRequestSizeBytes`.
pub const REQUEST_MAX: u64 = 3 * 1024 * 1024;

const TEXT_MAX: u64 = REQUEST_MAX - 2;
const DURATION_MAX: u64 = 32;
const DURATION_MIN_BYTES: u64 = 3;
const DATE_SIZE: u64 = 12;
const DATE_TIME_MAX: u64 = 32;
const DATE_TIME_MIN_BYTES: u64 = 21;

/// Literals and the operator that cannot be field names either; see also [`RESERVED`].
const LITERALS: [&str; 4] = ["true", "false", "null", "in"];

/// The name of a field in expressions; none when it cannot be reached.
pub fn escape(name: &str) -> Option<String> {
    if LITERALS.contains(&name) || RESERVED.contains(&name) {
        return Some(format!("__{name}__"));
    }
    let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-' | b'/');
    if name.is_empty() || name.as_bytes()[0].is_ascii_digit() || !name.bytes().all(fits) {
        return None;
    }
    let escaped = name.replace("__", "__underscores__");
    Some(escaped.replace('.', "__dot__").replace('-', "__dash__").replace('/', "__slash__"))
}

/// Declares the tree below `schema`; none when expressions cannot see it.
pub fn declare(schema: &Structural, resource_root: bool) -> Option<Arc<Decl>> {
    declare_at(schema, resource_root, &mut 0)
}

fn declare_at(schema: &Structural, resource_root: bool, ids: &mut u32) -> Option<Arc<Decl>> {
    let checks = &schema.checks;
    let limit = |limit: Option<i64>| limit.map(|n| u64::try_from(n).unwrap_or(0));
    let length = limit(checks.max_length);
    // A limit in characters is taken in bytes, and a character has up to four.
    let text_max = || length.map_or(TEXT_MAX, |n| n.saturating_mul(4));
    let nullable = schema.nullable;
    let made = |shape, max, min_bytes| Some(Arc::new(Decl { shape, max, min_bytes, nullable }));
    if schema.int_or_string {
        return made(Shape::Dyn, text_max(), 1);
    }
    match schema.type_ {
        None => None,
        Some(Type::Boolean) => made(Shape::Bool, 0, 4),
        Some(Type::Integer) => made(Shape::Int, 0, 1),
        Some(Type::Number) => made(Shape::Double, 0, 1),
        Some(Type::String) => match checks.format.as_str() {
            "byte" => made(Shape::Bytes, length.unwrap_or(TEXT_MAX), 2),
            "duration" => made(Shape::Duration, DURATION_MAX, DURATION_MIN_BYTES),
            "date" => made(Shape::Date, DATE_SIZE, DATE_SIZE),
            "date-time" => made(Shape::DateTime, DATE_TIME_MAX, DATE_TIME_MIN_BYTES),
            _ if length.is_none() && !checks.enumeration.is_empty() => {
                let longest = checks.enumeration.iter().filter_map(|v| v.as_str()).map(str::len).max();
                made(Shape::String, longest.unwrap_or(0) as u64, 2)
            }
            _ => made(Shape::String, text_max(), 2),
        },
        Some(Type::Array) => {
            let items = schema.items.as_ref()?;
            let item = declare_at(items, items.embedded_resource, ids)?;
            let max = limit(checks.max_items).unwrap_or((REQUEST_MAX - 2) / (item.min_bytes + 1));
            made(Shape::List(item, list_kind(&schema.list_type)), max, 2)
        }
        Some(Type::Object) => match schema.additional_schema() {
            Some(values) => {
                let value = declare_at(values, values.embedded_resource, ids)?;
                let max = limit(checks.max_properties).unwrap_or((REQUEST_MAX - 2) / (value.min_bytes + 6));
                made(Shape::Map(value), max, 2)
            }
            None => {
                let (object, min_bytes) = object(schema, resource_root, ids);
                made(Shape::Object(Arc::new(object)), 0, min_bytes)
            }
        },
    }
}

fn list_kind(list: &ListType) -> ListKind {
    match list {
        ListType::Atomic => ListKind::Atomic,
        ListType::Set => ListKind::Set,
        ListType::Map(keys) => ListKind::Map(keys.iter().filter_map(|k| escape(k)).collect()),
    }
}

fn object(schema: &Structural, resource_root: bool, ids: &mut u32) -> (ObjectDecl, u64) {
    *ids += 1;
    let mut object = ObjectDecl { id: *ids, fields: Default::default() };
    let mut min_bytes = 2;
    for (name, property) in &schema.properties {
        let Some(decl) = declare_at(property, property.embedded_resource, ids) else { continue };
        if schema.checks.required.contains(name) && property.default.is_none() {
            min_bytes += name.len() as u64 + decl.min_bytes + 4;
        }
        if let Some(escaped) = escape(name) {
            object.fields.insert(escaped.into(), FieldDecl { name: name.clone(), decl });
        }
    }
    if resource_root && !declares_meta(schema) {
        add_type_and_meta(&mut object, ids);
    }
    (object, min_bytes)
}

fn declares_meta(schema: &Structural) -> bool {
    let text = |s: Option<&Arc<Structural>>| s.is_some_and(|s| s.type_ == Some(Type::String));
    let meta = schema.properties.get("metadata");
    text(schema.properties.get("kind"))
        && text(schema.properties.get("apiVersion"))
        && meta.is_some_and(|m| text(m.properties.get("name")) && text(m.properties.get("generateName")))
}

/// The root of a resource shows its type and two of its names, whatever the schema says of them.
fn add_type_and_meta(object: &mut ObjectDecl, ids: &mut u32) {
    let text = || Arc::new(Decl { shape: Shape::String, max: TEXT_MAX, min_bytes: 2, nullable: false });
    let field = |name: &str, decl| (Arc::from(name), FieldDecl { name: name.to_string(), decl });
    *ids += 1;
    let names = [field("name", text()), field("generateName", text())].into_iter().collect();
    let meta = Shape::Object(Arc::new(ObjectDecl { id: *ids, fields: names }));
    let meta = Arc::new(Decl { shape: meta, max: 0, min_bytes: 2, nullable: false });
    object.fields.extend([field("apiVersion", text()), field("kind", text()), field("metadata", meta)]);
}
