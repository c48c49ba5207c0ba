//! Object metadata: how it is read, filled in and checked, the same for every kind.

mod decode;
mod validate;

pub use decode::{decode, dedup_owner_references, with_revision};
pub use validate::{label_value, qualified_name, validate, validate_update};

use crate::object::{self, ObjectView};
use crate::rng::Rng;
use serde_json::{Map, Value};

/// Generated names: base kept, suffix length, alphabet and attempts (apiserver `pkg/storage/names/generate.go`, `store.go`).
const NAME_MAX: usize = 63;
const SUFFIX: usize = 5;
const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
pub const NAME_ATTEMPTS: u32 = 8;

/// The name made of a `generateName`.
#[must_use]
pub fn generate_name(rng: &mut Rng, base: &str) -> String {
    let longest = NAME_MAX - SUFFIX;
    let cut = (0..=base.len().min(longest)).rev().find(|i| base.is_char_boundary(*i)).unwrap_or(0);
    format!("{}{}", &base[..cut], rng.text(ALPHABET, SUFFIX))
}

/// A random UID in the shape of a version 4 UUID.
#[must_use]
pub fn uid(rng: &mut Rng) -> String {
    let (a, b) = (rng.next_u64(), rng.next_u64());
    format!(
        "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        a >> 32,
        a >> 16 & 0xffff,
        a & 0xfff,
        b >> 48 & 0x3fff | 0x8000,
        b & 0xffff_ffff_ffff
    )
}

/// The metadata of an object that went through [`decode`].
pub fn of(object: &mut Value) -> &mut Map<String, Value> {
    if !object.get("metadata").is_some_and(Value::is_object) {
        object::set(object, &["metadata"], Value::Object(Map::new()));
    }
    object["metadata"].as_object_mut().expect("made an object on the line above")
}

/// Forgets what only the server may say about a new object.
pub fn wipe_system_fields(object: &mut Value) {
    let meta = of(object);
    for field in
        ["uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "generation"]
    {
        meta.remove(field);
    }
}

/// Copies one metadata field from `old`, absence included.
pub fn keep(new: &mut Value, old: &Value, field: &str) {
    match old.at(&["metadata", field]) {
        Some(value) => of(new).insert(field.to_string(), value.clone()),
        None => of(new).remove(field),
    };
}

/// Puts back what an update cannot change (apiserver `pkg/registry/rest/update.go`).
pub fn keep_system_fields(new: &mut Value, old: &Value) {
    if new.uid().is_empty() {
        keep(new, old, "uid");
    }
    keep(new, old, "creationTimestamp");
    of(new).remove("selfLink");
    if old.deleting() {
        keep(new, old, "deletionTimestamp");
    }
    let grace = &["metadata", "deletionGracePeriodSeconds"];
    if old.at(grace).is_some() && new.at(grace).is_none() {
        keep(new, old, "deletionGracePeriodSeconds");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generated_name_keeps_58_bytes_of_its_base() {
        let mut rng = Rng::new(1);
        assert_eq!(generate_name(&mut rng, &"x".repeat(80)).len(), 63);
        assert!(generate_name(&mut rng, "run-").starts_with("run-"));
    }

    #[test]
    fn a_uid_is_a_version_4_uuid() {
        let uid = uid(&mut Rng::new(3));
        assert_eq!(uid.len(), 36);
        assert_eq!(&uid[14..15], "4");
        assert!("89ab".contains(&uid[19..20]));
    }
}
