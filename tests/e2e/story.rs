//! What a reader does, in a real Chromium.

use e2e::{Browser, Kind, Site, root};
use std::fs;

/// Presses of a step key until something is given up.
const STEPS_MAX: usize = 3_000;
/// The pods of the cluster that the page shows, by ordinal.
const PODS: &str = "return [...document.querySelectorAll('[data-testid^=\"object-\"]')].map(e => e.dataset.testid.toLowerCase().match(/^object-pods?-cache-(\\d)$/)).filter(m => m).map(m => m[1]).sort().join('')";

fn manifest(name: &str) -> String {
    fs::read_to_string(root().join("tests/manifests").join(name)).expect("the file is in the repository")
}

fn press(browser: &Browser, button: &str, times: usize) {
    browser.js(&format!(
        "const b = document.querySelector('[data-testid=\"{button}\"]'); for (let i = 0; i < {times}; i++) b.click()"
    ));
}

/// Steps until the pods are as wanted; gives every set that was seen on the way.
fn step_until(browser: &Browser, wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let mut seen = vec![browser.text(PODS)];
    for _ in 0..STEPS_MAX {
        if wanted(seen.last().map_or("", String::as_str)) {
            return seen;
        }
        press(browser, "step", 1);
        browser.drawn();
        let now = browser.text(PODS);
        if seen.last() != Some(&now) {
            seen.push(now);
        }
    }
    panic!("the pods never came to what was wanted: {seen:?}");
}

#[test]
fn manifests_drive_a_loop_that_is_broken_healed_rewound_and_shared() {
    let site = Site::start();
    let browser = Browser::start(Kind::Chromium);
    browser.open(&site.url("s=sandbox"));
    let both = format!("{}\n---\n{}", manifest("rediscluster-crd.yaml"), manifest("rediscluster-cache.yaml"));
    browser.click("side-manifest");
    browser.write("manifest-editor", &both);
    browser.click("manifest-apply");
    let seen = step_until(&browser, |pods| pods == "012");
    assert_eq!(seen, ["", "0", "01", "012"], "the pods come up in order");
    press(&browser, "step", 150);

    browser.click("side-break");
    browser.click("fault-kill-pod");
    step_until(&browser, |pods| pods.len() < 3);
    step_until(&browser, |pods| pods == "012");
    let (time, hash) = (browser.time(), browser.hash());

    press(&browser, "step-back", 80);
    assert!(browser.time() < time);
    assert_ne!(browser.hash(), hash);
    press(&browser, "step", 80);
    assert_eq!((browser.time(), browser.hash()), (time, hash.clone()), "back and forward again is the same");

    browser.click("share");
    let link = browser.until("the address holds the run", "return location.hash.startsWith('#v1.') && location.href");
    browser.assert_clean();
    let fresh = Browser::start(Kind::Chromium);
    fresh.open(link.as_str().unwrap_or_default());
    assert_eq!((fresh.time(), fresh.hash()), (time, hash), "the link opens the same run at the same instant");
    fresh.assert_clean();
}

#[test]
fn language_theme_and_keys_answer() {
    let site = Site::start();
    let browser = Browser::start(Kind::Chromium);
    browser.open(&site.url("s=ordered-rollout"));
    for (button, attribute) in [("language", "lang"), ("theme", "data-theme")] {
        let read = format!("return document.documentElement.getAttribute('{attribute}')");
        let before = browser.text(&read);
        browser.click(button);
        browser.until(button, &format!("return document.documentElement.getAttribute('{attribute}') !== '{before}'"));
    }
    browser.js("document.activeElement.blur()");
    browser.key("\u{E010}");
    let end = browser.time();
    browser.key("\u{E011}");
    assert!(browser.time() < end, "Home goes to the beginning");
    browser.key("\u{E014}");
    assert!(browser.time() > 0, "the right arrow steps");
    browser.assert_clean();
}

#[test]
fn a_damaged_link_says_so_and_offers_the_scenario() {
    let site = Site::start();
    let browser = Browser::start(Kind::Chromium);
    browser.open(&site.url("v1.AAAAAAAAAAAAAAAA"));
    browser.until("the notice is there", "return document.querySelector('[data-testid=notice]') !== null");
    browser.click("open-without");
    browser.until("it has gone", "return document.querySelector('[data-testid=\"open-without\"]') === null");
    browser.assert_clean();
}
