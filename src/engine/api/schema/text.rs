//! Bodies as typed: JSON or YAML text to a value, noting every key that comes twice.
//!
//! The last of two equal keys wins, as upstream; strict field validation refuses them and the default mode tells.
//!
//! Divergence from Kubernetes: YAML follows version 1.2 (`yes` is a text), has no merge keys, and both formats stop at
//! a nesting depth of about a hundred.

use serde::Deserialize;
use serde::de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::cell::RefCell;
use std::fmt;

use super::field::FieldPath;

/// Most duplicates that are named.
const NAMED_MAX: usize = 1000;

/// Reads a body; answers with the value and the paths of the keys that came twice.
///
/// # Errors
/// What is wrong with the text, as a sentence.
pub fn parse(text: &str, yaml: bool) -> Result<(Value, Vec<String>), String> {
    let twice = RefCell::new(Vec::new());
    let seed = Node { path: &FieldPath::Root, twice: &twice };
    let value = if yaml {
        let mut documents = serde_yaml_ng::Deserializer::from_str(text);
        // Only the first document counts, as upstream.
        let first = documents.next().ok_or("the body is empty")?;
        seed.deserialize(first).map_err(|e| format!("error converting YAML to JSON: {e}"))?
    } else {
        let mut reader = serde_json::Deserializer::from_str(text);
        let value = seed.deserialize(&mut reader).map_err(|e| e.to_string())?;
        reader.end().map_err(|e| e.to_string())?;
        value
    };
    Ok((value, twice.into_inner()))
}

/// One value to be read, at its place.
#[derive(Clone, Copy)]
struct Node<'a> {
    path: &'a FieldPath<'a>,
    twice: &'a RefCell<Vec<String>>,
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Value;
    fn deserialize<D: de::Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = Value;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }
    fn visit_bool<E>(self, v: bool) -> Result<Value, E> {
        Ok(Value::Bool(v))
    }
    fn visit_i64<E>(self, v: i64) -> Result<Value, E> {
        Ok(Value::from(v))
    }
    fn visit_u64<E>(self, v: u64) -> Result<Value, E> {
        Ok(Value::from(v))
    }
    fn visit_f64<E: de::Error>(self, v: f64) -> Result<Value, E> {
        Number::from_f64(v).map(Value::Number).ok_or_else(|| E::custom("number is not finite"))
    }
    fn visit_str<E>(self, v: &str) -> Result<Value, E> {
        Ok(Value::from(v))
    }
    fn visit_string<E>(self, v: String) -> Result<Value, E> {
        Ok(Value::String(v))
    }
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_some<D: de::Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        loop {
            let path = self.path.index(list.len());
            match from.next_element_seed(Node { path: &path, twice: self.twice })? {
                Some(item) => list.push(item),
                None => return Ok(Value::Array(list)),
            }
        }
    }
    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(Key(key)) = from.next_key()? {
            let path = self.path.child(&key);
            let value = from.next_value_seed(Node { path: &path, twice: self.twice })?;
            if map.contains_key(&key) && self.twice.borrow().len() < NAMED_MAX {
                self.twice.borrow_mut().push(path.to_string());
            }
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

/// A key; YAML may write it as a number or a truth value, which reads as its text.
struct Key(String);

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: de::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match (Node { path: &FieldPath::Root, twice: &RefCell::default() }).deserialize(from)? {
            Value::String(text) => Ok(Key(text)),
            scalar @ (Value::Bool(_) | Value::Number(_)) => Ok(Key(scalar.to_string())),
            _ => Err(de::Error::custom("a key has to be a text")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_last_of_two_equal_keys_wins_and_is_told_in_both_formats() {
        let read = parse(r#"{"spec": {"a": 1, "a": 2, "l": [{"b": 1, "b": 1}]}}"#, false).unwrap();
        let wanted = vec!["spec.a".to_string(), "spec.l[0].b".to_string()];
        assert_eq!(read, (json!({"spec": {"a": 2, "l": [{"b": 1}]}}), wanted));
        let read = parse("spec:\n  a: 1\n  a: 2\n  8080: x\n", true).unwrap();
        assert_eq!(read, (json!({"spec": {"a": 2, "8080": "x"}}), vec!["spec.a".to_string()]));
    }

    #[test]
    fn broken_deep_and_infinite_texts_are_refused() {
        assert!(parse("{", false).is_err() && parse("{} x", false).is_err() && parse("1e400", false).is_err());
        assert!(parse(&"[".repeat(100_000), false).is_err() && parse(&"[".repeat(10_000), true).is_err());
        assert!(parse("a: .inf", true).is_err() && parse("a: [", true).is_err());
    }
}
