//! Schemas and objects with all kinds of damage: whatever comes is judged, and nothing panics or runs off the stack.

use engine::api::crd::validate;
use engine::api::schema::structural::{DEPTH_MAX, Structural};
use engine::api::schema::{self, cel, text};
use engine::rng::Rng;
use serde_json::{Map, Value, json};

const MUTATIONS: u64 = 100_000;

const KEYWORDS: [&str; 32] = [
    "type",
    "properties",
    "items",
    "additionalProperties",
    "default",
    "nullable",
    "required",
    "enum",
    "pattern",
    "format",
    "minimum",
    "maximum",
    "multipleOf",
    "maxLength",
    "minItems",
    "maxProperties",
    "anyOf",
    "allOf",
    "oneOf",
    "not",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-map-type",
    "x-kubernetes-validations",
    "metadata",
    "$ref",
    "uniqueItems",
    "apiVersion",
    "k",
];

/// Small schemas, each about one thing, around the fields of `seed_object`.
fn seed_schema(nth: u64) -> Value {
    let properties = match nth % 4 {
        0 => json!({"n": {"type": "integer", "minimum": 1, "default": 2},
            "l": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string", "maxLength": 9}}}),
        1 => json!({"n": {"type": "integer"}, "m": {"type": "array", "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["k"],
            "items": {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}}}}}),
        2 => json!({"t": {"type": "object", "x-kubernetes-embedded-resource": true,
                "x-kubernetes-preserve-unknown-fields": true},
            "i": {"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]}}),
        _ => {
            json!({"a": {"type": "object", "additionalProperties": {"type": "number", "nullable": true, "multipleOf": 0.5}},
            "o": {"type": "string", "format": "date-time", "oneOf": [{"minLength": 1}, {"pattern": "^a"}]}})
        }
    };
    let rules =
        if nth.is_multiple_of(4) { json!([{"rule": "self.n > 0 && self.l.all(x, x != '')"}]) } else { json!([]) };
    json!({"type": "object", "properties": {"spec": {"type": "object", "properties": properties,
        "x-kubernetes-validations": rules}}})
}

fn seed_object() -> Value {
    json!({"apiVersion": "demo.example/v1", "kind": "A", "metadata": {"name": "a", "labels": {"a": "b"}}, "spec": {
        "n": 1, "l": ["a", "b"], "m": [{"k": "x"}, {"k": "y"}], "a": {"x": 1.5, "y": null}, "i": "50%",
        "t": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}, "o": "2024-01-01T00:00:00Z"}})
}

fn scalar(rng: &mut Rng) -> Value {
    match rng.below(14) {
        0 => Value::Null,
        1 => json!(true),
        2 => json!(-1),
        3 => json!(i64::MIN),
        4 => json!(u64::MAX),
        5 => json!(1e300),
        6 => json!(0.5),
        7 => json!(""),
        8 => json!("set"),
        9 => json!("map"),
        10 => json!("object"),
        11 => json!("array"),
        12 => json!("(a*)*$"),
        _ => json!("self.n == oldSelf.n"),
    }
}

fn value(rng: &mut Rng) -> Value {
    match rng.below(8) {
        0 => json!([scalar(rng), scalar(rng)]),
        1 => json!({"k": scalar(rng), "type": scalar(rng)}),
        2 => json!([{"rule": scalar(rng), "message": scalar(rng), "optionalOldSelf": true}]),
        3 => json!({"type": "string"}),
        _ => scalar(rng),
    }
}

/// Damages one place: goes down at random and replaces, removes, adds or wraps what it finds there.
fn damage(rng: &mut Rng, at: &mut Value) {
    let down = rng.below(5) > 0;
    match at {
        Value::Object(map) if down && !map.is_empty() => {
            let nth = rng.below(map.len() as u64) as usize;
            return damage(rng, map.values_mut().nth(nth).expect("counted above"));
        }
        Value::Array(list) if down && !list.is_empty() => {
            let nth = rng.below(list.len() as u64) as usize;
            return damage(rng, &mut list[nth]);
        }
        _ => {}
    }
    let keyword = KEYWORDS[rng.below(KEYWORDS.len() as u64) as usize];
    match (rng.below(4), at) {
        (0, Value::Object(map)) => {
            map.insert(keyword.to_string(), value(rng));
        }
        (1, Value::Object(map)) => {
            let first = map.keys().next().cloned();
            first.map(|name| map.remove(&name));
        }
        (2, at) => *at = Value::Object(Map::from_iter([(keyword.to_string(), at.take())])),
        (_, at) => *at = value(rng),
    }
}

/// What a definition goes through.
fn register(schema: &Value) {
    let typed = validate::decode_schema(&mut schema.clone(), "schema", &mut Vec::new());
    let definition = json!({"metadata": {"name": "as.demo.example"}, "spec": {"group": "demo.example",
        "versions": [{"name": "v1", "storage": true, "schema": {"openAPIV3Schema": schema}}]}});
    assert!(!validate::validate(&definition).is_empty(), "the definition has no names: {typed:?}");
}

/// What an object goes through.
fn write(schema: &Value, object: &Value, old: Option<&Value>) {
    let Ok(tree) = Structural::parse(schema) else { return };
    let rules = cel::compile_quietly(&tree, true);
    let mut new = object.clone();
    let _ = schema::coerce_embedded(&tree, &mut new, &mut Vec::new());
    schema::prune(&tree, &mut new);
    assert!(schema::prune(&tree, &mut new).is_empty(), "pruning twice prunes no more");
    schema::drop_nulls(&tree, &mut new);
    schema::default(&tree, &mut new);
    schema::validate_custom(&tree, &rules, &new, old, &mut Vec::new(), &mut Vec::new());
    schema::settle_numbers(&mut new);
}

#[test]
fn a_hundred_thousand_damaged_schemas_and_objects_are_judged_without_panic() {
    let mut rng = Rng::new(7);
    let original = seed_object();
    let (mut schema, mut object) = (Value::Null, Value::Null);
    for round in 0..MUTATIONS {
        if round % 6 == 0 {
            (schema, object) = (seed_schema(round / 6), original.clone());
        }
        if round % 2 == 0 {
            damage(&mut rng, &mut schema);
            register(&schema);
        } else {
            damage(&mut rng, &mut object);
        }
        write(&schema, &object, (round % 4 < 2).then_some(&original));
    }
}

#[test]
fn nesting_beyond_every_bound_is_refused_and_does_not_run_off_the_stack() {
    let (mut deep_schema, mut deep) = (json!({"type": "string"}), json!({}));
    for _ in 0..=DEPTH_MAX {
        deep_schema = json!({"type": "object", "properties": {"a": deep_schema}});
        deep = json!({"a": [deep]});
    }
    register(&deep_schema);
    write(&deep_schema, &deep, None);
    write(&seed_schema(0), &json!({"spec": deep.clone()}), None);
    let deep_default = json!({"type": "object", "properties": {"spec": {"type": "object", "default": deep}}});
    register(&deep_default);
    write(&deep_default, &json!({}), None);
    assert!(text::parse(&"[".repeat(200_000), false).is_err());
    assert!(text::parse(&"{\"a\":".repeat(200_000), false).is_err());
}

#[test]
fn a_default_cannot_blow_up_an_object() {
    let item = json!({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"},
        "default": vec![0; 10_000]}}});
    let tree = Structural::parse(&json!({"type": "array", "items": item})).unwrap();
    let mut object = Value::Array(vec![json!({}); 100_000]);
    schema::default(&tree, &mut object);
    assert!(object[0]["a"].is_array() && object[99_999]["a"].is_null());
}
