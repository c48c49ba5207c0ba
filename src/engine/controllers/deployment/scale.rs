//! How many pods each set gets.

use super::{DESIRED, MAX, Pass, count, replace, replica_sets, spec_replicas};
use crate::event::Phase;
use crate::object::{self, ObjectView};
use crate::process::context::{Context, Stop};
use serde_json::Value;

fn part(value: Option<&Value>, of: i64, up: bool) -> i64 {
    match value {
        Some(Value::Number(n)) => n.as_i64().unwrap_or(0),
        Some(Value::String(text)) => {
            let percent: i64 = text.trim_end_matches('%').parse().unwrap_or(0);
            if up { (percent * of + 99) / 100 } else { percent * of / 100 }
        }
        _ => 0,
    }
}

/// The most above and the most below the wanted number.
pub fn bounds(deployment: &Value) -> (i64, i64) {
    if deployment.text(&["spec", "strategy", "type"]) == "Recreate" {
        return (0, 0);
    }
    let wanted = spec_replicas(deployment);
    let at = |field: &str| deployment.at(&["spec", "strategy", "rollingUpdate", field]);
    let (surge, unavailable) = (part(at("maxSurge"), wanted, true), part(at("maxUnavailable"), wanted, false));
    if surge == 0 && unavailable == 0 { (0, 1) } else { (surge, unavailable.min(wanted)) }
}

/// Gives a set a size; whether that changed anything.
pub fn set(cx: &mut Context, pass: &mut Pass, index: usize, size: i64) -> Result<bool, Stop> {
    let set = pass.sets[index].clone();
    let (wanted, surge) = (spec_replicas(&pass.deployment), bounds(&pass.deployment).0);
    let (desired, max) = (wanted.to_string(), (wanted + surge).to_string());
    let resized = spec_replicas(&set) != size;
    let stale = set.annotation(DESIRED) != Some(desired.as_str()) || set.annotation(MAX) != Some(max.as_str());
    if !resized && !stale {
        return Ok(false);
    }
    cx.at(Phase::Act, "scale", format!("{} to {size}", set.name()));
    let mut new = Value::clone(&set);
    object::set(&mut new, &["metadata", "annotations", DESIRED], desired.into());
    object::set(&mut new, &["metadata", "annotations", MAX], max.into());
    object::set(&mut new, &["spec", "replicas"], size.into());
    let scaled = cx.update(&replica_sets(), new)?;
    if resized {
        let (from, name) = (spec_replicas(&set), set.name());
        let way = if size > from { "up" } else { "down" };
        let text = format!("Scaled {way} replica set {name} from {from} to {size}");
        cx.event(&pass.deployment.clone(), false, "ScalingReplicaSet", text);
    }
    replace(pass, index, scaled);
    Ok(resized)
}

/// Grows or shrinks the new set; whether that changed it.
pub fn new_set(cx: &mut Context, pass: &mut Pass) -> Result<bool, Stop> {
    let Some(index) = pass.new else { return Ok(false) };
    let (wanted, now) = (spec_replicas(&pass.deployment), spec_replicas(&pass.sets[index]));
    if now == wanted {
        return Ok(false);
    }
    if now > wanted || pass.recreate() {
        return set(cx, pass, index, wanted);
    }
    let room = wanted + bounds(&pass.deployment).0 - pass.total();
    if room <= 0 {
        return Ok(false);
    }
    set(cx, pass, index, now + room.min(wanted - now))
}

/// Shrinks the old sets as far as availability allows: unhealthy pods first, the oldest set first.
pub fn old_sets(cx: &mut Context, pass: &mut Pass) -> Result<(), Stop> {
    let Some(new) = pass.new else { return Ok(()) };
    let least = spec_replicas(&pass.deployment) - bounds(&pass.deployment).1;
    let new_unavailable = spec_replicas(&pass.sets[new]) - count(&pass.sets[new], "availableReplicas");
    let mut room = pass.total() - least - new_unavailable;
    let olds = pass.olds();
    if room <= 0 || olds.iter().all(|i| spec_replicas(&pass.sets[*i]) == 0) {
        return Ok(());
    }
    for index in &olds {
        let size = spec_replicas(&pass.sets[*index]);
        let unhealthy = (size - count(&pass.sets[*index], "availableReplicas")).clamp(0, room.max(0));
        if size > 0 && unhealthy > 0 {
            set(cx, pass, *index, size - unhealthy)?;
            room -= unhealthy;
        }
    }
    let available: i64 = pass.sets.iter().map(|s| count(s, "availableReplicas")).sum();
    let mut surplus = available - least;
    for index in &olds {
        let size = spec_replicas(&pass.sets[*index]);
        let less = size.min(surplus);
        if less > 0 {
            set(cx, pass, *index, size - less)?;
            surplus -= less;
        }
    }
    Ok(())
}

/// Spreads a new number over all sets by their share.
pub fn proportionally(cx: &mut Context, pass: &mut Pass) -> Result<(), Stop> {
    let wanted = spec_replicas(&pass.deployment);
    let mut active: Vec<usize> = (0..pass.sets.len()).filter(|i| spec_replicas(&pass.sets[*i]) > 0).collect();
    if active.len() <= 1 {
        let only = active.first().copied().or(pass.new).or_else(|| pass.sets.len().checked_sub(1));
        if let Some(index) = only
            && spec_replicas(&pass.sets[index]) != wanted
        {
            set(cx, pass, index, wanted)?;
        }
        return Ok(());
    }
    if let Some(new) = pass.new {
        let set_ = &pass.sets[new];
        let full = spec_replicas(set_) == wanted
            && set_.annotation(DESIRED) == Some(wanted.to_string().as_str())
            && count(set_, "availableReplicas") == wanted;
        if full {
            for old in pass.olds() {
                set(cx, pass, old, 0)?;
            }
            return Ok(());
        }
    }
    if pass.recreate() {
        return Ok(());
    }
    let surge = bounds(&pass.deployment).0;
    let allowed = if wanted > 0 { wanted + surge } else { 0 };
    let add = allowed - pass.total();
    active.sort_by_key(|i| {
        let tie = if add > 0 { pass.sets.len() - i } else { *i };
        (-spec_replicas(&pass.sets[*i]), tie)
    });
    let mut added = 0;
    let mut sizes: Vec<(usize, i64)> = Vec::new();
    for index in active {
        let set = &pass.sets[index];
        let size = spec_replicas(set);
        let before = set.annotation(MAX).and_then(|m| m.parse::<i64>().ok()).filter(|m| *m > 0);
        let before = before.unwrap_or_else(|| count(&pass.deployment, "replicas").max(1));
        let share = if wanted == 0 { -size } else { (2 * size * (wanted + surge) + before) / (2 * before) - size };
        let share = if add > 0 {
            share.min(add - added)
        } else if add < 0 {
            share.max(add - added)
        } else {
            0
        };
        added += share;
        sizes.push((index, size + share));
    }
    if let Some(first) = sizes.first_mut() {
        first.1 = (first.1 + add - added).max(0);
    }
    for (index, size) in sizes {
        set(cx, pass, index, size)?;
    }
    Ok(())
}
