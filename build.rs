//! Collects what the engine's modules say about their "Divergence from Kubernetes" into the page's list of limits.

use std::fs;
use std::path::{Path, PathBuf};

const MARK: &str = "Divergence from Kubernetes: ";
/// Beginnings of texts that say nothing a reader could use.
const SILENT: [&str; 4] = ["none known.", "none known; times", "see each module", "see `"];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).expect("the engine's sources").flatten().map(|e| e.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// The paragraph of the module's text that begins with the mark.
fn divergence(source: &str) -> Option<String> {
    let lines = source.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim);
    let mut told = lines.skip_while(|line| !line.starts_with(MARK)).take_while(|line| !line.is_empty());
    let mut text = told.next()?.strip_prefix(MARK)?.to_string();
    for line in told {
        text.push(' ');
        text.push_str(line);
    }
    (!SILENT.iter().any(|silent| text.starts_with(silent))).then_some(text)
}

fn main() {
    println!("cargo::rerun-if-changed=src/engine");
    let mut found = Vec::new();
    let engine = Path::new("src/engine");
    sources(engine, &mut found);
    let mut table = "static DIVERGENCES: &[(&str, &str)] = &[\n".to_string();
    for path in found {
        let source = fs::read_to_string(&path).expect("a source");
        if let Some(text) = divergence(&source) {
            let module = path.strip_prefix(engine).expect("below the engine").with_extension("");
            table.push_str(&format!("    ({:?}, {text:?}),\n", module.to_string_lossy()));
        }
    }
    table.push_str("];\n");
    let out = PathBuf::from(std::env::var("OUT_DIR").expect("cargo says where")).join("divergences.rs");
    fs::write(out, table).expect("the list can be written");
}
