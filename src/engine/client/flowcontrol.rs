//! How fast a client may ask: client-go `util/flowcontrol/throttle.go` and `rest/config.go`.
//!
//! Guarantees: callers wait in the order of asking; a call that does not wait, or gives up, costs nothing.
//!
//! Divergence from Kubernetes: none known beyond rounding to a microsecond.

use crate::time::{SimTime, Span};
use crate::workqueue::bucket::{Rate, TokenBucket};

/// client-go `rest/config.go`: rate of a client that sets none.
pub const DEFAULT_QPS: u64 = 5;
/// client-go `rest/config.go`: burst of a client that sets none.
pub const DEFAULT_BURST: u32 = 10;

/// The limiter of one REST client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FlowControl {
    Unlimited,
    Limited(TokenBucket),
}

impl FlowControl {
    #[must_use]
    pub fn limited(rate: Rate, burst: u32) -> Self {
        FlowControl::Limited(TokenBucket::new(rate, burst))
    }

    /// From the settings of a client: 0 is not set, a negative rate is no limit. The rate is in milliardths a second.
    #[must_use]
    pub fn from_config(nano_qps: i64, burst: u32) -> Self {
        let burst = if burst == 0 { DEFAULT_BURST } else { burst };
        match u64::try_from(nano_qps) {
            Err(_) => FlowControl::Unlimited,
            Ok(0) => Self::limited(Rate::per_second(DEFAULT_QPS), burst),
            Ok(nano) => Self::limited(Rate::nano(nano), burst),
        }
    }

    /// What a controller-runtime manager sets since 0.21: no limit, the server is fair by itself.
    #[must_use]
    pub fn controller_runtime() -> Self {
        FlowControl::Unlimited
    }

    #[must_use]
    pub fn rate(&self) -> Option<Rate> {
        match self {
            FlowControl::Unlimited => None,
            FlowControl::Limited(bucket) => Some(bucket.rate()),
        }
    }

    /// A request that waits: when it may go.
    pub fn wait(&mut self, now: SimTime) -> SimTime {
        match self {
            FlowControl::Unlimited => now,
            FlowControl::Limited(bucket) => now + bucket.reserve(now),
        }
    }

    /// A request that does not wait: may it go now?
    pub fn try_accept(&mut self, now: SimTime) -> bool {
        match self {
            FlowControl::Unlimited => true,
            FlowControl::Limited(bucket) => bucket.take(now),
        }
    }

    /// A request that waits no longer than `timeout`: when it may go, or None if it gives up now.
    pub fn wait_timeout(&mut self, now: SimTime, timeout: Span) -> Option<SimTime> {
        match self {
            FlowControl::Unlimited => Some(now),
            // A deadline that has passed already is refused before a token is looked for.
            FlowControl::Limited(_) if timeout == Span::ZERO => None,
            FlowControl::Limited(bucket) => bucket.reserve_within(now, Some(timeout)).map(|wait| now + wait),
        }
    }
}
