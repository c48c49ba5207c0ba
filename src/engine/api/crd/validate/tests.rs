//! The claims of a definition's validation.

use super::*;
use serde_json::json;

fn definition(schema: Value) -> Value {
    let version = json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}});
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "caches.demo.example"},
        "spec": {"group": "demo.example", "scope": "Namespaced", "versions": [version],
            "names": {"plural": "caches", "singular": "cache", "kind": "Cache", "listKind": "CacheList"}},
        "status": {"storedVersions": ["v1"]}})
}

fn with_spec(properties: Value) -> Value {
    definition(json!({"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}}))
}

/// The causes below `spec.validation.openAPIV3Schema.properties[spec].`, kind and rest of the path.
fn causes(object: &Value) -> Vec<String> {
    let mut found: Vec<String> = validate(object)
        .into_iter()
        .map(|e| {
            let path =
                e.path.replace("spec.validation.openAPIV3Schema", "S").replace("S.properties[spec].properties", "P");
            format!("{} {path}", e.kind.reason().trim_start_matches("FieldValue"))
        })
        .collect();
    found.sort();
    found
}

#[test]
fn a_plain_definition_is_good() {
    assert_eq!(causes(&with_spec(json!({"a": {"type": "string"}}))), [""; 0]);
}

#[test]
fn types_and_items_are_asked_for_everywhere_at_once() {
    let object =
        with_spec(json!({"a": {}, "l": {"type": "array"}, "m": {"type": "object", "additionalProperties": {}}}));
    assert_eq!(
        causes(&object),
        ["Required P[a].type", "Required P[l].items", "Required P[m].additionalProperties.type"]
    );
    assert_eq!(causes(&definition(json!({"type": "string"}))), ["Invalid S.type"]);
    assert_eq!(causes(&definition(json!({}))), ["Required S.type"]);
}

#[test]
fn inside_junctors_only_values_are_judged() {
    let object =
        with_spec(json!({"a": {"type": "string", "anyOf": [{"type": "string"}, {"maxLength": 3, "default": "x"}]}}));
    assert_eq!(causes(&object), ["Forbidden P[a].anyOf[0].type", "Forbidden P[a].anyOf[1].default"]);
    let wordy = json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]});
    assert_eq!(causes(&with_spec(json!({"a": wordy}))), [""; 0]);
    let swapped = json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "string"}, {"type": "integer"}]});
    assert_eq!(causes(&with_spec(json!({"a": swapped}))).len(), 2);
}

#[test]
fn a_field_named_in_a_branch_of_the_root_is_declared_outside() {
    let object = definition(json!({"type": "object", "oneOf": [{"properties": {"other": {"minLength": 1}}}]}));
    assert_eq!(causes(&object), ["Required S.properties[other]"]);
}

#[test]
fn the_keys_of_a_map_list_are_declared_scalars_that_are_always_there() {
    let with = |items: Value, keys: Value| {
        with_spec(json!({"p": {"type": "array", "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": keys, "items": items}}))
    };
    let item = |sort: &str| json!({"type": "object", "properties": {"n": {"type": sort}}, "required": ["n"]});
    assert_eq!(causes(&with(item("string"), json!(["n"]))), [""; 0]);
    assert_eq!(causes(&with(item("string"), json!([]))), ["Required P[p].x-kubernetes-list-map-keys"]);
    assert_eq!(causes(&with(item("string"), json!(["z"]))), ["Invalid P[p].x-kubernetes-list-map-keys"]);
    assert_eq!(causes(&with(item("object"), json!(["n"]))), ["Invalid P[p].items.properties[n].type"]);
    assert_eq!(causes(&with(json!({"type": "string"}), json!(["n"]))), ["Invalid P[p].items.type"]);
}

#[test]
fn a_default_is_held_to_its_own_node_as_written() {
    let with = |node: Value| causes(&with_spec(json!({"o": node})));
    assert_eq!(with(json!({"type": "integer", "default": "x"})), ["TypeInvalid P[o].default"]);
    assert_eq!(
        with(json!({"type": "object", "default": {"z": 1}, "properties": {"a": {"type": "integer"}}})),
        ["Invalid P[o].default"]
    );
    let inner = json!({"a": {"type": "integer", "default": 1}});
    assert_eq!(
        with(json!({"type": "object", "default": {}, "required": ["a"], "properties": inner})),
        ["Required P[o].default.a"]
    );
    let rule = json!([{"rule": "self % 2 == 0"}]);
    assert_eq!(
        with(json!({"type": "integer", "default": 3, "x-kubernetes-validations": rule})),
        ["Invalid P[o].default"]
    );
}

#[test]
fn what_all_versions_say_alike_is_reported_at_the_top() {
    let mut object = with_spec(json!({"a": {}}));
    let mut second = object["spec"]["versions"][0].clone();
    second["name"] = json!("v2");
    second["storage"] = json!(false);
    object["spec"]["versions"].as_array_mut().unwrap().push(second);
    assert_eq!(causes(&object), ["Required P[a].type"]);
    object["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"] = json!({});
    let wanted = "Required spec.versions[1].schema.openAPIV3Schema.properties[spec].properties[a].type";
    assert_eq!(causes(&object), [wanted]);
}

#[test]
fn scope_and_kind_are_fixed_once_established_and_group_and_plural_always() {
    let old = with_spec(json!({}));
    let mut new = old.clone();
    new["spec"]["scope"] = json!("Cluster");
    new["spec"]["names"]["kind"] = json!("Store");
    new["spec"]["names"]["plural"] = json!("stores");
    let fields = |old: &Value| validate_update(&new, old).into_iter().map(|e| e.path).collect::<Vec<_>>();
    assert_eq!(fields(&old), ["spec.names.plural"]);
    let mut established = old.clone();
    established["status"]["conditions"] = json!([{"type": "Established", "status": "True"}]);
    assert_eq!(fields(&established), ["spec.names.plural", "spec.scope", "spec.names.kind"]);
}

#[test]
fn a_conversion_by_webhook_needs_one_address_and_a_known_review() {
    let with = |conversion: Value| {
        let mut object = with_spec(json!({}));
        object["spec"]["conversion"] = conversion;
        causes(&object)
    };
    assert_eq!(
        with(json!({"strategy": "Webhook"})),
        ["Required spec.conversion.conversionReviewVersions", "Required spec.conversion.webhookClientConfig"]
    );
    let hook = |client: Value| {
        with(json!({"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": client}}))
    };
    assert_eq!(hook(json!({"url": "https://x.example/c"})), [""; 0]);
    assert_eq!(hook(json!({"url": "http://x.example/c"})), ["Invalid spec.conversion.webhookClientConfig.url"]);
    assert_eq!(
        hook(json!({"url": "https://x.example/c", "service": {"name": "s", "namespace": "n"}})),
        ["Required spec.conversion.webhookClientConfig"]
    );
}

#[test]
fn hostile_definitions_are_judged_without_panic() {
    for spec in [json!(null), json!([]), json!({"versions": {}}), json!({"versions": [1, null, {"schema": []}]})] {
        assert!(!validate(&json!({"spec": spec})).is_empty());
    }
}

#[test]
fn selectable_fields_are_declared_scalars_each_once_and_at_most_eight() {
    let with = |paths: &[&str]| {
        let map = json!({"type": "object", "additionalProperties": {"type": "string"}});
        let mut object =
            with_spec(json!({"a": {"type": "string"}, "m": map, "l": {"type": "array", "items": {"type": "string"}}}));
        let fields: Vec<Value> = paths.iter().map(|p| json!({"jsonPath": p})).collect();
        object["spec"]["versions"][0]["selectableFields"] = json!(fields);
        causes(&object)
    };
    assert_eq!(with(&[".spec.a", ".spec.m.k"]), [""; 0]);
    let bad = ["Invalid spec.selectableFields[0].jsonPath"];
    for path in [".spec", ".spec.zz", ".spec.l[0]", "spec.a", ".metadata.labels", ".spec..a"] {
        assert_eq!(with(&[path]), bad, "{path}");
    }
    assert_eq!(with(&[".spec.a", ".spec.a"]), ["Duplicate spec.selectableFields[1].jsonPath"]);
    assert!(with(&[".spec.a"; 9]).contains(&"TooMany spec.selectableFields".to_string()));
}

#[test]
fn the_root_carries_little_when_status_is_a_subresource() {
    let with = |schema: Value| {
        let mut object = definition(schema);
        object["spec"]["versions"][0]["subresources"] = json!({"status": {}});
        causes(&object)
    };
    assert_eq!(with(json!({"type": "object", "required": ["spec"], "description": "d"})), [""; 0]);
    assert_eq!(with(json!({"type": "object", "minProperties": 1})), ["Invalid S"]);
    assert_eq!(with(json!({"type": "object", "nullable": true})), ["Forbidden S.nullable", "Invalid S"]);
    assert_eq!(causes(&definition(json!({"type": "object", "minProperties": 1}))), [""; 0]);
}

#[test]
fn metadata_at_the_root_restricts_names_only() {
    let with = |metadata: Value| causes(&definition(json!({"type": "object", "properties": {"metadata": metadata}})));
    assert_eq!(with(json!({"type": "object", "properties": {"name": {"type": "string", "maxLength": 9}}})), [""; 0]);
    assert_eq!(with(json!({"type": "object", "required": ["name"]})), ["Forbidden S.properties[metadata]"]);
    let labels = json!({"type": "object", "properties": {"labels": {"type": "object"}}});
    assert_eq!(with(labels), ["Forbidden S.properties[metadata]"]);
    let named = json!({"type": "object", "properties": {"name": {"type": "string", "default": "x"}}});
    assert_eq!(with(named), ["Forbidden S.properties[metadata].properties[name].default"]);
}

#[test]
fn keywords_that_the_server_does_not_take_are_refused() {
    let with = |node: Value| causes(&with_spec(json!({"a": node})));
    assert_eq!(with(json!({"type": "string", "$ref": "#/x"})), ["Forbidden P[a].$ref"]);
    let unique = json!({"type": "array", "items": {"type": "string"}, "uniqueItems": true});
    assert_eq!(with(unique), ["Forbidden P[a].uniqueItems"]);
    assert_eq!(with(json!({"type": "text"})), ["NotSupported P[a].type"]);
    let free = "x-kubernetes-preserve-unknown-fields";
    assert_eq!(with(json!({"type": "object", free: false})), [format!("Invalid P[a].{free}")]);
    let both = json!({"type": "object", "properties": {"x": {"type": "string"}}, "additionalProperties": true});
    assert_eq!(with(both), [""; 0]);
}

#[test]
fn a_kubernetes_group_needs_a_word_of_approval() {
    let with = |value: Option<&str>| {
        let mut object = with_spec(json!({}));
        object["metadata"] = json!({"name": "caches.x.k8s.io", "annotations": {API_APPROVED: value}});
        object["spec"]["group"] = json!("x.k8s.io");
        causes(&object)
    };
    assert_eq!(with(None), ["Required metadata.annotations[api-approved.kubernetes.io]"]);
    assert_eq!(with(Some("perhaps")), ["Invalid metadata.annotations[api-approved.kubernetes.io]"]);
    assert_eq!(with(Some("unapproved, a test")), [""; 0]);
    assert_eq!(with(Some("https://x.example/1")), [""; 0]);
}
