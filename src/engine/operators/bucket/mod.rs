//! A bucket outside the cluster. Nothing outside rings a bell, so the operator looks again after a while; and nothing
//! outside is collected, so a finalizer holds the resource until the bucket is dealt with.

mod store;

use crate::event::Phase;
use crate::ids::{Gvr, Key};
use crate::object::{Object, ObjectView};
use crate::operators::support::{add_finalizer, remove_finalizer, set_condition, write_status};
use crate::process::context::{Action, Context, Expect, Stop};
use crate::process::controller::{Controller, Handler, Predicate, Source};
use crate::time::Span;
use serde_json::json;

/// Operator of `Bucket`.
pub struct Buckets;

/// Held until the bucket outside is deleted, or let go of on purpose.
pub const FINALIZER: &str = "scope.dev/bucket";

fn buckets() -> Gvr {
    Gvr::new("scope.dev", "v1", "buckets")
}

impl Controller for Buckets {
    fn name(&self) -> &'static str {
        "bucket"
    }

    /// Only changes of the spec and deletion count: the operator's own writes of status would come back as work.
    fn sources(&self) -> Vec<Source> {
        vec![Source::new(buckets(), Handler::ForObject).with(Predicate::GenerationChanged)]
    }

    fn reconcile(&self, cx: &mut Context, key: &Key) -> Result<Action, Stop> {
        cx.at(Phase::Observe, "get", "");
        let Some(bucket) = cx.get(&buckets(), key) else {
            cx.no_write("the bucket is gone");
            return Ok(Action::done());
        };
        if bucket.deleting() {
            return finalize(cx, &bucket);
        }
        let bucket = if bucket.finalizers().contains(&FINALIZER) {
            bucket
        } else {
            // Before anything exists outside: a crash in between must not leave a bucket that nobody deletes.
            cx.at(Phase::Act, "finalizer", FINALIZER);
            add_finalizer(cx, &buckets(), &bucket, FINALIZER)?
        };
        let settled = settle(cx, &bucket);
        report(cx, &bucket, &settled)?;
        settled?;
        let seconds = bucket.int(&["spec", "checkSeconds"]).unwrap_or(30);
        Ok(Action::after(Span::secs(seconds.unsigned_abs())))
    }
}

/// What the look at the outside led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Settled {
    AsWanted,
    Created,
    Repaired,
}

/// Compares what is outside with what is wanted and mends the difference. Asked twice, it does the same once.
fn settle(cx: &mut Context, bucket: &Object) -> Result<Settled, Stop> {
    cx.at(Phase::Observe, "look", store::name(bucket));
    let found = store::read(cx, bucket)?;
    let wanted = store::wanted(bucket);
    let owner = found.as_ref().map_or("", |thing| thing.text(&["owner"]));
    if !owner.is_empty() && owner != bucket.uid() {
        return Err(Stop::Failed(format!("bucket {} belongs to somebody else", store::name(bucket))));
    }
    match found {
        Some(thing) if *thing == wanted => {
            cx.no_write("the bucket is as it should be");
            Ok(Settled::AsWanted)
        }
        Some(thing) => {
            cx.at(Phase::Act, "repair", store::name(bucket));
            store::write(cx, bucket, wanted)?;
            // One that nobody owned is taken over, which is no repair.
            Ok(if thing.text(&["owner"]).is_empty() { Settled::Created } else { Settled::Repaired })
        }
        None => {
            cx.at(Phase::Act, "create", store::name(bucket));
            store::write(cx, bucket, wanted)?;
            Ok(Settled::Created)
        }
    }
}

/// The outside first, the finalizer last: the other way round a crash in between would leak the bucket.
fn finalize(cx: &mut Context, bucket: &Object) -> Result<Action, Stop> {
    if !bucket.finalizers().contains(&FINALIZER) {
        cx.no_write("others hold it back");
        return Ok(Action::done());
    }
    let cleared = clear(cx, bucket);
    if cleared.is_err() {
        report(cx, bucket, &cleared)?;
    }
    cleared?;
    cx.at(Phase::Act, "release", FINALIZER);
    remove_finalizer(cx, &buckets(), bucket, FINALIZER).or_not_found()?;
    Ok(Action::done())
}

fn clear(cx: &mut Context, bucket: &Object) -> Result<Settled, Stop> {
    cx.at(Phase::Observe, "look", store::name(bucket));
    let found = store::read(cx, bucket)?.filter(|thing| thing.text(&["owner"]) == bucket.uid());
    match found {
        None => cx.no_write("nothing of ours is outside"),
        Some(_) if bucket.text(&["spec", "deletionPolicy"]) == "Retain" => {
            cx.at(Phase::Act, "retain", store::name(bucket));
            let mut thing = store::wanted(bucket);
            thing["owner"] = json!("");
            store::write(cx, bucket, thing)?;
        }
        Some(_) => {
            cx.at(Phase::Act, "delete", store::name(bucket));
            store::delete(cx, bucket)?;
        }
    }
    Ok(Settled::AsWanted)
}

/// A failure of the outside belongs into the status too: the error alone only reaches the log of the operator.
fn report(cx: &mut Context, bucket: &Object, settled: &Result<Settled, Stop>) -> Result<(), Stop> {
    let (ready, reason, message) = match settled {
        Err(Stop::Pending) => return Err(Stop::Pending),
        Ok(_) => (true, "InSync", "the bucket is as the spec says".to_string()),
        Err(Stop::Api(status)) => (false, "OutsideFailed", status.message.clone()),
        Err(Stop::Failed(why) | Stop::Terminal(why) | Stop::Panicked(why)) => (false, "NameTaken", why.clone()),
    };
    let repairs = bucket.int(&["status", "repairs"]).unwrap_or(0) + i64::from(*settled == Ok(Settled::Repaired));
    if *settled == Ok(Settled::Repaired) {
        cx.event(bucket, true, "DriftRepaired", "somebody changed the bucket outside");
    }
    let now = cx.now();
    let mut conditions = bucket.list(&["status", "conditions"]).to_vec();
    set_condition(&mut conditions, now, "Ready", ready, reason, &message);
    let status = json!({
        "bucketName": store::name(bucket),
        "repairs": repairs,
        "observedGeneration": bucket.generation(),
        "conditions": conditions,
    });
    cx.at(Phase::Status, "status", reason);
    write_status(cx, &buckets(), bucket, status)?;
    Ok(())
}
