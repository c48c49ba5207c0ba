//! The page's wasm and the native model give the same trace.

use e2e::{Browser, Kind, Site};
use engine::ids::EventId;
use engine::library;
use engine::recording::Recording;
use engine::share::{self, SharedRun, Source};

fn compare(kind: Kind) {
    let site = Site::start();
    let browser = Browser::start(kind);
    let mut differ = Vec::new();
    for (name, _) in library::SCENARIOS {
        let scenario = library::load(name).expect("listed").expect("well formed");
        let mut native = Recording::of(&scenario);
        native.seek(scenario.until);
        let link = share::encode(&SharedRun {
            source: Source::Library((*name).to_string()),
            seed: scenario.seed,
            commands: Vec::new(),
            at: scenario.until,
            record: EventId(0),
            hash: 0,
            language: "en".to_string(),
            view: String::new(),
        });
        browser.open(&site.url(&link.expect("small")));
        let (ours, theirs) = (native.trace_hash(), browser.hash());
        if u64::from_str_radix(theirs.trim_start_matches("0x"), 16) != Ok(ours) {
            differ.push(format!("{name}: native {ours:016x}, page {theirs}"));
        }
    }
    assert!(differ.is_empty(), "{differ:#?}");
}

#[test]
fn chromium_and_native_give_the_same_trace() {
    compare(Kind::Chromium);
}

#[test]
#[ignore = "needs geckodriver on the path; ./dev firefox brings it"]
fn firefox_and_native_give_the_same_trace() {
    compare(Kind::Firefox);
}
