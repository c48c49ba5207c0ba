//! Text functions. Positions and sizes count characters.

use super::functions::Fun;
use super::numbers;
use super::time;
use super::value::{Outcome, Value, fail, no_overload};
use crate::api::schema::field::quote;

/// Largest precision `format` takes; a wider field only serves to fill memory.
const PRECISION_MAX: usize = 60;

pub fn call(fun: Fun, args: &[Value]) -> Outcome {
    match (fun, args) {
        (Fun::StartsWith, [Value::Str(s), Value::Str(p)]) => Ok(Value::Bool(s.starts_with(&**p))),
        (Fun::EndsWith, [Value::Str(s), Value::Str(p)]) => Ok(Value::Bool(s.ends_with(&**p))),
        (Fun::Contains, [Value::Str(s), Value::Str(p)]) => Ok(Value::Bool(s.contains(&**p))),
        (Fun::CharAt, [Value::Str(s), Value::Int(i)]) => char_at(s, *i),
        (Fun::IndexOf, [Value::Str(s), Value::Str(p), rest @ ..]) => index_of(s, p, rest),
        (Fun::LastIndexOf, [Value::Str(s), Value::Str(p), rest @ ..]) => last_index_of(s, p, rest),
        (Fun::LowerAscii, [Value::Str(s)]) => Ok(Value::str(s.to_ascii_lowercase())),
        (Fun::UpperAscii, [Value::Str(s)]) => Ok(Value::str(s.to_ascii_uppercase())),
        (Fun::Trim, [Value::Str(s)]) => Ok(Value::str(s.trim())),
        (Fun::Quote, [Value::Str(s)]) => Ok(Value::str(quote(s))),
        (Fun::Replace, [Value::Str(s), Value::Str(from), Value::Str(to)]) => Ok(Value::str(s.replace(&**from, to))),
        (Fun::Replace, [Value::Str(s), Value::Str(from), Value::Str(to), Value::Int(n)]) => {
            let all = *n < 0;
            Ok(Value::str(if all { s.replace(&**from, to) } else { s.replacen(&**from, to, *n as usize) }))
        }
        (Fun::Split, [Value::Str(s), Value::Str(sep)]) => Ok(split(s, sep, -1)),
        (Fun::Split, [Value::Str(s), Value::Str(sep), Value::Int(n)]) => Ok(split(s, sep, *n)),
        (Fun::Substring, [Value::Str(s), Value::Int(from)]) => substring(s, *from, None),
        (Fun::Substring, [Value::Str(s), Value::Int(from), Value::Int(to)]) => substring(s, *from, Some(*to)),
        (Fun::Join, [Value::List(l)]) => join(&l.items, ""),
        (Fun::Join, [Value::List(l), Value::Str(sep)]) => join(&l.items, sep),
        (Fun::FormatText, [Value::Str(s), Value::List(l)]) => format_text(s, &l.items),
        _ => no_overload(),
    }
}

/// The byte at which character number `at` begins; the end counts as one.
fn byte_at(text: &str, at: i64) -> Option<usize> {
    let at = usize::try_from(at).ok()?;
    text.char_indices().map(|(i, _)| i).chain([text.len()]).nth(at)
}

fn out_of_range<T>(at: i64) -> Outcome<T> {
    fail(format!("index out of range: {at}"))
}

fn char_at(text: &str, at: i64) -> Outcome {
    match byte_at(text, at) {
        Some(start) => Ok(Value::str(text[start..].chars().next().map(String::from).unwrap_or_default())),
        None => out_of_range(at),
    }
}

fn chars_before(text: &str, byte: usize) -> Value {
    Value::Int(text[..byte].chars().count() as i64)
}

fn index_of(text: &str, part: &str, rest: &[Value]) -> Outcome {
    let from = match rest {
        [Value::Int(from)] => *from,
        _ => 0,
    };
    if part.is_empty() {
        return Ok(Value::Int(from));
    }
    let Some(start) = byte_at(text, from) else { return out_of_range(from) };
    Ok(text[start..].find(part).map_or(Value::Int(-1), |at| chars_before(text, start + at)))
}

fn last_index_of(text: &str, part: &str, rest: &[Value]) -> Outcome {
    let size = text.chars().count() as i64;
    let last = match rest {
        [Value::Int(last)] => *last,
        _ => size,
    };
    if part.is_empty() {
        return Ok(Value::Int(last));
    }
    if last < 0 || last > size || (!rest.is_empty() && last == size) {
        return out_of_range(last);
    }
    let start = byte_at(text, last).unwrap_or(text.len());
    let mut end = (start + part.len()).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    Ok(text[..end].rfind(part).map_or(Value::Int(-1), |at| chars_before(text, at)))
}

fn split(text: &str, separator: &str, limit: i64) -> Value {
    let parts: Vec<Value> = match limit {
        0 => Vec::new(),
        1 => vec![Value::str(text)],
        _ if separator.is_empty() => {
            let all: Vec<usize> = text.char_indices().map(|(i, _)| i).collect();
            let count = if limit < 0 { all.len() } else { all.len().min(limit as usize) };
            let end = |i: usize| if i + 1 < count { all[i + 1] } else { text.len() };
            (0..count).map(|i| Value::str(&text[all[i]..end(i)])).collect()
        }
        n if n < 0 => text.split(separator).map(Value::str).collect(),
        n => text.splitn(n as usize, separator).map(Value::str).collect(),
    };
    Value::list(parts)
}

fn substring(text: &str, from: i64, to: Option<i64>) -> Outcome {
    let Some(start) = byte_at(text, from) else { return out_of_range(from) };
    let end = match to {
        None => text.len(),
        Some(to) if to < from => {
            return fail(format!("invalid substring range. start: {from}, end: {to}"));
        }
        Some(to) => match byte_at(text, to) {
            Some(end) => end,
            None => return out_of_range(to),
        },
    };
    Ok(Value::str(&text[start..end]))
}

fn join(items: &[Value], separator: &str) -> Outcome {
    let mut out = String::new();
    for (at, item) in items.iter().enumerate() {
        match item.sound()? {
            Value::Str(s) => {
                out.push_str(if at > 0 { separator } else { "" });
                out.push_str(&s);
            }
            _ => return no_overload(),
        }
    }
    Ok(Value::str(out))
}

/// `format`: %s, %d, %f, %e, %b, %o, %x, %X, and a precision for %f and %e.
fn format_text(pattern: &str, args: &[Value]) -> Outcome {
    let mut out = String::new();
    let mut args = args.iter();
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut precision = 6;
        if chars.next_if_eq(&'.').is_some() {
            let mut digits = String::new();
            while let Some(d) = chars.next_if(char::is_ascii_digit) {
                digits.push(d);
            }
            match digits.parse::<usize>() {
                Ok(p) if p <= PRECISION_MAX => precision = p,
                _ => return fail("could not parse formatting clause: error while parsing precision"),
            }
        }
        match chars.next() {
            Some('%') => out.push('%'),
            Some(verb) => {
                let Some(arg) = args.next() else { return fail("index out of range: not enough format arguments") };
                let text = clause(verb, precision, &arg.sound()?)?;
                out.push_str(&text);
            }
            None => return fail("could not parse formatting clause: unexpected end of string"),
        }
    }
    Ok(Value::str(out))
}

fn clause(verb: char, precision: usize, arg: &Value) -> Outcome<String> {
    let signed = |i: i64, digits: String| if i < 0 { format!("-{digits}") } else { digits };
    Ok(match (verb, arg) {
        ('s', value) => return text_of(value),
        ('d', Value::Int(i)) => i.to_string(),
        ('d', Value::Uint(u)) => u.to_string(),
        ('d' | 'f', Value::Double(d)) if verb == 'f' || !d.is_finite() => numbers::format_fixed(*d, precision),
        ('f', Value::Int(i)) => numbers::format_fixed(*i as f64, precision),
        ('f', Value::Uint(u)) => numbers::format_fixed(*u as f64, precision),
        ('e', Value::Double(d)) => numbers::format_scientific(*d, precision),
        ('e', Value::Int(i)) => numbers::format_scientific(*i as f64, precision),
        ('e', Value::Uint(u)) => numbers::format_scientific(*u as f64, precision),
        ('b', Value::Bool(b)) => u8::from(*b).to_string(),
        ('b', Value::Int(i)) => signed(*i, format!("{:b}", i.unsigned_abs())),
        ('b', Value::Uint(u)) => format!("{u:b}"),
        ('o', Value::Int(i)) => signed(*i, format!("{:o}", i.unsigned_abs())),
        ('o', Value::Uint(u)) => format!("{u:o}"),
        ('x' | 'X', value) => {
            let text = match value {
                Value::Int(i) => signed(*i, format!("{:x}", i.unsigned_abs())),
                Value::Uint(u) => format!("{u:x}"),
                Value::Str(s) => s.bytes().map(|b| format!("{b:02x}")).collect(),
                Value::Bytes(b) => b.iter().map(|b| format!("{b:02x}")).collect(),
                _ => return wrong_verb(verb),
            };
            if verb == 'X' { text.to_ascii_uppercase() } else { text }
        }
        _ => return wrong_verb(verb),
    })
}

fn wrong_verb<T>(verb: char) -> Outcome<T> {
    fail(format!("error during formatting: unsupported argument of formatting clause %{verb}"))
}

/// How a value prints under `%s`.
fn text_of(value: &Value) -> Outcome<String> {
    Ok(match value {
        Value::Null => "null".to_string(),
        Value::Bool(b) => b.to_string(),
        Value::Int(i) => i.to_string(),
        Value::Uint(u) => u.to_string(),
        Value::Double(d) => numbers::format_double(*d),
        Value::Str(s) => s.to_string(),
        Value::Bytes(b) => String::from_utf8_lossy(b).into_owned(),
        Value::Duration(d) => numbers::format_duration(*d),
        Value::Timestamp(t) => time::format_timestamp(*t),
        Value::Type(t) => t.name().to_string(),
        Value::Ip(ip) => ip.to_string(),
        Value::Cidr(c) => c.text(),
        Value::List(l) => {
            let mut parts = Vec::with_capacity(l.items.len());
            for item in &l.items {
                parts.push(text_of(&item.sound()?)?);
            }
            format!("[{}]", parts.join(", "))
        }
        Value::Map(m) | Value::Object(m) => {
            let mut parts = Vec::with_capacity(m.len());
            for (key, item) in m.iter() {
                parts.push(format!("{}: {}", text_of(&key.value())?, text_of(&item.sound()?)?));
            }
            format!("{{{}}}", parts.join(", "))
        }
        _ => return wrong_verb('s'),
    })
}

/// Whether two lists mean the same under `sets`: order and repetition do not count.
pub fn sets(fun: Fun, a: &[Value], b: &[Value]) -> Outcome {
    let covers = |outer: &[Value], inner: &[Value]| -> Outcome<bool> {
        for item in inner {
            if !super::value::contains(outer, item)? {
                return Ok(false);
            }
        }
        Ok(true)
    };
    Ok(Value::Bool(match fun {
        Fun::SetsContains => covers(a, b)?,
        Fun::SetsEquivalent => covers(a, b)? && covers(b, a)?,
        _ => {
            let mut met = false;
            for item in a {
                met = met || super::value::contains(b, item)?;
            }
            met
        }
    }))
}
