//! RFC 6902 JSON patch, with the limits of the real server.

use super::unprocessable;
use crate::api::status::ApiStatus;
use serde_json::Value;

/// Most operations in one patch. Source: apiserver `pkg/endpoints/handlers/patch.go`, `maxJSONPatchOperations`.
pub const OPERATIONS_MAX: usize = 10_000;
/// Most bytes that all `copy` operations of a patch may add up to. Source: apiserver `pkg/server/config.go`, `JSONPatchMaxCopyBytes`.
pub const COPY_BYTES_MAX: usize = 3 * 1024 * 1024;

/// Applies the list of operations and answers the patched document.
///
/// # Errors
/// 400 for what is no list of operations, 413 above the limits, 422 for an operation that does not fit.
pub fn apply(document: &Value, patch: &Value) -> Result<Value, ApiStatus> {
    let operations = match patch {
        Value::Array(list) if list.iter().all(Value::is_object) => list,
        _ => return Err(ApiStatus::bad_request("error decoding patch: not a list of operations")),
    };
    if operations.len() > OPERATIONS_MAX {
        let found = operations.len();
        return Err(too_large(&format!(
            "The allowed maximum operations in a JSON patch is {OPERATIONS_MAX}, got {found}"
        )));
    }
    let mut document = document.clone();
    let mut copied = 0;
    for operation in operations {
        run(&mut document, operation, &mut copied)?;
    }
    Ok(document)
}

fn too_large(why: &str) -> ApiStatus {
    ApiStatus::new(413, "RequestEntityTooLarge", format!("Request entity too large: {why}"))
}

fn run(document: &mut Value, operation: &Value, copied: &mut usize) -> Result<(), ApiStatus> {
    let path = pointer(operation, "path")?;
    let value = || operation.get("value").cloned().ok_or_else(|| unprocessable("missing value"));
    match operation.get("op").and_then(Value::as_str).unwrap_or("") {
        "add" => add(document, &path, value()?),
        "remove" => take(document, &path).map(|_| ()),
        "replace" => {
            *find_mut(document, &path)? = value()?;
            Ok(())
        }
        "move" => {
            let from = pointer(operation, "from")?;
            let moved = take(document, &from)?;
            add(document, &path, moved)
        }
        "copy" => {
            let from = pointer(operation, "from")?;
            let copy = find_mut(document, &from)?.clone();
            *copied = copied.saturating_add(copy.to_string().len());
            if *copied > COPY_BYTES_MAX {
                return Err(too_large("the copies of the JSON patch are too large"));
            }
            add(document, &path, copy)
        }
        "test" => test(document, &path, operation.get("value").unwrap_or(&Value::Null)),
        other => Err(unprocessable(&format!("Unexpected kind: {other}"))),
    }
}

fn test(document: &mut Value, path: &[String], wanted: &Value) -> Result<(), ApiStatus> {
    let equal = match find_mut(document, path) {
        Ok(found) => found == wanted,
        Err(_) => wanted.is_null(),
    };
    if equal { Ok(()) } else { Err(unprocessable(&format!("testing value /{} failed", path.join("/")))) }
}

fn pointer(operation: &Value, name: &str) -> Result<Vec<String>, ApiStatus> {
    let text = operation.get(name).and_then(Value::as_str);
    let text = text.ok_or_else(|| unprocessable(&format!("missing {name}")))?;
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let parts = text.strip_prefix('/').ok_or_else(|| unprocessable(&format!("{name} must start with a slash")))?;
    Ok(parts.split('/').map(|p| p.replace("~1", "/").replace("~0", "~")).collect())
}

fn missing(path: &[String]) -> ApiStatus {
    unprocessable(&format!("doc is missing path: /{}", path.join("/")))
}

fn find_mut<'a>(document: &'a mut Value, path: &[String]) -> Result<&'a mut Value, ApiStatus> {
    path.iter()
        .try_fold(document, |at, part| match at {
            Value::Object(map) => map.get_mut(part.as_str()),
            Value::Array(list) => index(part, list.len()).and_then(|i| list.get_mut(i)),
            _ => None,
        })
        .ok_or_else(|| missing(path))
}

/// Counts from the end when negative, as the server's library does.
fn index(part: &str, len: usize) -> Option<usize> {
    let number: i64 = part.parse().ok()?;
    if number < 0 { len.checked_sub(usize::try_from(-number).ok()?) } else { usize::try_from(number).ok() }
}

fn add(document: &mut Value, path: &[String], value: Value) -> Result<(), ApiStatus> {
    let Some((last, parents)) = path.split_last() else {
        *document = value;
        return Ok(());
    };
    match find_mut(document, parents)? {
        Value::Object(map) => {
            map.insert(last.clone(), value);
            Ok(())
        }
        Value::Array(list) if last == "-" => {
            list.push(value);
            Ok(())
        }
        Value::Array(list) => {
            // A negative place counts from behind the last item, so -1 appends.
            let at = index(last, list.len() + 1).filter(|i| *i <= list.len()).ok_or_else(|| missing(path))?;
            list.insert(at, value);
            Ok(())
        }
        _ => Err(missing(path)),
    }
}

fn take(document: &mut Value, path: &[String]) -> Result<Value, ApiStatus> {
    let (last, parents) = path.split_last().ok_or_else(|| missing(path))?;
    match find_mut(document, parents)? {
        Value::Object(map) => map.remove(last.as_str()).ok_or_else(|| missing(path)),
        Value::Array(list) => {
            let at = index(last, list.len()).filter(|i| *i < list.len()).ok_or_else(|| missing(path))?;
            Ok(list.remove(at))
        }
        _ => Err(missing(path)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn operations_run_in_order() {
        let patch = json!([
            {"op": "test", "path": "/a", "value": 1},
            {"op": "add", "path": "/list/-", "value": 3},
            {"op": "add", "path": "/list/0", "value": 0},
            {"op": "remove", "path": "/list/1"},
            {"op": "copy", "from": "/list", "path": "/b~1c"},
            {"op": "move", "from": "/a", "path": "/d"},
            {"op": "replace", "path": "/d", "value": null}
        ]);
        let out = apply(&json!({"a": 1, "list": [1, 2]}), &patch).unwrap();
        assert_eq!(out, json!({"list": [0, 2, 3], "b/c": [0, 2, 3], "d": null}));
    }

    #[test]
    fn a_patch_that_does_not_fit_is_unprocessable_and_one_that_is_no_list_is_bad() {
        for patch in [
            json!([{"op": "test", "path": "/a", "value": 2}]),
            json!([{"op": "remove", "path": "/x"}]),
            json!([{"op": "replace", "path": "/x", "value": 1}]),
            json!([{"op": "add", "path": "/x/y", "value": 1}]),
            json!([{"op": "jump", "path": "/a"}]),
            json!([{"op": "add", "path": "/list/3", "value": 1}]),
        ] {
            assert_eq!(apply(&json!({"a": 1, "list": [0]}), &patch).unwrap_err().code, 422, "{patch}");
        }
        for patch in [json!({"op": "add"}), json!([1]), json!("x")] {
            assert_eq!(apply(&json!({}), &patch).unwrap_err().code, 400, "{patch}");
        }
    }

    #[test]
    fn copying_a_list_into_itself_again_and_again_is_stopped() {
        let double = json!({"op": "copy", "from": "/a", "path": "/a/-"});
        let patch = Value::Array(vec![double; 200]);
        assert_eq!(apply(&json!({"a": ["xxxxxxxxxxxxxxxx"]}), &patch).unwrap_err().code, 413);
    }
}
