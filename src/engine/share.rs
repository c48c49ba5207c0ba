//! A run as text for the fragment of an address: `v1.` and then base64url of length, checksum and deflated JSON.
//!
//! Guarantees: what [`encode`] gives, [`decode`] reads back the same, in this and every later version: `v1` stays readable
//! when a `v2` comes. Only letters, digits, `-`, `_` and `.` are used, so nothing on the way has a reason to rewrite the text.
//! A link is hostile input: sizes are checked before memory is taken, and what is wrong is told apart (damaged, truncated, too new,
//! too large), because the reader can do something different about each.

use crate::command::Command;
use crate::ids::EventId;
use crate::scenario::{ACTIONS_MAX, Scenario, ScenarioError, UNTIL_MAX};
use crate::time::SimTime;
use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::{TINFLStatus, decompress_to_vec_with_limit};
use serde_json::{Map, Value, json};
use std::fmt;

/// The format this version writes, and the newest it reads.
const VERSION: u32 = 1;
/// Characters of a link's payload. Fragments of 200 000 are known to open, chat programs cut far earlier, and ten
/// manifests with five hundred actions stay below.
pub const LINK_CHARS_MAX: usize = 100_000;
/// Bytes after inflating: a deflated text can grow a thousandfold, and no honest run comes near.
pub const INFLATED_BYTES_MAX: usize = 4 << 20;
/// Best compression: a link is made once and its length is what the reader pays for.
const COMPRESSION: u8 = 9;

/// What the run is played on.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A scenario of the library, by its name.
    Library(String),
    /// The reader's own scenario document.
    Own(Box<Scenario>),
}

/// Everything that is needed to see the same run at the same instant.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedRun {
    pub source: Source,
    pub seed: u64,
    /// What the reader did, in order, beside what the scenario itself does.
    pub commands: Vec<(SimTime, Command)>,
    /// The instant looked at.
    pub at: SimTime,
    /// The last record drawn at that instant; 0 for all of them.
    pub record: EventId,
    /// The trace hash at that point, so that a link made by a model that behaved otherwise is noticed; 0 when not known.
    pub hash: u64,
    pub language: String,
    pub view: String,
}

/// Why a link does not open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShareError {
    /// The text is no link of ours, or was changed on the way.
    Damaged,
    /// The end is missing: `have` of `need` characters.
    Truncated { have: usize, need: usize },
    /// Made by a later version of the page.
    TooNew { version: u32 },
    /// Larger than a link may be; `what` says which measure.
    TooLarge { what: &'static str, size: usize, max: usize },
    /// It reads, but what it holds cannot be played.
    Unplayable { path: String, message: String },
}

impl fmt::Display for ShareError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShareError::Damaged => {
                f.write_str("the link is damaged: it was changed on the way; copy it again from where it was made")
            }
            ShareError::Truncated { have, need } => {
                write!(
                    f,
                    "the link is cut off: {have} of {need} characters arrived; copy it whole, or ask for the scenario as a file"
                )
            }
            ShareError::TooNew { version } => {
                write!(
                    f,
                    "the link has format {version}, this page reads up to {VERSION}; reload the page or open a newer one"
                )
            }
            ShareError::TooLarge { what, size, max } => {
                write!(f, "too large for a link: {what} {size}, at most {max}; share the scenario as a file instead")
            }
            ShareError::Unplayable { path, message } => {
                write!(f, "the link reads, but cannot be played: {path}: {message}")
            }
        }
    }
}
impl std::error::Error for ShareError {}

/// The run as the text of a fragment.
///
/// # Errors
/// `TooLarge` when a link cannot carry it: offer a file instead.
pub fn encode(run: &SharedRun) -> Result<String, ShareError> {
    let text = to_value(run).to_string();
    check_size("bytes", text.len(), INFLATED_BYTES_MAX)?;
    let deflated = compress_to_vec(text.as_bytes(), COMPRESSION);
    let mut bytes = header(&deflated).to_vec();
    bytes.extend(deflated);
    let link = format!("v{VERSION}.{}", base64url(&bytes));
    check_size("characters", link.len(), LINK_CHARS_MAX)?;
    Ok(link)
}

/// Reads a link, its fragment or only its payload.
pub fn decode(link: &str) -> Result<SharedRun, ShareError> {
    check_size("characters", link.len(), LINK_CHARS_MAX + FRAME_CHARS_MAX)?;
    let (version, payload) = split_version(link).ok_or(ShareError::Damaged)?;
    if version > VERSION {
        return Err(ShareError::TooNew { version });
    }
    check_size("characters", payload.len(), LINK_CHARS_MAX)?;
    let text = inflate(payload)?;
    let value: Value = serde_json::from_slice(&text).map_err(|_| ShareError::Damaged)?;
    from_value(&value)
}

/// What stands around a payload: the page's address and its own parameters.
const FRAME_CHARS_MAX: usize = 2_048;

fn check_size(what: &'static str, size: usize, max: usize) -> Result<(), ShareError> {
    if size > max { Err(ShareError::TooLarge { what, size, max }) } else { Ok(()) }
}

/// Finds `vN.` after the last mark that can stand before it, and leaves off what chat programs put behind a link.
fn split_version(link: &str) -> Option<(u32, &str)> {
    let link = link.trim();
    let fragment = link.rsplit(['#', '&', '=', '/']).find(|part| part.starts_with('v') && part.contains('.'))?;
    let (version, payload) = fragment.strip_prefix('v')?.split_once('.')?;
    if version.is_empty() || !version.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    Some((version.parse().unwrap_or(u32::MAX), payload.trim_end_matches(['.', ',', ';', ')', '>', '"', '\''])))
}

/// Length and checksum of the deflated bytes, so that a cut and a change can be told apart.
const HEADER_BYTES: usize = 7;

fn header(deflated: &[u8]) -> [u8; HEADER_BYTES] {
    let length = (deflated.len() as u32).to_be_bytes();
    let sum = checksum(deflated).to_be_bytes();
    [length[1], length[2], length[3], sum[0], sum[1], sum[2], sum[3]]
}

/// FNV-1a, 32 bits.
fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |sum, byte| (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

fn inflate(payload: &str) -> Result<Vec<u8>, ShareError> {
    let bytes = from_base64url(payload).ok_or(ShareError::Damaged)?;
    let truncated = |need: usize| ShareError::Truncated { have: payload.len(), need };
    let Some((head, deflated)) = bytes.split_at_checked(HEADER_BYTES) else {
        return Err(truncated(base64_chars(HEADER_BYTES + 1)));
    };
    let length = usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]);
    let need = base64_chars(HEADER_BYTES + length);
    if need > LINK_CHARS_MAX || deflated.len() > length {
        return Err(ShareError::Damaged);
    }
    if deflated.len() < length {
        return Err(truncated(need));
    }
    if checksum(deflated).to_be_bytes() != head[3..] {
        return Err(ShareError::Damaged);
    }
    decompress_to_vec_with_limit(deflated, INFLATED_BYTES_MAX).map_err(|error| match error.status {
        TINFLStatus::HasMoreOutput => {
            ShareError::TooLarge { what: "bytes", size: INFLATED_BYTES_MAX + 1, max: INFLATED_BYTES_MAX }
        }
        _ => ShareError::Damaged,
    })
}

fn to_value(run: &SharedRun) -> Value {
    let commands: Vec<Value> = run.commands.iter().map(|(at, command)| json!([at, command])).collect();
    let source = match &run.source {
        Source::Library(name) => Value::from(name.as_str()),
        Source::Own(scenario) => scenario.to_value(),
    };
    json!({"s": source, "r": run.seed, "c": commands, "t": run.at, "e": run.record, "h": run.hash, "l": run.language, "w": run.view})
}

fn from_value(value: &Value) -> Result<SharedRun, ShareError> {
    let Value::Object(fields) = value else { return Err(ShareError::Damaged) };
    let at = SimTime(number(fields, "t")?);
    if at > SimTime::ZERO + UNTIL_MAX {
        return Err(unplayable("t", "the instant is later than any run goes on"));
    }
    Ok(SharedRun {
        source: source(fields.get("s").unwrap_or(&Value::Null))?,
        seed: number(fields, "r")?,
        commands: commands(fields.get("c").unwrap_or(&Value::Null))?,
        at,
        record: EventId(number(fields, "e")?),
        hash: number(fields, "h")?,
        language: text(fields, "l"),
        view: text(fields, "w"),
    })
}

fn source(value: &Value) -> Result<Source, ShareError> {
    if let Value::String(name) = value {
        return Ok(Source::Library(name.clone()));
    }
    match Scenario::from_value(value) {
        Ok(scenario) => Ok(Source::Own(Box::new(scenario))),
        Err(ScenarioError::Field { path, message }) => Err(unplayable(&path, message)),
        Err(error) => Err(unplayable("scenario", error.to_string())),
    }
}

fn commands(value: &Value) -> Result<Vec<(SimTime, Command)>, ShareError> {
    let Value::Array(items) = value else { return Err(unplayable("c", "a list of actions is expected")) };
    if items.len() > ACTIONS_MAX {
        return Err(unplayable("c", format!("at most {ACTIONS_MAX} actions")));
    }
    let read = |(i, item): (usize, &Value)| {
        serde_json::from_value(item.clone()).map_err(|error| unplayable(&format!("c[{i}]"), error.to_string()))
    };
    items.iter().enumerate().map(read).collect()
}

fn unplayable(path: &str, message: impl Into<String>) -> ShareError {
    ShareError::Unplayable { path: path.to_string(), message: message.into() }
}

fn number(fields: &Map<String, Value>, name: &str) -> Result<u64, ShareError> {
    match fields.get(name) {
        None => Ok(0),
        Some(value) => value.as_u64().ok_or_else(|| unplayable(name, "a whole number from 0 up is expected")),
    }
}

/// Language and view are only wishes: what is not known is left to the page's default.
fn text(fields: &Map<String, Value>, name: &str) -> String {
    fields.get(name).and_then(Value::as_str).unwrap_or("").chars().take(40).collect()
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

const fn base64_chars(bytes: usize) -> usize {
    (bytes * 4).div_ceil(3)
}

/// Base64 with the alphabet for addresses and without padding (RFC 4648, section 5).
fn base64url(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(base64_chars(bytes.len()));
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0_u32, |w, b| w << 8 | u32::from(*b)) << (8 * (3 - chunk.len()));
        for i in 0..=chunk.len() {
            text.push(char::from(ALPHABET[(word >> (18 - 6 * i) & 63) as usize]));
        }
    }
    text
}

/// A last character that no whole byte can end with is dropped: a cut link is told by its length, not here.
fn from_base64url(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    let (mut word, mut bits) = (0_u32, 0);
    for c in text.bytes() {
        let value = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'-' => 62,
            b'_' => 63,
            _ => return None,
        };
        word = word << 6 | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((word >> bits) as u8);
            word &= (1 << bits) - 1;
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    fn sample(rng: &mut Rng) -> SharedRun {
        let random_text = |rng: &mut Rng| {
            let n = rng.below(12) as usize;
            rng.text(b"abc-xyz019. #&=%\"\\/", n)
        };
        let mut commands = Vec::new();
        for _ in 0..rng.below(20) {
            let at = SimTime(rng.below(60_000_000));
            let command = match rng.below(4) {
                0 => Command::KillPod { namespace: "default".into(), name: random_text(rng) },
                1 => Command::Kubectl { line: random_text(rng), manifests: Vec::new() },
                2 => Command::NodeDown { node: random_text(rng) },
                _ => Command::Set { knob: random_text(rng), value: rng.next_u64() as i64 },
            };
            commands.push((at, command));
        }
        let text =
            "apiVersion: operatorscope.dev/v1alpha1\nkind: Scenario\nmetadata: {name: own}\nspec: {title: {zh: 自愈}}";
        let own = Scenario::parse(text).expect("well formed");
        SharedRun {
            source: if rng.chance(500) { Source::Library(random_text(rng)) } else { Source::Own(Box::new(own)) },
            seed: rng.next_u64(),
            commands,
            at: SimTime(rng.below(UNTIL_MAX.0)),
            record: EventId(rng.below(100_000)),
            hash: rng.next_u64(),
            language: "zh".to_string(),
            view: random_text(rng),
        }
    }

    #[test]
    fn every_run_reads_back_the_same() {
        let mut rng = Rng::new(11);
        for _ in 0..500 {
            let run = sample(&mut rng);
            let link = encode(&run).expect("small enough");
            assert!(link.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b)), "{link}");
            assert_eq!(decode(&link), Ok(run.clone()));
            assert_eq!(decode(&format!("https://example.org/a/b/?x=1#lang=zh&run={link}).")), Ok(run.clone()));
            assert_eq!(decode(&format!(" https://example.org/#{link}\n")), Ok(run));
        }
    }

    #[test]
    fn base64_reads_back_any_bytes() {
        let mut rng = Rng::new(3);
        for length in 0..200 {
            let bytes: Vec<u8> = (0..length).map(|_| rng.next_u64() as u8).collect();
            let text = base64url(&bytes);
            assert_eq!(text.len(), base64_chars(length));
            assert_eq!(from_base64url(&text), Some(bytes));
        }
        assert_eq!(base64url(b"\xfb\xff"), "-_8");
    }

    #[test]
    fn a_link_of_the_first_release_still_opens() {
        let run = decode(FIRST_RELEASE).expect("old links stay readable");
        assert_eq!((run.source, run.seed, run.at), (Source::Library("rollout".to_string()), 7, SimTime(2_500_000)));
        assert_eq!(run.commands, [(SimTime(1_000_000), Command::NodeDown { node: "node-b".to_string() })]);
    }
    const FIRST_RELEASE: &str = "v1.AABXD6klfKtWKlayUirKz8nJLy1R0lEqUrIy11FKVrKKjjY0AAOdaqWUfKCavPyUVJf88jygIhATKqKbpFQbG6ujVKJkZWQKUa8ElAOSGWAyB6iuKgOopxzIUKoFAA";

    #[test]
    fn every_cut_link_is_called_truncated() {
        let link = encode(&sample(&mut Rng::new(5))).expect("small enough");
        for end in 3..link.len() {
            assert!(matches!(decode(&link[..end]), Err(ShareError::Truncated { .. })), "{end} of {}", link.len());
        }
    }

    #[test]
    fn every_changed_character_is_called_damaged() {
        let link = encode(&sample(&mut Rng::new(5))).expect("small enough");
        // The first four characters hold the length, where a change can look like a cut.
        for i in 3..link.len() {
            let other = if link.as_bytes()[i] == b'A' { "B" } else { "A" };
            let changed = format!("{}{other}{}", &link[..i], &link[i + 1..]);
            match decode(&changed) {
                Err(ShareError::Damaged) => {}
                Err(ShareError::Truncated { .. }) if i < 7 => {}
                // The last character may carry bits that no byte uses.
                Ok(_) if i == link.len() - 1 => {}
                other => panic!("character {i}: {other:?}"),
            }
        }
    }

    #[test]
    fn too_new_and_too_large_are_told_apart() {
        assert_eq!(decode("v2.abc"), Err(ShareError::TooNew { version: 2 }));
        assert_eq!(decode("v99999999999.abc"), Err(ShareError::TooNew { version: u32::MAX }));
        for text in ["", "v1", "hello", "v1.%20", "#lesson", "v.abc", "vx.abc", "v1.汉"] {
            assert_eq!(decode(text), Err(ShareError::Damaged), "{text}");
        }
        assert!(matches!(decode(&format!("v1.{}", "A".repeat(LINK_CHARS_MAX + 1))), Err(ShareError::TooLarge { .. })));
        let bomb = compress_to_vec(&vec![b' '; INFLATED_BYTES_MAX * 2], 9);
        let bytes = [header(&bomb).to_vec(), bomb].concat();
        assert!(matches!(
            decode(&format!("v1.{}", base64url(&bytes))),
            Err(ShareError::TooLarge { what: "bytes", .. })
        ));
        let mut run = sample(&mut Rng::new(1));
        let mut rng = Rng::new(9);
        let noise = (0..300_000).map(|_| char::from(33 + rng.below(90) as u8)).collect();
        run.commands.push((SimTime::ZERO, Command::Kubectl { line: noise, manifests: Vec::new() }));
        assert!(matches!(encode(&run), Err(ShareError::TooLarge { what: "characters", .. })));
    }

    #[test]
    fn what_cannot_be_played_names_its_field() {
        for (text, wanted) in [
            (r#"{"s":"a","c":[[0,{"do":"explode"}]]}"#, "c[0]"),
            (r#"{"s":"a","c":{}}"#, "c"),
            (r#"{"s":"a","c":[],"r":-1}"#, "r"),
            (r#"{"s":"a","c":[],"t":99999999999999}"#, "t"),
            (
                r#"{"s":{"apiVersion":"operatorscope.dev/v1alpha1","kind":"Scenario","metadata":{"name":"a"},"spec":{"x":1}}}"#,
                "spec.x",
            ),
        ] {
            let bytes = compress_to_vec(text.as_bytes(), 9);
            let link = format!("v1.{}", base64url(&[header(&bytes).to_vec(), bytes].concat()));
            match decode(&link) {
                Err(ShareError::Unplayable { path, .. }) => assert_eq!(path, wanted),
                other => panic!("{text}: {other:?}"),
            }
        }
    }
}
