//! Every sequence of queue operations up to a length, compared step by step with models that are too simple to be wrong.

use engine::time::{SimTime, Span};
use engine::workqueue::rate_limiter::Limiter;
use engine::workqueue::{AddOptions, Got, WorkQueue};

#[derive(Clone, Copy, Debug)]
enum Op {
    Add(char),
    AddHigh(char),
    AddLater(char),
    Get,
    Done(char),
    Advance,
    Shutdown,
}
use Op::{Add, AddHigh, AddLater, Advance, Done, Get, Shutdown};

const DELAY: Span = Span(2);

trait Model: Clone {
    fn apply(&mut self, now: SimTime, op: Op) -> Option<Got<char>>;
    fn len(&self) -> usize;
    fn deadline(&self) -> Option<SimTime>;
    fn held(&self) -> Vec<char>;
}

/// The plain queue in words: a line, the keys that want a run, the keys in work, one timer for each key.
#[derive(Clone, Default)]
struct Plain {
    line: Vec<char>,
    dirty: Vec<char>,
    held: Vec<char>,
    timers: Vec<(SimTime, char)>,
    down: bool,
}

impl Plain {
    fn add(&mut self, key: char) {
        if self.dirty.contains(&key) {
            return;
        }
        self.dirty.push(key);
        if !self.held.contains(&key) {
            self.line.push(key);
        }
    }
}

impl Model for Plain {
    fn apply(&mut self, now: SimTime, op: Op) -> Option<Got<char>> {
        match op {
            Add(_) | AddHigh(_) | AddLater(_) | Advance if self.down => {}
            Add(key) | AddHigh(key) => self.add(key),
            AddLater(key) => {
                let at = now + DELAY;
                match self.timers.iter_mut().find(|(_, k)| *k == key) {
                    Some(timer) => timer.0 = timer.0.min(at),
                    None => self.timers.push((at, key)),
                }
            }
            Advance => {
                let due: Vec<char> = self.timers.iter().filter(|(at, _)| *at <= now).map(|(_, k)| *k).collect();
                self.timers.retain(|(at, _)| *at > now);
                due.into_iter().for_each(|key| self.add(key));
            }
            Get if self.line.is_empty() => return Some(if self.down { Got::Shutdown } else { Got::Blocked }),
            Get => {
                let key = self.line.remove(0);
                self.dirty.retain(|k| *k != key);
                self.held.retain(|k| *k != key);
                self.held.push(key);
                return Some(Got::Key(key, 0));
            }
            Done(key) => {
                self.held.retain(|k| *k != key);
                if self.dirty.contains(&key) {
                    self.line.push(key);
                }
            }
            Shutdown => self.down = true,
        }
        None
    }

    fn len(&self) -> usize {
        self.line.len()
    }

    fn deadline(&self) -> Option<SimTime> {
        self.timers.iter().map(|(at, _)| *at).min().filter(|_| !self.down)
    }

    fn held(&self) -> Vec<char> {
        self.held.clone()
    }
}

/// The priority queue in words: a heap of entries without any order, looked through each time.
#[derive(Clone, Default)]
struct Ranked {
    /// Key, priority, place, time.
    entries: Vec<(char, i64, u64, Option<SimTime>)>,
    held: Vec<char>,
    places: u64,
    down: bool,
}

impl Ranked {
    fn place(&mut self) -> u64 {
        self.places += 1;
        self.places
    }

    fn add(&mut self, key: char, priority: i64, at: Option<SimTime>) {
        let place = self.places + 1;
        match self.entries.iter_mut().find(|entry| entry.0 == key) {
            None => self.entries.push((key, priority, place, at)),
            Some(entry) => {
                entry.3 = entry.3.zip(at).map(|(a, b)| a.min(b));
                if priority <= entry.1 {
                    return;
                }
                entry.1 = priority;
                entry.2 = place;
            }
        }
        self.places = place;
    }
}

impl Model for Ranked {
    fn apply(&mut self, now: SimTime, op: Op) -> Option<Got<char>> {
        match op {
            Get if self.down => return Some(Got::Shutdown),
            Add(_) | AddHigh(_) | AddLater(_) | Advance if self.down => {}
            Add(key) => self.add(key, 0, None),
            AddHigh(key) => self.add(key, 1, None),
            AddLater(key) => self.add(key, 0, Some(now + DELAY)),
            Advance => {
                while let Some(i) = (0..self.entries.len())
                    .filter(|i| self.entries[*i].3.is_some_and(|at| at <= now))
                    .min_by_key(|i| (self.entries[*i].3, -self.entries[*i].1, self.entries[*i].2))
                {
                    let place = self.place();
                    self.entries[i].2 = place;
                    self.entries[i].3 = None;
                }
            }
            Get => {
                let free = (0..self.entries.len())
                    .filter(|i| self.entries[*i].3.is_none() && !self.held.contains(&self.entries[*i].0))
                    .min_by_key(|i| (-self.entries[*i].1, self.entries[*i].2));
                let Some(i) = free else { return Some(Got::Blocked) };
                let (key, priority, ..) = self.entries.remove(i);
                self.held.push(key);
                return Some(Got::Key(key, priority));
            }
            Done(key) => self.held.retain(|k| *k != key),
            Shutdown => self.down = true,
        }
        None
    }

    fn len(&self) -> usize {
        self.entries.iter().filter(|entry| entry.3.is_none()).count()
    }

    fn deadline(&self) -> Option<SimTime> {
        self.entries.iter().filter_map(|entry| entry.3).min().filter(|_| !self.down)
    }

    fn held(&self) -> Vec<char> {
        self.held.clone()
    }
}

fn play(queue: &mut WorkQueue<char>, now: SimTime, op: Op) -> Option<Got<char>> {
    match op {
        Add(key) => queue.add(now, &key, AddOptions::now()),
        AddHigh(key) => queue.add(now, &key, AddOptions::now().priority(1)),
        AddLater(key) => queue.add(now, &key, AddOptions::after(DELAY)),
        Get => return Some(queue.get(now)),
        Done(key) => queue.done(now, &key),
        Advance => queue.advance(now),
        Shutdown => queue.shutdown(now),
    }
    None
}

struct Walk<'a> {
    ops: &'a [Op],
    path: Vec<Op>,
    checked: u64,
}

impl Walk<'_> {
    fn walk<M: Model>(&mut self, now: SimTime, queue: &WorkQueue<char>, model: &M, left: usize) {
        if left == 0 {
            return;
        }
        for &op in self.ops {
            let (mut queue, mut model) = (queue.clone(), model.clone());
            let now = if matches!(op, Advance) { now + Span(1) } else { now };
            self.path.push(op);
            let got = play(&mut queue, now, op);
            assert_eq!(got, model.apply(now, op), "answer after {:?}", self.path);
            assert_eq!(queue.len(), model.len(), "length after {:?}", self.path);
            assert_eq!(queue.next_deadline(), model.deadline(), "deadline after {:?}", self.path);
            let mut held = model.held();
            held.sort_unstable();
            assert!(queue.processing().eq(held.iter()), "keys in work after {:?}", self.path);
            self.checked += 1;
            self.walk(now, &queue, &model, left - 1);
            self.path.pop();
        }
    }
}

fn check<M: Model + Default>(queue: WorkQueue<char>, ops: &[Op], length: usize) {
    let mut walk = Walk { ops, path: Vec::new(), checked: 0 };
    walk.walk(SimTime::ZERO, &queue, &M::default(), length);
    let all: u64 = (1..=length as u32).map(|n| (ops.len() as u64).pow(n)).sum();
    assert_eq!(walk.checked, all);
}

const SMALL: [Op; 7] = [Add('a'), Add('b'), AddLater('a'), Get, Done('a'), Done('b'), Advance];
const RANKED: [Op; 8] = [Add('a'), Add('b'), AddHigh('b'), AddLater('a'), Get, Done('a'), Done('b'), Advance];
const WIDE: [Op; 10] =
    [Add('a'), Add('b'), Add('c'), AddHigh('a'), AddLater('a'), Get, Done('a'), Done('b'), Advance, Shutdown];

#[test]
fn the_plain_queue_follows_its_model_through_every_seven_operations() {
    check::<Plain>(WorkQueue::classic(Limiter::default_controller()), &SMALL, 7);
}

#[test]
fn the_plain_queue_follows_its_model_through_shutdown_too() {
    check::<Plain>(WorkQueue::classic(Limiter::default_controller()), &WIDE, 5);
}

#[test]
fn the_priority_queue_follows_its_model_through_every_seven_operations() {
    check::<Ranked>(WorkQueue::priority(Limiter::default_priority()), &RANKED, 7);
}

#[test]
fn the_priority_queue_follows_its_model_through_priorities_and_shutdown_too() {
    check::<Ranked>(WorkQueue::priority(Limiter::default_priority()), &WIDE, 5);
}
