//! A run that can be watched: its records, checkpoints to go back to, and the branches that were left.
//!
//! **Flow.** The world runs at the frontier and writes records; the cursor moves over them and the scene is their
//! fold. A command given in the past goes back to a checkpoint, and the old future is kept as a branch.
//! **Guarantees.** The scene at a cursor is the same however the cursor got there.

use crate::command::Command;
use crate::event::{Event, Record};
use crate::ids::EventId;
use crate::scene::Scene;
use crate::time::{SimTime, Span};
use crate::world::{ClusterSpec, World};
use std::sync::Arc;

/// Records between two checkpoints: a seek folds at most so many.
const CHECKPOINT_EVERY: usize = 500;
/// A pause of this length in what happens counts as quiet.
const QUIET_GAP: Span = Span::secs(3);
/// How far "until quiet" looks.
const QUIET_MAX: Span = Span::secs(600);
/// More records than this are not made: the page says so, and the run can be continued from a branch.
pub const RECORDS_MAX: usize = 2_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Forward,
    Back,
}

/// What one press of a step key moves by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Event,
    Reconcile,
    Quiet,
}

#[derive(Clone)]
struct Checkpoint {
    records: usize,
    world: World,
    scene: Scene,
}

/// A future that was left.
#[derive(Clone, Debug, PartialEq)]
pub struct Branch {
    pub forked_at: SimTime,
    pub end: SimTime,
    /// All commands of the run, from the start.
    pub commands: Vec<(SimTime, Command)>,
    pub hash: u64,
}

/// See the module's text.
#[derive(Clone)]
pub struct Recording {
    spec: ClusterSpec,
    world: World,
    records: Vec<Record>,
    checkpoints: Vec<Checkpoint>,
    /// Fold of all records, for the next checkpoint.
    ahead: Scene,
    commands: Vec<(SimTime, Command)>,
    branches: Vec<Branch>,
    /// How far the run is known.
    frontier: SimTime,
    now: SimTime,
    cursor: usize,
    scene: Arc<Scene>,
}

impl Recording {
    #[must_use]
    pub fn new(spec: ClusterSpec, commands: Vec<(SimTime, Command)>) -> Self {
        let mut world = World::new(&spec);
        for (at, command) in &commands {
            world.submit(*at, command.clone());
        }
        let mut recording = Recording {
            spec,
            world,
            records: Vec::new(),
            checkpoints: Vec::new(),
            ahead: Scene::default(),
            commands,
            branches: Vec::new(),
            frontier: SimTime::ZERO,
            now: SimTime::ZERO,
            cursor: 0,
            scene: Arc::default(),
        };
        recording.checkpoint();
        recording.seek(SimTime::ZERO);
        recording
    }

    #[must_use]
    pub fn spec(&self) -> &ClusterSpec {
        &self.spec
    }
    /// The picture at the cursor.
    #[must_use]
    pub fn scene(&self) -> Arc<Scene> {
        self.scene.clone()
    }
    #[must_use]
    pub fn now(&self) -> SimTime {
        self.now
    }
    /// How many records lie behind the cursor.
    #[must_use]
    pub fn cursor(&self) -> usize {
        self.cursor
    }
    /// All records of this branch, those ahead of the cursor included.
    #[must_use]
    pub fn records(&self) -> &[Record] {
        &self.records
    }
    #[must_use]
    pub fn frontier(&self) -> SimTime {
        self.frontier
    }
    #[must_use]
    pub fn commands(&self) -> &[(SimTime, Command)] {
        &self.commands
    }
    #[must_use]
    pub fn branches(&self) -> &[Branch] {
        &self.branches
    }
    /// The world at the frontier.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.world
    }
    /// The world at the cursor, apart from the run: for looking at what is there and what may be typed.
    #[must_use]
    pub fn world_now(&self) -> World {
        let i = self.checkpoints.partition_point(|c| c.records <= self.cursor) - 1;
        let (mut world, mut done) = (self.resumed(i), self.checkpoints[i].records);
        while done < self.cursor
            && let Some(made) = world.step()
        {
            done += made.len();
        }
        world
    }
    /// The world of a checkpoint, with the commands that were given since.
    fn resumed(&self, checkpoint: usize) -> World {
        let mut world = self.checkpoints[checkpoint].world.clone();
        let from = world.now();
        world.drop_commands_after(from);
        for (at, command) in self.commands.iter().filter(|(at, _)| *at > from) {
            world.submit(*at, command.clone());
        }
        world
    }
    /// No more records fit.
    #[must_use]
    pub fn full(&self) -> bool {
        self.records.len() >= RECORDS_MAX
    }
    /// Hash of everything up to the cursor.
    #[must_use]
    pub fn trace_hash(&self) -> u64 {
        self.cursor.checked_sub(1).and_then(|i| self.records.get(i)).map_or(0, |r| r.hash)
    }
    #[must_use]
    pub fn record(&self, id: EventId) -> Option<&Record> {
        self.records.get(usize::try_from(id.0.checked_sub(1)?).ok()?)
    }

    /// Simulates ahead to `until` without moving the cursor, at most `steps` steps; true when it got there.
    pub fn foresee(&mut self, until: SimTime, steps: usize) -> bool {
        for _ in 0..steps {
            if self.full() || self.world.next_at().is_none_or(|at| at > until) {
                self.frontier = self.frontier.max(until);
                return true;
            }
            self.extend();
        }
        false
    }

    fn extend(&mut self) {
        let made = self.world.step().unwrap_or_default();
        for record in &made {
            self.ahead.apply(record);
        }
        self.records.extend(made);
        self.frontier = self.frontier.max(self.world.now());
        let last = self.checkpoints.last().map_or(0, |c| c.records);
        if self.records.len() >= last + CHECKPOINT_EVERY {
            self.checkpoint();
        }
    }

    fn checkpoint(&mut self) {
        let (records, world, scene) = (self.records.len(), self.world.clone(), self.ahead.clone());
        self.checkpoints.push(Checkpoint { records, world, scene });
    }

    /// Moves to an instant, exactly: everything that happened up to and at `at` has happened.
    pub fn seek(&mut self, at: SimTime) {
        self.foresee(at, usize::MAX);
        let count = self.records.partition_point(|r| r.at <= at);
        self.move_to(count);
        self.now = at;
    }

    /// The same, for play.
    pub fn advance_to(&mut self, at: SimTime) {
        self.seek(at.max(self.now));
    }

    /// Moves so that exactly `count` records lie behind the cursor.
    pub fn seek_event(&mut self, count: usize) {
        while count > self.records.len() && !self.full() && self.world.next_at().is_some() {
            self.extend();
        }
        self.move_to(count.min(self.records.len()));
        self.now = self.cursor.checked_sub(1).map_or(SimTime::ZERO, |i| self.records[i].at);
    }

    fn move_to(&mut self, count: usize) {
        if count < self.cursor || count - self.cursor > CHECKPOINT_EVERY {
            let i = self.checkpoints.partition_point(|c| c.records <= count) - 1;
            if count < self.cursor || self.checkpoints[i].records > self.cursor {
                self.scene = Arc::new(self.checkpoints[i].scene.clone());
                self.cursor = self.checkpoints[i].records;
            }
        }
        if self.cursor < count {
            let scene = Arc::make_mut(&mut self.scene);
            for record in &self.records[self.cursor..count] {
                scene.apply(record);
            }
            self.cursor = count;
        }
    }

    /// One step by a unit. The ends clamp.
    pub fn step(&mut self, direction: Direction, unit: Unit) {
        match (direction, unit) {
            (Direction::Forward, Unit::Quiet) => self.until_quiet(),
            (Direction::Forward, unit) => {
                let mut next = self.cursor + 1;
                while self.known(next) {
                    if stops(&self.records[next - 1], unit) {
                        return self.seek_event(next);
                    }
                    next += 1;
                }
            }
            (Direction::Back, Unit::Quiet) => {
                let before =
                    self.records[..self.cursor].iter().rposition(|r| matches!(r.event, Event::Commanded { .. }));
                self.seek_event(before.unwrap_or(0));
            }
            (Direction::Back, unit) => {
                let passed = self.cursor.saturating_sub(1);
                let before = self.records[..passed].iter().rposition(|r| stops(r, unit));
                self.seek_event(before.map_or(0, |i| i + 1));
            }
        }
    }

    /// Makes sure record number `count` exists, as far as the run goes within the look-ahead.
    fn known(&mut self, count: usize) -> bool {
        let limit = self.now + QUIET_MAX;
        while count > self.records.len() {
            if self.full() || self.world.next_at().is_none_or(|at| at > limit) {
                return false;
            }
            self.extend();
        }
        true
    }

    fn until_quiet(&mut self) {
        let mut next = self.cursor;
        let mut last = self.now;
        let limit = self.now + QUIET_MAX;
        loop {
            if next == self.records.len() {
                let due = self.world.next_foreground_at();
                if self.full() || due.is_none_or(|at| at.since(last) > QUIET_GAP || at > limit) {
                    break;
                }
                self.extend();
                continue;
            }
            let record = &self.records[next];
            if !record.background {
                if record.at.since(last) > QUIET_GAP && next > self.cursor {
                    break;
                }
                last = record.at;
            }
            next += 1;
        }
        self.seek_event(next);
    }

    /// Does something at the cursor. In the past, the known future becomes a branch.
    pub fn submit(&mut self, command: Command) {
        // One tick after everything that has happened at this instant; see `Agenda`.
        let at = self.now + Span::micros(1);
        if self.records.len() > self.records.partition_point(|r| r.at <= self.now)
            || self.commands.iter().any(|(t, _)| *t > self.now)
        {
            self.fork();
        }
        self.commands.push((at, command.clone()));
        self.world.submit(at, command);
        self.frontier = self.now;
        self.seek(at);
    }

    /// Leaves the known future and puts the world back to now.
    fn fork(&mut self) {
        self.keep_branch();
        self.rewind(self.now);
        self.commands.retain(|(at, _)| *at <= self.now);
    }

    fn keep_branch(&mut self) {
        let hash = self.records.last().map_or(0, |r| r.hash);
        let (forked_at, end, commands) = (self.now, self.frontier, self.commands.clone());
        self.branches.push(Branch { forked_at, end, commands, hash });
    }

    /// Puts the world back to `at`, with nothing booked after it but what follows from the past.
    fn rewind(&mut self, at: SimTime) {
        let keep = self.records.partition_point(|r| r.at <= at);
        let i = self.checkpoints.partition_point(|c| c.records <= keep) - 1;
        self.checkpoints.truncate(i + 1);
        let from = &self.checkpoints[i];
        self.ahead = from.scene.clone();
        self.records.truncate(from.records);
        self.world = self.resumed(i);
        self.world.drop_commands_after(at);
        self.frontier = at;
        while self.world.next_at().is_some_and(|next| next <= at) {
            self.extend();
        }
    }

    /// Takes up a future that was left; the present one is kept as a branch in its place.
    pub fn switch_branch(&mut self, index: usize) {
        if index >= self.branches.len() {
            return;
        }
        let wanted = self.branches.remove(index);
        let now = self.now;
        let shared = self.commands.iter().zip(&wanted.commands).take_while(|(a, b)| a == b).count();
        let fork = wanted.commands.get(shared).or(self.commands.get(shared)).map_or(self.frontier, |(at, _)| *at);
        let fork = SimTime(fork.0.saturating_sub(1)).min(now);
        self.keep_branch();
        self.rewind(fork);
        self.world.drop_commands_after(fork);
        for (at, command) in wanted.commands.iter().filter(|(at, _)| *at > fork) {
            self.world.submit(*at, command.clone());
        }
        self.commands = wanted.commands;
        self.cursor = 0;
        self.scene = Arc::default();
        self.foresee(wanted.end, usize::MAX);
        self.seek(now);
    }

    /// The chain of records that led to this one, nearest first.
    #[must_use]
    pub fn causes(&self, id: EventId) -> Vec<EventId> {
        std::iter::successors(self.record(id), |r| self.record(r.cause)).skip(1).map(|r| r.id).collect()
    }

    /// The records that name this one as their cause.
    #[must_use]
    pub fn led_to(&self, id: EventId) -> Vec<EventId> {
        let from = usize::try_from(id.0).unwrap_or(usize::MAX).min(self.records.len());
        self.records[from..].iter().filter(|r| r.cause == id).map(|r| r.id).collect()
    }
}

/// A step by `unit` comes to rest after this record.
fn stops(record: &Record, unit: Unit) -> bool {
    match unit {
        Unit::Event => !record.background,
        Unit::Reconcile => matches!(record.event, Event::Finished { .. }) && !record.background,
        Unit::Quiet => matches!(record.event, Event::Commanded { .. }),
    }
}
