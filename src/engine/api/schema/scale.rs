//! What a declared scale subresource asks of the object itself: its numbers are numbers, its selector is a text.
//!
//! Mirrors apiextensions `pkg/registry/customresource/validator.go`. The causes name the paths as they are declared,
//! leading dot and all.

use super::field::FieldError;
use serde_json::Value;

/// Where the scale of an object stands; empty where not declared.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScalePaths<'a> {
    pub spec_replicas: &'a str,
    pub status_replicas: &'a str,
    pub label_selector: &'a str,
}

/// The value at a declared path, or a sentence about what is in the way.
fn follow<'a>(object: &'a Value, path: &str) -> Result<Option<&'a Value>, String> {
    let mut at = object;
    for step in path.trim_start_matches('.').split('.') {
        match at {
            Value::Null => return Ok(None),
            Value::Object(map) => match map.get(step) {
                Some(next) => at = next,
                None => return Ok(None),
            },
            _ => return Err(format!("{path} accessor error: {at} is not an object")),
        }
    }
    Ok(Some(at))
}

/// The faults of an object that has a scale; a write of its status is not held to the number in the spec.
#[must_use]
pub fn scale_faults(paths: &ScalePaths, object: &Value, status: bool) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let counts = [paths.spec_replicas, paths.status_replicas];
    for path in counts.into_iter().skip(usize::from(status)) {
        let detail = match follow(object, path).map(|v| v.map(|v| (v, v.as_i64()))) {
            Ok(None) => continue,
            Ok(Some((value, None))) => format!("{path} accessor error: {value} is not an integer"),
            Ok(Some((_, Some(n)))) if n < 0 => "should be a non-negative integer".to_string(),
            Ok(Some((_, Some(n)))) if n > i64::from(i32::MAX) => {
                format!("should be less than or equal to {}", i32::MAX)
            }
            Ok(Some(_)) => continue,
            Err(why) => why,
        };
        let found = follow(object, path).ok().flatten().and_then(Value::as_i64).unwrap_or(0);
        errors.push(FieldError::invalid(path, &Value::from(found), detail));
    }
    if !paths.label_selector.is_empty() {
        let path = paths.label_selector;
        let why = match follow(object, path) {
            Ok(None) => None,
            Ok(Some(value)) => (!value.is_string()).then(|| format!("{path} accessor error: not a string")),
            Err(why) => Some(why),
        };
        errors.extend(why.map(|why| FieldError::invalid_text(path, "", why)));
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn replicas_are_a_count_of_32_bits_and_the_selector_is_a_text() {
        let paths = ScalePaths { spec_replicas: ".spec.n", status_replicas: ".status.n", label_selector: ".spec.s" };
        let fields = |o: Value| scale_faults(&paths, &o, false).into_iter().map(|e| e.path).collect::<Vec<_>>();
        assert_eq!(fields(json!({"spec": {"n": -1}, "status": {"n": 2_147_483_648_i64}})), [".spec.n", ".status.n"]);
        assert!(fields(json!({"spec": {"n": 2_147_483_647, "s": "a=b"}})).is_empty());
        assert_eq!(fields(json!({"spec": {"s": {"matchLabels": {}}}})), [".spec.s"]);
    }
}
