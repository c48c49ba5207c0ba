//! JSONPath templates: `{.items[*].metadata.name}`, `{range …}{end}`, filters, slices, unions, `..`.
//!
//! Follows client-go `util/jsonpath`: text outside braces is printed as it is, results are joined by blanks.

use serde_json::Value;

/// Longest template, and most values one step may lead to.
const TEMPLATE_MAX: usize = 8 * 1024;
const VALUES_MAX: usize = 200_000;
/// Deepest nesting of ranges, and most filters.
const DEPTH_MAX: usize = 20;

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Field(String),
    /// `*`, by brackets or by name.
    All,
    Index(i64),
    Slice(Option<i64>, Option<i64>, i64),
    Union(Vec<Step>),
    Filter(Box<Filter>),
    Descend,
    Root,
}

#[derive(Clone, Debug, PartialEq)]
enum Operand {
    Path(Vec<Step>),
    Literal(Value),
}

#[derive(Clone, Debug, PartialEq)]
struct Filter {
    left: Operand,
    op: String,
    right: Option<Operand>,
}

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Text(String),
    Path(Vec<Step>),
    Range(Vec<Step>, Vec<Part>),
}

/// A template, read.
#[derive(Clone, Debug, PartialEq)]
pub struct Template(Vec<Part>);

impl Template {
    /// Reads a template; a bare `.a.b` is taken as `{.a.b}`.
    pub fn parse(text: &str) -> Result<Template, String> {
        if text.len() > TEMPLATE_MAX {
            return Err(format!("template is longer than {TEMPLATE_MAX} bytes"));
        }
        if text.matches("[?").count() > DEPTH_MAX {
            return Err(format!("template has more than {DEPTH_MAX} filters"));
        }
        let mut rest = text;
        let mut depth = 0;
        let parts = parts(&mut rest, false, &mut depth)?;
        Ok(Template(parts))
    }

    /// A relaxed path as `--sort-by` and printer columns have it.
    pub fn path(text: &str) -> Result<Template, String> {
        let text = text.trim();
        let text = text.strip_prefix('{').and_then(|t| t.strip_suffix('}')).unwrap_or(text);
        let dot = if text.starts_with(['.', '[', '$']) { "" } else { "." };
        Template::parse(&format!("{{{dot}{text}}}"))
    }

    /// The printed text. A field that is absent prints nothing.
    pub fn print(&self, root: &Value) -> String {
        let mut out = String::new();
        print(&self.0, root, root, &mut out);
        out
    }

    /// What the only path of the template leads to.
    pub fn values<'v>(&self, root: &'v Value) -> Vec<&'v Value> {
        match self.0.first() {
            Some(Part::Path(steps)) => walk(steps, vec![root], root),
            _ => Vec::new(),
        }
    }
}

/// How a value prints: text bare, the rest as JSON.
pub fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn print(parts: &[Part], at: &Value, root: &Value, out: &mut String) {
    for part in parts {
        match part {
            Part::Text(text) => out.push_str(text),
            Part::Path(steps) => {
                let found: Vec<String> = walk(steps, vec![at], root).into_iter().map(shown).collect();
                out.push_str(&found.join(" "));
            }
            Part::Range(steps, body) => {
                for item in walk(steps, vec![at], root) {
                    print(body, item, root, out);
                }
            }
        }
    }
}

fn parts(rest: &mut &str, inside: bool, depth: &mut usize) -> Result<Vec<Part>, String> {
    *depth += 1;
    if *depth > DEPTH_MAX {
        return Err("template is nested too deep".into());
    }
    let mut out = Vec::new();
    loop {
        let Some(open) = rest.find('{') else {
            if inside {
                return Err("not in range, nothing to end".into());
            }
            if !rest.is_empty() {
                out.push(Part::Text((*rest).to_string()));
            }
            *rest = "";
            *depth -= 1;
            return Ok(out);
        };
        if open > 0 {
            out.push(Part::Text(rest[..open].to_string()));
        }
        let (action, after) = action(&rest[open + 1..])?;
        *rest = after;
        let action = action.trim();
        if action == "end" {
            if !inside {
                return Err("not in range, nothing to end".into());
            }
            *depth -= 1;
            return Ok(out);
        }
        if let Some(path) = action.strip_prefix("range ") {
            let steps = steps(path.trim())?;
            out.push(Part::Range(steps, parts(rest, true, depth)?));
        } else if action.starts_with(['"', '\'']) {
            out.push(Part::Text(unquote(action)?));
        } else {
            out.push(Part::Path(steps(action)?));
        }
    }
}

/// The text up to the brace that closes the action.
fn action(text: &str) -> Result<(&str, &str), String> {
    let mut quote = None;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(q), c) if c == q => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '}') => return Ok((&text[..at], &text[at + 1..])),
            _ => {}
        }
    }
    Err("unclosed action".into())
}

fn unquote(text: &str) -> Result<String, String> {
    let quote = text.chars().next().unwrap_or('"');
    let inner = text[1..].strip_suffix(quote).ok_or("unterminated quoted string")?;
    let mut out = String::new();
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, true) => match chars.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('r') => out.push('\r'),
                Some(c) => out.push(c),
                None => return Err("unterminated quoted string".into()),
            },
            (c, false) => out.push(c),
        }
    }
    Ok(out)
}

fn steps(text: &str) -> Result<Vec<Step>, String> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        match first {
            '$' | '@' => {
                if first == '$' {
                    out.push(Step::Root);
                }
                rest = &rest[1..];
            }
            '.' if rest.starts_with("..") => {
                out.push(Step::Descend);
                rest = &rest[1..];
                if rest[1..].starts_with('[') {
                    rest = &rest[1..];
                }
            }
            '.' => {
                let (name, after) = field(&rest[1..]);
                match name.as_str() {
                    "" => {}
                    "*" => out.push(Step::All),
                    _ => out.push(Step::Field(name)),
                }
                rest = after;
            }
            '[' => {
                let close = bracket(rest)?;
                out.push(index(rest[1..close].trim())?);
                rest = &rest[close + 1..];
            }
            _ if out.is_empty() => {
                let (name, after) = field(rest);
                if name.is_empty() {
                    return Err(format!("unrecognized character in action: {first:?}"));
                }
                out.push(Step::Field(name));
                rest = after;
            }
            other => return Err(format!("unrecognized character in action: {other:?}")),
        }
    }
    Ok(out)
}

/// A name up to the next step; a backslash keeps a dot in it.
fn field(text: &str) -> (String, &str) {
    let mut name = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => name.extend(chars.next().map(|(_, c)| c)),
            '.' | '[' | ' ' | ')' | '=' | '!' | '<' | '>' => return (name, &text[at..]),
            c => name.push(c),
        }
    }
    (name, "")
}

fn bracket(text: &str) -> Result<usize, String> {
    let (mut depth, mut quote) = (0, None);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[') => depth += 1,
            (None, ']') if depth == 1 => return Ok(at),
            (None, ']') => depth -= 1,
            _ => {}
        }
    }
    Err("unterminated array".into())
}

fn index(text: &str) -> Result<Step, String> {
    if text == "*" {
        return Ok(Step::All);
    }
    if let Some(filter) = text.strip_prefix("?(").and_then(|t| t.strip_suffix(')')) {
        return Ok(Step::Filter(Box::new(read_filter(filter.trim())?)));
    }
    if text.starts_with(['\'', '"']) && !text.contains(',') {
        return Ok(Step::Field(unquote(text)?));
    }
    if text.contains(',') {
        return text.split(',').map(|t| index(t.trim())).collect::<Result<_, _>>().map(Step::Union);
    }
    let number = |t: &str| -> Result<Option<i64>, String> {
        if t.is_empty() {
            return Ok(None);
        }
        t.parse().map(Some).map_err(|_| format!("invalid array index {text}"))
    };
    if text.contains(':') {
        let mut bounds = text.split(':');
        let from = number(bounds.next().unwrap_or(""))?;
        let to = number(bounds.next().unwrap_or(""))?;
        let step = number(bounds.next().unwrap_or(""))?.unwrap_or(1);
        return if step > 0 { Ok(Step::Slice(from, to, step)) } else { Err("step must be > 0".into()) };
    }
    number(text)?.map(Step::Index).ok_or_else(|| format!("invalid array index {text}"))
}

fn read_filter(text: &str) -> Result<Filter, String> {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '=' | '!' | '<' | '>') => {
                let len = if text[at + 1..].starts_with('=') { 2 } else { 1 };
                let (left, right) = (operand(text[..at].trim())?, operand(text[at + len..].trim())?);
                return Ok(Filter { left, op: text[at..at + len].to_string(), right: Some(right) });
            }
            _ => {}
        }
    }
    Ok(Filter { left: operand(text)?, op: String::new(), right: None })
}

fn operand(text: &str) -> Result<Operand, String> {
    if text.starts_with(['"', '\'']) {
        return Ok(Operand::Literal(Value::String(unquote(text)?)));
    }
    if text.starts_with(['@', '$', '.']) {
        return steps(text).map(Operand::Path);
    }
    serde_json::from_str(text).map(Operand::Literal).map_err(|_| format!("unrecognized operand {text}"))
}

fn walk<'v>(steps: &[Step], mut at: Vec<&'v Value>, root: &'v Value) -> Vec<&'v Value> {
    for step in steps {
        let mut next = Vec::new();
        for value in &at {
            take(step, value, root, &mut next);
            if next.len() > VALUES_MAX {
                return Vec::new();
            }
        }
        at = next;
    }
    at
}

fn take<'v>(step: &Step, value: &'v Value, root: &'v Value, out: &mut Vec<&'v Value>) {
    let items = value.as_array().map_or(&[][..], Vec::as_slice);
    let place = |i: i64| usize::try_from(if i < 0 { i + items.len() as i64 } else { i }).ok();
    match step {
        Step::Root => out.push(root),
        Step::Field(name) => out.extend(value.get(name)),
        Step::All => match value {
            Value::Array(items) => out.extend(items),
            Value::Object(map) => out.extend(map.values()),
            _ => {}
        },
        Step::Index(i) => out.extend(place(*i).and_then(|at| items.get(at))),
        Step::Slice(from, to, by) => {
            let bound = |b: Option<i64>, or: usize| b.map_or(or, |i| place(i).unwrap_or(0).min(items.len()));
            let (from, to) = (bound(*from, 0), bound(*to, items.len()));
            out.extend(items.get(from..to).unwrap_or(&[]).iter().step_by(*by as usize));
        }
        Step::Union(steps) => steps.iter().for_each(|s| take(s, value, root, out)),
        Step::Filter(filter) => match value {
            Value::Array(items) => out.extend(items.iter().filter(|i| keeps(filter, i, root))),
            Value::Object(map) => out.extend(map.values().filter(|i| keeps(filter, i, root))),
            _ => {}
        },
        Step::Descend => descend(value, out),
    }
}

fn descend<'v>(value: &'v Value, out: &mut Vec<&'v Value>) {
    if out.len() > VALUES_MAX {
        return;
    }
    out.push(value);
    match value {
        Value::Array(items) => items.iter().for_each(|v| descend(v, out)),
        Value::Object(map) => map.values().for_each(|v| descend(v, out)),
        _ => {}
    }
}

fn keeps(filter: &Filter, item: &Value, root: &Value) -> bool {
    let value = |operand: &Operand| match operand {
        Operand::Literal(value) => Some(value.clone()),
        Operand::Path(steps) => walk(steps, vec![item], root).first().map(|v| (*v).clone()),
    };
    let Some(left) = value(&filter.left) else { return false };
    let Some(right) = &filter.right else { return true };
    let Some(right) = value(right) else { return false };
    let order = match (left.as_f64(), right.as_f64()) {
        (Some(a), Some(b)) => a.partial_cmp(&b),
        _ => left.as_str().zip(right.as_str()).map(|(a, b)| a.cmp(b)),
    };
    match filter.op.as_str() {
        "==" => left == right || order.is_some_and(std::cmp::Ordering::is_eq),
        "!=" => left != right,
        "<" => order.is_some_and(std::cmp::Ordering::is_lt),
        "<=" => order.is_some_and(std::cmp::Ordering::is_le),
        ">" => order.is_some_and(std::cmp::Ordering::is_gt),
        ">=" => order.is_some_and(std::cmp::Ordering::is_ge),
        _ => false,
    }
}
