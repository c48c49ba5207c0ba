//! Role-based access control: who may do what.
//!
//! Flow: a request is described by [`Attributes`]; [`allows`] reads the bindings of its user out of the store and looks for a
//! rule that covers it. [`escalation`] keeps those who write roles and bindings from granting more than they hold.
//!
//! Mirrors kubernetes `plugin/pkg/auth/authorizer/rbac` and `pkg/registry/rbac/validation`.
//!
//! Divergence from Kubernetes: of the roles a cluster starts with only `cluster-admin`, `admin`, `edit`, `view` and those
//! for everybody are here.

pub mod bootstrap;
mod rule;
pub mod validate;

pub use rule::Rule;

use crate::api::message::User;
use crate::ids::{GroupResource, Key};
use crate::object::ObjectView;
use crate::store::Store;
use serde_json::Value;

pub const GROUP: &str = "rbac.authorization.k8s.io";
/// Its members may do everything.
pub const MASTERS: &str = "system:masters";

/// What is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    pub verb: String,
    pub group: String,
    pub resource: String,
    pub subresource: String,
    pub namespace: String,
    pub name: String,
    /// A path outside the resources; then the rest but the verb is empty.
    pub url: String,
}

/// The answer, with why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    pub allowed: bool,
    pub reason: String,
}

/// The user with the groups that come with being somebody.
#[must_use]
pub fn authenticated(user: &User) -> User {
    let mut user = user.clone();
    if let Some(account) = user.name.strip_prefix("system:serviceaccount:") {
        let namespace = account.split(':').next().unwrap_or("").to_string();
        user.groups.push("system:serviceaccounts".into());
        user.groups.push(format!("system:serviceaccounts:{namespace}").into());
    }
    if !user.name.is_empty() && !user.groups.iter().any(|g| &**g == "system:authenticated") {
        user.groups.push("system:authenticated".into());
    }
    user
}

/// Whether a user may do something.
#[must_use]
pub fn allows(store: &Store, user: &User, asked: &Attributes) -> Verdict {
    if is_master(user) {
        return Verdict { allowed: true, reason: String::new() };
    }
    let held = rules_of(store, user, &asked.namespace);
    for grant in &held.grants {
        if grant.rule.covers(asked) {
            return Verdict { allowed: true, reason: format!("RBAC: allowed by {}", grant.by) };
        }
    }
    let reason = if held.errors.is_empty() { String::new() } else { format!("RBAC: {}", held.errors.join(", ")) };
    Verdict { allowed: false, reason }
}

#[must_use]
pub fn is_master(user: &User) -> bool {
    user.groups.iter().any(|g| &**g == MASTERS)
}

/// A rule with the binding it comes from.
#[derive(Clone, Debug)]
pub struct Grant {
    pub rule: Rule,
    by: String,
}

/// What a user holds.
#[derive(Clone, Debug, Default)]
pub struct Held {
    pub grants: Vec<Grant>,
    /// Bindings whose role is missing, in words.
    errors: Vec<String>,
}

/// The rules of a user in a namespace; cluster-wide ones only when the namespace is empty.
#[must_use]
pub fn rules_of(store: &Store, user: &User, namespace: &str) -> Held {
    let mut held = Held::default();
    for (_, stored) in store.list(&GroupResource::new(GROUP, "clusterrolebindings"), "") {
        collect(store, user, &stored.object, &mut held);
    }
    if !namespace.is_empty() {
        for (_, stored) in store.list(&GroupResource::new(GROUP, "rolebindings"), namespace) {
            collect(store, user, &stored.object, &mut held);
        }
    }
    held
}

fn collect(store: &Store, user: &User, binding: &Value, held: &mut Held) {
    let namespace = binding.namespace();
    let Some(subject) = binding.list(&["subjects"]).iter().find(|s| is_subject(s, user, namespace)) else { return };
    let reference = binding.get("roleRef").unwrap_or(&Value::Null);
    match role(store, reference, namespace) {
        Ok(rules) => {
            let place = if namespace.is_empty() { String::new() } else { format!("/{namespace}") };
            let by = format!(
                "{} \"{}{place}\" of {} {:?} to {} {:?}",
                binding.kind(),
                binding.name(),
                reference.text(&["kind"]),
                reference.text(&["name"]),
                subject.text(&["kind"]),
                subject.text(&["name"])
            );
            held.grants.extend(rules.into_iter().map(|rule| Grant { rule, by: by.clone() }));
        }
        Err(missing) => held.errors.push(format!("{missing} not found")),
    }
}

fn is_subject(subject: &Value, user: &User, namespace: &str) -> bool {
    let name = subject.text(&["name"]);
    match subject.text(&["kind"]) {
        "User" => *user.name == *name,
        "Group" => user.groups.iter().any(|g| **g == *name),
        "ServiceAccount" => {
            let own = subject.namespace_of_subject();
            let place = if own.is_empty() { namespace } else { own };
            !place.is_empty() && *user.name == *format!("system:serviceaccount:{place}:{name}")
        }
        _ => false,
    }
}

/// Subjects carry their namespace beside their name, not in metadata.
trait Subject {
    fn namespace_of_subject(&self) -> &str;
}
impl Subject for Value {
    fn namespace_of_subject(&self) -> &str {
        self.text(&["namespace"])
    }
}

/// The rules of the role a binding names.
///
/// # Errors
/// The role that is missing, in words.
pub fn role(store: &Store, reference: &Value, namespace: &str) -> Result<Vec<Rule>, String> {
    let cluster = reference.text(&["kind"]) == "ClusterRole";
    let (plural, place) = if cluster { ("clusterroles", "") } else { ("roles", namespace) };
    let name = reference.text(&["name"]);
    let Some(stored) = store.get(&GroupResource::new(GROUP, plural), &Key::new(place, name)) else {
        return Err(format!("{}.{GROUP} {name:?}", plural.trim_end_matches('s')));
    };
    Ok(rules(&stored.object))
}

/// The rules a role declares.
#[must_use]
pub fn rules(role: &Value) -> Vec<Rule> {
    role.list(&["rules"]).iter().map(Rule::parse).collect()
}

/// The rules that `wanted` would grant and `held` does not cover.
#[must_use]
pub fn escalation(held: &Held, wanted: &[Rule]) -> Vec<Rule> {
    let pieces = wanted.iter().flat_map(Rule::pieces);
    pieces.filter(|piece| !held.grants.iter().any(|g| g.rule.contains(piece))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::SimTime;
    use serde_json::json;

    fn store(objects: &[(&str, Value)]) -> Store {
        let mut store = Store::default();
        for (plural, object) in objects {
            let resource = GroupResource::new(GROUP, plural);
            store.put(SimTime::ZERO, &resource, &object.key(), object.clone(), 0, &"u".into());
        }
        store
    }

    fn reader() -> Store {
        store(&[
            (
                "roles",
                json!({"metadata": {"name": "r", "namespace": "ns"}, "rules": [
                {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]},
                {"apiGroups": [""], "resources": ["pods"], "verbs": ["*"], "resourceNames": ["one"]}]}),
            ),
            (
                "rolebindings",
                json!({"kind": "RoleBinding", "metadata": {"name": "b", "namespace": "ns"},
                "roleRef": {"kind": "Role", "name": "r"}, "subjects": [{"kind": "Group", "name": "team"}]}),
            ),
        ])
    }

    fn ask(verb: &str, namespace: &str, name: &str) -> Attributes {
        let text = str::to_string;
        Attributes {
            verb: text(verb),
            resource: text("pods"),
            namespace: text(namespace),
            name: text(name),
            ..Attributes::default()
        }
    }

    #[test]
    fn a_role_binding_grants_in_its_namespace_only() {
        let (store, user) = (reader(), User { name: "a".into(), groups: vec!["team".into()] });
        assert!(allows(&store, &user, &ask("get", "ns", "x")).allowed);
        assert!(!allows(&store, &user, &ask("get", "other", "x")).allowed);
        assert!(!allows(&store, &user, &ask("get", "", "x")).allowed);
    }

    #[test]
    fn names_never_open_lists_and_creates() {
        let (store, user) = (reader(), User { name: "a".into(), groups: vec!["team".into()] });
        assert!(allows(&store, &user, &ask("delete", "ns", "one")).allowed);
        assert!(!allows(&store, &user, &ask("delete", "ns", "two")).allowed);
        assert!(!allows(&store, &user, &ask("create", "ns", "")).allowed);
    }

    #[test]
    fn nobody_grants_more_than_he_holds() {
        let user = User { name: "a".into(), groups: vec!["team".into()] };
        let held = rules_of(&reader(), &user, "ns");
        let wanted = [Rule::parse(&json!({"apiGroups": [""], "resources": ["pods", "secrets"], "verbs": ["get"]}))];
        let more = escalation(&held, &wanted);
        assert_eq!(more.len(), 1);
        assert_eq!(more[0].resources, ["secrets"]);
    }
}
