//! What every part of the machine writes to: the log, the agenda, the network and the knobs.

use super::clock::Clock;
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
    /// The clock of the process that is being run; true time outside of processes.
    pub clock: Clock,
}

impl Core {
    /// The time as whoever is being run sees it.
    #[must_use]
    pub fn now(&self) -> SimTime {
        self.clock.read(self.log.now)
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

    /// A wake inside a process at a time of its clock, void if the process has been restarted by then.
    pub fn wake_process(&mut self, at: SimTime, process: &ProcessId, life: u32, what: Life) {
        let Origin { cause, trace } = self.here();
        let wake = Wake::Process(process.clone(), what);
        let at = self.clock.when(at).max(self.log.now);
        self.agenda.push(at, Entry { wake, cause, trace, life, background: self.log.background });
    }

    /// The same for housekeeping: it does not keep the world from being quiet.
    pub fn wake_quietly(&mut self, at: SimTime, process: &ProcessId, life: u32, what: Life) {
        let before = std::mem::replace(&mut self.log.background, true);
        self.wake_process(at, process, life, what);
        self.log.background = before;
    }
}

/// Where something came from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    pub cause: EventId,
    pub trace: TraceId,
}
