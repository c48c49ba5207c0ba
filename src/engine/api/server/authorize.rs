//! Whether the user may do what the request asks; and that nobody grants what he does not hold.

use super::call::Call;
use super::{ApiServer, Outcome};
use crate::api::message::{Method, Request, User};
use crate::api::rbac::{self, Attributes, Rule};
use crate::api::route::ResourcePath;
use crate::api::selector::FieldSelector;
use crate::api::status::ApiStatus;
use crate::ids::GroupResource;
use crate::object::{Object, ObjectView};
use serde_json::Value;

/// Whether a parameter of the query is set.
pub fn flag(request: &Request, name: &str) -> bool {
    matches!(request.param(name), Some("true" | "1" | ""))
}

/// The verb of a request as access rules and texts know it.
pub fn verb(request: &Request, path: &ResourcePath) -> &'static str {
    let named = !path.name.is_empty();
    match request.method {
        Method::Get if flag(request, "watch") => "watch",
        Method::Get if named => "get",
        Method::Get => "list",
        Method::Post => "create",
        Method::Put => "update",
        Method::Patch => "patch",
        Method::Delete if named => "delete",
        Method::Delete => "deletecollection",
    }
}

fn attributes(request: &Request, path: &ResourcePath) -> Attributes {
    let mut name = path.name.to_string();
    // A selector by name counts as naming it (apiserver `pkg/endpoints/request/requestinfo.go`).
    if name.is_empty() && request.method != Method::Post {
        let selector = FieldSelector::parse(request.param("fieldSelector").unwrap_or(""));
        name = selector.ok().and_then(|s| s.exact_name().map(str::to_string)).unwrap_or_default();
    }
    Attributes {
        verb: verb(request, path).to_string(),
        group: path.group.to_string(),
        resource: path.resource.to_string(),
        subresource: path.subresource.to_string(),
        namespace: path.namespace.to_string(),
        name,
        url: String::new(),
    }
}

impl ApiServer {
    /// Access is judged before anybody looks whether there is such a thing.
    pub(super) fn authorize(&self, request: &Request, path: &ResourcePath) -> Outcome<()> {
        let asked = attributes(request, path);
        self.judge(&request.user, &asked, path.name)
    }

    /// Asks once more, under another verb.
    pub(super) fn authorize_also(&self, call: &Call, verb: &str) -> Outcome<()> {
        let asked = Attributes { verb: verb.to_string(), ..attributes(call.request, call.path) };
        self.judge(&call.request.user, &asked, call.path.name)
    }

    /// Paths that are no resources.
    pub(super) fn authorize_url(&self, request: &Request) -> Outcome<()> {
        let asked = Attributes { verb: "get".to_string(), url: request.path.clone(), ..Attributes::default() };
        if rbac::allows(&self.store, &rbac::authenticated(&request.user), &asked).allowed {
            return Ok(());
        }
        let message = format!("forbidden: User {:?} cannot get path {:?}", request.user.name, request.path);
        Err(ApiStatus::new(403, "Forbidden", message))
    }

    fn judge(&self, user: &User, asked: &Attributes, name: &str) -> Outcome<()> {
        let verdict = rbac::allows(&self.store, &rbac::authenticated(user), asked);
        if verdict.allowed {
            return Ok(());
        }
        let what = match asked.subresource.as_str() {
            "" => asked.resource.clone(),
            sub => format!("{}/{sub}", asked.resource),
        };
        let place = match asked.namespace.as_str() {
            "" => "at the cluster scope".to_string(),
            namespace => format!("in the namespace {namespace:?}"),
        };
        let (user, verb, group) = (&user.name, &asked.verb, &asked.group);
        let mut why = format!("User {user:?} cannot {verb} resource {what:?} in API group {group:?} {place}");
        if !verdict.reason.is_empty() {
            why.push_str(&format!(": {}", verdict.reason));
        }
        Err(ApiStatus::forbidden(&GroupResource::new(&asked.group, &asked.resource), name, &why))
    }

    /// Who writes roles and bindings can grant only what he holds (registry `rbac/*/policybased`).
    pub(super) fn check_escalation(&self, call: &Call, new: &Value, old: Option<&Object>) -> Outcome<()> {
        let user = rbac::authenticated(&call.request.user);
        if &*call.resource.gvr.group != rbac::GROUP || rbac::is_master(&user) {
            return Ok(());
        }
        let same = |field: &str| old.is_some_and(|o| o.get(field) == new.get(field));
        let may = |verb: &str, resource: &str, name: &str| {
            let asked = Attributes {
                verb: verb.to_string(),
                group: rbac::GROUP.to_string(),
                resource: resource.to_string(),
                namespace: call.namespace().to_string(),
                name: name.to_string(),
                ..Attributes::default()
            };
            rbac::allows(&self.store, &user, &asked).allowed
        };
        let plural = &*call.resource.gvr.resource;
        let mut wanted = match plural {
            "roles" | "clusterroles" => {
                if (same("rules") && same("aggregationRule")) || may("escalate", plural, new.name()) {
                    return Ok(());
                }
                rbac::rules(new)
            }
            "rolebindings" | "clusterrolebindings" => {
                let reference = new.get("roleRef").unwrap_or(&Value::Null);
                let of = if reference.text(&["kind"]) == "ClusterRole" { "clusterroles" } else { "roles" };
                let name = reference.text(&["name"]);
                if (same("roleRef") && same("subjects")) || may("bind", of, name) {
                    return Ok(());
                }
                rbac::role(&self.store, reference, call.namespace())
                    .map_err(|_| ApiStatus::not_found(&GroupResource::new(rbac::GROUP, of), name))?
            }
            _ => return Ok(()),
        };
        if new.get("aggregationRule").is_some_and(|r| !r.is_null()) && !same("aggregationRule") {
            wanted.extend(everything());
        }
        let more = rbac::escalation(&rbac::rules_of(&self.store, &user, call.namespace()), &wanted);
        if more.is_empty() { Ok(()) } else { Err(escalating(call, &user, new.name(), &more)) }
    }
}

fn everything() -> [Rule; 2] {
    let all = || vec!["*".to_string()];
    [
        Rule { verbs: all(), groups: all(), resources: all(), ..Rule::default() },
        Rule { verbs: all(), urls: all(), ..Rule::default() },
    ]
}

fn escalating(call: &Call, user: &User, name: &str, more: &[Rule]) -> ApiStatus {
    let rules: Vec<String> = more.iter().map(|rule| rule.to_value().to_string()).collect();
    let groups: Vec<String> = user.groups.iter().map(|g| format!("{g:?}")).collect();
    let why = format!(
        "user {:?} (groups=[{}]) is attempting to grant RBAC permissions not currently held:\n{}",
        user.name,
        groups.join(" "),
        rules.join("\n")
    );
    ApiStatus::forbidden(&call.resource.group_resource(), name, &why)
}
