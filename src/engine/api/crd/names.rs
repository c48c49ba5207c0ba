//! Which names a definition gets: those that no other definition of its group was given before.
//!
//! Mirrors apiextensions `pkg/controller/status/naming_controller.go`.

use crate::object::ObjectView;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// The outcome of asking for names.
#[derive(Clone, Debug, PartialEq)]
pub struct Accepted {
    /// `status.acceptedNames`.
    pub names: Value,
    /// Reason and message of the last conflict.
    pub conflict: Option<(&'static str, String)>,
}

fn short_names(names: &Value) -> impl Iterator<Item = &str> {
    names.list(&["shortNames"]).iter().filter_map(Value::as_str)
}

/// Judges the names that `definition` asks for against those that `others` hold.
pub fn accept<'a>(definition: &Value, others: impl Iterator<Item = &'a Value>) -> Accepted {
    let (mut resources, mut kinds) = (BTreeSet::new(), BTreeSet::new());
    let group = definition.text(&["spec", "group"]);
    for other in others.filter(|o| o.text(&["spec", "group"]) == group && o.name() != definition.name()) {
        let Some(held) = other.at(&["status", "acceptedNames"]) else { continue };
        resources.extend([held.text(&["plural"]), held.text(&["singular"])]);
        resources.extend(short_names(held));
        kinds.extend([held.text(&["kind"]), held.text(&["listKind"])]);
    }
    resources.remove("");
    kinds.remove("");
    let empty = Value::Object(Map::new());
    let wanted = definition.at(&["spec", "names"]).unwrap_or(&empty);
    let held = definition.at(&["status", "acceptedNames"]).unwrap_or(&empty);
    judge(wanted, held, &resources, &kinds)
}

fn judge(wanted: &Value, held: &Value, resources: &BTreeSet<&str>, kinds: &BTreeSet<&str>) -> Accepted {
    let mut names = Map::new();
    let mut conflict = None;
    let taken = |name: &str| format!("{} is already in use", Value::from(name));
    for (field, reason, used) in [("plural", "PluralConflict", resources), ("singular", "SingularConflict", resources)]
    {
        conflict = one(&mut names, field, reason, (wanted, held), used).or(conflict);
    }
    let own: BTreeSet<&str> = short_names(held).collect();
    match short_names(wanted).find(|n| !own.contains(n) && resources.contains(n)) {
        Some(name) => {
            conflict = Some(("ShortNamesConflict", taken(name)));
            keep_list(&mut names, "shortNames", held);
        }
        None => keep_list(&mut names, "shortNames", wanted),
    }
    for (field, reason) in [("kind", "KindConflict"), ("listKind", "ListKindConflict")] {
        conflict = one(&mut names, field, reason, (wanted, held), kinds).or(conflict);
    }
    keep_list(&mut names, "categories", wanted);
    Accepted { names: Value::Object(names), conflict }
}

/// Takes one name unless another holds it; then what was accepted before stays.
fn one(
    names: &mut Map<String, Value>,
    field: &str,
    reason: &'static str,
    (wanted, held): (&Value, &Value),
    used: &BTreeSet<&str>,
) -> Option<(&'static str, String)> {
    let (ask, have) = (wanted.text(&[field]), held.text(&[field]));
    let clash = ask != have && used.contains(ask);
    let name = if clash { have } else { ask };
    // Plural and kind are printed even when empty.
    if !name.is_empty() || matches!(field, "plural" | "kind") {
        names.insert(field.to_string(), Value::from(name));
    }
    clash.then(|| (reason, format!("{} is already in use", Value::from(ask))))
}

fn keep_list(names: &mut Map<String, Value>, field: &str, from: &Value) {
    let list = from.list(&[field]);
    if !list.is_empty() {
        names.insert(field.to_string(), Value::from(list.to_vec()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn crd(name: &str, spec: Value, accepted: Value) -> Value {
        json!({"metadata": {"name": name}, "spec": {"group": "g.x", "names": spec}, "status": {"acceptedNames": accepted}})
    }

    #[test]
    fn a_plural_held_as_singular_elsewhere_is_a_conflict() {
        let other = crd("as.g.x", json!({}), json!({"plural": "as", "singular": "a", "kind": "A", "listKind": "AL"}));
        let asks = json!({"plural": "a", "singular": "b", "kind": "B", "listKind": "BL"});
        let found = accept(&crd("a.g.x", asks, json!({})), [&other].into_iter());
        assert_eq!(found.conflict, Some(("PluralConflict", "\"a\" is already in use".to_string())));
        assert_eq!(found.names, json!({"plural": "", "singular": "b", "kind": "B", "listKind": "BL"}));
    }

    #[test]
    fn short_names_are_accepted_all_or_none() {
        let other = crd("as.g.x", json!({}), json!({"plural": "as", "shortNames": ["x"]}));
        let asks = json!({"plural": "bs", "singular": "b", "kind": "B", "listKind": "BL", "shortNames": ["y", "x"]});
        let found = accept(&crd("bs.g.x", asks, json!({})), [&other].into_iter());
        assert_eq!(found.conflict.unwrap().0, "ShortNamesConflict");
        assert!(found.names.get("shortNames").is_none());
    }
}
