use super::*;
use serde_json::json;

fn schema() -> Structural {
    let own = Structural::parse(&json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
            "size": {"type": "integer"}, "color": {"type": "string"},
            "hosts": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            "options": {"type": "object", "additionalProperties": {"type": "string"}}}},
        "status": {"type": "object", "properties": {"phase": {"type": "string"}}}}}))
    .unwrap();
    let metadata = Structural::parse(&json!({"type": "object", "properties": {
        "name": {"type": "string"}, "uid": {"type": "string"},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "finalizers": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}}}))
    .unwrap();
    with_metadata(Some(&own), &metadata)
}

fn write<'a>(manager: &'a str, schema: &'a Structural) -> Write<'a> {
    let time = "2026-01-01T00:00:00Z";
    Write { manager, api_version: "d/v1", subresource: "", time, schema: Some(schema), reset: &["status"] }
}

fn config(spec: Value) -> Value {
    json!({"apiVersion": "d/v1", "kind": "W", "metadata": {"name": "one"}, "spec": spec})
}

#[test]
fn a_second_applier_conflicts_until_it_forces_and_then_the_first_one_does() {
    let s = schema();
    let one = apply(None, &config(json!({"size": 1, "color": "red"})), &write("kim", &s), false).unwrap();
    let refused = apply(Some(&one), &config(json!({"size": 2})), &write("lee", &s), false).unwrap_err();
    assert_eq!(refused.message, r#"Apply failed with 1 conflict: conflict with "kim": .spec.size"#);
    let two = apply(Some(&one), &config(json!({"size": 2})), &write("lee", &s), true).unwrap();
    assert_eq!(two["spec"], json!({"size": 2, "color": "red"}));
    let refused = apply(Some(&two), &config(json!({"size": 1, "color": "red"})), &write("kim", &s), false).unwrap_err();
    assert_eq!(refused.causes[0].field, ".spec.size");
    let three = apply(Some(&two), &config(json!({"color": "red"})), &write("kim", &s), false).unwrap();
    assert_eq!(three, two);
}

#[test]
fn what_an_applier_lets_go_disappears_unless_somebody_else_owns_it() {
    let s = schema();
    let one = apply(None, &config(json!({"size": 1, "hosts": ["a", "b"]})), &write("kim", &s), false).unwrap();
    let two = apply(Some(&one), &config(json!({"hosts": ["b", "c"]})), &write("lee", &s), false).unwrap();
    assert_eq!(two["spec"]["hosts"], json!(["a", "b", "c"]));
    let three = apply(Some(&two), &config(json!({})), &write("kim", &s), false).unwrap();
    assert_eq!(three["spec"], json!({"hosts": ["b", "c"]}));
    let four = apply(Some(&three), &config(json!({})), &write("lee", &s), false).unwrap();
    // What is empty because its last field was let go of goes with it.
    assert_eq!(four.get("spec"), None);
}

#[test]
fn a_plain_write_takes_the_fields_it_changes() {
    let s = schema();
    let one = apply(None, &config(json!({"size": 1, "color": "red"})), &write("kim", &s), false).unwrap();
    let mut two = one.clone();
    two["spec"]["size"] = json!(5);
    track(Some(&one), &mut two, &write("lee", &s));
    let refused = apply(Some(&two), &config(json!({"size": 1, "color": "red"})), &write("kim", &s), false).unwrap_err();
    assert_eq!(refused.message, r#"Apply failed with 1 conflict: conflict with "lee" using d/v1: .spec.size"#);
    let three = apply(Some(&two), &config(json!({"color": "red"})), &write("kim", &s), false).unwrap();
    assert_eq!(three, two);
}

#[test]
fn the_first_apply_of_an_untracked_object_finds_its_fields_owned() {
    let s = schema();
    let mut one = config(json!({"size": 1}));
    one["metadata"]["uid"] = json!("u");
    let refused = apply(Some(&one), &config(json!({"size": 2})), &write("kim", &s), false).unwrap_err();
    assert!(refused.message.contains(r#""before-first-apply" using d/v1"#), "{}", refused.message);
}

#[test]
fn a_reset_forgets_every_owner_and_an_unchanged_write_forgets_none() {
    let s = schema();
    let one = apply(None, &config(json!({"size": 1})), &write("kim", &s), false).unwrap();
    let mut same = one.clone();
    same["metadata"].as_object_mut().unwrap().remove("managedFields");
    track(Some(&one), &mut same, &write("lee", &s));
    assert_eq!(same, one);
    same["metadata"]["managedFields"] = json!([{}]);
    track(Some(&one), &mut same, &write("lee", &s));
    assert_eq!(same["metadata"].get("managedFields"), None);
}

#[test]
fn an_unknown_field_is_an_error_without_a_reason() {
    let s = schema();
    let refused = apply(None, &config(json!({"flavour": "sweet"})), &write("kim", &s), false).unwrap_err();
    assert_eq!((refused.code, refused.reason.as_str()), (500, ""));
    assert!(refused.message.ends_with(".spec.flavour: field not declared in schema"));
}

#[test]
fn what_an_endpoint_resets_cannot_be_owned_through_it() {
    let s = schema();
    let mut with_status = config(json!({"size": 1}));
    with_status["status"] = json!({"phase": "Sent"});
    let one = apply(None, &with_status, &write("kim", &s), false).unwrap();
    assert_eq!(one["metadata"]["managedFields"][0]["fieldsV1"], json!({"f:spec": {"f:size": {}}}));
}
