//! Plays the steps of one case.

use super::cluster::Cluster;
use super::tokens::Tokens;
use super::{answer, path, settled};
use engine::api::message::{Body, Method, Request, Response, User};
use engine::time::Span;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// How often an `await` looks, and how often at most.
const LOOK: Span = Span::millis(50);
const LOOKS_MAX: u32 = 6_000;
const NAMESPACE: &str = "case-1";

struct Player<'a, C: Cluster> {
    cluster: &'a mut C,
    saved: BTreeMap<String, Value>,
    tokens: Tokens,
}

/// Plays a case.
///
/// # Errors
/// The first difference from the recording.
pub fn play<C: Cluster>(cluster: &mut C, case: &Value) -> Result<(), String> {
    let mut player = Player { cluster, saved: BTreeMap::new(), tokens: Tokens::default() };
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}});
    player.cluster.begin(NAMESPACE);
    let made = player.send(&json!({"request": "POST /api/v1/namespaces", "body": namespace}))?;
    if made.code != 201 {
        return Err(format!("namespace: {} {}", made.code, made.body));
    }
    player.cluster.run(Span::millis(100));
    for (index, step) in case["steps"].as_array().into_iter().flatten().enumerate() {
        player.step(step).map_err(|why| {
            let what = ["request", "await", "watch"].iter().find_map(|w| step[*w].as_str()).unwrap_or("");
            format!("step {} {what}: {why}", index + 1)
        })?;
    }
    Ok(())
}

impl<C: Cluster> Player<'_, C> {
    fn step(&mut self, step: &Value) -> Result<(), String> {
        if step.get("request").is_some() {
            let response = self.send(step)?;
            let recorded = self.filled(&step["response"]);
            let difference = answer::response(&recorded, &response, &mut self.tokens);
            if let Some(name) = step["save"].as_str() {
                self.saved.insert(name.to_string(), Value::clone(&response.body));
            }
            // A little time passes between any two requests.
            self.cluster.run(Span::millis(5));
            difference.map_or(Ok(()), Err)
        } else if let Some(path) = step["await"].as_str() {
            self.wait(path, step)
        } else if let Some(path) = step["watch"].as_str() {
            self.watch(path, step)
        } else if let Some(seconds) = step["sleep"].as_f64() {
            self.cluster.run(Span::millis((seconds * 1000.0) as u64));
            Ok(())
        } else if let Some(kubelet) = step.get("kubelet") {
            let kubelet = self.filled(kubelet);
            self.cluster.kubelet(NAMESPACE, &kubelet)
        } else if step.get("settle").is_some() {
            let observed = self.cluster.settle(NAMESPACE, step)?;
            let recorded = self.filled(&step["observed"]);
            settled::difference(step, &recorded, &observed, &mut self.tokens).map_or(Ok(()), Err)
        } else {
            Err("unknown step".to_string())
        }
    }

    fn send(&mut self, step: &Value) -> Result<Response, String> {
        let line = self.fill(step["request"].as_str().unwrap_or(""));
        let (verb, address) = line.split_once(' ').ok_or("a request is VERB and path")?;
        let method = match verb {
            "GET" => Method::Get,
            "POST" => Method::Post,
            "PUT" => Method::Put,
            "PATCH" => Method::Patch,
            "DELETE" => Method::Delete,
            other => return Err(format!("unknown verb {other}")),
        };
        let mut request = request(method, address, step["as"].as_str().unwrap_or("admin"));
        request.content_type = step["contentType"].as_str().unwrap_or("application/json").to_string();
        request.body = match step.get("body") {
            None | Some(Value::Null) => Body::Empty,
            Some(Value::String(text)) => Body::Text(self.fill(text).into()),
            Some(body) => Body::Text(self.filled(body).to_string().into()),
        };
        Ok(self.cluster.handle(&request))
    }

    fn wait(&mut self, path: &str, step: &Value) -> Result<(), String> {
        let path = self.fill(path);
        let (field, wanted) = (step["field"].as_str().unwrap_or(""), self.filled(&step["equals"]));
        let mut last = Value::Null;
        for _ in 0..LOOKS_MAX {
            let response = self.cluster.handle(&request(Method::Get, &path, "admin"));
            let reached = if field.is_empty() {
                last = json!(response.code);
                if wanted == "gone" { response.code == 404 } else { response.code == 200 }
            } else {
                last = path::awaited(&response.body, field);
                last == wanted
            };
            if reached {
                return Ok(());
            }
            self.cluster.run(LOOK);
        }
        Err(format!("{field} never became {wanted}, last it was {last}"))
    }

    fn watch(&mut self, path: &str, step: &Value) -> Result<(), String> {
        let path = self.fill(path);
        let mut request = request(Method::Get, &path, step["as"].as_str().unwrap_or("admin"));
        request.query.push(("watch".to_string(), "true".to_string()));
        let opened = self.cluster.handle(&request);
        let recorded = self.filled(&step["response"]);
        if recorded.get("events").is_none() {
            return answer::response(&recorded, &opened, &mut self.tokens).map_or(Ok(()), Err);
        }
        let Some(watch) = opened.watch else { return Err(format!("no watch: {} {}", opened.code, opened.body)) };
        let most = step["events"].as_u64().unwrap_or(u64::MAX) as usize;
        let looks = step["seconds"].as_u64().unwrap_or(1) * Span::secs(1).0 / LOOK.0;
        let mut events = Vec::new();
        for _ in 0..=looks {
            events.extend(self.cluster.watch_events(watch));
            if events.len() >= most {
                break;
            }
            self.cluster.run(LOOK);
        }
        self.cluster.close_watch(watch);
        events.truncate(most);
        answer::events(&recorded, &events, &mut self.tokens).map_or(Ok(()), Err)
    }

    /// Puts in what `${ns}` and `${name.path}` stand for.
    fn fill(&self, text: &str) -> String {
        let (mut out, mut rest) = (String::new(), text);
        while let Some((before, after)) = rest.split_once("${") {
            out.push_str(before);
            let Some((name, after)) = after.split_once('}') else {
                out.push_str("${");
                rest = after;
                continue;
            };
            match name.split_once('.') {
                _ if name == "ns" => out.push_str(NAMESPACE),
                None if self.saved.contains_key(name) => out.push_str(&self.saved[name].to_string()),
                Some((saved, field)) if self.saved.contains_key(saved) => match path::get(&self.saved[saved], field) {
                    Value::String(text) => out.push_str(&text),
                    other => out.push_str(&other.to_string()),
                },
                _ => out.push_str(&format!("${{{name}}}")),
            }
            rest = after;
        }
        out.push_str(rest);
        out
    }

    fn filled(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::from(self.fill(text)),
            Value::Array(list) => list.iter().map(|v| self.filled(v)).collect(),
            Value::Object(map) => map.iter().map(|(k, v)| (self.fill(k), self.filled(v))).collect(),
            other => other.clone(),
        }
    }
}

fn request(method: Method, address: &str, user: &str) -> Request {
    let (path, query) = address.split_once('?').unwrap_or((address, ""));
    let mut request = Request::new(method, path);
    for pair in query.split('&').filter(|p| !p.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        request.query.push((decode(name), decode(value)));
    }
    let group = match user {
        "admin" => "system:masters",
        "alice" => "team",
        "operator" => "operators",
        _ => "viewers",
    };
    request.user = User { name: user.into(), groups: vec![group.into(), "system:authenticated".into()] };
    request.agent = "conform".into();
    request
}

/// Percent-decodes a query.
fn decode(text: &str) -> String {
    let (mut out, bytes, mut at) = (Vec::new(), text.as_bytes(), 0);
    while at < bytes.len() {
        let hex = bytes.get(at + 1..at + 3).and_then(|h| std::str::from_utf8(h).ok());
        match (bytes[at], hex.and_then(|h| u8::from_str_radix(h, 16).ok())) {
            (b'%', Some(value)) => {
                out.push(value);
                at += 2;
            }
            (b'+', _) => out.push(b' '),
            (byte, _) => out.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}
