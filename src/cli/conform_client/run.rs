//! Plays the cases of a folder and prints one line each.

use super::play;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Plays every `client` case under `path`; fails if one of them does.
pub fn run(path: &Path) -> ExitCode {
    let mut files = Vec::new();
    collect(path, &mut files);
    files.sort();
    let (mut passed, mut failed) = (0, 0);
    for file in files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let Some(case) = client_case(&file) else { continue };
        match play(&case) {
            Ok(()) => {
                passed += 1;
                println!("ok {name}");
            }
            Err(why) => {
                failed += 1;
                println!("FAIL {name}: {why}");
            }
        }
    }
    println!("{passed} passed, {failed} failed");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn client_case(file: &Path) -> Option<Value> {
    let case: Value = serde_json::from_str(&std::fs::read_to_string(file).ok()?).ok()?;
    (case.get("topic").and_then(Value::as_str) == Some("client")).then_some(case)
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_dir() {
        for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
            collect(&entry.path(), files);
        }
    } else if path.extension().is_some_and(|ext| ext == "json") {
        files.push(path.to_path_buf());
    }
}
