//! Pictures of the page at three sizes, two themes, two languages: `./dev shots`.

use e2e::{Browser, Kind, Site, root};
use serde_json::json;
use std::fs;

const SIZES: [(u32, u32); 3] = [(1440, 900), (820, 1180), (390, 844)];

/// Presses a button until an attribute of the document begins as wanted.
fn turn(browser: &Browser, button: &str, attribute: &str, wanted: &str) {
    let is = format!("return (document.documentElement.getAttribute('{attribute}') || '').startsWith('{wanted}')");
    if browser.js(&is) == json!(false) {
        browser.js(&format!("document.querySelector('[data-testid=\"{button}\"]').click()"));
        browser.until(wanted, &is);
    }
}

#[test]
#[ignore = "makes pictures; ./dev shots runs it"]
fn pictures_of_the_page() {
    let folder = root().join("target/shots");
    fs::create_dir_all(&folder).expect("target can be written");
    let site = Site::start();
    let browser = Browser::start(Kind::Chromium);
    for (width, height) in SIZES {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        browser.devtools("Emulation.setDeviceMetricsOverride", &size);
        for scenario in ["ordered-rollout", "control-loop"] {
            browser.open(&site.url(&format!("s={scenario}")));
            browser.js("for (let i = 0; i < 120; i++) document.querySelector('[data-testid=step]').click()");
            for theme in ["light", "dark"] {
                for language in ["en", "zh"] {
                    turn(&browser, "theme", "data-theme", theme);
                    turn(&browser, "language", "lang", language);
                    let name = format!("{scenario}-{width}x{height}-{theme}-{language}.png");
                    fs::write(folder.join(name), browser.screenshot()).expect("the picture can be written");
                }
            }
        }
    }
}
