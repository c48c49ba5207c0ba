//! Text to tokens.

use super::value::Value;
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    Ident(Arc<str>),
    Literal(Literal),
    /// An operator or bracket, as written.
    Punct(&'static str),
    End,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// Unsigned magnitude: the sign is folded in by the parser, so that the smallest integer can be written.
    Int(u64),
    Uint(u64),
    Double(f64),
    Str(Arc<str>),
    Bytes(Arc<[u8]>),
    Bool(bool),
    Null,
}

impl Literal {
    pub fn value(self) -> Result<Value, String> {
        Ok(match self {
            Literal::Int(i) => Value::Int(i64::try_from(i).map_err(|_| "invalid int literal")?),
            Literal::Uint(u) => Value::Uint(u),
            Literal::Double(d) => Value::Double(d),
            Literal::Str(s) => Value::Str(s),
            Literal::Bytes(b) => Value::Bytes(b),
            Literal::Bool(b) => Value::Bool(b),
            Literal::Null => Value::Null,
        })
    }
}

/// Longest first, so that a prefix never wins.
const PUNCTUATION: [&str; 26] = [
    "&&", "||", "==", "!=", "<=", ">=", "[", "]", "{", "}", "(", ")", ".", ",", ":", "?", "-", "!", "+", "*", "/", "%",
    "<", ">", ";", "=",
];

pub struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a str) -> Self {
        Lexer { text, at: 0 }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }
    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }
    fn peek_byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    fn skip_blank(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches([' ', '\t', '\r', '\n', '\u{c}']);
            self.at += rest.len() - trimmed.len();
            if !trimmed.starts_with("//") {
                return;
            }
            self.at += trimmed.find('\n').unwrap_or(trimmed.len());
        }
    }

    pub fn next(&mut self) -> Result<Token, String> {
        self.skip_blank();
        let Some(first) = self.peek() else { return Ok(Token::End) };
        if first.is_ascii_digit() || (first == '.' && self.peek_byte(1).is_ascii_digit()) {
            return self.number().map(Token::Literal);
        }
        if let Some(prefix) = self.string_prefix() {
            return self.string(prefix).map(Token::Literal);
        }
        if first.is_ascii_alphabetic() || first == '_' {
            return Ok(self.word());
        }
        match PUNCTUATION.iter().find(|p| self.rest().starts_with(**p)) {
            Some(punct) => {
                self.at += punct.len();
                Ok(Token::Punct(punct))
            }
            None => Err(format!("token recognition error at: '{first}'")),
        }
    }

    fn word(&mut self) -> Token {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        self.at += end;
        match &rest[..end] {
            "true" => Token::Literal(Literal::Bool(true)),
            "false" => Token::Literal(Literal::Bool(false)),
            "null" => Token::Literal(Literal::Null),
            "in" => Token::Punct("in"),
            word => Token::Ident(word.into()),
        }
    }

    fn digits(&mut self) {
        while self.peek_byte(0).is_ascii_digit() {
            self.at += 1;
        }
    }

    fn number(&mut self) -> Result<Literal, String> {
        let start = self.at;
        let hex = self.peek_byte(0) == b'0' && matches!(self.peek_byte(1), b'x' | b'X');
        let mut float = false;
        if hex {
            self.at += 2;
            while self.peek_byte(0).is_ascii_hexdigit() {
                self.at += 1;
            }
        } else {
            self.digits();
            if self.peek_byte(0) == b'.' && self.peek_byte(1).is_ascii_digit() {
                float = true;
                self.at += 1;
                self.digits();
            }
            let sign = usize::from(matches!(self.peek_byte(1), b'+' | b'-'));
            if matches!(self.peek_byte(0), b'e' | b'E') && self.peek_byte(1 + sign).is_ascii_digit() {
                float = true;
                self.at += 1 + sign;
                self.digits();
            }
        }
        let text = &self.text[start..self.at];
        if float {
            return super::numbers::parse_double(text)
                .map(Literal::Double)
                .ok_or_else(|| "invalid double literal".into());
        }
        let parsed = if hex { u64::from_str_radix(&text[2..], 16) } else { text.parse() };
        let unsigned = matches!(self.peek_byte(0), b'u' | b'U');
        self.at += usize::from(unsigned);
        match parsed {
            Ok(n) if unsigned => Ok(Literal::Uint(n)),
            Ok(n) => Ok(Literal::Int(n)),
            Err(_) => Err("invalid int literal".into()),
        }
    }

    /// The letters before the quote: raw and bytes marks, in any order and case.
    fn string_prefix(&self) -> Option<(bool, bool)> {
        let (mut raw, mut bytes, mut ahead) = (false, false, 0);
        loop {
            match self.peek_byte(ahead) {
                b'"' | b'\'' => return Some((raw, bytes)),
                b'r' | b'R' if !raw => raw = true,
                b'b' | b'B' if !bytes => bytes = true,
                _ => return None,
            }
            ahead += 1;
        }
    }

    fn string(&mut self, (raw, bytes): (bool, bool)) -> Result<Literal, String> {
        self.at += usize::from(raw) + usize::from(bytes);
        let quote = self.peek().unwrap_or('"');
        let triple: String = [quote; 3].iter().collect();
        let close = if self.rest().starts_with(&triple) { triple.as_str() } else { &triple[..1] };
        self.at += close.len();
        let mut out = Vec::new();
        loop {
            let Some(c) = self.peek() else { return Err("unterminated string".into()) };
            if self.rest().starts_with(close) {
                self.at += close.len();
                break;
            }
            self.at += c.len_utf8();
            match c {
                '\n' | '\r' if close.len() == 1 => return Err("unterminated string".into()),
                '\\' if raw => {
                    // A raw string keeps the backslash, and the quote after it does not end it.
                    out.push(b'\\');
                    if self.peek() == Some(quote) {
                        out.push(quote as u8);
                        self.at += 1;
                    }
                }
                '\\' => self.escape(bytes, &mut out)?,
                c => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        if bytes {
            return Ok(Literal::Bytes(out.into()));
        }
        String::from_utf8(out).map(|s| Literal::Str(s.into())).map_err(|_| "invalid string literal".into())
    }

    fn escape(&mut self, bytes: bool, out: &mut Vec<u8>) -> Result<(), String> {
        let bad = || "invalid escape sequence".to_string();
        let c = self.peek().ok_or_else(bad)?;
        self.at += c.len_utf8();
        let simple = match c {
            'a' => 7,
            'b' => 8,
            'f' => 12,
            'n' => b'\n',
            'r' => b'\r',
            't' => b'\t',
            'v' => 11,
            '\\' | '?' | '"' | '\'' | '`' => c as u8,
            _ => 0,
        };
        if simple != 0 {
            out.push(simple);
            return Ok(());
        }
        let (radix, len) = match c {
            'x' | 'X' => (16, 2),
            'u' if !bytes => (16, 4),
            'U' if !bytes => (16, 8),
            '0'..='3' => {
                self.at -= 1;
                (8, 3)
            }
            _ => return Err(bad()),
        };
        let digits = self.text.get(self.at..self.at + len).ok_or_else(bad)?;
        let code = u32::from_str_radix(digits, radix).map_err(|_| bad())?;
        self.at += len;
        if bytes {
            out.push(code as u8);
        } else {
            let c = char::from_u32(code).ok_or_else(bad)?;
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
        Ok(())
    }
}
