use crate::process::controller::Controller;
use std::sync::Arc;
pub fn manager() -> Vec<Arc<dyn Controller>> {
    vec![]
}
pub fn scheduler() -> Vec<Arc<dyn Controller>> {
    vec![]
}
pub fn kubelet(_n: &str) -> Vec<Arc<dyn Controller>> {
    vec![]
}
