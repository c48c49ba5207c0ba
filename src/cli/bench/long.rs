//! `bench long`: going to any instant of a run of 100,000 records.

use super::seeks;
use engine::library;
use engine::recording::Recording;
use engine::time::{SimTime, Span};
use serde_json::{Value, json};

const RECORDS: usize = 100_000;
/// An ordinary cluster, whose heartbeats and syncs go on and on.
const SCENARIO: &str = "ordered-rollout";

pub fn measure() -> Result<Value, String> {
    let scenario = library::load(SCENARIO).ok_or("the scenario is gone")?.map_err(|e| e.to_string())?;
    let mut recording = Recording::of(&scenario);
    let mut until = SimTime::ZERO;
    while recording.records().len() < RECORDS {
        until += Span::secs(60);
        recording.seek(until);
    }
    Ok(json!({"records": recording.records().len(), "virtual_s": until.0 / 1_000_000,
        "seek_ms": seeks(&mut recording, until), "peak_mb": super::peak_mb()}))
}
