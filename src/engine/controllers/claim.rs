//! Who belongs to whom: objects that fit a selector are taken in, those that no longer fit are let go of.
//!
//! Mirrors `pkg/controller/controller_ref_manager.go`.
//!
//! Divergence from Kubernetes: none known.

use crate::controller::owner_reference::{Owner, is_controlled_by};
use crate::event::Phase;
use crate::ids::Gvr;
use crate::object::{Object, ObjectView};
use crate::process::context::{Context, Expect, Stop};
use serde_json::{Value, json};

/// The reference of a controller to itself.
pub fn controlled_by(owner: &Object) -> Value {
    let mut reference = Owner::of(owner).reference();
    reference["controller"] = json!(true);
    reference["blockOwnerDeletion"] = json!(true);
    reference
}

/// Cached objects of a kind that an owner controls or that nobody controls, in the owner's namespace.
pub fn candidates(cx: &mut Context, gvr: &Gvr, owner: &Object) -> Vec<Object> {
    let held = cx.owned_by(gvr, owner.uid());
    let orphans = cx.orphans(gvr, owner.namespace());
    held.iter().filter(|o| is_controlled_by(o, owner.uid())).chain(orphans.iter()).cloned().collect()
}

/// An owner that claims objects of one kind.
pub struct Claim<'a> {
    /// The kind of the owner.
    pub owners: &'a Gvr,
    pub owner: &'a Object,
    /// The kind that is claimed.
    pub gvr: &'a Gvr,
    /// Whether an object belongs to the owner.
    pub fits: &'a dyn Fn(&Value) -> bool,
}

impl Claim<'_> {
    /// Those of the candidates that are the owner's when all claims are made.
    ///
    /// # Errors
    /// A refused patch, or an owner that is gone where the cache still has it.
    pub fn make(&self, cx: &mut Context, candidates: Vec<Object>) -> Result<Vec<Object>, Stop> {
        let mut mine = Vec::with_capacity(candidates.len());
        let mut alive = None;
        for object in candidates {
            let fits = (self.fits)(&object);
            if is_controlled_by(&object, self.owner.uid()) {
                if fits {
                    mine.push(object);
                } else if !self.owner.deleting() {
                    self.release(cx, &object)?;
                }
            } else if fits && object.controller_ref().is_none() && !object.deleting() && !self.owner.deleting() {
                if alive.is_none() {
                    alive = Some(self.check(cx)?);
                }
                mine.extend(self.adopt(cx, &object)?);
            }
        }
        Ok(mine)
    }

    /// The one live read before the first adoption (`RecheckDeletionTimestamp`).
    fn check(&self, cx: &mut Context) -> Result<(), Stop> {
        let key = self.owner.key();
        let fresh = cx.live_get(self.owners, &key)?;
        if fresh.uid() != self.owner.uid() {
            let text = format!(
                "original {} {key} is gone: got uid {}, wanted {}",
                self.owner.kind(),
                fresh.uid(),
                self.owner.uid()
            );
            return Err(Stop::Failed(text));
        }
        if fresh.deleting() {
            let at = fresh.text(&["metadata", "deletionTimestamp"]);
            return Err(Stop::Failed(format!("{key} has just been deleted at {at}")));
        }
        Ok(())
    }

    fn release(&self, cx: &mut Context, object: &Object) -> Result<(), Stop> {
        cx.at(Phase::Act, "release", object.name());
        let kept: Vec<&Value> =
            object.owner_references().iter().filter(|r| r.text(&["uid"]) != self.owner.uid()).collect();
        let patch = json!({"metadata": {"ownerReferences": kept, "uid": object.uid()}});
        cx.patch(self.gvr, &object.key(), "", patch).or_not_found()?;
        Ok(())
    }

    fn adopt(&self, cx: &mut Context, object: &Object) -> Result<Option<Object>, Stop> {
        cx.at(Phase::Act, "adopt", object.name());
        let references = [object.owner_references().to_vec(), vec![controlled_by(self.owner)]].concat();
        let patch = json!({"metadata": {"ownerReferences": references, "uid": object.uid()}});
        cx.patch(self.gvr, &object.key(), "", patch).or_not_found()
    }
}
