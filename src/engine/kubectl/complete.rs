//! Completion: what may stand at the cursor.

use super::flags::{COMMON, of};
use super::line::VERBS;

/// What the page knows of the cluster: resource words, and the names of objects of a resource.
pub trait Known {
    /// Plurals, as they are typed.
    fn resources(&self) -> Vec<String>;
    /// Names of the objects of `resource`, which may be a short name, in `namespace`.
    fn names(&self, resource: &str, namespace: &str) -> Vec<String>;
    fn namespaces(&self) -> Vec<String>;
}

/// Most words that are offered.
const OFFERED_MAX: usize = 50;

/// The words that may replace the one that ends at the cursor (a byte position), sorted.
#[must_use]
pub fn complete(line: &str, cursor: usize, known: &dyn Known) -> Vec<String> {
    let head = line.get(..cursor.min(line.len())).unwrap_or(line);
    let mut words: Vec<&str> = head.split_whitespace().collect();
    let open = if head.ends_with(char::is_whitespace) || head.is_empty() { "" } else { words.pop().unwrap_or("") };
    if matches!(words.first(), Some(&("kubectl" | "k"))) {
        words.remove(0);
    }
    let mut out = candidates(&words, open, known);
    out.retain(|w| w.starts_with(open) && w != open);
    out.sort();
    out.dedup();
    out.truncate(OFFERED_MAX);
    out
}

fn candidates(words: &[&str], open: &str, known: &dyn Known) -> Vec<String> {
    let own = |list: &[&str]| list.iter().map(|w| (*w).to_string()).collect::<Vec<_>>();
    let Some((verb, rest)) = words.split_first() else { return own(VERBS) };
    if open.starts_with('-') {
        let flags = of(verb).iter().chain(COMMON);
        return flags.map(|f| format!("--{}", f.0)).collect();
    }
    match rest.last() {
        Some(&("-n" | "--namespace")) => return known.namespaces(),
        Some(&("-o" | "--output")) => return own(&["custom-columns=", "json", "jsonpath=", "name", "wide", "yaml"]),
        _ => {}
    }
    let namespace = rest.iter().zip(rest.iter().skip(1)).find(|(f, _)| **f == "-n" || **f == "--namespace");
    let namespace = namespace.map_or("default", |(_, n)| *n);
    let plain: Vec<&str> = rest.iter().filter(|w| !w.starts_with('-')).copied().collect();
    let subcommands: &[&str] = match *verb {
        "rollout" => &["history", "pause", "restart", "resume", "status", "undo"],
        "set" => &["image"],
        "auth" => &["can-i", "whoami"],
        "create" => &[
            "clusterrole",
            "clusterrolebinding",
            "configmap",
            "deployment",
            "namespace",
            "role",
            "rolebinding",
            "secret",
            "serviceaccount",
        ],
        _ => &[],
    };
    let skip = usize::from(!subcommands.is_empty());
    match plain.get(skip) {
        None if plain.len() < skip => own(subcommands),
        None if *verb == "create" || *verb == "apply" => Vec::new(),
        None => match open.split_once('/') {
            Some((kind, _)) => known.names(kind, namespace).iter().map(|n| format!("{kind}/{n}")).collect(),
            None => known.resources(),
        },
        Some(kind) if !kind.contains('/') => known.names(kind, namespace),
        Some(_) => Vec::new(),
    }
}
