//! How a definition converts between its versions.

use super::{established, list, one_of, present, text};
use crate::api::schema::cel::base64;
use crate::api::schema::field::FieldError;
use crate::api::schema::names::dns1035_label;
use crate::object::ObjectView;
use serde_json::Value;

/// Review versions that the server itself speaks.
const REVIEWS: [&str; 2] = ["v1", "v1beta1"];

pub fn validate(spec: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    let Some(conversion) = present(spec, "conversion") else { return };
    let strategy = text(conversion, "strategy");
    one_of(errors, "spec.conversion.strategy", strategy, &["None", "Webhook"]);
    let client = conversion.at(&["webhook", "clientConfig"]).filter(|c| !c.is_null());
    let reviews = list(conversion.at(&["webhook", "conversionReviewVersions"]));
    let (client_path, reviews_path) =
        ("spec.conversion.webhookClientConfig", "spec.conversion.conversionReviewVersions");
    if strategy != "Webhook" {
        let detail = "should not be set when strategy is not set to Webhook";
        if client.is_some() {
            errors.push(FieldError::forbidden(client_path, detail));
        }
        if !reviews.is_empty() {
            errors.push(FieldError::forbidden(reviews_path, detail));
        }
        return;
    }
    match client {
        None => errors.push(FieldError::required(client_path, "required when strategy is set to Webhook")),
        Some(client) => client_config(client, old, client_path, errors),
    }
    review_versions(reviews, reviews_path, errors);
}

fn client_config(client: &Value, old: Option<&Value>, path: &str, errors: &mut Vec<FieldError>) {
    match (present(client, "url"), present(client, "service")) {
        (Some(url), None) => url_faults(url.as_str().unwrap_or(""), &format!("{path}.url"), errors),
        (None, Some(service)) => service_faults(service, &format!("{path}.service"), errors),
        _ => errors.push(FieldError::required(path, "exactly one of url or service is required")),
    }
    // A broken bundle only keeps a definition from being established; once it is, none is let in any more.
    let bundle = |o: &Value| o.at(&["spec", "conversion", "webhook", "clientConfig", "caBundle"]).cloned();
    let tolerated = |o: &Value| !established(o) || bundle(o).is_some_and(|b| !bundle_is_good(&b));
    if present(client, "caBundle").is_some_and(|b| !bundle_is_good(b)) && !old.is_none_or(tolerated) {
        let detail = "unable to load root certificates: unable to parse bytes as PEM block";
        errors.push(FieldError::invalid_text(format!("{path}.caBundle"), text(client, "caBundle"), detail));
    }
}

/// Whether a bundle, base64 as it travels, could be certificates. An empty one is as good as none.
#[must_use]
pub fn bundle_is_good(bundle: &Value) -> bool {
    let Some(text) = bundle.as_str() else { return bundle.is_null() };
    let Some(pem) = decode(text).and_then(|bytes| String::from_utf8(bytes).ok()) else { return false };
    let (begin, end) = ("-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----");
    let inside = pem.split_once(begin).and_then(|(_, rest)| rest.split_once(end)).map(|(body, _)| body);
    text.is_empty()
        || inside.is_some_and(|body| decode(body).is_some_and(|der| der.first() == Some(&0x30) && der.len() > 64))
}

/// Decodes standard base64, line breaks ignored.
fn decode(text: &str) -> Option<Vec<u8>> {
    base64(&text.split_whitespace().collect::<String>())
}

fn url_faults(url: &str, path: &str, errors: &mut Vec<FieldError>) {
    let mut invalid = |detail: &str| errors.push(FieldError::invalid_text(path, url, detail));
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, after) = rest.split_at(end);
    if scheme != "https" {
        invalid("'https' is the only allowed URL scheme; desired format: https://host[/path]");
    }
    if host.rsplit('@').next().is_none_or(str::is_empty) || scheme.is_empty() {
        invalid("host must be specified; desired format: https://host[/path]");
    }
    if host.contains('@') {
        invalid("user information is not permitted in the URL");
    }
    if after.contains('#') {
        invalid("fragments are not permitted in the URL");
    }
    if after.contains('?') {
        invalid("query parameters are not permitted in the URL");
    }
}

fn service_faults(service: &Value, path: &str, errors: &mut Vec<FieldError>) {
    for (field, detail) in [("name", "service name is required"), ("namespace", "service namespace is required")] {
        if text(service, field).is_empty() {
            errors.push(FieldError::required(format!("{path}.{field}"), detail));
        }
    }
    let port = present(service, "port").filter(|p| p.as_i64().is_none_or(|p| !(1..=65535).contains(&p)));
    if let Some(port) = port {
        let detail = "port is not valid: must be between 1 and 65535, inclusive";
        errors.push(FieldError::invalid(format!("{path}.port"), port, detail));
    }
    let url_path = text(service, "path");
    if !url_path.is_empty() && url_path != "/" {
        let steps: Vec<&str> = url_path.trim_start_matches('/').split('/').collect();
        let bad = !url_path.starts_with('/')
            || steps.iter().enumerate().any(|(i, s)| s.is_empty() && i + 1 < steps.len())
            || steps.iter().any(|s| !s.is_empty() && !crate::api::schema::names::dns1123_subdomain(s).is_empty());
        if bad {
            let detail = "must be an absolute path of non-empty segments";
            errors.push(FieldError::invalid_text(format!("{path}.path"), url_path, detail));
        }
    }
}

fn review_versions(reviews: &[Value], path: &str, errors: &mut Vec<FieldError>) {
    if reviews.is_empty() {
        errors.push(FieldError::required(path, ""));
        return;
    }
    let mut seen: Vec<&str> = Vec::new();
    for (i, version) in reviews.iter().enumerate() {
        let name = version.as_str().unwrap_or("");
        if seen.contains(&name) {
            errors.push(FieldError::invalid_text(format!("{path}[{i}]"), name, "duplicate version"));
            continue;
        }
        seen.push(name);
        for fault in dns1035_label(name) {
            errors.push(FieldError::invalid_text(format!("{path}[{i}]"), name, fault));
        }
    }
    if !seen.iter().any(|name| REVIEWS.contains(name)) {
        let detail = format!("must include at least one of {}", REVIEWS.join(", "));
        errors.push(FieldError::invalid(path, &Value::Array(reviews.to_vec()), detail));
    }
}
