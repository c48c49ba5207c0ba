//! `operatorscope conform PATH...`: plays recorded cases, one line each.

use crate::{conform_client, conform_http};
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Plays every case under the paths; fails if one of them does.
///
/// # Errors
/// When a path holds no case.
pub fn run(paths: &[String]) -> Result<ExitCode, String> {
    let mut files = Vec::new();
    for path in paths {
        collect(Path::new(path), &mut files);
    }
    files.sort();
    let (mut passed, mut failed) = (0, 0);
    for file in &files {
        let Some(case) = read(file) else { continue };
        let name = name(file);
        match catch_unwind(AssertUnwindSafe(|| play(&case))).unwrap_or_else(|_| Err("panicked".to_string())) {
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
    if passed + failed == 0 {
        return Err(format!("no case under {}", paths.join(" ")));
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Hands a case to the runner of its sort.
fn play(case: &Value) -> Result<(), String> {
    if case["topic"] == "client" {
        return conform_client::play(case);
    }
    if case["controllers"] == true {
        return conform_http::play(&mut conform_http::Whole::new(), case);
    }
    conform_http::play(&mut conform_http::Bare::new(), case)
}

/// Topic and name of a case, as its folder and file say.
fn name(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let folder = file.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    if folder.is_empty() { stem.into_owned() } else { format!("{folder}/{stem}") }
}

fn read(file: &Path) -> Option<Value> {
    let case: Value = serde_json::from_str(&std::fs::read_to_string(file).ok()?).ok()?;
    case.get("topic").is_some().then_some(case)
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
