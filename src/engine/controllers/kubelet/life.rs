//! Where the containers of a pod are at an instant, as a function of when their pod arrived and what image they run.

use crate::object::{Object, ObjectView};
use crate::time::{SimTime, Span};

/// Times of a well-behaved container.
const PULL: Span = Span::millis(900);
const START: Span = Span::millis(300);
const READY: Span = Span::millis(600);
const STOP: Span = Span::millis(800);
/// The `:slow` image.
const SLOW_READY: Span = Span::secs(20);
const SLOW_STOP: Span = Span::secs(60);
/// How long the `:crash` image runs.
const CRASH_AFTER: Span = Span::secs(1);
/// First and longest pause before a restart, and before another pull (kubelet `kubelet.go`, `images/image_manager.go`).
const BACKOFF: Span = Span::secs(10);
const BACKOFF_MAX: Span = Span::secs(300);
/// A container that was found running counts as up for so long.
pub const ADOPTED: Span = Span::secs(3600);

/// What the containers are doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Creating,
    PullFailed,
    PullBackOff,
    Running,
    Ready,
    /// Exited with 1 and not restarted yet.
    CrashBackOff,
    Stopped,
}

impl Stage {
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Stage::Creating => "ContainerCreating",
            Stage::PullFailed => "ErrImagePull",
            Stage::PullBackOff => "ImagePullBackOff",
            Stage::Running => "Running",
            Stage::Ready => "Ready",
            Stage::CrashBackOff => "CrashLoopBackOff",
            Stage::Stopped => "Completed",
        }
    }
}

/// The containers at an instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Life {
    pub stage: Stage,
    /// Since when.
    pub since: SimTime,
    pub restarts: u32,
    /// When the stage changes next.
    pub next: Option<SimTime>,
}

fn tag(pod: &Object) -> &str {
    let image = pod.list(&["spec", "containers"]).first().map_or("", |c| c.text(&["image"]));
    image.rsplit_once(':').map_or("", |(_, tag)| tag)
}

/// How long the containers take to stop when they are asked to.
#[must_use]
pub fn stopping_time(pod: &Object) -> Span {
    if tag(pod) == "slow" { SLOW_STOP } else { STOP }
}

fn pause(count: u32) -> Span {
    BACKOFF.saturating_mul(1 << count.min(6)).min(BACKOFF_MAX)
}

impl Life {
    /// The life of a pod that arrived at `arrived`.
    #[must_use]
    pub fn at(pod: &Object, arrived: SimTime, now: SimTime) -> Life {
        let pulled = arrived + PULL;
        if now < pulled {
            return Life { stage: Stage::Creating, since: arrived, restarts: 0, next: Some(pulled) };
        }
        let started = pulled + START;
        match tag(pod) {
            "bad" => Self::pulling(pulled, now),
            _ if now < started => Life { stage: Stage::Creating, since: arrived, restarts: 0, next: Some(started) },
            "crash" => Self::crashing(started, now),
            tag => {
                let ready = started + if tag == "slow" { SLOW_READY } else { READY };
                if now < ready {
                    Life { stage: Stage::Running, since: started, restarts: 0, next: Some(ready) }
                } else {
                    Life { stage: Stage::Ready, since: started, restarts: 0, next: None }
                }
            }
        }
    }

    /// A pull fails, pauses, and fails again.
    fn pulling(first: SimTime, now: SimTime) -> Life {
        let (mut failed, mut count) = (first, 0);
        loop {
            let backing_off = failed + PULL;
            let again = backing_off + pause(count);
            if now < backing_off {
                return Life { stage: Stage::PullFailed, since: failed, restarts: 0, next: Some(backing_off) };
            }
            if now < again {
                return Life { stage: Stage::PullBackOff, since: backing_off, restarts: 0, next: Some(again) };
            }
            (failed, count) = (again, count + 1);
        }
    }

    /// A container runs, exits, pauses, and runs again.
    fn crashing(first: SimTime, now: SimTime) -> Life {
        let (mut started, mut restarts) = (first, 0);
        loop {
            let exited = started + CRASH_AFTER;
            let again = exited + pause(restarts);
            if now < exited {
                return Life { stage: Stage::Running, since: started, restarts, next: Some(exited) };
            }
            if now < again {
                return Life { stage: Stage::CrashBackOff, since: exited, restarts, next: Some(again) };
            }
            (started, restarts) = (again, restarts + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::sync::Arc;

    fn stage(tag: &str, secs: u64) -> (Stage, u32) {
        let pod: Object = Arc::new(json!({"spec": {"containers": [{"image": format!("redis:{tag}")}]}}));
        let life = Life::at(&pod, SimTime::ZERO, SimTime::ZERO + Span::secs(secs));
        (life.stage, life.restarts)
    }

    #[test]
    fn a_good_image_is_ready_within_two_seconds() {
        assert_eq!((stage("7", 0).0, stage("7", 2).0), (Stage::Creating, Stage::Ready));
    }

    #[test]
    fn a_bad_image_is_pulled_again_and_again() {
        assert_eq!((stage("bad", 1).0, stage("bad", 5).0), (Stage::PullFailed, Stage::PullBackOff));
        assert_eq!(stage("bad", 12).0, Stage::PullFailed);
    }

    #[test]
    fn a_crashing_image_waits_ten_seconds_then_twenty() {
        assert_eq!((stage("crash", 2), stage("crash", 3)), ((Stage::Running, 0), (Stage::CrashBackOff, 0)));
        assert_eq!((stage("crash", 13), stage("crash", 30)), ((Stage::Running, 1), (Stage::CrashBackOff, 1)));
        assert_eq!(stage("crash", 34), (Stage::Running, 2));
    }
}
