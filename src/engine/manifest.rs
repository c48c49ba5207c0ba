//! Reads what a person pastes: one or several YAML or JSON documents, as `kubectl apply -f -` takes them.
//!
//! Flow: the text is cut at `---` lines, each part is parsed into JSON values under a budget, and empty parts are
//! skipped. Every failure names the document, the line and column in the whole text, and a way out.
//!
//! Divergence from Kubernetes: plain scalars follow YAML 1.2, so `yes` and `0644` are text here and a
//! boolean and the number 420 to kubectl; a key written twice in one mapping is an error, where kubectl keeps the last.

use crate::object::Object;
use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::cell::Cell;
use std::fmt;
use std::sync::Arc;

/// Bytes of one text. The real server takes 3 MiB a request; one page of manifests is far below this, and a link cannot carry more.
pub const TEXT_BYTES_MAX: usize = 1 << 20;
/// Documents in one text: more objects than any cluster on the stage can show.
pub const DOCUMENTS_MAX: usize = 500;
/// Values in one text, counted after aliases are written out, so a short text cannot grow into a large tree.
pub const VALUES_MAX: usize = 100_000;
/// How deep mappings and lists nest. A deep CRD schema has about forty levels, and recursion over objects stays within any stack.
pub const DEPTH_MAX: usize = 100;
/// Bytes of text in the values of one text, aliases written out.
pub const VALUE_BYTES_MAX: usize = 4 * TEXT_BYTES_MAX;

/// One document and the line of its first word.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    pub value: Value,
    pub line: usize,
}

/// Why a text could not be read, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestError {
    /// Counted from 1 over the documents that are not empty.
    pub document: usize,
    /// Counted from 1 in the whole text.
    pub line: usize,
    pub column: usize,
    pub message: String,
    pub way_out: WayOut,
}

/// What the reader can do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WayOut {
    /// Mend the text at the place named.
    FixSyntax,
    /// Indent with spaces.
    UseSpaces,
    /// Keep one of the two keys.
    RemoveDuplicate,
    /// Split the text and apply the parts one after the other.
    Split,
    /// Nest less deeply, or write the aliases out.
    Flatten,
    /// Start the document with `apiVersion`, `kind` and `metadata`.
    NameKind,
}

impl WayOut {
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            WayOut::FixSyntax => "mend the text at this place",
            WayOut::UseSpaces => "indent with spaces; YAML does not allow tabs there",
            WayOut::RemoveDuplicate => "keep one of the two keys",
            WayOut::Split => "split the text and apply the parts one after the other",
            WayOut::Flatten => "nest less deeply, or write the aliases out",
            WayOut::NameKind => "start the document with apiVersion, kind and metadata.name",
        }
    }
}

impl fmt::Display for ManifestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ManifestError { document, line, column, message, way_out } = self;
        write!(f, "document {document}, line {line}, column {column}: {message}; {}", way_out.text())
    }
}
impl std::error::Error for ManifestError {}

/// Reads every document that is not empty.
pub fn parse(text: &str) -> Result<Vec<Document>, ManifestError> {
    let whole = |message: String, way_out| ManifestError { document: 1, line: 1, column: 1, message, way_out };
    if text.len() > TEXT_BYTES_MAX {
        let message = format!("the text has {} bytes, {TEXT_BYTES_MAX} are allowed", text.len());
        return Err(whole(message, WayOut::Split));
    }
    let budget = Budget::new();
    let mut documents = Vec::new();
    for part in parts(text.strip_prefix('\u{feff}').unwrap_or(text)) {
        let number = documents.len() + 1;
        if number > DOCUMENTS_MAX {
            let message = format!("more than {DOCUMENTS_MAX} documents");
            return Err(ManifestError {
                document: number,
                line: part.line,
                column: 1,
                message,
                way_out: WayOut::Split,
            });
        }
        let place = |f: Fault| ManifestError {
            document: number,
            line: part.line + f.line.saturating_sub(1),
            column: f.column.max(1),
            message: f.message,
            way_out: f.way_out,
        };
        for value in part.values(&budget).map_err(place)? {
            documents.push(Document { value, line: part.first_line() });
        }
    }
    Ok(documents)
}

/// Reads objects to be applied: every document must be a mapping with `apiVersion` and `kind`; a `List` is unpacked.
pub fn parse_objects(text: &str) -> Result<Vec<Object>, ManifestError> {
    let mut objects = Vec::new();
    for (index, document) in parse(text)?.into_iter().enumerate() {
        let line = document.line;
        let unnamed = |message: &str| ManifestError {
            document: index + 1,
            line,
            column: 1,
            message: message.to_string(),
            way_out: WayOut::NameKind,
        };
        for object in unpack(document.value) {
            check_object(&object).map_err(unnamed)?;
            objects.push(Arc::new(object));
        }
    }
    Ok(objects)
}

fn unpack(value: Value) -> Vec<Value> {
    let is_list = value.get("kind").and_then(Value::as_str) == Some("List");
    match value {
        Value::Object(mut map) if is_list && map.get("items").is_some_and(Value::is_array) => match map.remove("items")
        {
            Some(Value::Array(items)) => items,
            _ => Vec::new(),
        },
        other => vec![other],
    }
}

/// What every object must have before it can be sent anywhere.
pub fn check_object(value: &Value) -> Result<(), &'static str> {
    let text = |field: &str| value.get(field).and_then(Value::as_str).unwrap_or("");
    match value {
        Value::Object(_) if text("apiVersion").is_empty() => Err("apiVersion not set"),
        Value::Object(_) if text("kind").is_empty() => Err("kind not set"),
        Value::Object(_) => Ok(()),
        _ => Err("the document is not an object"),
    }
}

/// A piece of the text between document markers, and the line it begins on.
struct Part<'a> {
    text: &'a str,
    line: usize,
}

/// A failure with its place inside a part.
struct Fault {
    line: usize,
    column: usize,
    message: String,
    way_out: WayOut,
}

/// Cuts at lines that begin with a document marker: at column 1 YAML reads `---` and `...` as markers everywhere.
fn parts(text: &str) -> Vec<Part<'_>> {
    let mut found = Vec::new();
    let (mut start, mut start_line, mut offset) = (0, 1, 0);
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let marker = line.get(..3).filter(|m| *m == "---" || *m == "...");
        if marker.is_some() && line[3..].chars().next().is_none_or(char::is_whitespace) {
            found.push(Part { text: &text[start..offset], line: start_line });
            // What follows `---` on its line belongs to the new document and keeps its column.
            (start, start_line) = (offset + 3, index + 1);
        }
        offset += line.len();
    }
    found.push(Part { text: &text[start..], line: start_line });
    found.retain(|part| part.text.lines().any(|line| !is_blank(line)));
    found
}

/// Blank, a comment, or a directive such as `%YAML 1.2`.
fn is_blank(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#') || line.starts_with('%')
}

impl Part<'_> {
    fn first_line(&self) -> usize {
        self.line + self.text.lines().take_while(|line| is_blank(line)).count()
    }

    fn values(&self, budget: &Budget) -> Result<Vec<Value>, Fault> {
        if self.text.trim_start().starts_with('{')
            && let Ok(values) = self.json_values(budget)
        {
            return Ok(values);
        }
        check_flow_depth(self.text)?;
        let seed = Seed { budget, depth: 0, whole_floats_are_integers: true };
        match seed.deserialize(serde_yaml_ng::Deserializer::from_str(self.text)) {
            Ok(Value::Null) => Ok(Vec::new()),
            Ok(value) => Ok(vec![value]),
            Err(error) => Err(self.fault(&error, budget)),
        }
    }

    /// JSON documents need nothing between them. A text that is no JSON may still be YAML in flow style.
    fn json_values(&self, budget: &Budget) -> Result<Vec<Value>, serde_json::Error> {
        let mut rest = serde_json::Deserializer::from_str(self.text);
        let mut values = Vec::new();
        while rest.end().is_err() {
            let seed = Seed { budget, depth: 0, whole_floats_are_integers: false };
            values.push(seed.deserialize(&mut rest)?);
        }
        Ok(values)
    }

    fn fault(&self, error: &serde_yaml_ng::Error, budget: &Budget) -> Fault {
        let (line, column) = error.location().map_or((1, 1), |at| (at.line(), at.column()));
        let full = error.to_string();
        // The place is said once, by the caller, counted in the whole text.
        let message = full.split(" at line ").next().unwrap_or(&full).to_string();
        let tab_indented =
            self.text.lines().nth(line.saturating_sub(1)).is_some_and(|l| l.trim_start_matches(' ').starts_with('\t'));
        let way_out = match budget.blame.get() {
            Blame::TooMuch => WayOut::Split,
            Blame::TooDeep => WayOut::Flatten,
            Blame::Duplicate => WayOut::RemoveDuplicate,
            Blame::Nothing if full.contains("recursion limit") || full.contains("repetition limit") => WayOut::Flatten,
            Blame::Nothing if tab_indented => WayOut::UseSpaces,
            Blame::Nothing => WayOut::FixSyntax,
        };
        Fault { line, column, message, way_out }
    }
}

/// The parser's work for each open bracket grows with the number of brackets already open, so a text of
/// nothing but brackets is refused before it. Brackets inside quotes and block text are counted too,
/// which is harmless: only a line that leaves hundreds of them open is refused.
fn check_flow_depth(text: &str) -> Result<(), Fault> {
    const OPEN_IN_A_ROW_MAX: usize = 1_000;
    let (mut open, mut line, mut column) = (0_usize, 1, 1);
    for c in text.chars() {
        match c {
            '[' | '{' => open += 1,
            ']' | '}' => open = open.saturating_sub(1),
            '\n' => (line, column) = (line + 1, 0),
            _ => {}
        }
        if open > OPEN_IN_A_ROW_MAX {
            let message = format!("more than {OPEN_IN_A_ROW_MAX} brackets are open");
            return Err(Fault { line, column, message, way_out: WayOut::Flatten });
        }
        column += 1;
    }
    Ok(())
}

/// What one text may still grow by, and which limit or rule stopped it.
struct Budget {
    values: Cell<usize>,
    bytes: Cell<usize>,
    blame: Cell<Blame>,
}

#[derive(Clone, Copy)]
enum Blame {
    Nothing,
    TooMuch,
    TooDeep,
    Duplicate,
}

impl Budget {
    fn new() -> Self {
        Budget { values: Cell::new(VALUES_MAX), bytes: Cell::new(VALUE_BYTES_MAX), blame: Cell::new(Blame::Nothing) }
    }

    fn spend<E: serde::de::Error>(&self, bytes: usize) -> Result<(), E> {
        match (self.values.get().checked_sub(1), self.bytes.get().checked_sub(bytes)) {
            (Some(values), Some(bytes)) => {
                self.values.set(values);
                self.bytes.set(bytes);
                Ok(())
            }
            _ => Err(self.refuse(Blame::TooMuch, format!("more than {VALUES_MAX} values or {VALUE_BYTES_MAX} bytes"))),
        }
    }

    fn refuse<E: serde::de::Error>(&self, blame: Blame, message: impl fmt::Display) -> E {
        self.blame.set(blame);
        E::custom(message)
    }
}

/// Builds a JSON value and keeps to the budget while it does.
#[derive(Clone, Copy)]
struct Seed<'a> {
    budget: &'a Budget,
    depth: usize,
    /// YAML `1.0` reaches the server as `1`; JSON `1.0` does not.
    whole_floats_are_integers: bool,
}

impl<'a> Seed<'a> {
    fn deeper<E: serde::de::Error>(self) -> Result<Seed<'a>, E> {
        if self.depth >= DEPTH_MAX {
            return Err(self.budget.refuse(Blame::TooDeep, format!("nested deeper than {DEPTH_MAX} levels")));
        }
        Ok(Seed { depth: self.depth + 1, ..self })
    }

    fn leaf<E: serde::de::Error>(self, value: impl Into<Value>) -> Result<Value, E> {
        self.budget.spend(0)?;
        Ok(value.into())
    }

    /// Fills in what a `<<` key brings, without overwriting.
    fn merge<E: serde::de::Error>(self, map: &mut Map<String, Value>, source: Value) -> Result<(), E> {
        match source {
            Value::Object(entries) => {
                for (key, value) in entries {
                    map.entry(key).or_insert(value);
                }
                Ok(())
            }
            Value::Array(sources) => sources.into_iter().try_for_each(|s| match s {
                Value::Object(_) => self.merge(map, s),
                _ => Err(E::custom("map merge requires map or sequence of maps as the value")),
            }),
            _ => Err(E::custom("map merge requires map or sequence of maps as the value")),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Value;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value that JSON can hold")
    }
    fn visit_bool<E: serde::de::Error>(self, v: bool) -> Result<Value, E> {
        self.leaf(v)
    }
    fn visit_i64<E: serde::de::Error>(self, v: i64) -> Result<Value, E> {
        self.leaf(v)
    }
    fn visit_u64<E: serde::de::Error>(self, v: u64) -> Result<Value, E> {
        self.leaf(v)
    }
    fn visit_i128<E: serde::de::Error>(self, v: i128) -> Result<Value, E> {
        self.visit_f64(v as f64)
    }
    fn visit_u128<E: serde::de::Error>(self, v: u128) -> Result<Value, E> {
        self.visit_f64(v as f64)
    }
    fn visit_f64<E: serde::de::Error>(self, v: f64) -> Result<Value, E> {
        if self.whole_floats_are_integers && v.fract() == 0.0 && v.abs() < i64::MAX as f64 {
            return self.leaf(v as i64);
        }
        let number = Number::from_f64(v).ok_or_else(|| E::custom(format!("{v} has no form in JSON")))?;
        self.leaf(number)
    }
    fn visit_str<E: serde::de::Error>(self, v: &str) -> Result<Value, E> {
        self.budget.spend(v.len())?;
        Ok(Value::from(v))
    }
    fn visit_unit<E: serde::de::Error>(self) -> Result<Value, E> {
        self.leaf(Value::Null)
    }
    fn visit_none<E: serde::de::Error>(self) -> Result<Value, E> {
        self.leaf(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        self.budget.spend(0)?;
        let inner = self.deeper()?;
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(inner)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        self.budget.spend(0)?;
        let inner = self.deeper()?;
        let mut map = Map::new();
        let mut merged = Vec::new();
        while let Some(key) = entries.next_key_seed(KeySeed(self.budget))? {
            let value = entries.next_value_seed(inner)?;
            if key == "<<" && self.whole_floats_are_integers {
                merged.push(value);
            } else if map.contains_key(&key) {
                return Err(self.budget.refuse(Blame::Duplicate, format!("key \"{key}\" already set in map")));
            } else {
                map.insert(key, value);
            }
        }
        merged.into_iter().try_for_each(|source| self.merge(&mut map, source))?;
        Ok(Value::Object(map))
    }

    /// The reader of YAML shows a local tag as an enum.
    fn visit_enum<A: EnumAccess<'de>>(self, _: A) -> Result<Value, A::Error> {
        Err(A::Error::custom("a local tag such as !name has no form in JSON"))
    }
}

/// Keys become text, as they do in JSON: `80: http` has the key "80".
#[derive(Clone, Copy)]
struct KeySeed<'a>(&'a Budget);

impl<'de> DeserializeSeed<'de> for KeySeed<'_> {
    type Value = String;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for KeySeed<'_> {
    type Value = String;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key that is text, a number or a boolean")
    }
    fn visit_bool<E: serde::de::Error>(self, v: bool) -> Result<String, E> {
        self.visit_string(v.to_string())
    }
    fn visit_i64<E: serde::de::Error>(self, v: i64) -> Result<String, E> {
        self.visit_string(v.to_string())
    }
    fn visit_u64<E: serde::de::Error>(self, v: u64) -> Result<String, E> {
        self.visit_string(v.to_string())
    }
    fn visit_f64<E: serde::de::Error>(self, v: f64) -> Result<String, E> {
        self.visit_string(v.to_string())
    }
    fn visit_str<E: serde::de::Error>(self, v: &str) -> Result<String, E> {
        self.visit_string(v.to_string())
    }
    fn visit_string<E: serde::de::Error>(self, v: String) -> Result<String, E> {
        self.0.spend(v.len())?;
        Ok(v)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn one(text: &str) -> Value {
        let mut documents = parse(text).expect("the text is well formed");
        assert_eq!(documents.len(), 1, "{documents:?}");
        documents.remove(0).value
    }
    fn error(text: &str) -> ManifestError {
        parse(text).expect_err("the text is damaged")
    }

    #[test]
    fn documents_keep_the_line_of_their_first_word() {
        let text = "# head\n---\na: 1\n---\n\n# only a comment\n---\n# why\nb: 2\n--- {c: 3}\n...\n";
        let documents = parse(text).expect("well formed");
        let lines: Vec<usize> = documents.iter().map(|d| d.line).collect();
        assert_eq!(lines, [3, 9, 10]);
        assert_eq!(documents[2].value, json!({"c": 3}));
    }

    #[test]
    fn a_marker_inside_a_word_or_indented_text_does_not_cut() {
        assert_eq!(one("a: |\n  ---\n  x\nb: ---x\n"), json!({"a": "---\nx\n", "b": "---x"}));
    }

    #[test]
    fn errors_name_document_line_and_column_in_the_whole_text() {
        let found = error("a: 1\n---\nb:\n  c: [1, 2\nd: 3\n");
        assert_eq!((found.document, found.line), (2, 5), "{found}");
        let found = error("kind: Pod\nspec:\n\tcontainers: []\n");
        assert_eq!((found.line, found.way_out), (3, WayOut::UseSpaces), "{found}");
    }

    #[test]
    fn a_key_written_twice_is_refused_with_its_place() {
        let found = error("a: 1\n---\nspec:\n  x: 1\n  y: 2\n  x: 3\n");
        assert_eq!((found.document, found.way_out), (2, WayOut::RemoveDuplicate));
        assert!(found.message.contains("\"x\""), "{found}");
        assert!(found.line >= 3, "{found}");
    }

    #[test]
    fn json_documents_may_follow_each_other() {
        let documents = parse("{\"a\": 1.0}\n{\"b\": \"\\ud83d\\ude00\"}").expect("well formed");
        assert_eq!(documents[0].value, json!({"a": 1.0}));
        assert_eq!(documents[1].value, json!({"b": "😀"}));
        assert_eq!(one("{a: [x, y]}"), json!({"a": ["x", "y"]}));
    }

    #[test]
    fn scalars_take_their_json_form() {
        let text = "i: 3\nf: 1.0\ng: 0.5\nb: true\nn: ~\ns: \"3\"\n80: http\nbig: 1e3\nquantity: 500m\n";
        let expected = json!({"i": 3, "f": 1, "g": 0.5, "b": true, "n": null, "s": "3", "80": "http", "big": 1000, "quantity": "500m"});
        assert_eq!(one(text), expected);
        assert!(parse("x: .nan").is_err());
        assert!(parse("x: !secret y").is_err());
    }

    #[test]
    fn aliases_and_merge_keys_are_written_out() {
        let text = "base: &b {x: 1, y: 2}\nuse: {<<: *b, y: 3}\n";
        assert_eq!(one(text), json!({"base": {"x": 1, "y": 2}, "use": {"x": 1, "y": 3}}));
    }

    #[test]
    fn a_short_text_cannot_grow_large() {
        let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for i in 1..9 {
            let aliases = vec![format!("*a{}", i - 1); 10].join(", ");
            bomb += &format!("a{i}: &a{i} [{aliases}]\n");
        }
        assert!(matches!(error(&bomb).way_out, WayOut::Split | WayOut::Flatten));
        assert_eq!(error(&"x".repeat(TEXT_BYTES_MAX + 1)).way_out, WayOut::Split);
        assert_eq!(error(&"---\na: 1\n".repeat(DOCUMENTS_MAX + 1)).way_out, WayOut::Split);
    }

    #[test]
    fn deep_nesting_is_refused_without_recursing_into_it() {
        for text in ["[".repeat(1_000_000), "- ".repeat(400_000), "{\"a\":".repeat(100_000), "{? ".repeat(100_000)] {
            assert_eq!(error(&text).way_out, WayOut::Flatten, "{}", error(&text));
        }
    }

    #[test]
    fn objects_need_a_version_and_a_kind_and_lists_are_unpacked() {
        let text =
            "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod}\n- {apiVersion: v1, kind: Service}\n";
        assert_eq!(parse_objects(text).expect("two objects").len(), 2);
        let found = parse_objects("apiVersion: v1\nkind: Pod\n---\n\nkind: Pod\n").expect_err("no version");
        assert_eq!((found.document, found.line, found.message.as_str()), (2, 5, "apiVersion not set"));
        assert!(parse_objects("just text").is_err());
    }
}
