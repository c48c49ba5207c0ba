//! List functions.

use super::functions::Fun;
use super::value::{List, Outcome, Value, compare, contains, equal, fail, no_overload};
use std::cmp::Ordering;

/// Longest list `lists.range` makes; the call limit of a rule ends far below it anyway.
const RANGE_MAX: i64 = 1_000_000;

pub fn call(fun: Fun, args: &[Value]) -> Outcome {
    match (fun, args) {
        (Fun::Range, [Value::Int(n)]) if (0..=RANGE_MAX).contains(n) => {
            Ok(Value::list((0..*n).map(Value::Int).collect()))
        }
        (Fun::Range, [Value::Int(_)]) => fail("lists.range: size out of bounds"),
        (_, [Value::List(list), rest @ ..]) => of_list(fun, list, rest),
        _ => no_overload(),
    }
}

fn of_list(fun: Fun, list: &List, rest: &[Value]) -> Outcome {
    let items = &list.items;
    for item in items {
        item.sound()?;
    }
    match (fun, rest) {
        (Fun::IsSorted, []) => {
            for pair in items.windows(2) {
                if compare(&pair[0], &pair[1])? == Some(Ordering::Greater) {
                    return Ok(Value::Bool(false));
                }
            }
            Ok(Value::Bool(true))
        }
        (Fun::Sum, []) => sum(items),
        (Fun::Min, []) => extreme(items, Ordering::Less, "min"),
        (Fun::Max, []) => extreme(items, Ordering::Greater, "max"),
        (Fun::IndexOf, [wanted]) => position(items.iter().enumerate(), wanted),
        (Fun::LastIndexOf, [wanted]) => position(items.iter().enumerate().rev(), wanted),
        (Fun::Slice, [Value::Int(from), Value::Int(to)]) => {
            let length = items.len() as i64;
            if *from < 0 || from > to || *to > length {
                return fail(format!("cannot slice({from}, {to}), list is length {length}"));
            }
            Ok(Value::list(items[*from as usize..*to as usize].to_vec()))
        }
        (Fun::Flatten, []) => flatten(items, 1).map(Value::list),
        (Fun::Flatten, [Value::Int(depth)]) if *depth >= 0 => flatten(items, *depth).map(Value::list),
        (Fun::Flatten, [Value::Int(_)]) => fail("level must be non-negative"),
        (Fun::Reverse, []) => Ok(Value::list(items.iter().rev().cloned().collect())),
        (Fun::Distinct, []) => {
            let mut kept: Vec<Value> = Vec::new();
            for item in items {
                if !contains(&kept, item)? {
                    kept.push(item.clone());
                }
            }
            Ok(Value::list(kept))
        }
        (Fun::Sort, []) => sort_by(items, items),
        (Fun::First, []) => Ok(items.first().map_or(Value::Optional(None), |v| Value::some(v.clone()))),
        (Fun::Last, []) => Ok(items.last().map_or(Value::Optional(None), |v| Value::some(v.clone()))),
        _ => no_overload(),
    }
}

fn sum(items: &[Value]) -> Outcome {
    // An empty list sums to the zero of its type; at run time the type is gone, and zero compares across numbers.
    let mut total = match items.first() {
        Some(first) => first.clone(),
        None => return Ok(Value::Int(0)),
    };
    for item in &items[1..] {
        total = super::calls::arithmetic(Fun::Add, &total, item)?;
    }
    Ok(total)
}

fn extreme(items: &[Value], wanted: Ordering, name: &str) -> Outcome {
    let Some(mut best) = items.first() else { return fail(format!("{name} called on empty list")) };
    for item in &items[1..] {
        if compare(item, best)? == Some(wanted) {
            best = item;
        }
    }
    Ok(best.clone())
}

fn position<'a>(items: impl Iterator<Item = (usize, &'a Value)>, wanted: &Value) -> Outcome {
    for (at, item) in items {
        if equal(item, wanted)? {
            return Ok(Value::Int(at as i64));
        }
    }
    Ok(Value::Int(-1))
}

fn flatten(items: &[Value], depth: i64) -> Outcome<Vec<Value>> {
    let mut out = Vec::new();
    for item in items {
        match item {
            Value::List(inner) if depth > 0 => out.extend(flatten(&inner.items, depth - 1)?),
            other => out.push(other.clone()),
        }
    }
    Ok(out)
}

/// The items in the order of their keys; equal keys keep their order.
pub fn sort_by(items: &[Value], keys: &[Value]) -> Outcome {
    let Some(first) = keys.first() else { return Ok(Value::list(Vec::new())) };
    for key in keys {
        key.sound()?;
        if !key.type_of().same_kind(&first.type_of()) {
            return fail("list elements must have the same type");
        }
        compare(first, key)?;
    }
    // Keys of one comparable type have a total order, once NaN is given the last place.
    let rank = |v: &Value| matches!(v, Value::Double(d) if d.is_nan());
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by(|a, b| match compare(&keys[*a], &keys[*b]) {
        Ok(Some(order)) => order,
        _ => rank(&keys[*a]).cmp(&rank(&keys[*b])),
    });
    Ok(Value::list(order.into_iter().map(|at| items[at].clone()).collect()))
}
