//! The three patch formats that are not apply: JSON patch, merge patch and strategic merge patch.
//!
//! Flow: the live object and the patch go in, the patched object comes out; the caller sends it through the
//! same stages as a PUT.
//!
//! Guarantees: no patch panics or grows without bound, whatever its shape. The live object is never changed.
//!
//! Divergence from Kubernetes: none known.

pub mod json;
pub mod known;
pub mod merge;
pub mod strategic;

use super::status::ApiStatus;

/// 422 for a patch that is well formed but does not fit: a failed `test`, a path that is not there.
/// The real server answers with its generic text; the reason that only its log has stands after it here.
#[must_use]
pub fn unprocessable(why: &str) -> ApiStatus {
    let text = "the server rejected our request due to an error in our request";
    ApiStatus::new(422, "Invalid", format!("{text}: {why}"))
}
