//! What every part of the machine writes to: the log, the agenda, the network and the knobs.

use crate::agenda::{Agenda, Entry, Life, Wake};
use crate::event::ProcessId;
use crate::ids::{EventId, TraceId};
use crate::knobs::Knobs;
use crate::log::Log;
use crate::network::Network;
use crate::time::SimTime;

/// The shared part of the world, apart from the server and the processes.
#[derive(Clone, Debug)]
pub struct Core {
    pub log: Log,
    pub agenda: Agenda,
    pub network: Network,
    pub knobs: Knobs,
}

impl Core {
    #[must_use]
    pub fn now(&self) -> SimTime {
        self.log.now
    }

    /// The record and trace that what happens now belongs to.
    #[must_use]
    pub fn here(&self) -> Origin {
        Origin { cause: self.log.cause, trace: self.log.trace }
    }

    /// Continues from an earlier record.
    pub fn resume(&mut self, origin: Origin) {
        (self.log.cause, self.log.trace) = (origin.cause, origin.trace);
    }

    pub fn wake(&mut self, at: SimTime, wake: Wake) {
        let Origin { cause, trace } = self.here();
        self.agenda.push(at, Entry { wake, cause, trace, life: 0, background: self.log.background });
    }

    /// A wake inside a process, void if the process has been restarted by then.
    pub fn wake_process(&mut self, at: SimTime, process: &ProcessId, life: u32, what: Life) {
        let Origin { cause, trace } = self.here();
        let wake = Wake::Process(process.clone(), what);
        self.agenda.push(at, Entry { wake, cause, trace, life, background: self.log.background });
    }
}

/// Where something came from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    pub cause: EventId,
    pub trace: TraceId,
}
