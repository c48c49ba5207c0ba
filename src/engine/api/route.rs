//! Addresses: which collection, object or document a path names.
//!
//! Mirrors apiserver `pkg/endpoints/request/requestinfo.go`. Whether the thing exists is asked later.

/// What a path names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route<'a> {
    /// A collection, an object or a subresource.
    Resource(ResourcePath<'a>),
    /// `/api`.
    CoreVersions,
    /// `/apis`.
    Groups,
    /// `/apis/group`.
    Group(&'a str),
    /// `/api/v1` or `/apis/group/version`.
    Resources { group: &'a str, version: &'a str },
    /// Anything else: `/version`, `/healthz` and paths nobody serves.
    Other(&'a str),
}

/// The parts of a resource path; empty where a part is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourcePath<'a> {
    pub group: &'a str,
    pub version: &'a str,
    pub namespace: &'a str,
    pub resource: &'a str,
    pub name: &'a str,
    pub subresource: &'a str,
}

/// Subresources of a namespace itself; anything else after its name is a collection inside it.
const NAMESPACE_SUBRESOURCES: [&str; 2] = ["status", "finalize"];

impl<'a> Route<'a> {
    #[must_use]
    pub fn parse(path: &'a str) -> Self {
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        match parts.as_slice() {
            ["api"] => Route::CoreVersions,
            ["apis"] => Route::Groups,
            ["apis", group] => Route::Group(group),
            ["api", version] => Route::Resources { group: "", version },
            ["apis", group, version] => Route::Resources { group, version },
            ["api", version, rest @ ..] => resource("", version, rest).unwrap_or(Route::Other(path)),
            ["apis", group, version, rest @ ..] => resource(group, version, rest).unwrap_or(Route::Other(path)),
            _ => Route::Other(path),
        }
    }
}

fn resource<'a>(group: &'a str, version: &'a str, parts: &[&'a str]) -> Option<Route<'a>> {
    let (namespace, parts) = match parts {
        ["namespaces", name, sub, ..] if NAMESPACE_SUBRESOURCES.contains(sub) && group.is_empty() => (*name, parts),
        ["namespaces", namespace, rest @ ..] if !rest.is_empty() => (*namespace, rest),
        // A namespace is addressed inside itself, which is what lets a Role in it grant access to it.
        ["namespaces", name] => (*name, parts),
        _ => ("", parts),
    };
    let (resource, name, subresource) = match parts {
        [resource] => (*resource, "", ""),
        [resource, name] => (*resource, *name, ""),
        [resource, name, subresource] => (*resource, *name, *subresource),
        _ => return None,
    };
    if parts.iter().any(|p| p.is_empty()) {
        return None;
    }
    Some(Route::Resource(ResourcePath { group, version, namespace, resource, name, subresource }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(path: &str) -> [String; 6] {
        let Route::Resource(r) = Route::parse(path) else { panic!("{path} names no resource") };
        [r.group, r.version, r.namespace, r.resource, r.name, r.subresource].map(str::to_string)
    }

    #[test]
    fn a_path_falls_into_its_parts() {
        assert_eq!(parts("/api/v1/pods"), ["", "v1", "", "pods", "", ""]);
        assert_eq!(parts("/api/v1/namespaces/ns/pods/p/status"), ["", "v1", "ns", "pods", "p", "status"]);
        assert_eq!(parts("/apis/a.b/v1/namespaces/ns/ws"), ["a.b", "v1", "ns", "ws", "", ""]);
        assert_eq!(parts("/api/v1/namespaces/ns"), ["", "v1", "ns", "namespaces", "ns", ""]);
        assert_eq!(parts("/api/v1/namespaces/ns/finalize"), ["", "v1", "ns", "namespaces", "ns", "finalize"]);
    }

    #[test]
    fn discovery_paths_are_told_apart() {
        assert_eq!(Route::parse("/apis/"), Route::Groups);
        assert_eq!(Route::parse("/apis/a.b/v1"), Route::Resources { group: "a.b", version: "v1" });
        assert_eq!(Route::parse("/nothing/here"), Route::Other("/nothing/here"));
        assert_eq!(Route::parse("/api/v1//pods"), Route::Other("/api/v1//pods"));
    }
}
