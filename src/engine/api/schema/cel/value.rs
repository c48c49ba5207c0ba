//! Values a CEL expression works on. Containers are shared, never changed in place.

use super::net::{Cidr, Url};
use super::quantity::Quantity;
use super::semver::Semver;
use super::types::Type;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

/// Why an evaluation gave no value.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// An ordinary evaluation error; `||` and `&&` can absorb it.
    Error(Arc<str>),
    /// The cost limit of one call was reached; nothing absorbs it.
    Limit,
}

pub type Outcome<T = Value> = Result<T, Failure>;

pub fn fail<T>(text: impl Into<Arc<str>>) -> Outcome<T> {
    Err(Failure::Error(text.into()))
}

pub fn no_overload<T>() -> Outcome<T> {
    fail("no such overload")
}

/// A map key. CEL maps are keyed by scalars only.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MapKey {
    Bool(bool),
    Int(i64),
    Uint(u64),
    Str(Arc<str>),
}

impl MapKey {
    pub fn of(value: &Value) -> Option<MapKey> {
        Some(match value {
            Value::Bool(b) => MapKey::Bool(*b),
            Value::Int(i) => MapKey::Int(*i),
            Value::Uint(u) => i64::try_from(*u).map_or(MapKey::Uint(*u), MapKey::Int),
            Value::Double(d) if *d == d.trunc() && d.abs() < 9e15 => MapKey::Int(*d as i64),
            Value::Str(s) => MapKey::Str(s.clone()),
            _ => return None,
        })
    }
    pub fn value(&self) -> Value {
        match self {
            MapKey::Bool(b) => Value::Bool(*b),
            MapKey::Int(i) => Value::Int(*i),
            MapKey::Uint(u) => Value::Uint(*u),
            MapKey::Str(s) => Value::Str(s.clone()),
        }
    }
}

/// How a list compares and concatenates: `x-kubernetes-list-type` changes both.
#[derive(Clone, Debug, PartialEq)]
pub enum ListKind {
    Atomic,
    Set,
    /// Merged by the values of these fields.
    Map(Arc<[String]>),
}

#[derive(Clone, Debug)]
pub struct List {
    pub items: Vec<Value>,
    pub kind: ListKind,
}

#[derive(Clone, Debug)]
pub enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    Str(Arc<str>),
    Bytes(Arc<[u8]>),
    List(Arc<List>),
    Map(Arc<BTreeMap<MapKey, Value>>),
    /// An object of the schema: declared and present fields under their escaped names.
    Object(Arc<BTreeMap<MapKey, Value>>),
    /// Nanoseconds, as in Go.
    Duration(i64),
    /// Nanoseconds since 1970 in UTC, of the years 1 to 9999.
    Timestamp(i128),
    Type(Type),
    Optional(Option<Arc<Value>>),
    Quantity(Quantity),
    Url(Arc<Url>),
    Ip(IpAddr),
    Cidr(Cidr),
    Semver(Arc<Semver>),
    Format(&'static str),
    /// Data that does not fit its schema. It fails only when it is looked at.
    Broken(Arc<str>),
}

impl Value {
    pub fn str(text: impl Into<Arc<str>>) -> Value {
        Value::Str(text.into())
    }
    pub fn list(items: Vec<Value>) -> Value {
        Value::List(Arc::new(List { items, kind: ListKind::Atomic }))
    }
    pub fn map(entries: BTreeMap<MapKey, Value>) -> Value {
        Value::Map(Arc::new(entries))
    }
    pub fn some(value: Value) -> Value {
        Value::Optional(Some(Arc::new(value)))
    }
    /// The value itself, or the failure that broken data is.
    pub fn sound(&self) -> Outcome {
        match self {
            Value::Broken(why) => Err(Failure::Error(why.clone())),
            sound => Ok(sound.clone()),
        }
    }
    pub fn bool(&self) -> Outcome<bool> {
        match self {
            Value::Bool(b) => Ok(*b),
            _ => no_overload(),
        }
    }
    /// What CEL's `size` and the cost of a traversal count.
    pub fn size(&self) -> u64 {
        match self {
            Value::Str(s) => s.chars().count() as u64,
            Value::Bytes(b) => b.len() as u64,
            Value::List(l) => l.items.len() as u64,
            Value::Map(m) | Value::Object(m) => m.len() as u64,
            _ => 1,
        }
    }
    pub fn type_of(&self) -> Type {
        match self {
            Value::Null => Type::Null,
            Value::Bool(_) => Type::Bool,
            Value::Int(_) => Type::Int,
            Value::Uint(_) => Type::Uint,
            Value::Double(_) => Type::Double,
            Value::Str(_) => Type::String,
            Value::Bytes(_) => Type::Bytes,
            Value::List(_) => Type::List(Arc::new(Type::Dyn)),
            Value::Map(_) | Value::Object(_) => Type::Map(Arc::new(Type::Dyn), Arc::new(Type::Dyn)),
            Value::Duration(_) => Type::Duration,
            Value::Timestamp(_) => Type::Timestamp,
            Value::Type(_) => Type::Type,
            Value::Optional(_) => Type::Optional(Arc::new(Type::Dyn)),
            Value::Quantity(_) => Type::Quantity,
            Value::Url(_) => Type::Url,
            Value::Ip(_) => Type::Ip,
            Value::Cidr(_) => Type::Cidr,
            Value::Semver(_) => Type::Semver,
            Value::Format(_) => Type::Format,
            Value::Broken(_) => Type::Dyn,
        }
    }
    /// True for what `optional.ofNonZeroValue` turns into none.
    pub fn is_zero(&self) -> bool {
        match self {
            Value::Null => true,
            Value::Bool(b) => !b,
            Value::Int(i) => *i == 0,
            Value::Uint(u) => *u == 0,
            Value::Double(d) => *d == 0.0,
            Value::Duration(d) => *d == 0,
            Value::Str(_) | Value::Bytes(_) | Value::List(_) | Value::Map(_) | Value::Object(_) => self.size() == 0,
            Value::Optional(o) => o.is_none(),
            _ => false,
        }
    }
}

/// CEL equality: values of different types are unequal, numbers compare across types.
pub fn equal(a: &Value, b: &Value) -> Outcome<bool> {
    Ok(match (a, b) {
        (Value::Broken(why), _) | (_, Value::Broken(why)) => return Err(Failure::Error(why.clone())),
        (Value::Null, Value::Null) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Str(a), Value::Str(b)) => a == b,
        (Value::Bytes(a), Value::Bytes(b)) => a == b,
        (Value::Duration(a), Value::Duration(b)) => a == b,
        (Value::Timestamp(a), Value::Timestamp(b)) => a == b,
        (Value::Type(a), Value::Type(b)) => a.same_kind(b),
        (Value::List(a), Value::List(b)) => return lists_equal(a, b),
        (Value::Map(a) | Value::Object(a), Value::Map(b) | Value::Object(b)) => return maps_equal(a, b),
        (Value::Optional(a), Value::Optional(b)) => match (a, b) {
            (Some(a), Some(b)) => return equal(a, b),
            (a, b) => a.is_none() && b.is_none(),
        },
        (Value::Quantity(a), Value::Quantity(b)) => a.compare(b) == Ordering::Equal,
        (Value::Url(a), Value::Url(b)) => a == b,
        (Value::Ip(a), Value::Ip(b)) => a == b,
        (Value::Cidr(a), Value::Cidr(b)) => a == b,
        (Value::Semver(a), Value::Semver(b)) => a.compare(b) == Ordering::Equal,
        (Value::Format(a), Value::Format(b)) => a == b,
        _ => numeric(a, b) == Some(Ordering::Equal),
    })
}

pub fn contains(items: &[Value], wanted: &Value) -> Outcome<bool> {
    for item in items {
        if equal(item, wanted)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn lists_equal(a: &List, b: &List) -> Outcome<bool> {
    if a.items.len() != b.items.len() {
        return Ok(false);
    }
    match &a.kind {
        ListKind::Atomic => all_equal(a.items.iter().zip(&b.items)),
        ListKind::Set => {
            for item in &a.items {
                if !contains(&b.items, item)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        ListKind::Map(keys) => {
            for item in &a.items {
                let Some(other) = find_by_keys(&b.items, item, keys)? else { return Ok(false) };
                if !equal(item, &b.items[other])? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
    }
}

fn all_equal<'a>(pairs: impl Iterator<Item = (&'a Value, &'a Value)>) -> Outcome<bool> {
    for (a, b) in pairs {
        if !equal(a, b)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn maps_equal(a: &BTreeMap<MapKey, Value>, b: &BTreeMap<MapKey, Value>) -> Outcome<bool> {
    if a.len() != b.len() || a.keys().zip(b.keys()).any(|(a, b)| a != b) {
        return Ok(false);
    }
    all_equal(a.values().zip(b.values()))
}

/// Where the item with the key fields of `item` stands in `items`.
fn find_by_keys(items: &[Value], item: &Value, keys: &[String]) -> Outcome<Option<usize>> {
    let field = |v: &Value, key: &str| match v {
        Value::Object(m) | Value::Map(m) => m.get(&MapKey::Str(key.into())).cloned(),
        _ => None,
    };
    'items: for (at, other) in items.iter().enumerate() {
        for key in keys {
            let same = match (field(item, key), field(other, key)) {
                (Some(a), Some(b)) => equal(&a, &b)?,
                (a, b) => a.is_none() && b.is_none(),
            };
            if !same {
                continue 'items;
            }
        }
        return Ok(Some(at));
    }
    Ok(None)
}

/// `a + b` for lists: plain lists append, sets unite, map lists merge by key.
pub fn concat(a: &List, b: &List) -> Outcome {
    let mut items = a.items.clone();
    for item in &b.items {
        match &a.kind {
            ListKind::Atomic => items.push(item.clone()),
            ListKind::Set => {
                if !contains(&items, item)? {
                    items.push(item.clone());
                }
            }
            ListKind::Map(keys) => match find_by_keys(&items, item, keys)? {
                Some(at) => items[at] = item.clone(),
                None => items.push(item.clone()),
            },
        }
    }
    Ok(Value::List(Arc::new(List { items, kind: a.kind.clone() })))
}

/// Order of two numbers of any numeric types; nothing when one is no number or NaN.
fn numeric(a: &Value, b: &Value) -> Option<Ordering> {
    let whole = |v: &Value| match v {
        Value::Int(i) => Some(i128::from(*i)),
        Value::Uint(u) => Some(i128::from(*u)),
        _ => None,
    };
    let float = |v: &Value| match v {
        Value::Double(d) => Some(*d),
        other => whole(other).map(|w| w as f64),
    };
    match (whole(a), whole(b)) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => float(a)?.partial_cmp(&float(b)?),
    }
}

/// The order behind `<` and its sisters, `min`, `max` and `sort`.
pub fn compare(a: &Value, b: &Value) -> Outcome<Option<Ordering>> {
    Ok(match (a, b) {
        (Value::Broken(why), _) | (_, Value::Broken(why)) => return Err(Failure::Error(why.clone())),
        (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
        (Value::Str(a), Value::Str(b)) => Some(a.cmp(b)),
        (Value::Bytes(a), Value::Bytes(b)) => Some(a.cmp(b)),
        (Value::Duration(a), Value::Duration(b)) => Some(a.cmp(b)),
        (Value::Timestamp(a), Value::Timestamp(b)) => Some(a.cmp(b)),
        (Value::Double(a), _) if a.is_nan() => None,
        (_, Value::Double(b)) if b.is_nan() => None,
        _ => match numeric(a, b) {
            Some(order) => Some(order),
            None => return no_overload(),
        },
    })
}
