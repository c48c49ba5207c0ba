//! What a person types into the console, in a real Chromium.

use e2e::{Browser, Kind, Site};

const TAB: &str = "\u{E004}";
const ENTER: &str = "\u{E007}";
const UP: &str = "\u{E013}";
const OUTPUT: &str = "return document.querySelector('[data-testid=console-output]').innerText";
const LINE: &str = "return document.querySelector('[data-testid=console-line]').value";

fn holds(browser: &Browser, text: &str) {
    browser.until(text, &format!("{OUTPUT}.includes({text:?})"));
}

fn open(browser: &Browser, site: &Site) {
    browser.open(&site.url("s=sandbox"));
    browser.click("side-kubectl");
}

#[test]
fn lines_are_typed_completed_answered_and_rewound() {
    let site = Site::start();
    let browser = Browser::start(Kind::Chromium);
    open(&browser, &site);
    browser.write("console-line", &format!("create cm motto --from-literal=a=b{ENTER}"));
    holds(&browser, "configmap/motto created");
    browser.write("console-line", &format!("get confi{TAB}"));
    assert_eq!(browser.text(LINE), "get configmaps ");
    for key in ["m", TAB, ENTER] {
        browser.key(key);
    }
    holds(&browser, "$ kubectl get configmaps motto");
    holds(&browser, "NAME    DATA   AGE");
    browser.key(UP);
    browser.key(UP);
    assert_eq!(browser.text(LINE), "create cm motto --from-literal=a=b");
    browser.write("console-line", &format!("get cm nope{ENTER}"));
    holds(&browser, "Error from server (NotFound): configmaps \"nope\" not found");
    browser.js("document.activeElement.blur()");
    browser.key("\u{E011}");
    browser.until("nothing was printed at the beginning", &format!("{OUTPUT}.trim() === ''"));
    browser.assert_clean();
}

#[test]
fn an_object_is_edited_and_a_watch_is_given_up() {
    let site = Site::start();
    let browser = Browser::start(Kind::Chromium);
    open(&browser, &site);
    browser.write("console-line", &format!("apply -f -{ENTER}"));
    browser.write("console-text", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: motto\ndata:\n  says: slow\n");
    browser.click("console-save");
    holds(&browser, "configmap/motto created");
    browser.write("console-line", &format!("edit cm motto{ENTER}"));
    browser.until(
        "the editor holds the object",
        "return document.querySelector('[data-testid=console-text]')?.value.includes('says: slow')",
    );
    browser.js("const a = document.querySelector('[data-testid=console-text]'); a.value = a.value.replace('says: slow', 'says: fast')");
    browser.click("console-save");
    holds(&browser, "configmap/motto edited");
    browser.write("console-line", &format!("get cm motto -o jsonpath={{.data.says}} {ENTER}"));
    holds(&browser, "\nfast");
    browser.write("console-line", &format!("get cm -w{ENTER}"));
    holds(&browser, "motto ");
    browser.click("console-interrupt");
    holds(&browser, "^C");
    browser.until("the watch has ended", "return document.querySelector('[data-testid=console-interrupt]').disabled");
    browser.assert_clean();
}
