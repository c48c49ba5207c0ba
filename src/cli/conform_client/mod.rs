//! Plays conformance cases of topic `client`: queues, informers, results and helpers against the engine's machines.
//!
//! Each kind has a player that turns `input` into an outcome; the outcome is compared with the recorded one.

mod compare;
mod conditions;
mod events;
mod expectations;
mod flowcontrol;
mod handler;
mod informer;
mod leader;
mod limiter;
mod owner;
mod predicate;
mod queue;
mod read;
mod reconcile;

use serde_json::Value;

/// Plays one case.
///
/// # Errors
/// The first difference from the recorded outcome, or what the player cannot read.
pub fn play(case: &Value) -> Result<(), String> {
    let input = case.get("input").unwrap_or(&Value::Null);
    let recorded = case.get("outcome").unwrap_or(&Value::Null);
    let outcome = match read::text(case, "kind") {
        "workqueue" => queue::play(input),
        "ratelimiter" => limiter::play(input),
        "flowcontrol" => flowcontrol::play(input),
        "informer" => informer::play(input),
        "reconcile-result" => reconcile::play(input),
        "predicate" => predicate::play(input),
        "handler" => handler::play(input),
        "owner-reference" => owner::play(input),
        "conditions" => conditions::play(input),
        "events" => events::play(input),
        "leader-election" => leader::play(input),
        "expectations" => expectations::play(input),
        other => Err(format!("unknown kind {other:?}")),
    }?;
    compare::first_difference(recorded, &outcome).map_or(Ok(()), Err)
}
