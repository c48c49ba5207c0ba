//! One rule of a role.

use super::Attributes;
use crate::object::ObjectView;
use serde_json::{Map, Value, json};

const ALL: &str = "*";

/// A policy rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    pub verbs: Vec<String>,
    pub groups: Vec<String>,
    pub resources: Vec<String>,
    pub names: Vec<String>,
    pub urls: Vec<String>,
}

fn texts(value: &Value, field: &str) -> Vec<String> {
    value.list(&[field]).iter().filter_map(Value::as_str).map(str::to_string).collect()
}

fn has(list: &[String], wanted: &str) -> bool {
    list.iter().any(|item| item == wanted || item == ALL)
}

impl Rule {
    #[must_use]
    pub fn parse(value: &Value) -> Self {
        Rule {
            verbs: texts(value, "verbs"),
            groups: texts(value, "apiGroups"),
            resources: texts(value, "resources"),
            names: texts(value, "resourceNames"),
            urls: texts(value, "nonResourceURLs"),
        }
    }

    /// The rule as reviews and refusals print it.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut out = Map::new();
        let lists = [
            ("verbs", &self.verbs),
            ("apiGroups", &self.groups),
            ("resources", &self.resources),
            ("resourceNames", &self.names),
            ("nonResourceURLs", &self.urls),
        ];
        for (field, list) in lists.into_iter().filter(|(_, l)| !l.is_empty()) {
            out.insert(field.to_string(), json!(list));
        }
        Value::Object(out)
    }

    /// Whether the rule allows what is asked (`component-helpers/auth/rbac/validation`).
    #[must_use]
    pub fn covers(&self, asked: &Attributes) -> bool {
        if !has(&self.verbs, &asked.verb) {
            return false;
        }
        if !asked.url.is_empty() {
            return self.urls.iter().any(|url| url_matches(url, &asked.url));
        }
        has(&self.groups, &asked.group)
            && self.covers_resource(&asked.resource, &asked.subresource)
            && (self.names.is_empty() || self.names.contains(&asked.name))
    }

    fn covers_resource(&self, resource: &str, subresource: &str) -> bool {
        self.resources.iter().any(|held| {
            held == ALL
                || match (held.split_once('/'), subresource) {
                    (None, "") => held == resource,
                    (Some((ALL, sub)), _) => !subresource.is_empty() && sub == subresource,
                    (Some((main, sub)), _) => main == resource && sub == subresource,
                    _ => false,
                }
        })
    }

    /// The rule taken apart: one verb, group, resource and name each.
    #[must_use]
    pub fn pieces(&self) -> Vec<Rule> {
        let one = |text: &String| vec![text.clone()];
        let mut pieces = Vec::new();
        for verb in &self.verbs {
            for url in &self.urls {
                pieces.push(Rule { verbs: one(verb), urls: one(url), ..Rule::default() });
            }
            for group in &self.groups {
                for resource in &self.resources {
                    let whole =
                        Rule { verbs: one(verb), groups: one(group), resources: one(resource), ..Rule::default() };
                    if self.names.is_empty() {
                        pieces.push(whole);
                    } else {
                        pieces.extend(self.names.iter().map(|name| Rule { names: one(name), ..whole.clone() }));
                    }
                }
            }
            if pieces.len() > PIECES_MAX {
                break;
            }
        }
        pieces
    }

    /// Whether this rule grants all that one piece does.
    #[must_use]
    pub fn contains(&self, piece: &Rule) -> bool {
        let all = |held: &[String], wanted: &[String]| wanted.iter().all(|w| has(held, w));
        if !all(&self.verbs, &piece.verbs) {
            return false;
        }
        if !piece.urls.is_empty() {
            return piece.urls.iter().all(|url| self.urls.iter().any(|held| url_matches(held, url)));
        }
        let named =
            self.names.is_empty() || (!piece.names.is_empty() && piece.names.iter().all(|n| self.names.contains(n)));
        all(&self.groups, &piece.groups)
            && named
            && piece.resources.iter().all(|wanted| {
                let (resource, subresource) = wanted.split_once('/').unwrap_or((wanted, ""));
                has(&self.resources, wanted) || self.covers_resource(resource, subresource)
            })
    }
}

/// A role of so many combinations is judged by its first ones; real roles have a few hundred.
const PIECES_MAX: usize = 100_000;

fn url_matches(held: &str, url: &str) -> bool {
    held == ALL || held == url || held.strip_suffix('*').is_some_and(|prefix| url.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(resource: &str, asked: (&str, &str)) -> bool {
        let rule = Rule::parse(&json!({"verbs": ["get"], "apiGroups": [""], "resources": [resource]}));
        rule.covers(&Attributes {
            verb: "get".to_string(),
            resource: asked.0.to_string(),
            subresource: asked.1.to_string(),
            ..Attributes::default()
        })
    }

    #[test]
    fn a_subresource_is_named_on_its_own() {
        assert!(covers("pods", ("pods", "")) && !covers("pods", ("pods", "status")));
        assert!(covers("pods/status", ("pods", "status")) && !covers("pods/status", ("pods", "")));
        assert!(covers("*", ("pods", "status")));
        assert!(covers("*/scale", ("x", "scale")) && !covers("*/scale", ("x", "")));
    }
}
