//! What can be turned while the machine runs; a change is a command in the recording.

use crate::network::Pace;
use crate::time::Span;

/// Settings of the cluster, with their ranges in [`KNOBS`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Knobs {
    values: [i64; KNOBS.len()],
}

/// One knob: name, smallest, largest and default value.
pub struct Knob {
    pub name: &'static str,
    pub min: i64,
    pub max: i64,
    pub default: i64,
}

const fn knob(name: &'static str, min: i64, max: i64, default: i64) -> Knob {
    Knob { name, min, max, default }
}

/// Every knob. Times are in milliseconds.
pub const KNOBS: [Knob; 22] = [
    knob("latencyMs", 0, 10_000, 10),
    knob("jitterPercent", 0, 100, 20),
    knob("informerLagMs", 0, 60_000, 2),
    knob("reconcileMs", 0, 60_000, 5),
    knob("workers", 1, 64, 1),
    // 0 means no client side limit, as controller-runtime has had it since v0.21.
    knob("qps", 0, 10_000, 0),
    knob("burst", 1, 10_000, 10),
    knob("resyncSeconds", 0, 86_400, 0),
    knob("backoffBaseMs", 1, 60_000, 5),
    knob("backoffCapMs", 1, 1_000_000, 1_000_000),
    // 0: client-go's queue, 1: controller-runtime's priority queue.
    knob("priorityQueue", 0, 1, 1),
    // How long the server takes to answer.
    knob("apiLatencyMs", 0, 60_000, 0),
    // How long the world outside the cluster takes to answer.
    knob("outsideLatencyMs", 0, 60_000, 0),
    // Replicas of the operator; more than one elect a leader.
    knob("replicas", 1, 5, 1),
    // client-go's and controller-runtime's election times.
    knob("leaseSeconds", 2, 600, 15),
    knob("renewSeconds", 1, 600, 10),
    knob("retrySeconds", 1, 600, 2),
    // 1: a leader that is stopped gives the lease back (LeaderElectionReleaseOnCancel).
    knob("releaseOnCancel", 0, 1, 0),
    // 1: followers fill caches and queues before they lead (EnableWarmup).
    knob("warmup", 0, 1, 0),
    // How long controller-runtime waits for caches to be filled before the process gives up.
    knob("cacheSyncSeconds", 1, 3_600, 120),
    // 0: informers start with LIST and WATCH, as before client-go 0.35.
    knob("watchList", 0, 1, 1),
    // 1: the operator has only the rights that RBAC objects give to its service account.
    knob("operatorRbac", 0, 1, 0),
];

impl Default for Knobs {
    fn default() -> Self {
        Knobs { values: std::array::from_fn(|i| KNOBS[i].default) }
    }
}

impl Knobs {
    /// Turns a knob.
    ///
    /// # Errors
    /// Says which knob or range was missed.
    pub fn set(&mut self, name: &str, value: i64) -> Result<(), String> {
        let Some(i) = KNOBS.iter().position(|k| k.name == name) else {
            let names: Vec<_> = KNOBS.iter().map(|k| k.name).collect();
            return Err(format!("there is no knob {name:?}; knobs are {}", names.join(", ")));
        };
        let Knob { min, max, .. } = KNOBS[i];
        if !(min..=max).contains(&value) {
            return Err(format!("{name} must be between {min} and {max}, not {value}"));
        }
        self.values[i] = value;
        Ok(())
    }

    #[must_use]
    pub fn get(&self, name: &str) -> i64 {
        KNOBS.iter().position(|k| k.name == name).map_or(0, |i| self.values[i])
    }

    #[must_use]
    pub fn millis(&self, name: &str) -> Span {
        Span::millis(self.get(name).unsigned_abs())
    }

    #[must_use]
    pub fn pace(&self) -> Pace {
        Pace { latency: self.millis("latencyMs"), jitter_percent: self.get("jitterPercent").unsigned_abs() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_knob_out_of_range_is_refused_and_stays() {
        let mut knobs = Knobs::default();
        assert!(knobs.set("workers", 0).is_err());
        assert!(knobs.set("speed", 1).unwrap_err().contains("latencyMs"));
        assert_eq!(knobs, Knobs::default());
        knobs.set("workers", 4).unwrap();
        assert_eq!(knobs.get("workers"), 4);
    }
}
