//! Writes an object the way `kubectl get -o yaml` prints it: sorted keys, lists in block style at the column of their
//! key, quotes only where another reader would take the text for something else.
//!
//! The rules for quoting, folding and the order of keys follow goyaml.v2 (`encode.go`, `resolve.go`, `sorter.go`,
//! `emitterc.go`), which sigs.k8s.io/yaml carries.
//!
//! Divergence from Kubernetes: a key with a line break or of more than 128 characters is written in quotes on one line, where
//! kubectl writes it as a complex key.

use serde_json::{Map, Value};
use std::cmp::Ordering;

/// The column after which a line is broken at the next space (`best_width` of the emitter).
const BEST_WIDTH: usize = 80;

#[must_use]
pub fn to_yaml(value: &Value) -> String {
    let mut out = Printer { text: String::new(), column: 0 };
    match value {
        Value::Object(map) if !map.is_empty() => out.map(map, 0),
        Value::Array(items) if !items.is_empty() => out.list(items, 0),
        leaf => out.leaf(leaf, 0),
    }
    out.text
}

struct Printer {
    text: String,
    column: usize,
}

impl Printer {
    fn put(&mut self, text: &str) {
        self.text.push_str(text);
        self.column += text.chars().count();
    }

    fn new_line(&mut self, indent: usize) {
        self.text.push('\n');
        self.text.extend(std::iter::repeat_n(' ', indent));
        self.column = indent;
    }

    fn end_line(&mut self) {
        self.text.push('\n');
        self.column = 0;
    }

    fn pad(&mut self, indent: usize) {
        if self.column < indent {
            self.text.extend(std::iter::repeat_n(' ', indent - self.column));
            self.column = indent;
        }
    }

    fn map(&mut self, map: &Map<String, Value>, indent: usize) {
        let mut keys: Vec<&String> = map.keys().collect();
        keys.sort_by(|a, b| natural(a, b));
        for key in keys {
            self.pad(indent);
            self.key(key);
            self.put(":");
            self.child(&map[key], indent);
        }
    }

    fn key(&mut self, key: &str) {
        match style(key) {
            Style::Plain => self.put(key),
            Style::Single => self.put(&format!("'{}'", key.replace('\'', "''"))),
            Style::Double | Style::Literal => self.double(key, None),
        }
    }

    /// What stands after `key:`.
    fn child(&mut self, value: &Value, indent: usize) {
        match value {
            Value::Object(map) if !map.is_empty() => {
                self.end_line();
                self.map(map, indent + 2);
            }
            Value::Array(items) if !items.is_empty() => {
                self.end_line();
                self.list(items, indent);
            }
            leaf => {
                self.put(" ");
                self.leaf(leaf, indent + 2);
            }
        }
    }

    fn list(&mut self, items: &[Value], indent: usize) {
        for item in items {
            self.pad(indent);
            self.put("- ");
            match item {
                Value::Object(map) if !map.is_empty() => self.map(map, indent + 2),
                Value::Array(inner) if !inner.is_empty() => self.list(inner, indent + 2),
                leaf => self.leaf(leaf, indent + 2),
            }
        }
    }

    /// A scalar or an empty collection, and the end of its line. `indent` is where its further lines begin.
    fn leaf(&mut self, value: &Value, indent: usize) {
        match value {
            Value::Null => self.put("null"),
            Value::Bool(b) => self.put(if *b { "true" } else { "false" }),
            Value::Number(n) => self.put(&n.to_string()),
            Value::Object(_) => self.put("{}"),
            Value::Array(_) => self.put("[]"),
            Value::String(text) => match style(text) {
                Style::Literal => return self.literal(text, indent),
                Style::Plain => self.folded(text, indent),
                Style::Single => {
                    self.put("'");
                    self.folded(&text.replace('\'', "''"), indent);
                    self.put("'");
                }
                Style::Double => self.double(text, Some(indent)),
            },
        }
        self.end_line();
    }

    /// Text of one line, broken at single spaces past the best width.
    fn folded(&mut self, text: &str, indent: usize) {
        let characters: Vec<char> = text.chars().collect();
        for (i, &c) in characters.iter().enumerate() {
            let inner = i > 0 && i + 1 < characters.len();
            let alone = inner && characters[i - 1] != ' ' && characters[i + 1] != ' ';
            if c == ' ' && alone && self.column > BEST_WIDTH {
                self.new_line(indent);
            } else {
                self.text.push(c);
                self.column += 1;
            }
        }
    }

    fn literal(&mut self, text: &str, indent: usize) {
        let body = text.trim_end_matches('\n');
        let hint = if body.starts_with([' ', '\n']) || body.is_empty() { "2" } else { "" };
        let chomp = match text.len() - body.len() {
            0 => "-",
            1 if !body.is_empty() => "",
            _ => "+",
        };
        self.put(&format!("|{hint}{chomp}"));
        self.end_line();
        for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
            if !line.is_empty() {
                self.pad(indent);
                self.put(line);
            }
            self.end_line();
        }
    }

    fn double(&mut self, text: &str, fold_at: Option<usize>) {
        self.put("\"");
        let characters: Vec<char> = text.chars().collect();
        for (i, &c) in characters.iter().enumerate() {
            let inner = i > 0 && i + 1 < characters.len();
            match fold_at {
                Some(indent) if c == ' ' && inner && self.column > BEST_WIDTH && characters[i - 1] != ' ' => {
                    self.new_line(indent);
                    if characters[i + 1] == ' ' {
                        self.put("\\");
                    }
                }
                _ => self.put(&escaped(c)),
            }
        }
        self.put("\"");
    }
}

fn escaped(c: char) -> String {
    match c {
        '"' => "\\\"".to_string(),
        '\\' => "\\\\".to_string(),
        '\n' => "\\n".to_string(),
        '\r' => "\\r".to_string(),
        '\t' => "\\t".to_string(),
        '\0' => "\\0".to_string(),
        c if printable(c) => c.to_string(),
        c if (c as u32) < 0x100 => format!("\\x{:02X}", c as u32),
        c if (c as u32) < 0x1_0000 => format!("\\u{:04X}", c as u32),
        c => format!("\\U{:08X}", c as u32),
    }
}

/// `is_printable` of the emitter, which leaves out everything beyond the basic plane's private use area but emoji and the like.
fn printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}' | '\u{1_0000}'..)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Plain,
    Single,
    Double,
    Literal,
}

/// `stringv` of the encoder and then `yaml_emitter_select_scalar_style`.
fn style(text: &str) -> Style {
    if text.contains('\n') {
        let trailing_space = text.ends_with(' ');
        let space_break = text.contains(" \n");
        let special = text.chars().any(|c| !printable(c));
        return if trailing_space || space_break || special { Style::Double } else { Style::Literal };
    }
    if text.is_empty() || is_other_than_text(text) || text.chars().any(|c| !printable(c)) {
        return Style::Double;
    }
    if text.starts_with(' ') || text.ends_with(' ') || has_indicator(text) { Style::Single } else { Style::Plain }
}

/// A character that means something to a reader at its place in block style (`yaml_emitter_analyze_scalar`).
fn has_indicator(text: &str) -> bool {
    if text.starts_with("---") || text.starts_with("...") {
        return true;
    }
    let characters: Vec<char> = text.chars().collect();
    characters.iter().enumerate().any(|(i, c)| {
        let before_space = characters.get(i + 1).is_none_or(|n| *n == ' ');
        let after_space = i > 0 && characters[i - 1] == ' ';
        match c {
            '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`'
                if i == 0 =>
            {
                true
            }
            '?' | '-' if i == 0 => before_space,
            ':' => before_space,
            '#' => after_space,
            _ => false,
        }
    })
}

/// Would be read as null, a boolean, a number, a time or a merge key if written plain (`resolve` and `isBase60Float`).
fn is_other_than_text(text: &str) -> bool {
    const WORDS: [&str; 39] = [
        "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON", "n", "N", "no", "No", "NO", "false",
        "False", "FALSE", "off", "Off", "OFF", "~", "null", "Null", "NULL", ".nan", ".NaN", ".NAN", ".inf", ".Inf",
        ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF", "<<",
    ];
    WORDS.contains(&text) || is_number(text) || is_base_60(text) || is_time(text)
}

fn is_number(text: &str) -> bool {
    let plain = text.replace('_', "");
    let unsigned = plain.strip_prefix(['+', '-']).unwrap_or(&plain);
    let radix = |prefixes: [&str; 2], radix| {
        prefixes
            .iter()
            .any(|p| unsigned.strip_prefix(p).is_some_and(|digits| u64::from_str_radix(digits, radix).is_ok()))
    };
    if !unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return false;
    }
    radix(["0x", "0X"], 16) || radix(["0b", "0B"], 2) || radix(["0o", "0O"], 8) || is_float(unsigned)
}

/// `^(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`
fn is_float(text: &str) -> bool {
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let some = !whole.is_empty() || !fraction.is_empty();
    some && digits(whole) && digits(fraction) && !exponent.is_empty() && digits(exponent)
}

/// `12:30`, an hour to old readers: `^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$`
fn is_base_60(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (clock, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let digit_or_line = |b: u8| b.is_ascii_digit() || b == b'_';
    let mut parts = clock.split(':');
    let first = parts.next().unwrap_or("");
    let mut rest = parts.peekable();
    let sixtieth = |p: &str| match p.as_bytes() {
        [d] => d.is_ascii_digit(),
        [tens, d] => (b'0'..=b'5').contains(tens) && d.is_ascii_digit(),
        _ => false,
    };
    first.starts_with(|c: char| c.is_ascii_digit())
        && first.bytes().all(digit_or_line)
        && fraction.bytes().all(digit_or_line)
        && rest.peek().is_some()
        && rest.all(sixtieth)
}

/// `2006-1-2`, alone or with a time of day after `T`, `t` or a space.
fn is_time(text: &str) -> bool {
    let (date, clock) = text.split_once(['T', 't', ' ']).map_or((text, None), |(d, c)| (d, Some(c)));
    let fields: Vec<&str> = date.split('-').collect();
    let numbers = |fields: &[&str], widths: [std::ops::RangeInclusive<usize>; 3]| {
        fields.len() == 3
            && fields.iter().zip(widths).all(|(f, w)| w.contains(&f.len()) && f.bytes().all(|b| b.is_ascii_digit()))
    };
    let Some(clock) = clock else { return numbers(&fields, [4..=4, 1..=2, 1..=2]) };
    let end = clock.find(['Z', '+', '-', '.', ' ']).unwrap_or(clock.len());
    let hours: Vec<&str> = clock[..end].split(':').collect();
    numbers(&fields, [4..=4, 1..=2, 1..=2]) && numbers(&hours, [1..=2, 1..=2, 1..=2])
}

/// The order of keys (`keyList.Less`): digits by their value, other characters before letters.
fn natural(a: &str, b: &str) -> Ordering {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let Some(i) = a.iter().zip(&b).position(|(x, y)| x != y) else { return a.len().cmp(&b.len()) };
    match (a[i].is_alphabetic(), b[i].is_alphabetic()) {
        (true, true) => return a[i].cmp(&b[i]),
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    // A difference inside a number whose earlier digits are not all zero weighs as if a digit stood before it.
    let nonzero_before = a[..i].iter().rev().take_while(|c| c.is_ascii_digit()).any(|c| *c != '0');
    let lead = u64::from((a[i] == '0' || b[i] == '0') && nonzero_before);
    let number = |s: &[char]| {
        let digits = s[i..].iter().map_while(|c| c.to_digit(10));
        digits.fold((lead, 0_usize), |(n, len), d| (n.wrapping_mul(10).wrapping_add(u64::from(d)), len + 1))
    };
    number(&a).cmp(&number(&b)).then(a[i].cmp(&b[i]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest;
    use serde_json::json;

    #[test]
    fn objects_print_as_kubectl_prints_them() {
        let pod = json!({
            "kind": "Pod", "apiVersion": "v1",
            "metadata": {"name": "web-0", "labels": {"app": "web", "10": "x", "9": "y"}, "creationTimestamp": "2026-01-01T00:00:00Z", "annotations": {}},
            "spec": {"containers": [{"name": "c", "args": ["--x", "-", "true"], "env": []}], "nested": [[1, 2], []]},
            "status": {"message": "it's: here", "note": "a\nb\n", "percent": "25%", "none": null, "version": "1.5"}
        });
        let expected = r#"apiVersion: v1
kind: Pod
metadata:
  annotations: {}
  creationTimestamp: "2026-01-01T00:00:00Z"
  labels:
    "9": "y"
    "10": x
    app: web
  name: web-0
spec:
  containers:
  - args:
    - --x
    - '-'
    - "true"
    env: []
    name: c
  nested:
  - - 1
    - 2
  - []
status:
  message: 'it''s: here'
  none: null
  note: |
    a
    b
  percent: 25%
  version: "1.5"
"#;
        assert_eq!(to_yaml(&pod), expected);
    }

    #[test]
    fn long_lines_break_at_a_space_past_column_eighty() {
        let message = "containers with unready status: [one two three four five six seven eight nine ten eleven] and more of them";
        let text = to_yaml(&json!({"message": message}));
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(text.lines().nth(1).is_some_and(|l| l.starts_with("  ") && !l.starts_with("   ")));
        assert_eq!(manifest::parse(&text).expect("reads back")[0].value["message"], message);
    }

    #[test]
    fn what_is_printed_reads_back_the_same() {
        let texts = [
            "",
            " ",
            "~",
            "null",
            "yes",
            "12:30",
            "0x1f",
            "0644",
            "1e3",
            ".5",
            "1_000",
            "2026-01-01",
            "- a",
            "a: b",
            "a #b",
            "#",
            "x:",
            "*",
            "&a",
            "---",
            "'",
            "\"",
            "a\nb",
            "a\nb\n",
            "a\n\n",
            "\n",
            "\n\n",
            " a\nb",
            "a \nb",
            "tab\there",
            "汉字",
            "\u{1}",
            "\u{7f}",
            "line\r\nend",
            "emoji 😀",
            "\u{feff}bom",
            "@x",
            "%x",
            "a, b",
            "[x]",
            "{x",
            "? x",
            "?x",
            "-x",
            "-",
            "|",
            ">",
            "!t",
            "<<",
            "=",
            "\n a",
            "\\",
        ];
        for text in texts {
            let value = json!({"k": text, "list": [text, {"in": text}]});
            let printed = to_yaml(&value);
            let back = manifest::parse(&printed).unwrap_or_else(|e| panic!("{text:?}: {e}\n{printed}"));
            assert_eq!(back[0].value, value, "{text:?} printed as\n{printed}");
        }
    }
}
