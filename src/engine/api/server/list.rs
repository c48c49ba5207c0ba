//! Lists: snapshot, selectors, pages.

use super::call::Call;
use super::read::present;
use super::{ApiServer, Outcome};
use crate::api::message::Response;
use crate::api::resource::{Resource, Source};
use crate::api::schema::field::FieldError;
use crate::api::selector::{FieldSelector, LabelSelector};
use crate::api::status::ApiStatus;
use crate::ids::Key;
use crate::object::{Object, ObjectView};
use crate::store::Stored;
use serde_json::{Value, json};
use std::sync::Arc;

/// Which objects a list or a watch is about.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    labels: LabelSelector,
    fields: FieldSelector,
}

impl Selection {
    pub fn read(call: &Call) -> Outcome<Self> {
        let text = |name: &str| call.request.param(name).unwrap_or("");
        let labels = LabelSelector::parse(text("labelSelector")).map_err(ApiStatus::bad_request)?;
        let fields = FieldSelector::parse(text("fieldSelector")).map_err(ApiStatus::bad_request)?;
        for path in fields.paths() {
            if !selectable(&call.resource, path) {
                return Err(ApiStatus::bad_request(format!("field label not supported: {path}")));
            }
        }
        Ok(Selection { labels, fields })
    }

    pub fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    pub fn matches(&self, object: &Value) -> bool {
        self.labels.matches_object(object) && (self.fields.is_empty() || self.fields.matches(object))
    }
}

/// Fields a selector may name (each kind's `strategy.go` and conversions in `pkg/apis/core/v1/conversion.go`).
fn selectable(resource: &Resource, path: &str) -> bool {
    if path == "metadata.name" || (path == "metadata.namespace" && resource.namespaced) {
        return true;
    }
    match (&resource.source, &*resource.gvr.resource) {
        (Source::Custom(definition, version), _) => {
            let fields = &definition.versions[*version].selectable_fields;
            fields.iter().any(|f| f.trim_start_matches('.') == path)
        }
        (_, "pods") => matches!(
            path,
            "spec.nodeName"
                | "spec.restartPolicy"
                | "spec.schedulerName"
                | "spec.serviceAccountName"
                | "spec.hostNetwork"
                | "status.phase"
                | "status.podIP"
                | "status.nominatedNodeName"
        ),
        (_, "events") => {
            path.starts_with("involvedObject.") || matches!(path, "reason" | "type" | "source" | "reportingComponent")
        }
        (_, "namespaces") => path == "status.phase",
        (_, "nodes") => path == "spec.unschedulable",
        (_, "secrets") => path == "type",
        (_, "services") => matches!(path, "spec.clusterIP" | "spec.type"),
        (_, "replicasets") => path == "status.replicas",
        _ => false,
    }
}

/// Where a page goes on: the snapshot's revision, and the last key that was given out.
struct Token {
    revision: u64,
    after: Key,
}

impl Token {
    fn text(&self) -> String {
        format!("v1:{}:{}", self.revision, self.after)
    }

    fn parse(text: &str) -> Outcome<Self> {
        let parts: Vec<&str> = text.splitn(3, ':').collect();
        if let ["v1", revision, after] = parts[..]
            && let Ok(revision) = revision.parse()
        {
            return Ok(Token { revision, after: Key::parse(after) });
        }
        Err(ApiStatus::bad_request("continue key is not valid: incorrectly encoded continue token"))
    }
}

/// Parameters of a list.
struct Ask {
    limit: usize,
    revision: u64,
    exact: bool,
    token: Option<Token>,
}

impl Ask {
    fn read(call: &Call) -> Outcome<Self> {
        let text = |name: &str| call.request.param(name).unwrap_or("");
        check_match(call)?;
        let said = text("resourceVersion");
        let revision = match said {
            "" => 0,
            digits => digits.parse().map_err(|_| {
                ApiStatus::bad_request(format!(
                    "Invalid value: {said:?}: strconv.ParseUint: parsing {said:?}: invalid syntax"
                ))
            })?,
        };
        let limit = text("limit").parse::<i64>().unwrap_or(0).max(0) as usize;
        let token = match text("continue") {
            "" => None,
            _ if revision > 0 => {
                return Err(ApiStatus::bad_request("specifying resource version is not allowed when using continue"));
            }
            token => Some(Token::parse(token)?),
        };
        let matched = text("resourceVersionMatch");
        let exact = matched == "Exact" || (matched.is_empty() && limit > 0 && revision > 0);
        // From the cache, a limit does nothing.
        let limit = if said == "0" { 0 } else { limit };
        Ok(Ask { limit, revision, exact, token })
    }
}

/// Combinations of list options that make no sense (apimachinery `internalversion/validation`).
fn check_match(call: &Call) -> Outcome<()> {
    let text = |name: &str| call.request.param(name).unwrap_or("");
    let (revision, matched) = (text("resourceVersion"), text("resourceVersionMatch"));
    let mut errors = Vec::new();
    let forbidden = |field: &str, why: &str| FieldError::forbidden(field, why);
    if call.request.param("sendInitialEvents").is_some() {
        errors.push(forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
    }
    if !matched.is_empty() {
        if revision.is_empty() {
            errors.push(forbidden(MATCH, "resourceVersionMatch is forbidden unless resourceVersion is provided"));
        }
        if !text("continue").is_empty() {
            errors.push(forbidden(MATCH, "resourceVersionMatch is forbidden when continue is provided"));
        }
        if !matches!(matched, "Exact" | "NotOlderThan") {
            let known = ["Exact", "NotOlderThan", ""];
            errors.push(FieldError::not_supported(MATCH, &Value::from(matched), &known));
        }
        if matched == "Exact" && revision == "0" {
            errors.push(forbidden(MATCH, "resourceVersionMatch \"Exact\" is forbidden for resourceVersion \"0\""));
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(ApiStatus::invalid("ListOptions", "meta.k8s.io", "", &errors)) }
}

const MATCH: &str = "resourceVersionMatch";

impl ApiServer {
    pub(super) fn list(&mut self, call: &mut Call) -> Outcome<Response> {
        let selection = Selection::read(call)?;
        let ask = Ask::read(call)?;
        let current = self.store.revision();
        if ask.revision > current {
            return Err(ApiStatus::too_large_revision(ask.revision, current));
        }
        let id = call.resource.group_resource();
        let (revision, past) = match &ask.token {
            Some(token) => (token.revision, true),
            None if ask.exact => (ask.revision, true),
            None => (current, false),
        };
        let all: Vec<(Key, Stored)> = if past && revision != current {
            self.store.list_at(&id, call.namespace(), revision).map_err(|_| expired(&ask))?
        } else {
            self.store.list(&id, call.namespace()).map(|(k, s)| (k.clone(), s.clone())).collect()
        };
        let from = ask.token.as_ref().map_or(0, |t| all.iter().position(|(k, _)| *k == t.after).map_or(0, |i| i + 1));
        let (mut items, mut last, mut left) = (Vec::new(), None, 0);
        for (index, (key, stored)) in all.iter().enumerate().skip(from) {
            if ask.limit > 0 && items.len() == ask.limit {
                left = all.len() - index;
                break;
            }
            let object = present(&call.resource, stored)?;
            if selection.matches(&object) {
                items.push(object);
                last = Some(key.clone());
            }
        }
        let mut meta = json!({"resourceVersion": revision.to_string()});
        if let Source::Custom(..) = call.resource.source {
            // Lists of custom resources always carry the field, empty on the last page.
            meta["continue"] = Value::from("");
        }
        if let (true, Some(after)) = (left > 0, last) {
            meta["continue"] = Value::from(Token { revision, after }.text());
            if selection.is_empty() {
                meta["remainingItemCount"] = Value::from(left);
            }
        }
        Ok(Response::ok(200, self.list_body(call, items, meta)))
    }

    /// The list object around items.
    pub(super) fn list_body(&self, call: &Call, items: Vec<Object>, mut meta: Value) -> Object {
        let kind = match &call.resource.source {
            Source::Custom(definition, _) => definition.names.list_kind.clone(),
            Source::BuiltIn(kind) => format!("{}List", kind.kind),
        };
        if meta.get("resourceVersion").is_none() {
            meta["resourceVersion"] = Value::from(self.store.revision().to_string());
        }
        let mut list = json!({"apiVersion": call.resource.api_version(), "kind": kind, "metadata": meta});
        // Moved in: the macro would copy every item once more.
        list["items"] = items.iter().map(|o| Value::clone(o)).collect();
        Arc::new(list)
    }
}

fn expired(ask: &Ask) -> ApiStatus {
    let message = if ask.token.is_some() {
        "The provided continue parameter is too old to display a consistent list result. You can start a new list \
         without the continue parameter."
    } else {
        "The resourceVersion for the provided list is too old."
    };
    ApiStatus::new(410, "Expired", message)
}

/// The key under which a single object is watched, from the address or the field selector.
pub fn single_name(call: &Call, selection: &Selection) -> Option<String> {
    let named = (!call.path.name.is_empty()).then(|| call.path.name.to_string());
    named.or_else(|| selection.fields.exact_name().map(str::to_string))
}

/// Whether an object lies where a watch looks.
pub fn lies_in(object: &Value, namespace: &str, name: Option<&str>) -> bool {
    (namespace.is_empty() || object.namespace() == namespace) && name.is_none_or(|n| object.name() == n)
}
