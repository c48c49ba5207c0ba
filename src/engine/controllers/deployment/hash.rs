//! Names of templates.

use crate::object::ObjectView;
use serde_json::Value;

/// Characters that hashes are written in (apimachinery `pkg/util/rand`).
const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

/// The hash of a template, other after each collision.
pub fn of(template: &Value, collisions: i64) -> String {
    let text = format!("{template}{collisions}");
    let hash = text.bytes().fold(0x811c_9dc5_u32, |h, b| (h ^ u32::from(b)).wrapping_mul(0x0100_0193));
    hash.to_string().bytes().map(|c| char::from(ALPHABET[usize::from(c) % ALPHABET.len()])).collect()
}

/// Whether an object carries all these labels.
pub fn same_labels(labels: &Value, object: &Value) -> bool {
    let wanted = labels.as_object().into_iter().flatten();
    wanted.into_iter().all(|(name, value)| object.at(&["metadata", "labels"]).and_then(|l| l.get(name)) == Some(value))
}

/// The template without the label that names it.
pub fn bare(template: &Value) -> Value {
    let mut template = template.clone();
    if let Some(labels) = template.pointer_mut("/metadata/labels").and_then(Value::as_object_mut) {
        labels.remove("pod-template-hash");
    }
    template
}
