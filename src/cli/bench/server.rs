//! `bench server`: custom resources with a schema of 900 lines through the whole write path, and long lists.

use super::round;
use engine::api::message::{Method, Request, Response, User};
use engine::api::server::{ApiServer, Profile};
use engine::manifest;
use engine::time::{SimTime, Span};
use engine::yaml::to_yaml;
use serde_json::{Value, json};
use std::time::Instant;

const DEFINITION: &str = include_str!("../../../tests/manifests/keystore-crd.yaml");
const EXAMPLE: &str = include_str!("../../../tests/manifests/keystore.yaml");
const COLLECTION: &str = "/apis/data.demo.example/v1/namespaces/default/keystores";
const SCHEMA_LINES: usize = 900;
const CREATES: usize = 10_000;
const LISTED: usize = 5_000;
const LISTS: u32 = 10;

pub fn measure() -> Result<Value, String> {
    let mut server = ApiServer::new(1, Profile::default());
    let (definition, parts) = definition()?;
    let lines = to_yaml(&definition["spec"]["versions"][0]["schema"]).lines().count();
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    send(&mut server, Request::new(Method::Post, path).body(definition))?;
    for second in 11..20 {
        server.tick(SimTime::ZERO + Span::secs(second));
    }
    let example = example(parts)?;
    let began = Instant::now();
    for n in 0..CREATES {
        let mut object = example.clone();
        object["metadata"] = json!({"name": format!("store-{n}"), "namespace": "default"});
        send(&mut server, Request::new(Method::Post, COLLECTION).body(object))?;
    }
    let creates = began.elapsed().as_secs_f64() * 1e3;
    let limit = LISTED.to_string();
    let began = Instant::now();
    for _ in 0..LISTS {
        let list = send(&mut server, Request::new(Method::Get, COLLECTION).query("limit", &limit))?;
        if list.body["items"].as_array().map(Vec::len) != Some(LISTED) {
            return Err(format!("a list of {LISTED} was expected"));
        }
    }
    let list = began.elapsed().as_secs_f64() * 1e3 / f64::from(LISTS);
    Ok(json!({"schema_lines": lines, "creates": CREATES, "creates_ms": creates.round(),
        "ms_per_create": round(creates / CREATES as f64), "list_of_5000_ms": round(list), "peak_mb": super::peak_mb()}))
}

fn send(server: &mut ApiServer, mut request: Request) -> Result<Response, String> {
    request.user = User { name: "admin".into(), groups: vec!["system:masters".into()] };
    let answer = server.handle(SimTime::ZERO + Span::secs(10), &request);
    match answer.status() {
        Some(status) => Err(format!("{}: {}", request.path, status.message)),
        None => Ok(answer),
    }
}

fn read(text: &str) -> Result<Value, String> {
    let documents = manifest::parse(text).map_err(|e| e.to_string())?;
    documents.into_iter().next().map(|d| d.value).ok_or_else(|| "an empty manifest".to_string())
}

/// The definition with its spec repeated under further fields until the schema is long enough; how often it is.
fn definition() -> Result<(Value, usize), String> {
    let mut definition = read(DEFINITION)?;
    let mut parts = 0;
    loop {
        let schema = &mut definition["spec"]["versions"][0]["schema"];
        if to_yaml(schema).lines().count() >= SCHEMA_LINES {
            return Ok((definition, parts));
        }
        let spec = schema["openAPIV3Schema"]["properties"]["spec"].clone();
        let copy = if parts == 0 { spec } else { schema["openAPIV3Schema"]["properties"]["part0"].clone() };
        schema["openAPIV3Schema"]["properties"][format!("part{parts}")] = copy;
        parts += 1;
    }
}

fn example(parts: usize) -> Result<Value, String> {
    let mut example = read(EXAMPLE)?;
    for n in 0..parts {
        example[format!("part{n}")] = example["spec"].clone();
    }
    Ok(example)
}
