//! Comparing with tokens: values that differ from run to run are written `<uid-1>`, `<rv-3>`, `<rev-2>`, `<time>`, and `*`
//! for a random suffix. Equal tokens mean equal values, different tokens of one sort different values.

use serde_json::Value;
use std::collections::BTreeMap;

/// What each token was bound to, both ways.
#[derive(Clone, Default)]
pub struct Tokens {
    values: BTreeMap<String, String>,
    names: BTreeMap<(String, String), String>,
}

enum Piece {
    Text(String),
    /// Sort and whole name.
    Token(String, String),
    Suffix,
}

fn pieces(pattern: &str) -> Vec<Piece> {
    let (mut out, mut rest) = (Vec::new(), pattern);
    let push = |out: &mut Vec<Piece>, c: char| match out.last_mut() {
        Some(Piece::Text(text)) => text.push(c),
        _ => out.push(Piece::Text(c.to_string())),
    };
    while let Some(c) = rest.chars().next() {
        if let Some((name, after)) = rest.strip_prefix('<').and_then(|r| r.split_once('>')) {
            let sort = name.split('-').next().unwrap_or("");
            let numbered =
                name.strip_prefix(sort).and_then(|n| n.strip_prefix('-')).is_some_and(|n| n.parse::<u32>().is_ok());
            if name == "time" || (["uid", "rv", "rev"].contains(&sort) && numbered) {
                out.push(Piece::Token(sort.to_string(), name.to_string()));
                rest = after;
                continue;
            }
        }
        if c == '*' {
            out.push(Piece::Suffix);
        } else {
            push(&mut out, c);
        }
        rest = &rest[c.len_utf8()..];
    }
    out
}

fn fits(sort: &str, c: char) -> bool {
    match sort {
        "rv" => c.is_ascii_digit(),
        "uid" => c.is_ascii_hexdigit() || c == '-',
        "time" => c.is_ascii_digit() || "TZ:.-+".contains(c),
        _ => c.is_ascii_lowercase() || c.is_ascii_digit(),
    }
}

impl Tokens {
    fn text(&mut self, pattern: &str, played: &str) -> bool {
        if pattern == played || pattern.split('|').any(|word| word == played) {
            return true;
        }
        // A revision is named after its set where the recording has the hash alone.
        let alone = pattern.starts_with("<rev-") && pattern.ends_with('>');
        let mut rest = if alone { played.rsplit('-').next().unwrap_or(played) } else { played };
        for piece in pieces(pattern) {
            let sort = match &piece {
                Piece::Text(text) => match rest.strip_prefix(text.as_str()) {
                    Some(after) => {
                        rest = after;
                        continue;
                    }
                    None => return false,
                },
                Piece::Token(sort, _) => sort.as_str(),
                Piece::Suffix => "suffix",
            };
            let end = rest.find(|c| !fits(sort, c)).unwrap_or(rest.len());
            let (value, after) = rest.split_at(end);
            rest = after;
            if value.is_empty() {
                return false;
            }
            if let Piece::Token(sort, name) = &piece
                && sort != "time"
                && !self.bind(sort, name, value)
            {
                return false;
            }
        }
        rest.is_empty()
    }

    fn bind(&mut self, sort: &str, name: &str, value: &str) -> bool {
        let known = self.values.entry(name.to_string()).or_insert_with(|| value.to_string());
        let back = self.names.entry((sort.to_string(), value.to_string())).or_insert_with(|| name.to_string());
        known == value && back == name
    }

    /// The first difference between a recorded and a played value.
    pub fn difference(&mut self, at: &str, recorded: &Value, played: &Value) -> Option<String> {
        let says = || Some(format!("{at}: recorded {recorded}, played {played}"));
        match (recorded, played) {
            (Value::Object(a), Value::Object(b)) => {
                let list = a.contains_key("items") && b.contains_key("items");
                for (name, a) in a {
                    let Some(b) = b.get(name) else {
                        return Some(format!("{at}.{name}: recorded {a}, played nothing"));
                    };
                    if list && name == "metadata" {
                        if let Some(found) = self.list_metadata(&format!("{at}.{name}"), a, b) {
                            return Some(found);
                        }
                        continue;
                    }
                    if let Some(found) = self.difference(&format!("{at}.{name}"), a, b) {
                        return Some(found);
                    }
                }
                let extra = b.iter().find(|(name, _)| !a.contains_key(*name));
                extra.map(|(name, value)| format!("{at}.{name}: recorded nothing, played {value}"))
            }
            (Value::Array(a), Value::Array(b)) => {
                for (index, (a, b)) in a.iter().zip(b).enumerate() {
                    if let Some(found) = self.difference(&format!("{at}[{index}]"), a, b) {
                        return Some(found);
                    }
                }
                if a.len() == b.len() { None } else { says() }
            }
            (Value::String(a), Value::String(b)) => {
                if self.text(a, b) {
                    None
                } else {
                    says()
                }
            }
            (a, b) if a == b => None,
            _ => says(),
        }
    }

    /// The resource version of a list is the store's, which others may have moved.
    fn list_metadata(&mut self, at: &str, recorded: &Value, played: &Value) -> Option<String> {
        let without = |v: &Value| {
            let mut v = v.clone();
            v.as_object_mut().map(|m| m.remove("resourceVersion"));
            v
        };
        self.difference(at, &without(recorded), &without(played))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_token_holds_to_its_value_both_ways() {
        let mut tokens = Tokens::default();
        assert!(tokens.text("<rv-1>", "7") && tokens.text("<rv-1>", "7"));
        assert!(!tokens.text("<rv-1>", "8"));
        assert!(!tokens.text("<rv-2>", "7"));
        assert!(tokens.text("web-<rev-1>-*", "web-5c9-x2k4p"));
    }

    #[test]
    fn an_absent_field_is_not_null() {
        assert!(Tokens::default().difference("", &json!({"a": null}), &json!({})).is_some());
    }
}
