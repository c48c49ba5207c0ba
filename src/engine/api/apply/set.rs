//! Sets of field paths, kept in the very form `managedFields` stores them: `fieldsV1`.
//!
//! A node maps path elements (`f:name`, `k:{"key":"value"}`, `v:value`, `i:0`) to nodes. An empty node is a member; a
//! node with children is a member only when it holds `.`. Working on the stored form spares decoding and encoding
//! the sets of every manager on every write: an operation walks only the paths of the smaller set.

use crate::api::schema::structural::{Structural, Type};
use serde_json::{Map, Value};

/// A set of field paths.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Set(pub Map<String, Value>);

type Node = Map<String, Value>;

/// Marks a node with children as a member itself.
const SELF: &str = ".";

fn is_member(node: &Node) -> bool {
    node.is_empty() || node.contains_key(SELF)
}

fn has_children(node: &Node) -> bool {
    node.len() > usize::from(node.contains_key(SELF))
}

fn children(node: &Node) -> impl Iterator<Item = (&String, &Node)> {
    node.iter().filter(|(name, _)| *name != SELF).filter_map(|(name, child)| Some((name, child.as_object()?)))
}

/// Builds a node out of its membership and its children; nothing when it is neither.
fn node(member: bool, mut below: Node) -> Option<Value> {
    if below.is_empty() {
        return member.then(|| Value::Object(Node::new()));
    }
    if member {
        below.insert(SELF.to_string(), Value::Object(Node::new()));
    }
    Some(Value::Object(below))
}

impl Set {
    /// Reads `fieldsV1`; what is not an object there reads as empty.
    #[must_use]
    pub fn from_fields(fields: Option<&Value>) -> Self {
        Set(fields.and_then(Value::as_object).cloned().unwrap_or_default())
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds one path. The empty path is nobody's.
    pub fn insert(&mut self, path: &[String]) {
        let Some((last, parents)) = path.split_last() else { return };
        let mut at = &mut self.0;
        for part in parents {
            // A leaf on the way was a member by being empty and has to say so once it gets children.
            let fresh = !at.contains_key(part);
            let below = at.entry(part.as_str()).or_insert_with(|| Value::Object(Node::new()));
            let Value::Object(below) = below else { return };
            if !fresh && below.is_empty() {
                below.insert(SELF.to_string(), Value::Object(Node::new()));
            }
            at = below;
        }
        match at.get_mut(last) {
            Some(Value::Object(existing)) if !is_member(existing) => {
                existing.insert(SELF.to_string(), Value::Object(Node::new()));
            }
            Some(_) => {}
            None => {
                at.insert(last.clone(), Value::Object(Node::new()));
            }
        }
    }

    #[must_use]
    pub fn has(&self, element: &str) -> bool {
        self.0.get(element).and_then(Value::as_object).is_some_and(is_member)
    }

    /// The paths below `element`, without it.
    #[must_use]
    pub fn below(&self, element: &str) -> Option<Set> {
        let child = self.0.get(element)?.as_object()?;
        has_children(child).then(|| Set(children(child).map(|(n, c)| (n.clone(), Value::Object(c.clone()))).collect()))
    }

    #[must_use]
    pub fn union(&self, other: &Set) -> Set {
        Set(union(&self.0, &other.0))
    }

    /// Paths in both.
    #[must_use]
    pub fn intersection(&self, other: &Set) -> Set {
        Set(intersection(&self.0, &other.0))
    }

    /// Paths of this set that the other does not have.
    #[must_use]
    pub fn difference(&self, other: &Set) -> Set {
        Set(difference(&self.0, &other.0, false))
    }

    /// Like `difference`, but a path of the other takes everything below it along.
    #[must_use]
    pub fn recursive_difference(&self, other: &Set) -> Set {
        Set(difference(&self.0, &other.0, true))
    }

    /// Adds every declared field that only its children are members of.
    #[must_use]
    pub fn with_named_fields(&self, schema: Option<&Structural>) -> Set {
        Set(with_named(&self.0, schema))
    }

    /// Every path, as `.spec.ports[name="a"].port`, parents first.
    #[must_use]
    pub fn paths(&self) -> Vec<String> {
        let mut out = Vec::new();
        list_paths(&self.0, &mut String::new(), &mut out);
        out
    }
}

fn union(a: &Node, b: &Node) -> Node {
    let mut out = a.clone();
    for (name, theirs) in b {
        let Some(Value::Object(ours)) = a.get(name) else {
            out.insert(name.clone(), theirs.clone());
            continue;
        };
        let Value::Object(theirs) = theirs else { continue };
        let member = is_member(ours) || is_member(theirs);
        let mut below = union(ours, theirs);
        below.remove(SELF);
        out.extend(node(member, below).map(|n| (name.clone(), n)));
    }
    out
}

fn intersection(a: &Node, b: &Node) -> Node {
    let mut out = Node::new();
    for (name, ours) in children(a) {
        let Some(Value::Object(theirs)) = b.get(name) else { continue };
        let mut below = intersection(ours, theirs);
        below.remove(SELF);
        out.extend(node(is_member(ours) && is_member(theirs), below).map(|n| (name.clone(), n)));
    }
    out
}

fn difference(a: &Node, b: &Node, recursive: bool) -> Node {
    let mut out = Node::new();
    for (name, ours) in a {
        let (Value::Object(ours), Some(Value::Object(theirs))) = (ours, b.get(name)) else {
            out.insert(name.clone(), ours.clone());
            continue;
        };
        if recursive && is_member(theirs) {
            continue;
        }
        let mut below = difference(ours, theirs, recursive);
        below.remove(SELF);
        out.extend(node(is_member(ours) && !is_member(theirs), below).map(|n| (name.clone(), n)));
    }
    out
}

fn with_named(set: &Node, schema: Option<&Structural>) -> Node {
    let mut out = Node::new();
    for (name, below) in children(set) {
        let field = name.strip_prefix("f:");
        let declared = field.is_some_and(|f| schema.is_some_and(|s| s.properties.contains_key(f)));
        let schema = schema.and_then(|s| match field {
            Some(field) => s.member(field).map(AsRef::as_ref),
            None => s.items.as_deref(),
        });
        let member = is_member(below) || declared;
        out.extend(node(member, with_named(below, schema)).map(|n| (name.clone(), n)));
    }
    out
}

fn list_paths(set: &Node, prefix: &mut String, out: &mut Vec<String>) {
    for (name, below) in children(set) {
        let length = prefix.len();
        push_element(prefix, name);
        if is_member(below) {
            out.push(prefix.clone());
        }
        list_paths(below, prefix, out);
        prefix.truncate(length);
    }
}

/// Renders one element as structured-merge-diff does.
fn push_element(path: &mut String, element: &str) {
    match element.split_once(':') {
        Some(("f", name)) => {
            path.push('.');
            path.push_str(name);
        }
        Some(("k", keys)) => {
            let keys: Node = serde_json::from_str(keys).unwrap_or_default();
            let texts: Vec<String> = keys.iter().map(|(k, v)| format!("{k}={v}")).collect();
            path.push_str(&format!("[{}]", texts.join(",")));
        }
        Some(("v", value)) => path.push_str(&format!("[={value}]")),
        Some((_, index)) => path.push_str(&format!("[{index}]")),
        None => path.push_str(element),
    }
}

/// The path element of a field.
#[must_use]
pub fn field(name: &str) -> String {
    format!("f:{name}")
}

/// The path element of an item of a map list: its keys, with the defaults of keys that the item leaves out.
#[must_use]
pub fn keyed(item: &Value, keys: &[String], items: Option<&Structural>) -> Option<String> {
    let fields = item.as_object()?;
    let mut found = Node::new();
    for key in keys {
        let default = || items.and_then(|s| s.properties.get(key)).and_then(|s| s.default.as_ref());
        let value = fields.get(key).or_else(default)?;
        if value.is_object() || value.is_array() {
            return None;
        }
        found.insert(key.clone(), value.clone());
    }
    Some(format!("k:{}", Value::Object(found)))
}

/// The path element of an item of a set.
#[must_use]
pub fn valued(item: &Value) -> Option<String> {
    (!item.is_object() && !item.is_array()).then(|| format!("v:{item}"))
}

/// Whether a schema node leaves the shape of its value open, so that the value itself decides.
#[must_use]
pub fn is_open(schema: Option<&Structural>) -> bool {
    schema.is_none_or(|s| {
        let bare_object = s.type_ == Some(Type::Object) && s.properties.is_empty() && s.additional.is_none();
        (s.type_.is_none() && !s.int_or_string && s.properties.is_empty()) || bare_object
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn set(fields: Value) -> Set {
        Set::from_fields(Some(&fields))
    }

    #[test]
    fn inserting_keeps_members_apart_from_their_children() {
        let mut s = Set::default();
        let path = |parts: &[&str]| parts.iter().map(ToString::to_string).collect::<Vec<_>>();
        s.insert(&path(&["f:a", "f:b"]));
        assert_eq!(s.0, *json!({"f:a": {"f:b": {}}}).as_object().unwrap());
        s.insert(&path(&["f:a"]));
        s.insert(&path(&["f:a", "f:b", "f:c"]));
        assert_eq!(s.0, *json!({"f:a": {".": {}, "f:b": {".": {}, "f:c": {}}}}).as_object().unwrap());
    }

    #[test]
    fn differences_leave_parents_and_children_apart() {
        let a = set(json!({"f:a": {".": {}, "f:b": {}}, "f:c": {}}));
        assert_eq!(a.difference(&set(json!({"f:a": {}}))), set(json!({"f:a": {"f:b": {}}, "f:c": {}})));
        assert_eq!(a.recursive_difference(&set(json!({"f:a": {}}))), set(json!({"f:c": {}})));
        assert_eq!(a.difference(&set(json!({"f:a": {"f:b": {}}}))), set(json!({"f:a": {}, "f:c": {}})));
        assert_eq!(a.difference(&a), Set::default());
    }

    #[test]
    fn union_and_intersection_respect_membership() {
        let a = set(json!({"f:a": {"f:b": {}}}));
        let b = set(json!({"f:a": {}, "f:d": {}}));
        assert_eq!(a.union(&b), set(json!({"f:a": {".": {}, "f:b": {}}, "f:d": {}})));
        assert_eq!(a.intersection(&b), Set::default());
        assert_eq!(a.union(&b).intersection(&b), b);
    }

    #[test]
    fn paths_read_as_in_conflicts() {
        let s = set(
            json!({"f:spec": {"f:ports": {"k:{\"name\":\"a\"}": {".": {}, "f:port": {}}}, "f:hosts": {"v:\"h\"": {}}}}),
        );
        assert_eq!(s.paths(), [".spec.hosts[=\"h\"]", ".spec.ports[name=\"a\"]", ".spec.ports[name=\"a\"].port"]);
    }
}
