//! The promises of the queues, one test each.

use super::rate_limiter::Limiter;
use super::{AddOptions, Got, WorkQueue};
use crate::time::{SimTime, Span};

type Queue = WorkQueue<&'static str>;

fn both() -> [Queue; 2] {
    [WorkQueue::classic(Limiter::default_controller()), WorkQueue::priority(Limiter::default_priority())]
}

fn secs(s: u64) -> SimTime {
    SimTime::ZERO + Span::secs(s)
}

fn add(queue: &mut Queue, key: &'static str) {
    queue.add(SimTime::ZERO, &key, AddOptions::now());
}

fn add_after(queue: &mut Queue, key: &'static str, s: u64) {
    queue.add(SimTime::ZERO, &key, AddOptions::after(Span::secs(s)));
}

/// Takes what there is, saying done of each, and answers the keys.
fn drain(queue: &mut Queue, now: SimTime) -> Vec<&'static str> {
    queue.advance(now);
    let mut keys = Vec::new();
    while let Got::Key(key, _) = queue.get(now) {
        queue.done(now, &key);
        keys.push(key);
    }
    keys
}

#[test]
fn a_key_added_during_its_run_is_placed_by_done_in_one_queue_and_by_add_in_the_other() {
    let orders = both().map(|mut queue| {
        add(&mut queue, "a");
        add(&mut queue, "b");
        queue.get(SimTime::ZERO);
        add(&mut queue, "a");
        add(&mut queue, "c");
        queue.done(SimTime::ZERO, &"a");
        drain(&mut queue, SimTime::ZERO)
    });
    assert_eq!(orders, [["b", "c", "a"], ["b", "a", "c"]]);
}

#[test]
fn adds_during_a_run_collapse_into_one_further_run() {
    let lengths = both().map(|mut queue| {
        add(&mut queue, "a");
        queue.get(SimTime::ZERO);
        add(&mut queue, "a");
        add(&mut queue, "a");
        let len = queue.len();
        assert!(!queue.has_work());
        queue.done(SimTime::ZERO, &"a");
        assert_eq!(drain(&mut queue, SimTime::ZERO), ["a"]);
        len
    });
    assert_eq!(lengths, [0, 1]);
}

#[test]
fn five_adds_are_one_run() {
    for mut queue in both() {
        (0..5).for_each(|_| add(&mut queue, "a"));
        assert_eq!(drain(&mut queue, SimTime::ZERO), ["a"]);
        assert!(queue.is_empty());
    }
}

#[test]
fn a_delayed_add_runs_again_in_the_plain_queue_and_is_swallowed_in_the_priority_queue() {
    for delayed_first in [true, false] {
        let later = both().map(|mut queue| {
            if delayed_first {
                add_after(&mut queue, "a", 5);
                add(&mut queue, "a");
            } else {
                add(&mut queue, "a");
                add_after(&mut queue, "a", 5);
            }
            assert_eq!(drain(&mut queue, SimTime::ZERO), ["a"]);
            drain(&mut queue, secs(5)).len()
        });
        assert_eq!(later, [1, 0]);
    }
}

#[test]
fn of_three_delays_the_shortest_counts_and_the_key_comes_once() {
    for mut queue in both() {
        [10, 3, 20].into_iter().for_each(|s| add_after(&mut queue, "a", s));
        assert_eq!(queue.next_deadline(), Some(secs(3)));
        assert_eq!(drain(&mut queue, secs(3)), ["a"]);
        assert!(drain(&mut queue, secs(60)).is_empty());
    }
}

#[test]
fn delayed_keys_come_in_the_order_of_their_times() {
    for mut queue in both() {
        [("first", 4), ("second", 2), ("third", 1)].into_iter().for_each(|(key, s)| add_after(&mut queue, key, s));
        queue.advance(secs(4));
        queue.add(secs(4), &"fourth", AddOptions::now());
        assert_eq!(drain(&mut queue, secs(4)), ["third", "second", "first", "fourth"]);
    }
}

#[test]
fn shutdown_drains_the_plain_queue_only() {
    let handed_out = both().map(|mut queue| {
        add(&mut queue, "a");
        add(&mut queue, "b");
        queue.shutdown(SimTime::ZERO);
        add(&mut queue, "c");
        let keys = drain(&mut queue, SimTime::ZERO);
        assert_eq!(queue.get(SimTime::ZERO), Got::Shutdown);
        keys.len()
    });
    assert_eq!(handed_out, [2, 0]);
}

#[test]
fn an_event_during_a_failing_run_does_not_stop_the_backoff_of_the_plain_queue() {
    let later = both().map(|mut queue| {
        add(&mut queue, "a");
        queue.get(SimTime::ZERO);
        queue.add(SimTime::ZERO, &"a", AddOptions::rate_limited());
        add(&mut queue, "a");
        queue.done(SimTime::ZERO, &"a");
        assert_eq!(drain(&mut queue, SimTime::ZERO), ["a"]);
        queue.forget(&"a");
        assert_eq!(queue.num_requeues(&"a"), 0);
        drain(&mut queue, secs(1)).len()
    });
    assert_eq!(later, [1, 0]);
}

#[test]
fn a_waiting_key_that_is_added_keeps_its_old_place_in_the_priority_queue() {
    let orders = both().map(|mut queue| {
        add_after(&mut queue, "a", 5);
        add(&mut queue, "b");
        add(&mut queue, "a");
        drain(&mut queue, SimTime::ZERO)
    });
    assert_eq!(orders, [["b", "a"], ["a", "b"]]);
}

#[test]
fn a_raised_key_goes_behind_those_of_its_new_priority() {
    let [_, mut queue] = both();
    for key in ["a", "b", "c"] {
        queue.add(SimTime::ZERO, &key, AddOptions::now().priority(-100));
    }
    add(&mut queue, "z");
    add(&mut queue, "b");
    assert_eq!(drain(&mut queue, SimTime::ZERO), ["z", "b", "a", "c"]);
}

#[test]
fn a_key_of_high_priority_that_comes_due_overtakes() {
    let [_, mut queue] = both();
    queue.add(SimTime::ZERO, &"h", AddOptions::after(Span::secs(1)).priority(10));
    queue.add(SimTime::ZERO, &"l", AddOptions::now().priority(-100));
    add_after(&mut queue, "m", 1);
    assert_eq!(queue.get(SimTime::ZERO), Got::Key("l", -100));
    assert_eq!(drain(&mut queue, secs(1)), ["h", "m"]);
}

#[test]
fn a_priority_is_never_lowered() {
    let [_, mut queue] = both();
    queue.add(SimTime::ZERO, &"a", AddOptions::now().priority(1));
    queue.add(SimTime::ZERO, &"a", AddOptions::now().priority(-1));
    assert_eq!(queue.get(SimTime::ZERO), Got::Key("a", 1));
}

#[test]
fn of_a_delay_and_the_limiter_the_shorter_counts() {
    let [_, mut queue] = both();
    queue.add(
        SimTime::ZERO,
        &"a",
        AddOptions { rate_limited: true, ..AddOptions::after(Span::secs(3_600)).priority(3) },
    );
    assert_eq!(queue.next_deadline(), Some(SimTime(5_000)));
    queue.advance(SimTime(5_000));
    assert_eq!(queue.get(SimTime(5_000)), Got::Key("a", 3));
}

#[test]
fn the_second_worker_idles_while_the_first_holds_the_only_key() {
    for mut queue in both() {
        queue.wait(SimTime::ZERO, 1);
        queue.wait(SimTime::ZERO, 2);
        (0..3).for_each(|_| add(&mut queue, "a"));
        assert_eq!(queue.answer(1), Some(Got::Key("a", 0)));
        assert_eq!(queue.answer(2), None);
        queue.done(SimTime::ZERO, &"a");
        assert_eq!(queue.answer(2), Some(Got::Key("a", 0)));
        queue.shutdown(SimTime::ZERO);
    }
}

#[test]
fn ten_thousand_keys_pass_without_looking_at_each_other() {
    for mut queue in
        [WorkQueue::classic(Limiter::default_controller()), WorkQueue::priority(Limiter::default_priority())]
    {
        for n in 0..10_000_u32 {
            queue.add(SimTime::ZERO, &n, AddOptions::after(Span(u64::from(n % 97))));
        }
        queue.advance(SimTime(100));
        let mut taken = 0;
        while let Got::Key(key, _) = queue.get(SimTime(100)) {
            queue.done(SimTime(100), &key);
            taken += 1;
        }
        assert_eq!(taken, 10_000);
    }
}
