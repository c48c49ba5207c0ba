//! One command being carried out: its log of answers, and what verbs do through it.

use super::line::Command;
use super::verbs;
use crate::api::message::{Method, Request, Response, User, WatchEvent};
use crate::ids::WatchId;
use crate::time::{SimTime, Span};
use serde_json::Value;
use std::sync::Arc;

/// Most answers one command may take; a watch that runs longer ends with a word.
const ANSWERS_MAX: usize = 2_000;

/// One thing printed; may hold several lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub text: String,
    /// Written to the standard error.
    pub error: bool,
}

/// What a session needs next.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// Send this and feed the answer to `answered`.
    Send(Request),
    /// Call `woke` at this instant.
    Sleep(SimTime),
    /// Feed the next event of the watch to `event`, or call `woke` at the instant.
    Event { watch: WatchId, until: Option<SimTime> },
    /// Done, with this exit code.
    Exit(i32),
}

#[derive(Clone, Debug)]
enum Answer {
    Response(Response),
    Woke,
    Event(Option<WatchEvent>),
}

/// A command on its way.
#[derive(Clone, Debug)]
pub struct Session {
    command: Arc<Command>,
    user: User,
    started: SimTime,
    /// Shared, so that a copy of the session is cheap.
    log: Arc<Vec<(SimTime, Answer)>>,
    printed: usize,
}

impl Session {
    #[must_use]
    pub fn new(command: Command, user: User, now: SimTime) -> Self {
        Session { command: Arc::new(command), user, started: now, log: Arc::default(), printed: 0 }
    }

    /// Runs as far as the answers go: what is printed that was not before, and what is needed next.
    pub fn advance(&mut self) -> (Vec<Line>, Ask) {
        let mut cx = Cx {
            command: &self.command,
            user: &self.user,
            log: &self.log,
            at: 0,
            now: self.started,
            ask: None,
            lines: Vec::new(),
            code: 0,
        };
        let outcome = verbs::run(&mut cx);
        let (mut lines, ask, code) = (cx.lines, cx.ask, cx.code);
        let fresh = lines.split_off(self.printed.min(lines.len()));
        self.printed += fresh.len();
        let ask = match (outcome, ask) {
            (Err(Stop::Pending), Some(_)) if self.log.len() >= ANSWERS_MAX => {
                let text = format!("error: ended after {ANSWERS_MAX} answers");
                return ([fresh, vec![Line { text, error: true }]].concat(), Ask::Exit(1));
            }
            (Err(Stop::Pending), Some(ask)) => ask,
            (Ok(()), _) => Ask::Exit(code),
            (Err(_), _) => Ask::Exit(code.max(1)),
        };
        (fresh, ask)
    }

    pub fn answered(&mut self, now: SimTime, response: Response) {
        Arc::make_mut(&mut self.log).push((now, Answer::Response(response)));
    }
    pub fn woke(&mut self, now: SimTime) {
        Arc::make_mut(&mut self.log).push((now, Answer::Woke));
    }
    /// `None` when the server closed the watch.
    pub fn event(&mut self, now: SimTime, event: Option<WatchEvent>) {
        Arc::make_mut(&mut self.log).push((now, Answer::Event(event)));
    }
    /// The watches it has opened; they are to be closed when it ends.
    pub fn watches(&self) -> impl Iterator<Item = WatchId> {
        self.log.iter().filter_map(|(_, answer)| match answer {
            Answer::Response(response) => response.watch,
            _ => None,
        })
    }
    /// Whether its pauses are for the cluster to come to something, which may need other commands.
    #[must_use]
    pub fn lingers(&self) -> bool {
        self.endless() || matches!(self.command.verb.as_str(), "delete" | "drain" | "replace" | "rollout" | "wait")
    }
    /// Whether it runs until it is interrupted.
    #[must_use]
    pub fn endless(&self) -> bool {
        self.command.verb == "get" && (self.command.on("watch") || self.command.on("watch-only"))
    }
}

/// Why a verb went no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// An answer is missing.
    Pending,
    /// It failed and has said so.
    Failed,
}

pub type Flow<T = ()> = Result<T, Stop>;

/// What came from a watch.
pub enum Seen {
    Event(WatchEvent),
    Closed,
    TimedOut,
}

/// What verbs see of the world.
pub struct Cx<'a> {
    pub command: &'a Command,
    user: &'a User,
    log: &'a [(SimTime, Answer)],
    at: usize,
    pub now: SimTime,
    ask: Option<Ask>,
    lines: Vec<Line>,
    pub code: i32,
}

impl Cx<'_> {
    fn next(&mut self, ask: impl FnOnce() -> Ask) -> Flow<Answer> {
        match self.log.get(self.at) {
            Some((at, answer)) => {
                self.at += 1;
                self.now = *at;
                Ok(answer.clone())
            }
            None => {
                self.ask = Some(ask());
                Err(Stop::Pending)
            }
        }
    }

    pub fn call(&mut self, mut request: Request) -> Flow<Response> {
        request.agent = "kubectl".into();
        request.user = match self.command.flag("as") {
            None => self.user.clone(),
            Some(name) => {
                // The server adds the group of all who are known, as it does on impersonation.
                let given = self.command.all("as-group").iter().map(String::as_str);
                let groups = given.chain(["system:authenticated"]).map(Into::into).collect();
                User { name: name.into(), groups }
            }
        };
        match self.next(|| Ask::Send(request))? {
            Answer::Response(response) => {
                for warning in &response.warnings {
                    self.err(format!("Warning: {warning}"));
                }
                Ok(response)
            }
            _ => Err(self.fail("the connection was closed")),
        }
    }

    pub fn get(&mut self, path: impl Into<String>) -> Flow<Response> {
        self.call(Request::new(Method::Get, path))
    }

    /// Reads, and fails with the server's words.
    pub fn fetch(&mut self, path: impl Into<String>) -> Flow<Arc<Value>> {
        let response = self.get(path)?;
        self.check(response)
    }

    /// The body of a success; a failure is printed and ends the command.
    pub fn check(&mut self, response: Response) -> Flow<Arc<Value>> {
        if response.success() {
            return Ok(response.body);
        }
        self.refused(&response, "");
        Err(Stop::Failed)
    }

    pub fn sleep(&mut self, span: Span) -> Flow {
        let until = self.now + span;
        self.next(|| Ask::Sleep(until)).map(|_| ())
    }

    pub fn event(&mut self, watch: WatchId, until: Option<SimTime>) -> Flow<Seen> {
        Ok(match self.next(|| Ask::Event { watch, until })? {
            Answer::Event(Some(event)) => Seen::Event(event),
            Answer::Event(None) => Seen::Closed,
            _ => Seen::TimedOut,
        })
    }

    pub fn out(&mut self, text: impl Into<String>) {
        self.lines.push(Line { text: text.into(), error: false });
    }
    pub fn err(&mut self, text: impl Into<String>) {
        self.lines.push(Line { text: text.into(), error: true });
    }
    /// `error: …`, and the end of the command.
    pub fn fail(&mut self, text: impl std::fmt::Display) -> Stop {
        self.err(format!("error: {text}"));
        Stop::Failed
    }

    /// Prints why the server refused; `doing` comes before its message, such as `error when creating "x": `.
    pub fn refused(&mut self, response: &Response, doing: &str) {
        self.code = 1;
        let status = response.status().unwrap_or_default();
        if status.reason == "Invalid" && !(status.kind.is_empty() && status.name.is_empty()) {
            let head = format!("The {} \"{}\" is invalid", status.kind, status.name);
            let mut causes: Vec<String> = Vec::new();
            for cause in &status.causes {
                let text = format!("{}: {}", cause.field, cause.message);
                if !causes.contains(&text) {
                    causes.push(text);
                }
            }
            self.err(match causes.as_slice() {
                [] => head,
                [one] => format!("{head}: {one}"),
                many => format!("{head}: \n* {}", many.join("\n* ")),
            });
            return;
        }
        let message = format!("{doing}{}", status.message);
        self.err(match status.reason.as_str() {
            "" => format!("Error from server: {message}"),
            reason => format!("Error from server ({reason}): {message}"),
        });
    }

    /// The namespace the command works in; empty for all of them.
    pub fn namespace(&self) -> String {
        if self.command.on("all-namespaces") {
            return String::new();
        }
        self.command.flag("namespace").unwrap_or("default").to_string()
    }

    /// The manager of the fields that this command writes.
    pub fn manager(&self, default: &str) -> String {
        self.command.flag("field-manager").unwrap_or(default).to_string()
    }
}

/// `30s`, `2m`, `1h30m`, or a bare number of seconds.
pub fn duration(text: &str) -> Option<Span> {
    if let Ok(seconds) = text.parse::<u64>() {
        return Some(Span::secs(seconds.min(u64::from(u32::MAX))));
    }
    let (mut total, mut number) = (0_u64, String::new());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c.is_ascii_digit() {
            number.push(c);
            continue;
        }
        let unit = match c {
            'h' => 3_600_000,
            'm' if chars.next_if_eq(&'s').is_some() => 1,
            'm' => 60_000,
            's' => 1_000,
            _ => return None,
        };
        total = total.checked_add(number.parse::<u32>().ok().map(u64::from)?.checked_mul(unit)?)?;
        number.clear();
    }
    (number.is_empty() && !text.is_empty()).then(|| Span::millis(total))
}
