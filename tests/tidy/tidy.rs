//! The project keeps the rules of the house.

use tidy::{FILE_LINES_MAX, FUNCTION_LINES_MAX, files, functions, holding, root};

/// Functions that were longer when the rule came, with the length they may keep: the list only shrinks.
const KNOWN: &str = include_str!("known.txt");

fn rust() -> impl Iterator<Item = (String, String)> {
    let ours = files("src").into_iter().chain(files("tests"));
    ours.filter(|(name, _)| name.ends_with(".rs"))
}

fn engine() -> impl Iterator<Item = (String, String)> {
    files("src/engine").into_iter().filter(|(name, _)| name.ends_with(".rs"))
}

/// Everything a reader of the repository sees, but the lock file, which cargo writes.
fn all_text() -> impl Iterator<Item = (String, String)> {
    let folders = ["src", "tests", "style", "dev", ".ci", "README.md", "Cargo.toml", "Trunk.toml", "index.html"];
    folders.into_iter().flat_map(files)
}

fn none(found: Vec<String>) {
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn files_are_short_enough_to_read() {
    let long = |(name, text): (String, String)| {
        let lines = text.lines().count();
        (lines > FILE_LINES_MAX).then(|| format!("{name}: {lines} lines"))
    };
    none(rust().filter_map(long).collect());
}

#[test]
fn functions_are_short_enough_to_read() {
    let known = |key: &str| {
        let kept = KNOWN.lines().filter_map(|line| line.rsplit_once(' ')).find(|(k, _)| *k == key);
        kept.and_then(|(_, lines)| lines.parse().ok()).unwrap_or(FUNCTION_LINES_MAX)
    };
    let mut long = Vec::new();
    for (name, text) in rust() {
        for (function, lines) in functions(&text) {
            let key = format!("{name} {function}");
            if lines > known(&key) {
                long.push(format!("over: {key} {lines}"));
            }
        }
    }
    none(long);
}

#[test]
fn nothing_is_left_undone() {
    let words = [concat!("to", "do!("), concat!("unim", "plemented!("), concat!("db", "g!("), concat!("FIX", "ME")];
    none(rust().flat_map(|(name, text)| holding(&name, &text, &words)).collect());
}

#[test]
fn no_file_names_a_machine_or_a_package_registry() {
    let words = [
        concat!("/wo", "rk/"),
        concat!("/ho", "me/"),
        concat!("/ro", "ot/"),
        concat!("crates", ".io"),
        concat!("npm", "js."),
        concat!("py", "pi.org"),
    ];
    let found = |(name, text): (String, String)| {
        let hit = |(n, line): (usize, &str)| {
            words.iter().find(|w| line.contains(*w)).map(|w| format!("{name}:{}: {w}", n + 1))
        };
        text.lines().enumerate().filter_map(hit).collect::<Vec<_>>()
    };
    none(all_text().flat_map(found).collect());
}

#[test]
fn the_engine_has_no_order_or_clock_of_chance() {
    let words = [
        "HashMap",
        "HashSet",
        "Instant::now",
        "SystemTime",
        "std::thread",
        "std::env",
        "std::fs",
        "TcpStream",
        "UdpSocket",
    ];
    none(engine().flat_map(|(name, text)| holding(&name, &text, &words)).collect());
}

#[test]
fn the_engine_forbids_unsafe_code() {
    let lib = files("src/engine/lib.rs");
    assert!(lib.iter().any(|(_, text)| text.contains("#![forbid(unsafe_code)]")));
}

#[test]
fn every_engine_module_says_what_it_is() {
    let silent =
        |(name, text): (String, String)| (!text.starts_with("//!") && !name.ends_with("tests.rs")).then_some(name);
    none(engine().filter_map(silent).collect());
}

#[test]
fn every_test_of_the_engine_is_run() {
    let manifest = std::fs::read_to_string(root().join("src/engine/Cargo.toml")).expect("the engine has a manifest");
    let missing =
        |(name, _): (String, String)| (name.matches('/').count() == 2 && !manifest.contains(&name)).then_some(name);
    none(files("tests/engine").into_iter().filter_map(missing).collect());
}

#[test]
fn every_scenario_is_in_the_library() {
    let library: String =
        engine().filter(|(name, _)| name.starts_with("src/engine/library")).map(|(_, text)| text).collect();
    let missing = |(name, _): (String, String)| {
        let stem = name.trim_start_matches("tests/scenarios/").trim_end_matches(".yaml").to_string();
        (!library.contains(&format!("\"{stem}\""))).then_some(name)
    };
    none(files("tests/scenarios").into_iter().filter_map(missing).collect());
}

#[test]
fn the_measures_can_fail() {
    let text = "impl A {\n    pub fn long(\n        a: u8,\n    ) {\n        b();\n    }\n    fn short() {}\n    fn told(&self) -> u8;\n}\n";
    assert_eq!(functions(text), [("long".to_string(), 5), ("short".to_string(), 1), ("told".to_string(), 1)]);
    assert_eq!(holding("a.rs", "// HashMap\nuse HashMap;\n", &["HashMap"]), ["a.rs:2: HashMap"]);
}
