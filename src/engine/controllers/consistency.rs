//! A controller reads what it wrote: until its caches have caught up with its own writes, a sync is put off.
//!
//! Mirrors `pkg/controller/util/consistency/consistency.go` (1.36).
//!
//! Divergence from Kubernetes: none known.

use crate::ids::Gvr;
use crate::object::{Object, ObjectView};
use crate::process::context::{Context, Stop};
use serde_json::{Value, json};

fn name(owner: &str, gvr: &Gvr) -> String {
    format!("{}{}", prefix(owner), gvr.resource)
}

fn prefix(owner: &str) -> String {
    format!("written {owner} ")
}

/// Notes the version that a write on behalf of `owner` got.
pub fn wrote(cx: &mut Context, owner: &str, gvr: &Gvr, object: &Object) {
    let Some(version) = object.resource_version().parse::<u64>().ok() else { return };
    let name = name(owner, gvr);
    cx.memory(|memory| {
        let known = memory.get(&name).and_then(Value::as_u64).unwrap_or(0);
        memory.set(&name, json!(known.max(version)));
        Value::Null
    });
}

/// Whether the caches know all that was written on behalf of `owner`.
///
/// # Errors
/// The sync is to be tried again.
pub fn ensure(cx: &mut Context, owner: &str, kinds: &[Gvr]) -> Result<(), Stop> {
    for gvr in kinds {
        let name = name(owner, gvr);
        let written = cx.memory(|memory| memory.get(&name).cloned().unwrap_or(json!(0))).as_u64().unwrap_or(0);
        if written == 0 {
            continue;
        }
        let known = cx.cached_version(gvr);
        if known < written {
            let text = format!("cache of {} is at {known}, own write at {written}: not ready yet", gvr.resource);
            return Err(Stop::Failed(text));
        }
    }
    Ok(())
}

/// The owner is gone: nothing is awaited for it.
pub fn clear(cx: &mut Context, owner: &str) {
    let prefix = prefix(owner);
    cx.memory(|memory| {
        let names: Vec<String> = memory.with_prefix(&prefix).map(|(name, _)| name.to_string()).collect();
        for name in names {
            memory.remove(&name);
        }
        Value::Null
    });
}
