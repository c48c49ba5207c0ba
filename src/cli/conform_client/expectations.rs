//! Kind `expectations`.

use super::read::{Op, START, later, list};
use engine::controller::expectations::Expectations;
use serde_json::{Value, json};

pub fn play(input: &Value) -> Result<Value, String> {
    let mut book = Expectations::default();
    let mut now = START;
    let mut results = Vec::new();
    for op in list(input, "ops").iter().map(Op::of) {
        let key = op.text(1);
        let mut result = Value::Null;
        match op.word() {
            "set" => book.set(now, key, op.int(2), op.int(3)),
            "expect_creations" => book.expect_creations(now, key, op.int(2)),
            "expect_deletions" => book.expect_deletions(now, key, op.int(2)),
            "creation_observed" => book.creation_observed(key),
            "deletion_observed" => book.deletion_observed(key),
            "raise" => book.raise(key, op.int(2), op.int(3)),
            "lower" => book.lower(key, op.int(2), op.int(3)),
            "delete" => book.delete(key),
            "satisfied" => result = json!(book.satisfied(now, key)),
            "get" => result = book.get(key).map_or(Value::Null, |e| json!({"add": e.add, "del": e.del})),
            "expect_deletions_of" => {
                let names = op.value(2).as_array().into_iter().flatten().filter_map(Value::as_str);
                book.expect_deletions_of(now, key, names.map(str::to_string));
            }
            "deletion_observed_of" => book.deletion_observed_of(key, op.text(2)),
            "get_awaited" => result = json!(book.awaited(key)),
            "advance_ms" => now = later(now, op.micros(1)),
            _ => return Err(op.unknown()),
        }
        results.push(result);
    }
    Ok(json!({"results": results}))
}
