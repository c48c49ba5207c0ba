//! How a process begins, leads, ends and begins again.

use super::announcer::Announcer;
use super::clock::Clock;
use super::core::Core;
use super::election::Election;
use super::port::Ports;
use super::rest::{Caller, Limit, Rest};
use super::runner::Runner;
use super::{Process, is_operator};
use crate::agenda::{Entry, Life};
use crate::api::message::User;
use crate::controller::leader_election::LeaderEvent;
use crate::event::{Event, ProcessState};
use crate::time::Span;
use crate::workqueue::bucket::{Rate, TokenBucket};
use std::sync::Arc;

/// Rates of a clock in percent: beyond these a picture of it teaches nothing.
const CLOCK_PERCENT: std::ops::RangeInclusive<u32> = 1..=1_000;

/// A process has ended by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    pub why: &'static str,
    /// When it starts again; `None`: it stays down.
    pub restart: Option<Span>,
}

impl Process {
    /// Starts with empty caches and queues.
    pub fn start(&mut self, core: &mut Core) {
        self.state = ProcessState::Running;
        self.started_at = core.log.now;
        self.within(core, |process, core| {
            let (user, limit) = (process.rights(core), process.limit(core));
            process.rest = Rest::new(process.id.clone(), user, process.life, limit);
            let seed = process.rng.fork(&format!("life {}", process.life));
            process.announcer = Announcer::new(&process.id, seed.fork("events"));
            process.election = None;
            if is_operator(&process.id) && core.knobs.get("replicas") > 1 {
                process.election = Election::start(&process.id, core, seed.fork("election"));
            }
            if process.election.is_none() || core.knobs.get("warmup") == 1 {
                process.open(core);
            }
            process.settle(core);
        });
    }

    /// The operator may be limited to what RBAC gives to its service account.
    fn rights(&self, core: &Core) -> User {
        let mut user = self.user.clone();
        if is_operator(&self.id) && core.knobs.get("operatorRbac") == 1 {
            user.groups.retain(|group| &**group != "system:masters");
            user.groups.push("system:serviceaccounts".into());
        }
        user
    }

    fn limit(&self, core: &Core) -> Option<Limit> {
        let qps = core.knobs.get("qps").unsigned_abs();
        let burst = u32::try_from(core.knobs.get("burst")).unwrap_or(1);
        let bucket = || TokenBucket::new(Rate::per_second(qps), burst);
        (is_operator(&self.id) && qps > 0).then(|| Limit { bucket: bucket(), qps, burst })
    }

    /// Starts the informers and controllers; workers wait while another replica leads.
    fn open(&mut self, core: &mut Core) {
        let held = self.election.as_ref().is_some_and(|election| !election.leads);
        for logic in self.program.clone().iter().filter(|c| !self.off.contains(c.name())) {
            let name: Arc<str> = logic.name().into();
            let mut runner = Runner::new(&self.id, logic.clone(), held, core);
            for (index, source) in logic.sources().into_iter().enumerate() {
                let id = self.ports.ensure(&self.id, &source, &self.tuning, core, &mut self.rng);
                self.ports.listen(&id, &name, index, core);
                runner.depend_on(id);
            }
            self.runners.insert(name, runner);
        }
        if is_operator(&self.id) {
            let wait = Span::secs(core.knobs.get("cacheSyncSeconds").unsigned_abs());
            core.wake_quietly(core.now() + wait, &self.id, self.life, Life::SyncDeadline);
        }
    }

    /// controller-runtime's `CacheSyncTimeout`: a controller whose caches are not filled ends the process.
    pub(super) fn check_synced(&mut self, core: &Core) {
        if self.runners.values().any(|runner| runner.waits_for_caches(&self.ports)) {
            self.end("timed out waiting for the caches to sync", core);
        }
    }

    fn end(&mut self, why: &'static str, core: &Core) {
        let restart = (!self.stopping).then(|| self.restarts.wait(self.started_at, core.log.now));
        self.exit = Some(Exit { why, restart });
    }

    pub(super) fn settle_election(&mut self, core: &mut Core) {
        let Some(election) = &mut self.election else { return };
        for call in election.take_calls() {
            self.rest.send_freely(core, call.request, Caller::Lease(call.id));
        }
        for event in election.take_events() {
            match event {
                LeaderEvent::StartedLeading => self.lead(core),
                LeaderEvent::StoppedLeading => self.resign(core),
                LeaderEvent::NewLeader(_) => {}
            }
        }
    }

    fn lead(&mut self, core: &mut Core) {
        // What a leader does is no housekeeping, though the lease that made it one is.
        core.log.background = false;
        core.log.chain(Event::Leading { process: self.id.clone(), leads: true });
        if let Some(election) = &mut self.election {
            election.leads = true;
        }
        if self.runners.is_empty() {
            self.open(core);
        }
        for runner in self.runners.values_mut() {
            runner.release();
        }
    }

    fn resign(&mut self, core: &mut Core) {
        core.log.background = false;
        if let Some(election) = self.election.as_mut().filter(|election| election.leads) {
            election.leads = false;
            core.log.chain(Event::Leading { process: self.id.clone(), leads: false });
        }
        self.end(if self.stopping { "it was stopped" } else { "leader election lost" }, core);
    }

    /// Told to end in the ordinary way; true when it can be stopped now, false while it gives back its lease.
    pub fn terminate(&mut self, core: &mut Core) -> bool {
        if self.state != ProcessState::Running {
            return true;
        }
        self.within(core, |process, core| {
            process.stopping = true;
            let Some(election) = &mut process.election else { return true };
            let releasing = election.stop(core);
            if releasing {
                process.settle(core);
            }
            !releasing
        })
    }

    /// The process has ended by itself since the last look.
    pub fn take_exit(&mut self) -> Option<Exit> {
        self.exit.take()
    }

    /// Ends: everything in memory is gone.
    pub fn stop(&mut self) {
        self.state = ProcessState::Down;
        self.life += 1;
        self.ports = Ports::default();
        self.runners.clear();
        self.backlog.clear();
        self.crash = None;
        self.election = None;
        self.stopping = false;
        self.exit = None;
        self.announcer = Announcer::new(&self.id, self.rng.fork("events"));
        self.rest = Rest::new(self.id.clone(), self.user.clone(), self.life, None);
    }

    pub fn freeze(&mut self) {
        if self.state == ProcessState::Running {
            self.state = ProcessState::Frozen;
        }
    }

    /// Goes on; answers what happened meanwhile, in order.
    pub fn thaw(&mut self) -> Vec<Entry> {
        if self.state == ProcessState::Frozen {
            self.state = ProcessState::Running;
        }
        std::mem::take(&mut self.backlog)
    }

    /// Its clock runs at another rate from now on.
    pub fn set_clock(&mut self, core: &mut Core, percent: u32) {
        let percent = percent.clamp(*CLOCK_PERCENT.start(), *CLOCK_PERCENT.end());
        self.clock = Clock::turned(self.clock, core.log.now, percent);
        if self.state == ProcessState::Down {
            return;
        }
        self.within(core, |process, core| {
            process.ports.disarm();
            process.runners.values_mut().for_each(Runner::disarm);
            process.announcer.disarm();
            if let Some(election) = &mut process.election {
                election.disarm();
            }
            process.rest.rebook(core);
            process.settle(core);
        });
    }

    /// Follows the knobs.
    pub fn retune(&mut self, core: &mut Core) {
        if self.state == ProcessState::Down || !is_operator(&self.id) {
            return;
        }
        self.within(core, |process, core| {
            let limit = process.limit(core);
            process.rest.set_limit(limit);
            for runner in process.runners.values_mut() {
                runner.retune(core);
            }
            process.settle(core);
        });
    }
}
