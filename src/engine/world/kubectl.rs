//! The person at the keyboard: what was asked of kubectl, one command after the other, over the network.
//!
//! A line typed while an endless `get -w` runs ends it first, as an interrupt from the keyboard would. Commands that
//! wait for the cluster, such as `wait` or a `delete` held up by a finalizer, let the next one begin, as in a second
//! terminal.
//!
//! Divergence from Kubernetes: an answer that is lost on the way leaves kubectl waiting; a person would interrupt it.

use super::World;
use super::serve::Stream;
use super::spec::admin;
use crate::api::message::{Request, Response, WatchEvent};
use crate::event::{Carries, Event, InformerId, Message};
use crate::ids::{MessageId, WatchId};
use crate::kubectl::{Ask, Command, Files, Known, Line, Session, parse};
use crate::network::Payload;
use crate::process::rest::{addressee, carries, post};
use crate::time::SimTime;
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::Arc;

/// The process name of kubectl.
pub(super) const KUBECTL: &str = "kubectl";

/// What a shell says of a program that Ctrl-C ended: 128 and the number of the signal.
const INTERRUPTED: i32 = 130;

#[derive(Clone, Debug)]
enum Job {
    Request(Request),
    Line(Box<Command>),
}

#[derive(Clone, Debug)]
enum Waiting {
    Nothing,
    Answer(MessageId),
    Until(SimTime),
    Event(WatchId, Option<SimTime>),
}

/// A command that is being carried out; a raw request has no session.
#[derive(Clone, Debug)]
struct Running {
    number: u64,
    session: Option<Session>,
    waiting: Waiting,
}

impl Running {
    /// Whether the next command has to wait for this one.
    fn blocks(&self) -> bool {
        let idle = matches!(self.waiting, Waiting::Until(_) | Waiting::Event(..));
        !(idle && self.session.as_ref().is_some_and(Session::lingers))
    }
    fn endless(&self) -> bool {
        self.session.as_ref().is_some_and(Session::endless)
    }
}

/// What kubectl is doing.
#[derive(Clone, Debug, Default)]
pub struct Kubectl {
    jobs: VecDeque<Job>,
    running: Vec<Running>,
    started: u64,
    /// What came over watches and was not asked for yet.
    inbox: VecDeque<(WatchId, Option<WatchEvent>)>,
}

impl World {
    pub(super) fn kubectl_request(&mut self, request: Request) {
        self.enqueue(Job::Request(request));
    }

    pub(super) fn kubectl_apply(&mut self, manifests: Vec<Arc<Value>>) {
        self.enqueue(Job::Line(Box::new(Command::apply(manifests))));
    }

    pub(super) fn kubectl_line(&mut self, line: &str, manifests: Vec<Arc<Value>>) {
        self.interrupt();
        let mut files = Files::new();
        if !manifests.is_empty() {
            files.insert("-".to_string(), manifests);
        }
        match parse(line, &files) {
            Ok(command) => self.enqueue(Job::Line(Box::new(command))),
            Err(usage) => {
                self.print(Line { text: usage.0, error: true });
                self.exited(1);
            }
        }
    }

    /// Gives up everything that was typed and has not come to its end. What was sent stays sent.
    pub(super) fn kubectl_interrupt(&mut self) {
        let typed = |job: &Job| matches!(job, Job::Line(_));
        let waiting = self.kubectl.jobs.iter().filter(|job| typed(job)).count();
        self.kubectl.jobs.retain(|job| !typed(job));
        let running = self.kubectl.running.extract_if(.., |r| r.session.is_some()).collect();
        self.give_up(running);
        (0..waiting).for_each(|_| self.exited(INTERRUPTED));
        self.start_jobs();
    }

    fn give_up(&mut self, running: Vec<Running>) {
        let count = running.len();
        self.hang_up(running, "interrupted from the keyboard");
        (0..count).for_each(|_| self.exited(INTERRUPTED));
    }

    fn exited(&mut self, code: i32) {
        self.core.log.emit(Event::Exited { process: KUBECTL.into(), code });
    }

    fn enqueue(&mut self, job: Job) {
        self.kubectl.jobs.push_back(job);
        self.start_jobs();
    }

    /// Ends the commands that would run for ever, and their watches.
    fn interrupt(&mut self) {
        let endless: Vec<Running> = self.kubectl.running.extract_if(.., |r| r.endless()).collect();
        self.give_up(endless);
    }

    /// Closes the watches of commands that are no more.
    fn hang_up(&mut self, ended: Vec<Running>, why: &str) {
        for watch in ended.iter().filter_map(|r| r.session.as_ref()).flat_map(Session::watches) {
            self.api.close_watch(watch);
            self.forget_stream(watch, why);
            self.kubectl.inbox.retain(|(w, _)| *w != watch);
        }
    }

    /// Begins with the next jobs when nothing stands in their way.
    fn start_jobs(&mut self) {
        while !self.kubectl.running.iter().any(Running::blocks) {
            let Some(job) = self.kubectl.jobs.pop_front() else { return };
            self.kubectl.started += 1;
            let number = self.kubectl.started;
            let mut running = Running { number, session: None, waiting: Waiting::Nothing };
            match job {
                Job::Request(request) => {
                    running.waiting = Waiting::Answer(self.kubectl_send(request));
                    self.kubectl.running.push(running);
                }
                Job::Line(command) => {
                    running.session = Some(Session::new(*command, admin(), self.core.now()));
                    self.kubectl.running.push(running);
                    self.go_on(number);
                }
            }
        }
    }

    fn running(&mut self, number: u64) -> Option<&mut Running> {
        self.kubectl.running.iter_mut().find(|r| r.number == number)
    }

    /// Lets a session run as far as it goes.
    fn go_on(&mut self, number: u64) {
        while let Some(session) = self.running(number).and_then(|r| r.session.as_mut()) {
            let (lines, ask) = session.advance();
            lines.into_iter().for_each(|line| self.print(line));
            let waiting = match ask {
                Ask::Send(request) => Waiting::Answer(self.kubectl_send(request)),
                Ask::Sleep(until) => {
                    self.book_kubectl(until);
                    Waiting::Until(until)
                }
                Ask::Event { watch, until } => {
                    let at = self.kubectl.inbox.iter().position(|(w, _)| *w == watch);
                    if let Some((_, event)) = at.and_then(|at| self.kubectl.inbox.remove(at)) {
                        let now = self.core.now();
                        if let Some(session) = self.running(number).and_then(|r| r.session.as_mut()) {
                            session.event(now, event);
                        }
                        continue;
                    }
                    if let Some(until) = until {
                        self.book_kubectl(until);
                    }
                    Waiting::Event(watch, until)
                }
                Ask::Exit(code) => {
                    let ended = self.kubectl.running.extract_if(.., |r| r.number == number).collect();
                    self.hang_up(ended, "the command ended");
                    self.exited(code);
                    return;
                }
            };
            if let Some(running) = self.running(number) {
                running.waiting = waiting;
            }
            return;
        }
    }

    /// A time that was booked has come.
    pub(super) fn kubectl_next(&mut self) {
        let now = self.core.now();
        let due = |r: &Running| match r.waiting {
            Waiting::Until(until) | Waiting::Event(_, Some(until)) => until <= now,
            _ => false,
        };
        let numbers: Vec<u64> = self.kubectl.running.iter().filter(|r| due(r)).map(|r| r.number).collect();
        for number in numbers {
            let Some(running) = self.running(number) else { continue };
            running.waiting = Waiting::Nothing;
            if let Some(session) = &mut running.session {
                session.woke(now);
            }
            self.go_on(number);
        }
        self.start_jobs();
    }

    fn kubectl_send(&mut self, mut request: Request) -> MessageId {
        if request.user.name.is_empty() {
            request.user = admin();
        }
        request.agent = KUBECTL.into();
        let words = carries(&request);
        let way = (KUBECTL.into(), addressee(&request).into(), self.core.now());
        let pace = self.core.knobs.pace();
        let what = (words, Payload::Request(Arc::new(request)), false);
        let message = self.core.network.send(way, pace, SimTime::ZERO, what);
        let id = message.id;
        post(&mut self.core, message);
        id
    }

    pub(super) fn kubectl_answered(&mut self, request: MessageId, response: Response) {
        let waits = |r: &Running| matches!(r.waiting, Waiting::Answer(id) if id == request);
        let Some(at) = self.kubectl.running.iter().position(waits) else { return };
        let now = self.core.now();
        let running = &mut self.kubectl.running[at];
        running.waiting = Waiting::Nothing;
        let number = running.number;
        match &mut running.session {
            Some(session) => {
                session.answered(now, response);
                self.go_on(number);
            }
            None => {
                self.kubectl.running.remove(at);
                if let Some(status) = response.status() {
                    let text = format!("Error from server ({}): {}", status.reason, status.message);
                    self.print(Line { text, error: true });
                }
            }
        }
        self.start_jobs();
    }

    /// The stream that a watch of kubectl comes through.
    pub(super) fn kubectl_stream(&self, message: &Message) -> Option<Stream> {
        let Carries::Request { resource, .. } = &message.carries else { return None };
        let informer = InformerId { process: KUBECTL.into(), resource: resource.clone(), scope: "".into() };
        Some(Stream::new(KUBECTL.into(), 0, informer, self.core.now()))
    }

    /// An event of a watch arrived, or its end.
    pub(super) fn kubectl_event(&mut self, watch: WatchId, event: Option<WatchEvent>) {
        self.kubectl.inbox.push_back((watch, event));
        let waits = |r: &&Running| matches!(r.waiting, Waiting::Event(waited, _) if waited == watch);
        if let Some(number) = self.kubectl.running.iter().find(waits).map(|r| r.number) {
            self.go_on(number);
            self.start_jobs();
        }
    }

    /// Whether every command is done, but for those that run until they are interrupted.
    #[must_use]
    pub fn kubectl_idle(&self) -> bool {
        self.kubectl.jobs.is_empty() && self.kubectl.running.iter().all(Running::endless)
    }

    /// What a line would print now. Nothing travels, no time passes, and the cluster stays as it is.
    #[must_use]
    pub fn look(&self, line: &str) -> Vec<Line> {
        let command = match parse(line, &Files::new()) {
            Ok(command) => command,
            Err(usage) => return vec![Line { text: usage.0, error: true }],
        };
        let (mut api, now) = (self.api.clone(), self.core.now());
        let mut session = Session::new(command, admin(), now);
        let mut printed = Vec::new();
        loop {
            let (lines, ask) = session.advance();
            printed.extend(lines);
            match ask {
                Ask::Send(mut request) => {
                    request.agent = KUBECTL.into();
                    session.answered(now, api.handle(now, &request));
                }
                // A look does not wait.
                Ask::Sleep(_) | Ask::Event { .. } | Ask::Exit(_) => return printed,
            }
        }
    }

    fn print(&mut self, line: Line) {
        let (text, failed) = (line.text.into(), line.error);
        self.core.log.emit(Event::Printed { process: KUBECTL.into(), text, failed });
    }
}

/// For completion: what the cluster serves and holds at this instant.
impl Known for World {
    fn resources(&self) -> Vec<String> {
        let plural = |line: &str| line.split('.').next().unwrap_or(line).to_string();
        self.look("api-resources -o name").iter().flat_map(|l| l.text.lines()).map(plural).collect()
    }

    fn names(&self, resource: &str, namespace: &str) -> Vec<String> {
        let quoted = |text: &str| format!("'{}'", text.replace('\'', ""));
        let lines = self.look(&format!("get {} -n {} -o name", quoted(resource), quoted(namespace)));
        let names = lines.iter().filter(|l| !l.error).filter_map(|l| l.text.split_once('/'));
        names.map(|(_, name)| name.to_string()).collect()
    }

    fn namespaces(&self) -> Vec<String> {
        self.names("namespaces", "default")
    }
}
