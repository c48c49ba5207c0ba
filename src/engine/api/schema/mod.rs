//! Schemas of custom resources: reading, pruning, defaulting, validation.
//!
//! Flow of a write: `text::parse` reads the body, `coerce_embedded` the metadata of embedded resources; `prune`,
//! `drop_nulls` and `default` bring the object into shape, in this order; `validate_custom` finds its faults. What is
//! stored went through `settle_numbers`.
//!
//! Guarantees: nothing here panics or recurses deeper than the value, whose depth the readers bound.
//!
//! Divergence from Kubernetes: see `structural`, `validate`, `default`, `text` and `cel`.

pub mod cel;
mod default;
pub mod embedded;
pub mod field;
pub mod format;
pub mod listtype;
pub mod names;
mod nulls;
pub mod number;
pub mod pattern;
mod prune;
pub mod ratchet;
mod re2;
pub mod scale;
pub mod structural;
pub mod text;
pub mod validate;

pub use default::default;
pub use embedded::coerce_embedded;
pub use nulls::drop_nulls;
pub use number::settle as settle_numbers;
pub use prune::{prune, prune_at};

use cel::CompiledRules;
use field::{FieldError, FieldPath};
use ratchet::Old;
use serde_json::Value;
use structural::Structural;

/// The faults of a custom resource against schema and rules; `old` is what is stored, or nothing on create.
///
/// `errors` holds what was found before and takes what is found here: an error of a blocking sort, wherever it comes
/// from, keeps the rules from being run. `warnings` takes the rules that fail where nothing changed.
///
/// Mirrors apiextensions `pkg/registry/customresource/strategy.go`.
pub fn validate_custom(
    schema: &Structural,
    rules: &CompiledRules,
    new: &Value,
    old: Option<&Value>,
    errors: &mut Vec<FieldError>,
    warnings: &mut Vec<String>,
) {
    errors.extend(validate::validate(schema, new, old.map(|o| Old::new(o, schema)), ""));
    errors.extend(embedded::embedded_faults(schema, new));
    repeats_and_rules(schema, rules, new, old, errors, warnings);
}

/// The faults of a write to the status of a custom resource: of the schema only the part about the status counts, while
/// lists and rules are judged in the whole object.
///
/// Mirrors apiextensions `pkg/registry/customresource/status_strategy.go`.
pub fn validate_custom_status(
    schema: &Structural,
    rules: &CompiledRules,
    new: &Value,
    old: &Value,
    errors: &mut Vec<FieldError>,
    warnings: &mut Vec<String>,
) {
    if let (Some(part), Some(status)) = (schema.properties.get("status"), new.get("status")) {
        let before = old.get("status").map(|o| Old::new(o, part));
        errors.extend(validate::validate(part, status, before, "status"));
    }
    repeats_and_rules(schema, rules, new, Some(old), errors, warnings);
}

fn repeats_and_rules(
    schema: &Structural,
    rules: &CompiledRules,
    new: &Value,
    old: Option<&Value>,
    errors: &mut Vec<FieldError>,
    warnings: &mut Vec<String>,
) {
    // An update of an object that had duplicates before is not held to having none.
    let repeats = |value| listtype::duplicates(schema, value, &FieldPath::Root);
    if old.is_none_or(|o| repeats(o).is_empty()) {
        errors.extend(repeats(new));
    }
    if !schema.rules_below {
        return;
    }
    if errors.iter().any(cel::blocks) {
        errors.push(cel::blocked_notice());
        return;
    }
    let outcome = cel::evaluate(rules, new, old.map(|o| Old::new(o, schema)));
    errors.extend(outcome.errors);
    warnings.extend(outcome.warnings);
}
