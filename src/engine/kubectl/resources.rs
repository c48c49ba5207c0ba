//! Which resource a word or a manifest means: the built-in kinds first, then what the server tells of its groups.

use super::session::{Cx, Flow};
use crate::api::kinds::{KINDS, Kind};
use crate::ids::{Gvk, Gvr, Key};
use crate::object::ObjectView;
use serde_json::Value;

/// A resource kubectl can address.
#[derive(Clone, Debug, PartialEq)]
pub struct Res {
    pub gvr: Gvr,
    pub kind: String,
    pub singular: String,
    pub short_names: Vec<String>,
    pub categories: Vec<String>,
    pub verbs: Vec<String>,
    pub namespaced: bool,
    pub builtin: bool,
}

const VERBS: [&str; 8] = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

impl Res {
    fn of(kind: &Kind) -> Res {
        let own = |list: &[&str]| list.iter().map(|s| (*s).to_string()).collect();
        Res {
            gvr: kind.gvr(),
            kind: kind.kind.to_string(),
            singular: kind.singular.to_string(),
            short_names: own(kind.short_names),
            categories: own(kind.categories),
            verbs: if kind.virtual_only { own(&["create"]) } else { own(&VERBS) },
            namespaced: kind.namespaced,
            builtin: true,
        }
    }

    /// The resource of nodes.
    pub fn node() -> Res {
        Res::of(KINDS.iter().find(|k| k.kind == "Node").unwrap_or(&KINDS[0]))
    }

    fn read(group: &str, version: &str, entry: &Value) -> Option<Res> {
        let name = entry.text(&["name"]);
        if name.is_empty() || name.contains('/') {
            return None;
        }
        let list =
            |field: &str| entry.list(&[field]).iter().filter_map(Value::as_str).map(str::to_string).collect::<Vec<_>>();
        Some(Res {
            gvr: Gvr::new(group, version, name),
            kind: entry.text(&["kind"]).to_string(),
            singular: entry.text(&["singularName"]).to_string(),
            short_names: list("shortNames"),
            categories: list("categories"),
            verbs: list("verbs"),
            namespaced: entry.at(&["namespaced"]) == Some(&Value::Bool(true)),
            builtin: false,
        })
    }

    /// `deployment.apps`: how kubectl names what it did.
    pub fn label(&self) -> String {
        let kind = self.kind.to_lowercase();
        if self.gvr.group.is_empty() { kind } else { format!("{kind}.{}", self.gvr.group) }
    }
    /// `deployments.apps`.
    pub fn plural(&self) -> String {
        self.gvr.group_resource().to_string()
    }
    /// Where objects of a namespace live.
    pub fn collection(&self, namespace: &str) -> String {
        self.gvr.collection(if self.namespaced { namespace } else { "" })
    }
    pub fn path(&self, namespace: &str, name: &str) -> String {
        self.gvr.object(&Key::new(if self.namespaced { namespace } else { "" }, name))
    }
    pub fn api_version(&self) -> String {
        if self.gvr.group.is_empty() {
            self.gvr.version.to_string()
        } else {
            format!("{}/{}", self.gvr.group, self.gvr.version)
        }
    }

    fn called(&self, word: &str) -> bool {
        *self.gvr.resource == *word
            || self.singular == word
            || self.kind.to_lowercase() == word
            || self.short_names.iter().any(|s| s == word)
    }

    /// Whether `word` means this: a name alone, or followed by a version and a group, or a group.
    pub fn is(&self, word: &str) -> bool {
        let word = word.to_lowercase();
        if self.called(&word) {
            return true;
        }
        let Some((name, rest)) = word.split_once('.') else { return false };
        let group = &*self.gvr.group;
        let full = format!("{}.{group}", self.gvr.version);
        self.called(name) && (rest == group || rest == full.trim_end_matches('.') || rest == full)
    }
}

/// The built-in resources.
pub fn builtin() -> impl Iterator<Item = Res> {
    KINDS.iter().map(Res::of)
}

/// What a group serves in one version; empty when it serves nothing.
fn version(cx: &mut Cx, group_version: &str) -> Flow<Vec<Res>> {
    let response = cx.get(format!("/apis/{group_version}"))?;
    let (group, version) = group_version.split_once('/').unwrap_or(("", group_version));
    let entries = if response.success() { response.body.list(&["resources"]) } else { &[] };
    Ok(entries.iter().filter_map(|entry| Res::read(group, version, entry)).collect())
}

/// Every resource that is not built in, in the preferred version of its group.
pub fn custom(cx: &mut Cx) -> Flow<Vec<Res>> {
    let groups = cx.fetch("/apis")?;
    let mut out = Vec::new();
    for group in groups.list(&["groups"]) {
        if KINDS.iter().any(|k| k.group == group.text(&["name"])) {
            continue;
        }
        out.extend(version(cx, group.text(&["preferredVersion", "groupVersion"]))?);
    }
    Ok(out)
}

/// What the words of a comma list mean, categories spread out.
pub fn named(cx: &mut Cx, words: &str) -> Flow<Vec<Res>> {
    let mut out: Vec<Res> = Vec::new();
    for word in words.split(',').filter(|w| !w.is_empty()) {
        if let Some(found) = builtin().find(|r| r.is(word)) {
            out.push(found);
            continue;
        }
        let custom = custom(cx)?;
        if let Some(found) = custom.iter().find(|r| r.is(word)) {
            out.push(found.clone());
            continue;
        }
        if let Some(found) = other_version(cx, word)? {
            out.push(found);
            continue;
        }
        let in_category = |r: &Res| r.categories.iter().any(|c| c == word);
        let members: Vec<Res> = builtin().chain(custom).filter(in_category).collect();
        if members.is_empty() {
            return Err(cx.fail(format!("the server doesn't have a resource type \"{word}\"")));
        }
        out.extend(members);
    }
    let mut unique: Vec<Res> = Vec::new();
    out.into_iter().for_each(|r| {
        if !unique.contains(&r) {
            unique.push(r);
        }
    });
    Ok(unique)
}

/// `widgets.v1alpha1.example.com`, where that version is not the preferred one.
fn other_version(cx: &mut Cx, word: &str) -> Flow<Option<Res>> {
    let mut parts = word.splitn(3, '.');
    let (Some(_), Some(v), Some(group)) = (parts.next(), parts.next(), parts.next()) else { return Ok(None) };
    if !v.starts_with('v') {
        return Ok(None);
    }
    Ok(version(cx, &format!("{group}/{v}"))?.into_iter().find(|r| r.is(word)))
}

/// The resource of a manifest; none when no such kind is served.
pub fn of_kind(cx: &mut Cx, gvk: &Gvk) -> Flow<Option<Res>> {
    let api_version = gvk.api_version();
    if let Some(kind) = KINDS.iter().find(|k| k.kind == &*gvk.kind && k.api_version() == api_version) {
        return Ok(Some(Res::of(kind)));
    }
    if KINDS.iter().any(|k| k.group == &*gvk.group) {
        return Ok(None);
    }
    Ok(version(cx, &api_version)?.into_iter().find(|r| r.kind == *gvk.kind))
}
