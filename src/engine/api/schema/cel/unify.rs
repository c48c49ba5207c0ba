//! Type parameters: what they are bound to, and whether two types can be one.

use super::check::Checker;
use super::types::Type;
use std::sync::Arc;

impl Checker {
    /// Follows a bound parameter to what it stands for.
    pub(super) fn resolve(&self, ty: &Type) -> Type {
        let mut ty = ty.clone();
        while let Type::Param(at) = ty {
            match self.bound.get(at as usize) {
                Some(Some(next)) => ty = next.clone(),
                _ => break,
            }
        }
        ty
    }

    /// Replaces bound parameters throughout; unbound ones stay.
    pub(super) fn settle_known(&self, ty: &Type) -> Type {
        match self.resolve(ty) {
            Type::List(item) => Type::List(Arc::new(self.settle_known(&item))),
            Type::Map(k, v) => Type::Map(Arc::new(self.settle_known(&k)), Arc::new(self.settle_known(&v))),
            Type::Optional(inner) => Type::Optional(Arc::new(self.settle_known(&inner))),
            other => other,
        }
    }

    /// As `settle_known`, and what nothing bound is dyn.
    pub(super) fn settle(&self, ty: &Type) -> Type {
        match self.resolve(ty) {
            Type::List(item) => Type::List(Arc::new(self.settle(&item))),
            Type::Map(k, v) => Type::Map(Arc::new(self.settle(&k)), Arc::new(self.settle(&v))),
            Type::Optional(inner) => Type::Optional(Arc::new(self.settle(&inner))),
            Type::Param(_) => Type::Dyn,
            other => other,
        }
    }

    pub(super) fn unify(&mut self, wanted: &Type, found: &Type) -> bool {
        let (a, b) = (self.resolve(wanted), self.resolve(found));
        match (&a, &b) {
            (Type::Param(x), Type::Param(y)) if x == y => true,
            (Type::Param(x), other) | (other, Type::Param(x)) => {
                if self.occurs(*x, other) {
                    return false;
                }
                self.bound[*x as usize] = Some(other.clone());
                self.trail.push(*x);
                true
            }
            (Type::Dyn, _) | (_, Type::Dyn) => true,
            (Type::Null, other) | (other, Type::Null) => other.nullable(),
            (Type::List(x), Type::List(y)) | (Type::Optional(x), Type::Optional(y)) => self.unify(x, y),
            (Type::Map(k1, v1), Type::Map(k2, v2)) => self.unify(k1, k2) && self.unify(v1, v2),
            (Type::Object(x), Type::Object(y)) => x.id == y.id,
            (x, y) => x.same_kind(y),
        }
    }

    pub(super) fn occurs(&self, param: u32, ty: &Type) -> bool {
        match self.resolve(ty) {
            Type::Param(other) => other == param,
            Type::List(inner) | Type::Optional(inner) => self.occurs(param, &inner),
            Type::Map(k, v) => self.occurs(param, &k) || self.occurs(param, &v),
            _ => false,
        }
    }
}

/// Whether two types are the same throughout.
pub fn same(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::List(x), Type::List(y)) | (Type::Optional(x), Type::Optional(y)) => same(x, y),
        (Type::Map(k1, v1), Type::Map(k2, v2)) => same(k1, k2) && same(v1, v2),
        (Type::Object(x), Type::Object(y)) => x.id == y.id,
        (Type::Param(x), Type::Param(y)) => x == y,
        (x, y) => x.same_kind(y),
    }
}
