//! An object from one version of its definition to another.

use super::Definition;
use crate::api::status::ApiStatus;
use crate::object;
use serde_json::Value;

/// Converts `value` to the version called `wanted`.
///
/// # Errors
/// 500 with an empty reason when the versions cannot be converted.
pub fn convert(definition: &Definition, wanted: &str, mut value: Value) -> Result<Value, ApiStatus> {
    object::set(&mut value, &["apiVersion"], Value::from(format!("{}/{wanted}", definition.group)));
    Ok(value)
}
