//! The lanes of the timeline, folded from records once each.

use super::gauge::Gauge;
use engine::api::message::WatchEventType;
use engine::event::{Carries, ControllerId, Event, Record};
use engine::time::SimTime;
use std::collections::BTreeMap;

/// A step function: from each instant on, this value.
pub type Steps = Vec<(SimTime, i64)>;

/// What somebody did to the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    Wish,
    Fault,
}

/// See the module's text. Housekeeping is left out.
#[derive(Clone, Debug, Default)]
pub struct Lanes {
    folded: usize,
    hash: u64,
    pub user: Vec<(SimTime, Deed)>,
    pub writes: Vec<SimTime>,
    pub watch: Vec<SimTime>,
    pub reconciles: Vec<(SimTime, SimTime)>,
    pub ready: Steps,
    pub gap: Steps,
    /// Positions of the records that are not housekeeping.
    pub calm: Vec<u32>,
    running: BTreeMap<(ControllerId, u32), SimTime>,
    gauge: Gauge,
}

impl Lanes {
    /// Takes in what is new; begins again when the run is no longer the one folded. Answers whether anything changed.
    pub fn catch_up(&mut self, records: &[Record]) -> bool {
        let known = self.folded.checked_sub(1).map(|i| records.get(i).map(|r| r.hash));
        if known.is_some_and(|hash| hash != Some(self.hash)) {
            *self = Lanes::default();
        } else if records.len() == self.folded {
            return false;
        }
        for (i, record) in records.iter().enumerate().skip(self.folded) {
            if !record.background {
                self.calm.push(u32::try_from(i).unwrap_or(u32::MAX));
                self.fold(record);
            }
        }
        self.folded = records.len();
        self.hash = records.last().map_or(0, |r| r.hash);
        true
    }

    fn fold(&mut self, record: &Record) {
        let at = record.at;
        match &record.event {
            Event::Commanded { command } => self.user.push((at, deed(command))),
            Event::Wrote { write } => {
                self.writes.push(at);
                self.gauge.wrote(write);
                push(&mut self.ready, at, i64::try_from(self.gauge.ready()).unwrap_or(0));
                push(&mut self.gap, at, self.gauge.gap());
            }
            Event::Delivered { message } if is_change(&message.carries) => self.watch.push(at),
            Event::Started { controller, worker, .. } => {
                self.running.insert((controller.clone(), *worker), at);
            }
            Event::Finished { controller, worker, .. } => {
                if let Some(from) = self.running.remove(&(controller.clone(), *worker)) {
                    self.reconciles.push((from, at));
                }
            }
            _ => {}
        }
    }

    /// The position among [`Lanes::calm`] of the last record before `cursor`.
    #[must_use]
    pub fn calm_before(&self, cursor: usize) -> usize {
        self.calm.partition_point(|i| (*i as usize) < cursor)
    }
}

fn is_change(carries: &Carries) -> bool {
    matches!(carries, Carries::Watch { kind, .. } if *kind != WatchEventType::Bookmark)
}

fn push(steps: &mut Steps, at: SimTime, value: i64) {
    match steps.last_mut() {
        Some((_, last)) if *last == value => {}
        Some((when, last)) if *when == at => *last = value,
        _ => steps.push((at, value)),
    }
}

fn deed(command: &engine::command::Command) -> Deed {
    use engine::command::Command;
    match command {
        Command::Apply { .. }
        | Command::Kubectl { .. }
        | Command::Request { .. }
        | Command::Set { .. }
        | Command::Switch { .. } => Deed::Wish,
        _ => Deed::Fault,
    }
}

/// Marks of a lane as one SVG path: thin bars, at most one for each pixel of `width`.
#[must_use]
pub fn bars(times: impl Iterator<Item = SimTime>, end: SimTime, width: u32, y: u32, height: u32) -> String {
    let mut path = String::new();
    let mut last = u32::MAX;
    for at in times {
        let x = pixel(at, end, width);
        if x != last {
            path += &format!("M{x} {y}v{height}");
            last = x;
        }
    }
    path
}

/// Spans of a lane as one path of boxes, joined where they touch.
#[must_use]
pub fn boxes(spans: &[(SimTime, SimTime)], end: SimTime, width: u32, y: u32, height: u32) -> String {
    let mut path = String::new();
    let mut open: Option<(u32, u32)> = None;
    let mut flush = |open: Option<(u32, u32)>| {
        if let Some((from, to)) = open {
            path += &format!("M{from} {y}h{}v{height}h-{}z", to - from, to - from);
        }
    };
    for (from, to) in spans {
        let (from, to) = (pixel(*from, end, width), pixel(*to, end, width).max(pixel(*from, end, width) + 2));
        open = match open {
            Some((a, b)) if from <= b => Some((a, b.max(to))),
            other => {
                flush(other);
                Some((from, to))
            }
        };
    }
    flush(open);
    path
}

/// A step function as a line, its largest value at `top` and zero at `bottom`.
#[must_use]
pub fn curve(steps: &Steps, end: SimTime, width: u32, top: u32, bottom: u32) -> String {
    let largest = steps.iter().map(|(_, v)| *v).max().unwrap_or(0).max(1);
    let height = i64::from(bottom - top);
    let y = |value: i64| i64::from(bottom) - value * height / largest;
    let mut path = format!("M0 {}", y(0));
    for (at, value) in steps.iter().take_while(|(at, _)| *at <= end) {
        path += &format!("H{}V{}", pixel(*at, end, width), y(*value));
    }
    path + &format!("H{width}")
}

/// Where an instant lies on a line of `width` pixels that ends with `end`.
#[must_use]
pub fn pixel(at: SimTime, end: SimTime, width: u32) -> u32 {
    let x = u128::from(at.0.min(end.0)) * u128::from(width) / u128::from(end.0.max(1));
    u32::try_from(x).unwrap_or(width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_draws_one_bar_a_pixel() {
        let times = (0..10_000).map(|i| SimTime(i * 100));
        assert_eq!(bars(times, SimTime(1_000_000), 10, 0, 4).matches('M').count(), 10);
    }

    #[test]
    fn touching_spans_become_one_box() {
        let spans = [(SimTime(0), SimTime(50)), (SimTime(50), SimTime(60)), (SimTime(90), SimTime(95))];
        assert_eq!(boxes(&spans, SimTime(100), 100, 0, 5), "M0 0h60v5h-60zM90 0h5v5h-5z");
    }

    #[test]
    fn steps_hold_their_value_until_the_next() {
        let mut steps = Steps::new();
        for (at, value) in [(1, 3), (2, 3), (5, 1), (5, 2)] {
            push(&mut steps, SimTime(at), value);
        }
        assert_eq!(steps, [(SimTime(1), 3), (SimTime(5), 2)]);
    }
}
