//! Definitions in the manner of well-known projects register as they are, take their custom resource, and point at a
//! slip of the keyboard however deep it stands.

use engine::api::crd::validate;
use engine::api::message::{Body, Method, Request, Response, User};
use engine::api::schema::structural::Structural;
use engine::api::schema::{self, cel, field::FieldError, text};
use engine::api::server::{ApiServer, Profile};
use engine::time::{SimTime, Span};
use serde_json::{Value, json};
use std::sync::Arc;

struct Kind {
    schema: Arc<Structural>,
    rules: cel::CompiledRules,
    example: Value,
}

fn read(text: &str) -> Value {
    let (value, twice) = text::parse(text, true).expect("a YAML manifest");
    assert_eq!(twice, [""; 0]);
    value
}

/// Registers a definition and keeps its first version with an example of it.
fn kind(definition: &str, example: &str) -> Kind {
    let mut definition = read(definition);
    let mut unknown = Vec::new();
    for version in definition["spec"]["versions"].as_array_mut().unwrap() {
        validate::decode_schema(&mut version["schema"]["openAPIV3Schema"], "schema", &mut unknown).unwrap();
    }
    definition["status"] = json!({"storedVersions": ["v1"]});
    let faults: Vec<String> = validate::validate(&definition).iter().map(ToString::to_string).collect();
    assert_eq!((faults, unknown, validate::warnings(&definition)), (vec![], vec![], vec![]));
    let schema = Structural::parse(&definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]).unwrap();
    Kind { rules: cel::compile_quietly(&schema, true), schema, example: read(example) }
}

impl Kind {
    /// What becomes of an object on its way in: the object, what was unknown, what is wrong.
    fn write(&self, mut object: Value) -> (Value, Vec<String>, Vec<FieldError>) {
        let mut unknown = Vec::new();
        schema::coerce_embedded(&self.schema, &mut object, &mut unknown).unwrap();
        unknown.extend(schema::prune(&self.schema, &mut object));
        schema::drop_nulls(&self.schema, &mut object);
        schema::default(&self.schema, &mut object);
        let (mut errors, mut warnings) = (Vec::new(), Vec::new());
        schema::validate_custom(&self.schema, &self.rules, &object, None, &mut errors, &mut warnings);
        (object, unknown, errors)
    }

    /// The example with one value put at a JSON pointer.
    fn with(&self, pointer: &str, value: Value) -> Value {
        let mut object = self.example.clone();
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        let parent = object.pointer_mut(parent).unwrap_or_else(|| panic!("{parent} is not in the example"));
        match parent {
            Value::Array(list) => list[name.parse::<usize>().unwrap()] = value,
            parent => parent[name] = value,
        }
        object
    }

    fn unknown(&self, pointer: &str) -> Vec<String> {
        self.write(self.with(pointer, json!("x"))).1
    }

    fn causes(&self, pointer: &str, value: Value) -> Vec<(String, &'static str)> {
        let errors = self.write(self.with(pointer, value)).2;
        errors.iter().map(|e| (e.field().to_string(), e.kind.reason().trim_start_matches("FieldValue"))).collect()
    }
}

fn keystore() -> Kind {
    kind(include_str!("../manifests/keystore-crd.yaml"), include_str!("../manifests/keystore.yaml"))
}
fn certificate() -> Kind {
    kind(include_str!("../manifests/certificate-crd.yaml"), include_str!("../manifests/certificate.yaml"))
}
fn pipeline() -> Kind {
    kind(include_str!("../manifests/pipeline-crd.yaml"), include_str!("../manifests/pipeline.yaml"))
}

#[test]
fn examples_are_taken_as_they_are() {
    for kind in [keystore(), certificate(), pipeline()] {
        let (_, unknown, errors) = kind.write(kind.example.clone());
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!((unknown, errors), (vec![], vec![]));
    }
}

#[test]
fn defaults_reach_into_lists_and_maps() {
    let (object, ..) = keystore().write(keystore().example);
    assert_eq!(object["spec"]["ports"][1]["protocol"], "TCP");
    assert_eq!(object["spec"]["storage"], json!({"size": "10Gi", "className": null, "retain": true}));
    assert_eq!(object["spec"]["backup"]["keep"], 7);
    let (object, ..) = pipeline().write(pipeline().example);
    assert_eq!(object["spec"]["parameters"][0]["type"], "string");
    assert_eq!(object["spec"]["stages"][1]["retries"], 0);
    let (object, ..) = certificate().write(certificate().example);
    assert_eq!(object["spec"]["privateKey"]["encoding"], "PKCS1");
}

#[test]
fn a_typo_in_a_nested_field_is_pointed_at() {
    assert_eq!(keystore().unknown("/spec/ports/1/portt"), ["spec.ports[1].portt"]);
    assert_eq!(keystore().unknown("/spec/backup/target/buckett"), ["spec.backup.target.buckett"]);
    assert_eq!(keystore().unknown("/spec/affinity/anything"), [""; 0]);
    assert_eq!(certificate().unknown("/spec/issuerRef/nmae"), ["spec.issuerRef.nmae"]);
    let pkcs12 = "/spec/keystores/pkcs12/passwordSecretRef/keyy";
    assert_eq!(certificate().unknown(pkcs12), ["spec.keystores.pkcs12.passwordSecretRef.keyy"]);
    let step = "/spec/stages/0/steps/0";
    let at = "spec.stages[0].steps[0]";
    assert_eq!(pipeline().unknown(&format!("{step}/imagee")), [format!("{at}.imagee")]);
    let env = format!("{step}/env/1/valueFrom/secretKeyRef/naem");
    assert_eq!(pipeline().unknown(&env), [format!("{at}.env[1].valueFrom.secretKeyRef.naem")]);
    let claim = "/spec/workspaces/0/claimTemplate";
    assert_eq!(pipeline().unknown(&format!("{claim}/specc")), ["spec.workspaces[0].claimTemplate.specc"]);
    let meta = format!("{claim}/metadata/lables");
    assert_eq!(pipeline().unknown(&meta), ["spec.workspaces[0].claimTemplate.metadata.lables"]);
    assert_eq!(pipeline().unknown("/spec/notifications/chat/urll"), ["spec.notifications.chat.urll"]);
}

#[test]
fn a_wrong_value_in_a_nested_field_is_pointed_at() {
    let invalid = |path: &str| vec![(path.to_string(), "Invalid")];
    assert_eq!(keystore().causes("/spec/ports/1/port", json!(0)), invalid("spec.ports[1].port"));
    assert_eq!(keystore().causes("/spec/config/x", json!(1))[0], ("spec.config.x".to_string(), "TypeInvalid"));
    assert_eq!(certificate().causes("/spec/dnsNames/1", json!("-"))[0], ("spec.dnsNames[1]".to_string(), "Invalid"));
    let limit = "/spec/stages/0/steps/0/resources/limits/memory";
    let at = "spec.stages[0].steps[0].resources.limits.memory";
    assert_eq!(pipeline().causes(limit, json!("lots")), invalid(at));
    assert_eq!(pipeline().causes("/spec/stages/1/name", json!("build"))[0].0, "spec.stages[1]");
    let kind = "/spec/workspaces/0/claimTemplate/kind";
    assert_eq!(pipeline().causes(kind, json!("No Kind"))[0].0, "spec.workspaces[0].claimTemplate.kind");
}

#[test]
fn rules_over_several_fields_are_kept() {
    assert_eq!(keystore().causes("/spec/replicas", json!(1)), [("spec.replicas".to_string(), "Invalid")]);
    assert_eq!(keystore().causes("/spec/mode", json!("single")), [("spec.shards".to_string(), "Invalid")]);
    assert_eq!(
        certificate().causes("/spec/renewBefore", json!("900h")),
        [("spec.renewBefore".to_string(), "Forbidden")]
    );
    assert_eq!(pipeline().causes("/spec/stages/1/after", json!(["nothing"])), [("spec".to_string(), "Invalid")]);
    assert_eq!(pipeline().causes("/spec/stages/1/steps/0/image", json!("x")), [("spec".to_string(), "Invalid")]);
}

/// A server in which a definition, sent as the YAML it is written in, was established, and its namespace made.
fn server_with(definition: &str) -> ApiServer {
    let mut server = ApiServer::new(1, Profile::default());
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?fieldValidation=Strict";
    let answer = send(&mut server, path, Body::Text(definition.into()));
    assert_eq!((answer.code, answer.warnings.len()), (201, 0), "{}", answer.body);
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}});
    assert_eq!(send(&mut server, "/api/v1/namespaces", Body::Json(Arc::new(namespace))).code, 201);
    for second in 11..20 {
        server.tick(SimTime::ZERO + Span::secs(second));
    }
    server
}

fn send(server: &mut ApiServer, path: &str, body: Body) -> Response {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let mut request = Request::new(Method::Post, path);
    request.query = query.split('&').filter_map(|q| q.split_once('=')).map(|(k, v)| (k.into(), v.into())).collect();
    request.content_type = "application/yaml".to_string();
    request.user = User { name: "admin".into(), groups: vec!["system:masters".into()] };
    request.body = body;
    server.handle(SimTime::ZERO + Span::secs(10), &request)
}

#[test]
fn the_server_points_at_a_typo_in_what_a_person_pastes() {
    let kinds = [
        (include_str!("../manifests/keystore-crd.yaml"), "/apis/data.demo.example/v1/namespaces/shop/keystores"),
        (include_str!("../manifests/certificate-crd.yaml"), "/apis/pki.demo.example/v1/namespaces/shop/certificates"),
        (include_str!("../manifests/pipeline-crd.yaml"), "/apis/build.demo.example/v1/pipelines"),
    ];
    let examples = [
        (
            include_str!("../manifests/keystore.yaml"),
            "targetPort: 9121",
            "targetPorts: 9121",
            "spec.ports[1].targetPorts",
        ),
        (include_str!("../manifests/certificate.yaml"), "kind: ClusterIssuer", "kid: x", "spec.issuerRef.kid"),
        (
            include_str!("../manifests/pipeline.yaml"),
            "mountPath",
            "mntPath",
            "spec.stages[0].steps[0].volumeMounts[0].mntPath",
        ),
    ];
    for ((definition, path), (example, word, typo, place)) in kinds.into_iter().zip(examples) {
        let mut server = server_with(definition);
        let wrong: Arc<str> = example.replace(word, typo).into();
        let strict = send(&mut server, &format!("{path}?fieldValidation=Strict"), Body::Text(wrong.clone()));
        let message = strict.status().expect("a refusal").message;
        assert!(strict.code == 400 && message.contains(&format!("unknown field \"{place}\"")), "{message}");
        let warned = send(&mut server, &format!("{path}?dryRun=All"), Body::Text(wrong));
        assert_eq!(warned.warnings, [format!("unknown field \"{place}\"")], "{}", warned.body);
        let right = send(&mut server, &format!("{path}?fieldValidation=Strict"), Body::Text(example.into()));
        assert_eq!((right.code, right.warnings.len()), (201, 0), "{}", right.body);
    }
}

#[test]
fn the_server_points_at_a_typo_in_a_definition() {
    let mut server = ApiServer::new(1, Profile::default());
    let wrong = include_str!("../manifests/pipeline-crd.yaml").replacen("maxLength: 64", "maxLenght: 64", 1);
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?fieldValidation=Strict";
    let answer = send(&mut server, path, Body::Text(wrong.into()));
    let message = answer.status().expect("a refusal").message;
    let place = "properties.spec.properties.parameters.items.properties.name.maxLenght";
    assert!(answer.code == 400 && message.contains(place), "{message}");
}
