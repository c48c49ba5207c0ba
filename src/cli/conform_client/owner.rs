//! Kind `owner-reference`.

use super::predicate;
use super::read::{Op, list, text};
use engine::controller::owner_reference::{self as owners, Owner, OwnerError};
use engine::object::ObjectView;
use serde_json::{Value, json};

pub fn play(input: &Value) -> Result<Value, String> {
    let mut object = Value::clone(&predicate::object(input.get("object").unwrap_or(&Value::Null)));
    let ops = list(input, "ops").iter().map(Op::of);
    let results: Result<Vec<Value>, String> = ops.map(|op| play_op(&mut object, &op)).collect();
    Ok(json!({"results": results?, "ownerReferences": object.owner_references(), "finalizers": object.finalizers()}))
}

fn play_op(object: &mut Value, op: &Op) -> Result<Value, String> {
    let owner = owner(op.value(1));
    let name = op.text(1);
    Ok(match op.word() {
        "set_controller_reference" => {
            let block = op.value(2).get("block_owner_deletion") != Some(&Value::Bool(false));
            said(owners::set_controller_reference(object, &owner, block))
        }
        "set_owner_reference" => said(owners::set_owner_reference(object, &owner)),
        "remove_owner_reference" => said(owners::remove_owner_reference(object, &owner)),
        "remove_controller_reference" => said(owners::remove_controller_reference(object, &owner)),
        "has_controller_reference" => json!(object.controller_ref().is_some()),
        "has_owner_reference" => json!(owners::has_owner_reference(object, &owner)),
        "is_controlled_by" => json!(owners::is_controlled_by(object, &owner.uid)),
        "add_finalizer" => json!(owners::add_finalizer(object, name)),
        "remove_finalizer" => json!(owners::remove_finalizer(object, name)),
        "contains_finalizer" => json!(owners::contains_finalizer(object, name)),
        _ => return Err(op.unknown()),
    })
}

fn owner(spec: &Value) -> Owner {
    let word = |field| text(spec, field).to_string();
    Owner {
        api_version: word("apiVersion"),
        kind: word("kind"),
        name: word("name"),
        uid: word("uid"),
        namespace: word("namespace"),
    }
}

fn said(result: Result<(), OwnerError>) -> Value {
    let Err(error) = result else { return json!("OK") };
    let with_message = |class: &str| json!({"error": class, "message": error.to_string()});
    match &error {
        OwnerError::AlreadyOwned { kind, name, .. } => {
            let mut said = with_message("already_owned");
            said["owner"] = json!(format!("{kind}/{name}"));
            said
        }
        OwnerError::CrossNamespace { .. } => with_message("cross_namespace"),
        OwnerError::NamespacedOwnerOfClusterObject { .. } => with_message("namespaced_owner_of_cluster_object"),
        // The real texts of these name Go types; the recordings leave them out.
        OwnerError::NoOwnerReferences => json!({"error": "no_owner_references"}),
        OwnerError::ReferenceNotFound => json!({"error": "reference_not_found"}),
        OwnerError::NoControllerReference => json!({"error": "no_controller_reference"}),
        OwnerError::NotTheController => json!({"error": "not_the_controller"}),
    }
}
