//! The rules of the house, as functions over the text of files, so that each can be shown to fail.

use std::fs;
use std::path::{Path, PathBuf};

/// Lines of a file. Five hundred are the aim; here a file has to be split.
pub const FILE_LINES_MAX: usize = 700;
/// Lines of a function, its head and last brace included.
pub const FUNCTION_LINES_MAX: usize = 70;

/// The folder of the project.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the project has a folder")
}

/// Every file of ours under a folder with its text, paths relative to the project and in order; binary files are left out.
#[must_use]
pub fn files(under: &str) -> Vec<(String, String)> {
    let root = root();
    let mut found = Vec::new();
    walk(&root.join(under), &mut found);
    found.sort();
    let named = |path: PathBuf| {
        let name = path.strip_prefix(&root).expect("found under the project").display().to_string();
        fs::read_to_string(&path).ok().map(|text| (name, text))
    };
    found.into_iter().filter_map(named).collect()
}

fn walk(path: &Path, found: &mut Vec<PathBuf>) {
    // Recorded answers of a real cluster are data, and what is built is not ours.
    if ["conformance", "target", "node_modules", "dist"].iter().any(|skip| path.ends_with(skip)) {
        return;
    }
    match fs::read_dir(path) {
        Ok(entries) => entries.flatten().for_each(|entry| walk(&entry.path(), found)),
        Err(_) => found.push(path.to_path_buf()),
    }
}

/// The lines that are code, with their numbers.
pub fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(i, line)| (i + 1, line)).filter(|(_, line)| !line.trim_start().starts_with("//"))
}

/// Lines of code that hold one of the words.
#[must_use]
pub fn holding(name: &str, text: &str, words: &[&str]) -> Vec<String> {
    let has = |line: &str| words.iter().find(|word| line.contains(*word)).map(ToString::to_string);
    code(text).filter_map(|(n, line)| has(line).map(|word| format!("{name}:{n}: {word}"))).collect()
}

/// Name and length of each function, told by the indentation that rustfmt gives.
#[must_use]
pub fn functions(text: &str) -> Vec<(String, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (first, line) in lines.iter().enumerate() {
        let Some(name) = function_name(line) else { continue };
        let indent = &line[..line.len() - line.trim_start().len()];
        let last = lines[first..].iter().position(|l| ends_function(l, indent)).unwrap_or(0);
        found.push((name, last + 1));
    }
    found
}

fn ends_function(line: &str, indent: &str) -> bool {
    let Some(rest) = line.strip_prefix(indent) else { return false };
    rest == "}" || (!rest.starts_with(' ') && (rest.ends_with(';') || (rest.contains("fn ") && rest.ends_with('}'))))
}

fn function_name(line: &str) -> Option<String> {
    let (before, after) = line.split_once("fn ")?;
    let qualifiers = ["pub", "pub(crate)", "pub(super)", "const", "async"];
    before.split_whitespace().all(|word| qualifiers.contains(&word)).then_some(())?;
    let name: String = after.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!name.is_empty()).then_some(name)
}
