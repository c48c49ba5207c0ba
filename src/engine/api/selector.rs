//! Label and field selectors: reading them and holding objects against them.
//!
//! Syntax mirrors apimachinery `pkg/labels/selector.go` and `pkg/fields/selector.go`.

use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// What one requirement demands of a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Demand {
    In(BTreeSet<String>),
    /// Also holds when the label is absent.
    NotIn(BTreeSet<String>),
    Exists,
    Absent,
    Greater(i64),
    Less(i64),
}

/// Requirements on labels, all of which must hold. Without any it matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelSelector {
    requirements: Vec<(String, Demand)>,
}

impl LabelSelector {
    /// Reads the text of a `labelSelector` parameter.
    ///
    /// # Errors
    /// A sentence about what does not parse.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut requirements = Vec::new();
        for part in split_outside_parentheses(text) {
            let part = part.trim();
            if part.is_empty() && text.trim().is_empty() {
                continue;
            }
            requirements.push(requirement(part)?);
        }
        Ok(LabelSelector { requirements })
    }

    /// Reads a `LabelSelector` object: `matchLabels` and `matchExpressions`. An operator nobody knows matches nothing.
    #[must_use]
    pub fn from_object(selector: &Value) -> Self {
        let mut requirements = Vec::new();
        for (key, value) in selector.get("matchLabels").and_then(Value::as_object).into_iter().flatten() {
            let value = value.as_str().unwrap_or("").to_string();
            requirements.push((key.clone(), Demand::In([value].into())));
        }
        for expression in selector.get("matchExpressions").and_then(Value::as_array).into_iter().flatten() {
            let text = |name: &str| expression.get(name).and_then(Value::as_str).unwrap_or("");
            let values = || -> BTreeSet<String> {
                let list = expression.get("values").and_then(Value::as_array);
                list.into_iter().flatten().filter_map(Value::as_str).map(str::to_string).collect()
            };
            let demand = match text("operator") {
                "In" => Demand::In(values()),
                "NotIn" => Demand::NotIn(values()),
                "Exists" => Demand::Exists,
                "DoesNotExist" => Demand::Absent,
                _ => Demand::In(BTreeSet::new()),
            };
            requirements.push((text("key").to_string(), demand));
        }
        LabelSelector { requirements }
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// Whether an object with these labels is selected.
    #[must_use]
    pub fn matches(&self, labels: Option<&Map<String, Value>>) -> bool {
        self.requirements.iter().all(|(key, demand)| {
            let value = labels.and_then(|l| l.get(key)).and_then(Value::as_str);
            let number = || value.and_then(|v| v.parse::<i64>().ok());
            match demand {
                Demand::In(values) => value.is_some_and(|v| values.contains(v)),
                Demand::NotIn(values) => value.is_none_or(|v| !values.contains(v)),
                Demand::Exists => value.is_some(),
                Demand::Absent => value.is_none(),
                Demand::Greater(bound) => number().is_some_and(|n| n > *bound),
                Demand::Less(bound) => number().is_some_and(|n| n < *bound),
            }
        })
    }

    /// Whether an object is selected.
    #[must_use]
    pub fn matches_object(&self, object: &Value) -> bool {
        let labels = || object.get("metadata").and_then(|m| m.get("labels")).and_then(Value::as_object);
        self.is_empty() || self.matches(labels())
    }
}

impl std::fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let list = |values: &BTreeSet<String>| values.iter().cloned().collect::<Vec<_>>().join(",");
        for (index, (key, demand)) in self.requirements.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            match demand {
                Demand::In(values) if values.len() == 1 => write!(f, "{key}={}", list(values))?,
                Demand::In(values) => write!(f, "{key} in ({})", list(values))?,
                Demand::NotIn(values) => write!(f, "{key} notin ({})", list(values))?,
                Demand::Exists => write!(f, "{key}")?,
                Demand::Absent => write!(f, "!{key}")?,
                Demand::Greater(bound) => write!(f, "{key}>{bound}")?,
                Demand::Less(bound) => write!(f, "{key}<{bound}")?,
            }
        }
        Ok(())
    }
}

fn split_outside_parentheses(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0i32, 0);
    for (i, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn requirement(text: &str) -> Result<(String, Demand), String> {
    let bad = || format!("unable to parse requirement: {text:?}");
    if let Some(key) = text.strip_prefix('!') {
        return Ok((label_key(key.trim()).ok_or_else(bad)?, Demand::Absent));
    }
    for (sign, negate) in [("!=", true), ("==", false), ("=", false)] {
        if let Some((key, value)) = text.split_once(sign) {
            let key = label_key(key.trim()).ok_or_else(bad)?;
            let values = [label_value(value.trim()).ok_or_else(bad)?].into();
            return Ok((key, if negate { Demand::NotIn(values) } else { Demand::In(values) }));
        }
    }
    for (sign, greater) in [('>', true), ('<', false)] {
        if let Some((key, value)) = text.split_once(sign) {
            let key = label_key(key.trim()).ok_or_else(bad)?;
            let bound = value.trim().parse().map_err(|_| bad())?;
            return Ok((key, if greater { Demand::Greater(bound) } else { Demand::Less(bound) }));
        }
    }
    let (key, rest) = text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()));
    let key = label_key(key).ok_or_else(bad)?;
    let rest = rest.trim();
    if rest.is_empty() {
        return Ok((key, Demand::Exists));
    }
    let (word, list) = rest.split_at(rest.find(|c: char| c.is_whitespace() || c == '(').unwrap_or(rest.len()));
    let list = list.trim().strip_prefix('(').and_then(|l| l.strip_suffix(')')).ok_or_else(bad)?;
    let values = list.split(',').map(|v| label_value(v.trim())).collect::<Option<BTreeSet<_>>>().ok_or_else(bad)?;
    match word {
        "in" => Ok((key, Demand::In(values))),
        "notin" => Ok((key, Demand::NotIn(values))),
        _ => Err(bad()),
    }
}

fn label_key(text: &str) -> Option<String> {
    super::meta::qualified_name(text).is_empty().then(|| text.to_string())
}

fn label_value(text: &str) -> Option<String> {
    super::meta::label_value(text).is_empty().then(|| text.to_string())
}

/// Requirements on fields; only equality exists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSelector {
    /// `(path, value, equal)`.
    requirements: Vec<(String, String, bool)>,
}

impl FieldSelector {
    /// Reads the text of a `fieldSelector` parameter.
    ///
    /// # Errors
    /// A sentence about what does not parse.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut requirements = Vec::new();
        for part in text.split(',').filter(|p| !p.is_empty()) {
            let (path, value, equal) = ["!=", "==", "="]
                .iter()
                .find_map(|sign| part.split_once(sign).map(|(p, v)| (p, v, *sign != "!=")))
                .ok_or_else(|| format!("invalid selector: '{text}'; can't understand '{part}'"))?;
            requirements.push((path.trim().to_string(), value.trim().to_string(), equal));
        }
        Ok(FieldSelector { requirements })
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// The paths it reads.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.requirements.iter().map(|(path, _, _)| path.as_str())
    }

    /// The one name it asks for, which is what access rules are held against.
    #[must_use]
    pub fn exact_name(&self) -> Option<&str> {
        self.requirements.iter().find(|(p, _, equal)| *equal && p == "metadata.name").map(|(_, v, _)| v.as_str())
    }

    /// Whether an object is selected. A missing field reads as the empty text.
    #[must_use]
    pub fn matches(&self, object: &Value) -> bool {
        self.requirements.iter().all(|(path, wanted, equal)| {
            let found = path.split('.').try_fold(object, |v, part| v.get(part));
            let same = match found {
                None | Some(Value::Null) => wanted.is_empty(),
                Some(Value::String(text)) => text == wanted,
                Some(Value::Bool(flag)) => (if *flag { "true" } else { "false" }) == wanted,
                Some(other) => wanted == &other.to_string(),
            };
            same == *equal
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn selects(selector: &str, labels: &Value) -> bool {
        LabelSelector::parse(selector).unwrap().matches(labels.as_object())
    }

    #[test]
    fn an_absent_label_satisfies_not_equal_and_not_in() {
        assert!(selects("env!=prod", &json!({})) && selects("env notin (a, b)", &json!({})));
        assert!(!selects("env=prod", &json!({})) && selects("!env", &json!({})));
    }

    #[test]
    fn the_forms_of_a_requirement_are_read() {
        let labels = json!({"env": "prod", "n": "5"});
        for good in ["env", "env=prod", "env==prod", "env in (prod,dev)", "n>4,n<6", "env=prod,n=5", ""] {
            assert!(selects(good, &labels), "{good}");
        }
        assert!(selects("env=", &json!({"env": ""})));
        for bad in ["env in prod", "env maybe (x)", "=x", "a b c"] {
            assert!(LabelSelector::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_missing_field_equals_the_empty_text() {
        let object = json!({"metadata": {"name": "a"}, "spec": {"on": true}});
        let selects = |s: &str| FieldSelector::parse(s).unwrap().matches(&object);
        assert!(selects("metadata.name=a,spec.nodeName=,spec.on=true") && !selects("metadata.name!=a"));
        assert!(FieldSelector::parse("nonsense").is_err());
    }
}
