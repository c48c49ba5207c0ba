//! What can only be measured in a browser; `./dev bench` runs it and reads the line that begins with `page: `.

use e2e::{Browser, Kind, Site};
use engine::ids::EventId;
use engine::library;
use engine::recording::Recording;
use engine::share::{self, SharedRun, Source};
use engine::time::SimTime;
use serde_json::json;
use std::time::Duration;

const PLAYED: &str = "ordered-rollout";
/// Virtual time of the run whose load is measured: enough records to stand out from the start of the page.
const LONG: SimTime = SimTime(600_000_000);

fn ready_ms(browser: &Browser, site: &Site, at: SimTime) -> f64 {
    let run = SharedRun {
        source: Source::Library(PLAYED.to_string()),
        seed: 7,
        commands: Vec::new(),
        at,
        record: EventId(0),
        hash: 0,
        language: "en".to_string(),
        view: String::new(),
    };
    browser.open(&site.url(&share::encode(&run).expect("small")));
    let mark = "return performance.getEntriesByName('operatorscope:ready')[0].startTime";
    browser.js(mark).as_f64().unwrap_or_default()
}

fn task_seconds(browser: &Browser) -> f64 {
    let metrics = browser.devtools("Performance.getMetrics", &json!({}));
    let found = metrics["metrics"].as_array().into_iter().flatten().find(|m| m["name"] == "TaskDuration");
    found.and_then(|m| m["value"].as_f64()).unwrap_or_default()
}

#[test]
#[ignore = "measures; ./dev bench runs it"]
fn speeds_of_the_page() {
    let site = Site::start();
    let browser = Browser::start(Kind::Chromium);
    let mut scenario = library::load(PLAYED).expect("listed").expect("well formed");
    scenario.seed = 7;
    let mut native = Recording::of(&scenario);
    native.seek(LONG);
    let records = native.cursor() as f64;
    let short = ready_ms(&browser, &site, SimTime::ZERO);
    let long = ready_ms(&browser, &site, LONG);
    browser.open(&site.url(&format!("s={PLAYED}")));
    browser.devtools("Performance.enable", &json!({}));
    if browser.js("return document.querySelector('[data-testid=play]').getAttribute('aria-pressed') === 'true'")
        == json!(false)
    {
        browser.click("play");
    }
    browser.js("window.frames_seen = 0; const f = () => { window.frames_seen++; requestAnimationFrame(f) }; f()");
    let (before, from) = (task_seconds(&browser), browser.js("return [performance.now(), window.frames_seen]"));
    std::thread::sleep(Duration::from_secs(5));
    let (after, to) = (task_seconds(&browser), browser.js("return [performance.now(), window.frames_seen]"));
    let over = |i: usize| to[i].as_f64().unwrap_or_default() - from[i].as_f64().unwrap_or_default();
    let seconds = over(0) / 1e3;
    println!(
        "page: {}",
        json!({"ready_ms": short.round(), "wasm_events_per_s": (records / (long - short).max(1.0) * 1e3).round(),
            "busy_share": ((after - before) / seconds * 1e3).round() / 1e3, "frames_per_s": (over(1) / seconds * 10.0).round() / 10.0})
    );
}
