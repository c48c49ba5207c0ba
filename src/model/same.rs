//! Shared data compared by identity: the fold replaces what it changes, so the same pointer is the same picture.

use std::ops::Deref;
use std::sync::Arc;

/// An `Arc` that equals only itself.
#[derive(Debug)]
pub struct Same<T>(pub Arc<T>);

impl<T> Clone for Same<T> {
    fn clone(&self) -> Self {
        Same(self.0.clone())
    }
}

impl<T> PartialEq for Same<T> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<T> Deref for Same<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}
