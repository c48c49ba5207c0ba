//! A browser for the tests: starts the driver and the page's server, and speaks the WebDriver protocol over plain HTTP.
//!
//! The protocol is JSON over HTTP/1.1 on the same machine, so that the standard library is enough for it.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The key under which the protocol names an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";
const PATIENCE: Duration = Duration::from_secs(60);

#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A program that ends with the test.
struct Program {
    child: Child,
    port: u16,
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself; either way it is gone.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn start(mut command: Command, port: u16) -> Program {
    let name = command.get_program().to_os_string();
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let program = Program { child: child.unwrap_or_else(|why| panic!("{name:?}: {why}")), port };
    let began = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(began.elapsed() < PATIENCE, "{name:?} does not answer on {port}");
        std::thread::sleep(Duration::from_millis(50));
    }
    program
}

fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    listener.local_addr().expect("it is bound").port()
}

/// `dist/` as `./dev build` made it, served by our own program.
pub struct Site(Program);

impl Site {
    #[must_use]
    pub fn start() -> Self {
        let port = free_port();
        let mut command = Command::new(root().join("target/debug/operatorscope"));
        command.arg("serve").arg(root().join("dist")).args(["--port", &port.to_string()]);
        Site(start(command, port))
    }
    #[must_use]
    pub fn url(&self, fragment: &str) -> String {
        let mark = if fragment.is_empty() { "" } else { "#" };
        format!("http://127.0.0.1:{}/{mark}{fragment}", self.0.port)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Chromium,
    Firefox,
}

/// One browser with a fresh profile.
pub struct Browser {
    driver: Program,
    session: String,
}

impl Browser {
    #[must_use]
    pub fn start(kind: Kind) -> Self {
        let port = free_port();
        let (program, wanted) = match kind {
            Kind::Chromium => (
                "chromedriver",
                json!({"browserName": "chrome", "goog:loggingPrefs": {"browser": "ALL"}, "goog:chromeOptions": {"args":
                    ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1440,900", "--lang=en"]}}),
            ),
            Kind::Firefox => {
                ("geckodriver", json!({"browserName": "firefox", "moz:firefoxOptions": {"args": ["-headless"]}}))
            }
        };
        let mut command = Command::new(program);
        command.arg(format!("--port={port}"));
        let driver = start(command, port);
        let mut browser = Browser { driver, session: String::new() };
        let answer = browser.post("/session", &json!({"capabilities": {"alwaysMatch": wanted}}));
        browser.session = answer["sessionId"].as_str().unwrap_or_else(|| panic!("no session: {answer}")).to_string();
        browser
    }

    fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value, String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.driver.port)).map_err(|e| e.to_string())?;
        let body = body.map(Value::to_string).unwrap_or_default();
        let port = self.driver.port;
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        stream.write_all((head + &body).as_bytes()).map_err(|e| e.to_string())?;
        let mut reader = BufReader::new(stream);
        let (mut line, mut length) = (String::new(), 0);
        while reader.read_line(&mut line).map_err(|e| e.to_string())? > 2 {
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().map_err(|_| line.clone())?;
            }
            line.clear();
        }
        let mut bytes = vec![0; length];
        reader.read_exact(&mut bytes).map_err(|e| e.to_string())?;
        let answer: Value = serde_json::from_slice(&bytes).map_err(|e| e.to_string())?;
        match answer["value"]["error"].as_str() {
            Some(error) => Err(format!("{error}: {}", answer["value"]["message"].as_str().unwrap_or_default())),
            None => Ok(answer["value"].clone()),
        }
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        self.call("POST", path, Some(body)).unwrap_or_else(|why| panic!("POST {path}: {why}"))
    }

    fn tell(&self, command: &str, body: &Value) -> Value {
        self.post(&format!("/session/{}/{command}", self.session), body)
    }

    /// Opens an address and waits until the page answers to input.
    pub fn open(&self, url: &str) {
        // Another fragment alone would not load the page again.
        self.tell("url", &json!({"url": "about:blank"}));
        self.tell("url", &json!({"url": url}));
        self.until("the page is ready", "return performance.getEntriesByName('operatorscope:ready').length > 0");
    }

    pub fn js(&self, script: &str) -> Value {
        self.tell("execute/sync", &json!({"script": script, "args": []}))
    }

    /// Waits until what was done has been drawn.
    pub fn drawn(&self) {
        let script = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done(true)))";
        self.tell("execute/async", &json!({"script": script, "args": []}));
    }

    pub fn text(&self, script: &str) -> String {
        self.js(script).as_str().unwrap_or_default().to_string()
    }

    /// Asks again and again until the script gives something true.
    pub fn until(&self, what: &str, script: &str) -> Value {
        let began = Instant::now();
        loop {
            let value = self.js(script);
            if !matches!(value, Value::Null | Value::Bool(false)) {
                return value;
            }
            assert!(began.elapsed() < PATIENCE, "waited in vain until {what}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn element(&self, test: &str) -> String {
        let query = format!("[data-testid=\"{test}\"]");
        self.until(&format!("{test} is there"), &format!("return document.querySelector('{query}') !== null"));
        let found = self.tell("element", &json!({"using": "css selector", "value": query}));
        found[ELEMENT].as_str().unwrap_or_else(|| panic!("{test}: {found}")).to_string()
    }

    pub fn click(&self, test: &str) {
        self.tell(&format!("element/{}/click", self.element(test)), &json!({}));
    }

    pub fn write(&self, test: &str, text: &str) {
        let element = self.element(test);
        self.tell(&format!("element/{element}/clear"), &json!({}));
        self.tell(&format!("element/{element}/value"), &json!({"text": text}));
    }

    /// Presses a key where the focus is.
    pub fn key(&self, key: &str) {
        let press = json!([{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]);
        self.tell("actions", &json!({"actions": [{"type": "key", "id": "keys", "actions": press}]}));
    }

    /// A command of the DevTools protocol; Chromium only.
    pub fn devtools(&self, command: &str, params: &Value) -> Value {
        self.tell("goog/cdp/execute", &json!({"cmd": command, "params": params}))
    }

    pub fn screenshot(&self) -> Vec<u8> {
        let path = format!("/session/{}/screenshot", self.session);
        let text = self.call("GET", &path, None).expect("a picture");
        from_base64(text.as_str().unwrap_or_default())
    }

    #[must_use]
    pub fn hash(&self) -> String {
        self.text("return window.operatorscope.traceHash()")
    }

    /// The virtual time at the cursor, in microseconds.
    #[must_use]
    pub fn time(&self) -> u64 {
        self.js("return Math.round(window.operatorscope.time())").as_u64().unwrap_or_default()
    }

    /// Fails if the console shows an error, or anything was asked of another host.
    pub fn assert_clean(&self) {
        let log = self.tell("se/log", &json!({"type": "browser"}));
        let severe = |entry: &&Value| entry["level"] == "SEVERE";
        let bad: Vec<&Value> = log.as_array().into_iter().flatten().filter(severe).collect();
        assert!(bad.is_empty(), "the console shows errors: {bad:?}");
        let others = self.js(
            "return performance.getEntriesByType('resource').map(e => e.name).filter(u => !u.startsWith(location.origin) && !/^(data|blob):/.test(u))",
        );
        assert_eq!(others, json!([]), "requests to another host");
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver ends right after; a browser that is gone already is no failure.
        let _ = self.call("DELETE", &format!("/session/{}", self.session), None);
    }
}

fn from_base64(text: &str) -> Vec<u8> {
    let digit = |b: u8| match b {
        b'A'..=b'Z' => Some(u32::from(b - b'A')),
        b'a'..=b'z' => Some(u32::from(b - b'a') + 26),
        b'0'..=b'9' => Some(u32::from(b - b'0') + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let (mut bytes, mut held, mut bits) = (Vec::new(), 0_u32, 0);
    for value in text.bytes().filter_map(digit) {
        held = (held << 6 | value) & 0xffff;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits & 0xff) as u8);
        }
    }
    bytes
}
