//! Conversions: `int(x)`, `string(x)` and their like; and JSON into values as a schema declares them.

use super::formats;
use super::functions::Fun;
use super::numbers;
use super::time;
use super::types::{Decl, Shape};
use super::value::{List, MapKey, Outcome, Value, fail, no_overload};
use serde_json::Value as Json;
use std::sync::Arc;

pub fn convert(fun: Fun, value: &Value) -> Outcome {
    match fun {
        Fun::ToInt => to_int(value),
        Fun::ToUint => to_uint(value),
        Fun::ToDouble => match value {
            Value::Int(i) => Ok(Value::Double(*i as f64)),
            Value::Uint(u) => Ok(Value::Double(*u as f64)),
            Value::Double(_) => Ok(value.clone()),
            Value::Str(s) => match numbers::parse_double(s) {
                Some(d) => Ok(Value::Double(d)),
                None => fail("type conversion error from 'string' to 'double'"),
            },
            _ => no_overload(),
        },
        Fun::ToString => to_string(value),
        Fun::ToBytes => match value {
            Value::Str(s) => Ok(Value::Bytes(s.as_bytes().into())),
            Value::Bytes(_) => Ok(value.clone()),
            _ => no_overload(),
        },
        Fun::ToBool => match value {
            Value::Bool(_) => Ok(value.clone()),
            Value::Str(s) => match &**s {
                "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(Value::Bool(true)),
                "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(Value::Bool(false)),
                _ => fail("type conversion error from 'string' to 'bool'"),
            },
            _ => no_overload(),
        },
        Fun::ToTimestamp => match value {
            Value::Timestamp(_) => Ok(value.clone()),
            Value::Int(seconds) => time::checked(i128::from(*seconds).checked_mul(1_000_000_000)),
            Value::Str(s) => match time::parse_timestamp(s) {
                Some(t) => Ok(Value::Timestamp(t)),
                None => fail("type conversion error from 'string' to 'google.protobuf.Timestamp'"),
            },
            _ => no_overload(),
        },
        _ => match value {
            Value::Duration(_) => Ok(value.clone()),
            Value::Str(s) => match numbers::parse_duration(s) {
                Some(d) => Ok(Value::Duration(d)),
                None => fail("type conversion error from 'string' to 'google.protobuf.Duration'"),
            },
            _ => no_overload(),
        },
    }
}

fn to_int(value: &Value) -> Outcome {
    match value {
        Value::Int(_) => Ok(value.clone()),
        Value::Uint(u) => i64::try_from(*u).map_or_else(|_| fail("integer overflow"), |i| Ok(Value::Int(i))),
        Value::Double(d) => numbers::double_to_int(*d).map(Value::Int),
        Value::Str(s) => match s.strip_prefix('+').unwrap_or(s).parse() {
            Ok(i) => Ok(Value::Int(i)),
            Err(_) => fail("type conversion error from 'string' to 'int'"),
        },
        Value::Timestamp(t) => Ok(Value::Int(t.div_euclid(1_000_000_000) as i64)),
        Value::Duration(d) => Ok(Value::Int(*d)),
        _ => no_overload(),
    }
}

fn to_uint(value: &Value) -> Outcome {
    match value {
        Value::Uint(_) => Ok(value.clone()),
        Value::Int(i) => u64::try_from(*i).map_or_else(|_| fail("unsigned integer overflow"), |u| Ok(Value::Uint(u))),
        Value::Double(d) if (0.0..18_446_744_073_709_551_615.0).contains(d) => Ok(Value::Uint(*d as u64)),
        Value::Double(_) => fail("unsigned integer overflow"),
        Value::Str(s) => match s.parse() {
            Ok(u) => Ok(Value::Uint(u)),
            Err(_) => fail("type conversion error from 'string' to 'uint'"),
        },
        _ => no_overload(),
    }
}

fn to_string(value: &Value) -> Outcome {
    Ok(Value::str(match value {
        Value::Str(_) => return Ok(value.clone()),
        Value::Bool(b) => b.to_string(),
        Value::Int(i) => i.to_string(),
        Value::Uint(u) => u.to_string(),
        Value::Double(d) => numbers::format_double(*d),
        Value::Bytes(b) => match std::str::from_utf8(b) {
            Ok(text) => text.to_string(),
            Err(_) => return fail("invalid UTF-8 in bytes, cannot convert to string"),
        },
        Value::Timestamp(t) => time::format_timestamp(*t),
        Value::Duration(d) => numbers::format_duration(*d),
        Value::Ip(ip) => ip.to_string(),
        Value::Cidr(c) => c.text(),
        _ => return no_overload(),
    }))
}

fn broken(why: impl Into<Arc<str>>) -> Value {
    Value::Broken(why.into())
}

fn expected(kind: &str) -> Value {
    broken(format!("invalid data, expected {kind} value"))
}

/// A JSON value as the schema node declares it. What does not fit becomes an error that shows when it is read.
pub fn from_json(json: &Json, decl: &Decl) -> Value {
    if json.is_null() {
        return if decl.nullable {
            Value::Null
        } else {
            broken("invalid data, got null for schema with nullable=false")
        };
    }
    match &decl.shape {
        Shape::Dyn => match json {
            Json::String(s) => Value::str(s.as_str()),
            Json::Number(n) => n.as_i64().map_or_else(|| expected("an int or string"), Value::Int),
            _ => expected("an int or string"),
        },
        Shape::Bool => json.as_bool().map_or_else(|| expected("boolean"), Value::Bool),
        Shape::Int => json.as_i64().map_or_else(|| expected("integer"), Value::Int),
        Shape::Double => json.as_f64().map_or_else(|| expected("number"), Value::Double),
        Shape::List(item, kind) => match json {
            Json::Array(items) => {
                let items = items.iter().map(|v| from_json(v, item)).collect();
                Value::List(Arc::new(List { items, kind: kind.clone() }))
            }
            _ => expected("array"),
        },
        Shape::Map(value) => match json {
            Json::Object(map) => {
                Value::map(map.iter().map(|(k, v)| (MapKey::Str(k.as_str().into()), from_json(v, value))).collect())
            }
            _ => expected("object"),
        },
        Shape::Object(object) => match json {
            // A null that was kept reads as absent.
            Json::Object(map) => {
                let present = |name: &str| map.get(name).filter(|v| !v.is_null());
                let fields = object.fields.iter().filter_map(|(escaped, field)| {
                    let value = present(&field.name)?;
                    Some((MapKey::Str(escaped.clone()), from_json(value, &field.decl)))
                });
                Value::Object(Arc::new(fields.collect()))
            }
            _ => expected("object"),
        },
        text => json.as_str().map_or_else(|| expected("string"), |s| from_text(s, text)),
    }
}

fn from_text(text: &str, shape: &Shape) -> Value {
    let parsed = match shape {
        Shape::Bytes => formats::base64(text).map(|b| Value::Bytes(b.into())),
        Shape::Duration => numbers::parse_duration(text).map(Value::Duration),
        Shape::Date => time::parse_date(text).map(Value::Timestamp),
        Shape::DateTime => time::parse_timestamp(text).map(Value::Timestamp),
        _ => Some(Value::str(text)),
    };
    parsed.unwrap_or_else(|| broken(format!("invalid data: '{text}' does not have the declared format")))
}
