//! Whether the user may do what the request asks.

use super::call::Call;
use super::{ApiServer, Outcome};
use crate::api::message::{Stage, User};
use crate::api::status::ApiStatus;

/// Its members may do everything.
const MASTERS: &str = "system:masters";

impl ApiServer {
    pub(super) fn authorize(&self, call: &mut Call) -> Outcome<()> {
        let allowed = allows(&call.request.user);
        if !allowed {
            return Err(forbidden(call));
        }
        call.passed(Stage::Authorize, None, &serde_json::Value::Null);
        Ok(())
    }
}

/// Whether a user is allowed everything.
///
/// Divergence from Kubernetes: roles and bindings are stored and not yet read.
pub fn allows(user: &User) -> bool {
    user.groups.iter().any(|g| &**g == MASTERS)
}

fn forbidden(call: &Call) -> ApiStatus {
    let resource = call.resource.group_resource();
    let user = &call.request.user.name;
    let plural = &call.resource.gvr.resource;
    let what = match call.path.subresource {
        "" => plural.to_string(),
        sub => format!("{plural}/{sub}"),
    };
    let place = match call.namespace() {
        "" => "at the cluster scope".to_string(),
        namespace => format!("in the namespace {namespace:?}"),
    };
    let group = &call.resource.gvr.group;
    let why = format!("User {user:?} cannot {} resource {what:?} in API group {group:?} {place}", call.verb());
    ApiStatus::forbidden(&resource, call.path.name, &why)
}
