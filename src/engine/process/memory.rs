//! What a controller keeps in its own memory: gone when its process dies.

use crate::controller::expectations::Expectations;
use serde_json::Value;
use std::collections::BTreeMap;

/// Small named values, and the expectations of what was created and deleted but not yet seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory {
    values: BTreeMap<String, Value>,
    pub expectations: Expectations,
}

impl Memory {
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }
    pub fn set(&mut self, name: &str, value: Value) {
        self.values.insert(name.to_string(), value);
    }
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        self.values.remove(name)
    }
    /// Names that begin with `prefix`, with their values, in order.
    pub fn with_prefix<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a Value)> {
        self.values
            .range(prefix.to_string()..)
            .take_while(move |(n, _)| n.starts_with(prefix))
            .map(|(n, v)| (n.as_str(), v))
    }
}
