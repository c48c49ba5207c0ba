//! Defaults and faults of ConfigMaps, Secrets, claims and Services.
//!
//! From kubernetes `pkg/apis/core/v1/defaults.go` and `pkg/apis/core/validation/validation.go`.
//!
//! Divergence from Kubernetes: Services get no cluster address.

use crate::api::schema::field::FieldError;
use crate::object::{self, ObjectView};
use serde_json::{Value, json};

/// Most bytes of data in one ConfigMap or Secret. Source: `pkg/apis/core/types.go`, `MaxSecretSize`.
const DATA_MAX: usize = 1024 * 1024;
/// Longest key. Source: apimachinery `pkg/util/validation/validation.go`, `IsConfigMapKey`.
const KEY_MAX: usize = 253;
const KEY_SHAPE: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or \
                         'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
const SEALED: &str = "field is immutable when `immutable` is set";
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn fill(object: &mut Value, field: &str, value: Value) {
    if object.get(field).is_none_or(Value::is_null) {
        object[field] = value;
    }
}

fn base64(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let digit = ALPHABET[(word >> (18 - 6 * place) & 63) as usize];
            out.push(if place > chunk.len() { '=' } else { char::from(digit) });
        }
    }
    out
}

/// Text goes in readable and is kept encoded.
pub fn default_secret(secret: &mut Value) {
    let Some(fields) = secret.as_object_mut() else { return };
    if let Some(Value::Object(texts)) = fields.remove("stringData") {
        for (key, text) in texts {
            object::set(secret, &["data", &key], Value::from(base64(text.as_str().unwrap_or("").as_bytes())));
        }
    }
    fill(secret, "type", json!("Opaque"));
}

fn data_faults(object: &Value, fields: &[&str]) -> Vec<FieldError> {
    let mut faults = Vec::new();
    let mut size = 0;
    let maps = || fields.iter().filter_map(|field| Some((*field, object.get(field)?.as_object()?)));
    for (field, map) in maps() {
        for (key, value) in map {
            let path = format!("{field}[{key}]");
            size += value.as_str().map_or(0, str::len);
            let shaped = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
            if key.len() > KEY_MAX {
                faults.push(FieldError::invalid_text(&path, key, format!("must be no more than {KEY_MAX} characters")));
            }
            if !shaped {
                faults.push(FieldError::invalid_text(&path, key, KEY_SHAPE));
            } else if key == "." {
                faults.push(FieldError::invalid_text(&path, key, "must not be '.'"));
            } else if key.starts_with("..") {
                let why = if key == ".." { "must not be '..'" } else { "must not start with '..'" };
                faults.push(FieldError::invalid_text(&path, key, why));
            }
            if field == "binaryData" && object.at(&["data", key]).is_some() {
                let why = "duplicate of key present in data";
                faults.push(FieldError::invalid_text(&path, key, why));
            }
        }
    }
    if size > DATA_MAX {
        faults.push(FieldError::too_long("", DATA_MAX));
    }
    faults
}

/// Data that was sealed stays, and so does the seal.
fn sealed_faults(new: &Value, old: &Value, fields: &[&str]) -> Vec<FieldError> {
    if old.get("immutable") != Some(&Value::Bool(true)) {
        return Vec::new();
    }
    let changed = |field: &&&str| new.get(**field) != old.get(**field);
    std::iter::once(&"immutable")
        .chain(fields)
        .filter(changed)
        .map(|field| FieldError::forbidden(*field, SEALED))
        .collect()
}

pub fn config_map(map: &Value) -> Vec<FieldError> {
    data_faults(map, &["data", "binaryData"])
}

pub fn config_map_update(new: &Value, old: &Value) -> Vec<FieldError> {
    let mut faults = sealed_faults(new, old, &["data", "binaryData"]);
    faults.extend(config_map(new));
    faults
}

pub fn secret(secret: &Value) -> Vec<FieldError> {
    data_faults(secret, &["data"])
}

pub fn secret_update(new: &Value, old: &Value) -> Vec<FieldError> {
    let mut faults = Vec::new();
    if new.get("type") != old.get("type") {
        faults.push(FieldError::invalid_text("type", new.text(&["type"]), "field is immutable"));
    }
    faults.extend(sealed_faults(new, old, &["data"]));
    faults.extend(secret(new));
    faults
}

pub fn default_claim(claim: &mut Value) {
    if let Some(spec) = claim.get_mut("spec").filter(|s| s.is_object()) {
        fill(spec, "volumeMode", json!("Filesystem"));
    }
}

pub fn claim(claim: &Value) -> Vec<FieldError> {
    let mut faults = Vec::new();
    if claim.list(&["spec", "accessModes"]).is_empty() {
        faults.push(FieldError::required("spec.accessModes", "at least 1 access mode is required"));
    }
    for (at, mode) in claim.list(&["spec", "accessModes"]).iter().enumerate() {
        let known = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
        if !mode.as_str().is_some_and(|m| known.contains(&m)) {
            faults.push(FieldError::not_supported(format!("spec.accessModes[{at}]"), mode, &known));
        }
    }
    if claim.at(&["spec", "resources", "requests", "storage"]).is_none() {
        faults.push(FieldError::required("spec.resources[storage]", ""));
    }
    faults
}

/// Of a claim only the size, the class of its attributes and the volume it was bound to may change.
pub fn claim_update(new: &Value, old: &Value) -> Vec<FieldError> {
    let fixed = |claim: &Value| {
        let mut spec = claim.get("spec").cloned().unwrap_or_default();
        object::remove(&mut spec, &["resources", "requests"]);
        object::remove(&mut spec, &["volumeAttributesClassName"]);
        if old.text(&["spec", "volumeName"]).is_empty() {
            object::remove(&mut spec, &["volumeName"]);
        }
        spec
    };
    let mut faults = claim(new);
    if fixed(new) != fixed(old) {
        let why =
            "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
        faults.push(FieldError::forbidden("spec", why));
    }
    faults
}

pub fn default_service(service: &mut Value) {
    let Some(spec) = service.get_mut("spec").filter(|s| s.is_object()) else { return };
    fill(spec, "sessionAffinity", json!("None"));
    fill(spec, "type", json!("ClusterIP"));
    if spec.text(&["type"]) != "ExternalName" {
        fill(spec, "internalTrafficPolicy", json!("Cluster"));
    }
    for port in spec.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten().filter(|p| p.is_object()) {
        fill(port, "protocol", json!("TCP"));
        let number = port.get("port").cloned().unwrap_or_default();
        if !number.is_null() {
            fill(port, "targetPort", number);
        }
    }
}

pub fn service(service: &Value) -> Vec<FieldError> {
    let mut faults = Vec::new();
    let (kind, ports) = (service.text(&["spec", "type"]), service.list(&["spec", "ports"]));
    let headless = service.text(&["spec", "clusterIP"]) == "None";
    if ports.is_empty() && !headless && kind != "ExternalName" {
        faults.push(FieldError::required("spec.ports", ""));
    }
    for (at, port) in ports.iter().enumerate() {
        let path = format!("spec.ports[{at}]");
        if ports.len() > 1 && port.text(&["name"]).is_empty() {
            faults.push(FieldError::required(format!("{path}.name"), ""));
        }
        let number = port.int(&["port"]).unwrap_or(0);
        if !(1..=65_535).contains(&number) {
            let why = "must be between 1 and 65535, inclusive";
            faults.push(FieldError::invalid(format!("{path}.port"), &json!(number), why));
        }
    }
    let known = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
    if !known.contains(&kind) && !kind.is_empty() {
        faults.push(FieldError::not_supported("spec.type", &json!(kind), &known));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_a_secret_is_kept_encoded() {
        let mut secret = json!({"stringData": {"a": "pass", "b": "", "c": "abc"}, "data": {"a": "eA=="}});
        default_secret(&mut secret);
        assert_eq!(secret, json!({"type": "Opaque", "data": {"a": "cGFzcw==", "b": "", "c": "YWJj"}}));
    }

    #[test]
    fn keys_of_data_are_file_names() {
        let faults = config_map(&json!({"data": {"a b": "", "..x": "", "ok.txt": ""}, "binaryData": {"ok.txt": ""}}));
        let fields: Vec<&str> = faults.iter().map(|f| f.path.as_str()).collect();
        assert_eq!(fields, ["data[..x]", "data[a b]", "binaryData[ok.txt]"]);
    }

    #[test]
    fn a_sealed_map_takes_no_change_of_data_or_seal() {
        let old = json!({"immutable": true, "data": {"a": "1"}});
        assert_eq!(config_map_update(&json!({"data": {"a": "2"}}), &old).len(), 2);
        assert_eq!(config_map_update(&old, &old).len(), 0);
    }

    #[test]
    fn a_claim_names_mode_and_size_and_grows_only() {
        let good = json!({"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}});
        assert_eq!((claim(&json!({"spec": {}})).len(), claim(&good).len()), (2, 0));
        let mut more = good.clone();
        object::set(&mut more, &["spec", "resources", "requests", "storage"], json!("2Gi"));
        assert_eq!(claim_update(&more, &good).len(), 0);
        object::set(&mut more, &["spec", "storageClassName"], json!("x"));
        assert_eq!(claim_update(&more, &good).len(), 1);
    }

    #[test]
    fn a_service_has_ports_unless_it_is_headless() {
        let mut plain = json!({"spec": {"ports": [{"port": 80}]}});
        default_service(&mut plain);
        assert_eq!(plain["spec"]["ports"][0], json!({"port": 80, "protocol": "TCP", "targetPort": 80}));
        assert_eq!(service(&plain).len(), 0);
        assert_eq!(service(&json!({"spec": {}})).len(), 1);
        assert_eq!(service(&json!({"spec": {"clusterIP": "None"}})).len(), 0);
    }
}
