//! Between the versions of a kind.
//!
//! Divergence from Kubernetes: no webhook runs inside the model, so the strategy `Webhook` behaves as one whose server
//! does not answer.

use super::{Conversion, Definition};
use crate::api::status::ApiStatus;
use crate::object::{self, ObjectView};
use serde_json::Value;

/// The object in version `wanted` of its kind.
///
/// # Errors
/// When a webhook would have to be asked.
pub fn convert(definition: &Definition, wanted: &str, mut value: Value) -> Result<Value, ApiStatus> {
    let wanted = format!("{}/{wanted}", definition.group);
    if value.text(&["apiVersion"]) == wanted {
        return Ok(value);
    }
    match &definition.conversion {
        Conversion::None => {
            object::set(&mut value, &["apiVersion"], Value::from(wanted));
            Ok(value)
        }
        Conversion::Webhook { address, .. } => Err(unanswered(definition, &value, address)),
    }
}

fn unanswered(definition: &Definition, value: &Value, address: &str) -> ApiStatus {
    let held = value.text(&["apiVersion"]);
    let message = format!(
        "conversion webhook for {held}, Kind={} failed: Post \"{address}?timeout=30s\": connect: connection refused",
        definition.names.kind
    );
    ApiStatus::new(500, "", message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn definition(strategy: &str) -> Definition {
        Definition::parse(&json!({"spec": {"group": "a.b", "names": {"plural": "ws", "kind": "W"},
            "conversion": {"strategy": strategy}, "versions": [{"name": "v1", "storage": true}, {"name": "v2"}]}}))
        .unwrap()
    }

    #[test]
    fn strategy_none_changes_nothing_but_the_version() {
        let held = json!({"apiVersion": "a.b/v1", "spec": {"x": 1}});
        let got = convert(&definition("None"), "v2", held).unwrap();
        assert_eq!(got, json!({"apiVersion": "a.b/v2", "spec": {"x": 1}}));
    }

    #[test]
    fn a_dead_webhook_is_not_asked_about_the_version_at_hand() {
        let held = json!({"apiVersion": "a.b/v1"});
        assert!(convert(&definition("Webhook"), "v1", held.clone()).is_ok());
        assert_eq!(convert(&definition("Webhook"), "v2", held).unwrap_err().code, 500);
    }
}
