//! A typed line to a command: words as a shell cuts them, then flags as cobra reads them.

use super::flags::{COMMON, Flag, Form, of};
use crate::object::Object;
use std::collections::BTreeMap;

/// Longest line that is read.
const LINE_MAX: usize = 64 * 1024;

/// The objects of each file that `-f` may name; `-` is what was given on the standard input, and stands in for any
/// name that is not here.
pub type Files = BTreeMap<String, Vec<Object>>;

/// Why a line was refused, as kubectl prints it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage(pub String);

/// What was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    pub verb: String,
    pub args: Vec<String>,
    pub flags: BTreeMap<&'static str, Vec<String>>,
    /// What the files hold, each with the name errors give its source.
    pub objects: Vec<(String, Object)>,
    /// Wait for kinds that are not served yet.
    pub patient: bool,
}

impl Command {
    /// `kubectl apply -f -` of these objects, waiting for their kinds to be served.
    #[must_use]
    pub fn apply(objects: Vec<Object>) -> Self {
        let objects = objects.into_iter().map(|o| ("STDIN".to_string(), o)).collect();
        Command { verb: "apply".into(), args: Vec::new(), flags: BTreeMap::new(), objects, patient: true }
    }

    /// The last value of a flag.
    #[must_use]
    pub fn flag(&self, name: &str) -> Option<&str> {
        self.flags.get(name)?.last().map(String::as_str)
    }
    /// Whether a switch is on.
    #[must_use]
    pub fn on(&self, name: &str) -> bool {
        self.flag(name).is_some_and(|v| v != "false")
    }
    /// All values of a flag.
    #[must_use]
    pub fn all(&self, name: &str) -> &[String] {
        self.flags.get(name).map_or(&[], Vec::as_slice)
    }
}

pub const VERBS: &[&str] = &[
    "annotate",
    "api-resources",
    "api-versions",
    "apply",
    "attach",
    "auth",
    "cluster-info",
    "config",
    "cordon",
    "cp",
    "create",
    "debug",
    "delete",
    "describe",
    "diff",
    "drain",
    "edit",
    "events",
    "exec",
    "explain",
    "expose",
    "get",
    "kustomize",
    "label",
    "logs",
    "patch",
    "port-forward",
    "proxy",
    "replace",
    "rollout",
    "run",
    "scale",
    "set",
    "top",
    "uncordon",
    "version",
    "wait",
];

/// Reads a line, with or without the leading `kubectl`.
///
/// # Errors
/// The text kubectl prints for a line it does not understand.
pub fn parse(line: &str, files: &Files) -> Result<Command, Usage> {
    let mut words = words(line)?.into_iter().peekable();
    words.next_if(|w| w == "kubectl" || w == "k");
    let mut before = Vec::new();
    while let Some(flag) = words.next_if(|w| w.starts_with('-')) {
        // Only common flags stand before the verb; one that takes a value brings it along.
        let takes = !flag.contains('=') && lookup("", &flag).is_some_and(|f| f.2 == Form::Value);
        before.push(flag);
        before.extend(takes.then(|| words.next()).flatten());
    }
    let verb = words.next().unwrap_or_default();
    if !VERBS.contains(&verb.as_str()) {
        return Err(unknown_verb(&verb));
    }
    let mut command =
        Command { verb: verb.clone(), args: Vec::new(), flags: BTreeMap::new(), objects: Vec::new(), patient: false };
    let rest: Vec<String> = before.into_iter().chain(words).collect();
    read_flags(&mut command, rest)?;
    read_files(&mut command, files)?;
    Ok(command)
}

fn unknown_verb(verb: &str) -> Usage {
    if verb.is_empty() {
        return Usage("kubectl controls the Kubernetes cluster manager.\n\nUsage:\n  kubectl [flags] [options]".into());
    }
    let near: Vec<String> = VERBS.iter().filter(|v| near(v, verb)).map(|v| format!("\t{v}\n")).collect();
    let hint = if near.is_empty() { String::new() } else { format!("\n\nDid you mean this?\n{}", near.concat()) };
    Usage(format!("error: unknown command \"{verb}\" for \"kubectl\"{hint}"))
}

/// Within two changes of each other, or one the beginning of the other.
fn near(a: &str, b: &str) -> bool {
    if b.len() > 20 {
        return false;
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut last = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let change = last + usize::from(x != y);
            last = row[j + 1];
            row[j + 1] = change.min(last + 1).min(row[j] + 1);
        }
    }
    row[b.len()] <= 2 || (b.len() > 1 && a.starts_with(&b))
}

/// Words as a shell cuts them: blanks, both quotes, backslash.
pub fn words(line: &str) -> Result<Vec<String>, Usage> {
    if line.len() > LINE_MAX {
        return Err(Usage(format!("error: the line is longer than {LINE_MAX} bytes")));
    }
    let mut out = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some('"'), '\\') if matches!(chars.peek(), Some('"' | '\\' | '$' | '`')) => {
                word.get_or_insert_default().extend(chars.next());
            }
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '\\') => word.get_or_insert_default().extend(chars.next().filter(|c| *c != '\n')),
            (None, c) if c.is_whitespace() => out.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err(Usage("error: a quote is open at the end of the line".into()));
    }
    out.extend(word);
    Ok(out)
}

fn lookup(verb: &str, word: &str) -> Option<Flag> {
    let all = of(verb).iter().chain(COMMON);
    match word.strip_prefix("--") {
        Some(long) => {
            let name = long.split('=').next().unwrap_or("");
            all.into_iter().find(|f| f.0 == name).copied()
        }
        None => {
            let letter = word.chars().nth(1)?;
            all.into_iter().find(|f| f.1 == letter && letter != ' ').copied()
        }
    }
}

fn read_flags(command: &mut Command, rest: Vec<String>) -> Result<(), Usage> {
    let verb = command.verb.clone();
    let see = format!("See 'kubectl {verb} --help' for usage.");
    let mut rest = rest.into_iter();
    let mut add = |name: &'static str, value: String| command.flags.entry(name).or_default().push(value);
    let mut args = Vec::new();
    while let Some(word) = rest.next() {
        if word == "--" {
            args.extend(rest);
            break;
        }
        if word == "-" || !word.starts_with('-') || (word.ends_with('-') && !word.starts_with("--")) {
            args.push(word);
            continue;
        }
        if let Some(long) = word.strip_prefix("--") {
            let (name, value) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value.to_string())),
                None => (long, None),
            };
            let Some(flag) = lookup(&verb, &word) else {
                return Err(Usage(format!("error: unknown flag: --{name}\n{see}")));
            };
            let value = match (flag.2, value) {
                (_, Some(value)) => value,
                (Form::Switch, None) => "true".to_string(),
                (Form::Or(value), None) => value.to_string(),
                (Form::Value, None) => {
                    rest.next().ok_or_else(|| Usage(format!("error: flag needs an argument: --{name}\n{see}")))?
                }
            };
            add(flag.0, value);
            continue;
        }
        let mut letters = word[1..].chars();
        while let Some(letter) = letters.next() {
            let Some(flag) = lookup(&verb, &format!("-{letter}")) else {
                return Err(Usage(format!("error: unknown shorthand flag: '{letter}' in {word}\n{see}")));
            };
            if flag.2 != Form::Value {
                add(flag.0, "true".to_string());
                continue;
            }
            let tail = letters.as_str();
            let value = match tail.strip_prefix('=').unwrap_or(tail) {
                "" => rest
                    .next()
                    .ok_or_else(|| Usage(format!("error: flag needs an argument: '{letter}' in {word}\n{see}")))?,
                value => value.to_string(),
            };
            add(flag.0, value);
            break;
        }
    }
    command.args = args;
    Ok(())
}

fn read_files(command: &mut Command, files: &Files) -> Result<(), Usage> {
    for name in command.all("filename").to_vec() {
        let Some(objects) = files.get(&name).or_else(|| files.get("-")) else {
            return Err(Usage(format!("error: the path \"{name}\" does not exist")));
        };
        let source = if name == "-" { "STDIN".to_string() } else { name };
        command.objects.extend(objects.iter().map(|o| (source.clone(), o.clone())));
    }
    if command.verb == "edit" && command.objects.is_empty() {
        command.objects.extend(files.get("-").into_iter().flatten().map(|o| ("STDIN".to_string(), o.clone())));
    }
    Ok(())
}
