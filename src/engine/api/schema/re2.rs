//! Regular expressions as RE2 reads them, rewritten for the smaller engine that runs them.
//!
//! Flow: one pass over the text. What both read alike is copied; what RE2 takes for a literal and the engine does not
//! (`{` without a count, `[` in a class, `\<`, `\Q…\E`, octal escapes) is escaped; classes by name become ranges; what
//! RE2 refuses and the engine takes (repeats of repeats, counts beyond `REPEAT_MAX`, flags like `x`) is refused.
//!
//! Divergence from Kubernetes: of the Unicode classes only the common ones are known, and they are drawn from the
//! standard library's notion of letters, case and digits; `(?i)` folds ASCII letters only.

use std::fmt::Write;
use std::iter::Peekable;
use std::str::Chars;

/// Largest repeat count, also of a repeat in a repeat.
const REPEAT_MAX: u64 = 1000;
/// Longest rewritten pattern; classes by name are long, and a pattern could name them over and over.
const REWRITTEN_MAX: usize = 1 << 17;
/// Blanks of `\s`.
const BLANKS: &str = r"\t\n\f\r ";

/// Rewrites a pattern.
///
/// # Errors
/// What RE2 says about a pattern that it does not take.
pub fn translate(text: &str) -> Result<String, String> {
    let mut pass = Pass { chars: text.chars().peekable(), out: String::with_capacity(text.len()), groups: vec![1] };
    pass.run()?;
    Ok(pass.out)
}

struct Pass<'a> {
    chars: Peekable<Chars<'a>>,
    out: String,
    /// How often the most repeated atom of each open group is repeated.
    groups: Vec<u64>,
}

impl Pass<'_> {
    fn run(&mut self) -> Result<(), String> {
        // How often the last atom is repeated inside; none where no atom stands.
        let mut atom = None;
        let mut repeated = false;
        while let Some(c) = self.chars.next() {
            let count = if c == '{' { self.count() } else { None };
            if matches!(c, '*' | '+' | '?') || count.is_some() {
                if repeated {
                    return Err("invalid nested repetition operator".to_string());
                }
                repeated = true;
                self.repeat(c, count, &mut atom)?;
                continue;
            }
            repeated = false;
            atom = Some(1);
            match c {
                '(' => {
                    self.open()?;
                    atom = None;
                }
                ')' => {
                    let inner = if self.groups.len() > 1 { self.groups.pop() } else { None };
                    atom = inner;
                    self.weigh(inner.unwrap_or(1));
                    self.out.push(')');
                }
                '[' => self.class()?,
                '{' => self.out.push_str(r"\{"),
                '\\' => self.escape(false)?,
                c => self.out.push(c),
            }
        }
        Ok(())
    }

    fn weigh(&mut self, times: u64) {
        if let Some(top) = self.groups.last_mut() {
            *top = (*top).max(times);
        }
    }

    fn repeat(&mut self, c: char, count: Option<(String, u64)>, atom: &mut Option<u64>) -> Result<(), String> {
        if let Some((text, most)) = count {
            let times = atom.unwrap_or(1).saturating_mul(most.max(1));
            if most > REPEAT_MAX || times > REPEAT_MAX {
                return Err(format!("invalid repeat count: `{text}`"));
            }
            *atom = Some(times);
            self.weigh(times);
            self.out.push_str(&text);
        } else {
            self.out.push(c);
        }
        if self.chars.next_if_eq(&'?').is_some() {
            self.out.push('?');
        }
        Ok(())
    }

    /// A count after `{`, with its text and its larger number; nothing is taken when there is none.
    fn count(&mut self) -> Option<(String, u64)> {
        let mut ahead = self.chars.clone();
        let mut inner = String::new();
        loop {
            match ahead.next()? {
                '}' => break,
                c if c.is_ascii_digit() || c == ',' => inner.push(c),
                _ => return None,
            }
        }
        let (low, high) = inner.split_once(',').unwrap_or((&inner, &inner));
        let number = |n: &str| n.parse::<u64>().unwrap_or(u64::MAX);
        if low.is_empty() || high.contains(',') {
            return None;
        }
        self.chars = ahead;
        let most = if high.is_empty() { number(low) } else { number(high) };
        Some((format!("{{{inner}}}"), most.max(number(low))))
    }

    fn open(&mut self) -> Result<(), String> {
        self.groups.push(1);
        self.out.push('(');
        if self.chars.next_if_eq(&'?').is_none() {
            return Ok(());
        }
        self.out.push('?');
        let mut ahead = self.chars.clone();
        let flags: String = ahead.by_ref().take_while(|c| !matches!(c, ':' | ')' | '<' | '\'' | '=' | '!')).collect();
        let named = flags.is_empty() || flags == "P";
        if !named && !flags.chars().all(|c| "imsU-".contains(c)) {
            return Err(format!("invalid or unsupported Perl syntax: `(?{flags}`"));
        }
        Ok(())
    }

    fn class(&mut self) -> Result<(), String> {
        self.out.push('[');
        if self.chars.next_if_eq(&'^').is_some() {
            self.out.push('^');
        }
        let mut first = true;
        loop {
            match self.chars.next().ok_or("missing closing ]")? {
                ']' if !first => break,
                ']' => self.out.push_str(r"\]"),
                '[' if self.chars.peek() == Some(&':') => self.posix()?,
                c @ ('[' | '&' | '~') => {
                    self.out.push('\\');
                    self.out.push(c);
                }
                '\\' => self.escape(true)?,
                c => self.out.push(c),
            }
            first = false;
        }
        self.out.push(']');
        Ok(())
    }

    /// `[:name:]`, of which the bracket was read.
    fn posix(&mut self) -> Result<(), String> {
        let mut ahead = self.chars.clone();
        let name: String = ahead.by_ref().skip(1).take_while(|c| *c != ':').collect();
        if ahead.next() != Some(']') {
            self.out.push_str(r"\[");
            return Ok(());
        }
        if !name.trim_start_matches('^').chars().all(|c| c.is_ascii_alphabetic()) {
            return Err(format!("invalid character class range: `[:{name}:]`"));
        }
        self.chars = ahead;
        let _ = write!(self.out, "[:{name}:]");
        Ok(())
    }

    fn escape(&mut self, in_class: bool) -> Result<(), String> {
        match self.chars.next().ok_or("trailing backslash at end of expression")? {
            'Q' if !in_class => self.quoted(),
            c @ ('p' | 'P') => self.property(c == 'P', in_class)?,
            's' if in_class => self.out.push_str(BLANKS),
            's' => _ = write!(self.out, "[{BLANKS}]"),
            'S' if !in_class => _ = write!(self.out, "[^{BLANKS}]"),
            c @ '0'..='7' if c == '0' || self.chars.peek().is_some_and(|n| matches!(n, '0'..='7')) => self.octal(c),
            c @ ('<' | '>') => self.out.push(c),
            c => {
                self.out.push('\\');
                self.out.push(c);
            }
        }
        Ok(())
    }

    fn quoted(&mut self) {
        while let Some(c) = self.chars.next() {
            if c == '\\' && self.chars.next_if_eq(&'E').is_some() {
                return;
            }
            if c.is_ascii_punctuation() {
                self.out.push('\\');
            }
            self.out.push(c);
        }
    }

    fn octal(&mut self, first: char) {
        let mut code = first.to_digit(8).unwrap_or(0);
        for _ in 0..2 {
            let Some(digit) = self.chars.next_if(|c| c.is_digit(8)) else { break };
            code = code * 8 + digit.to_digit(8).unwrap_or(0);
        }
        let _ = write!(self.out, "\\x{{{code:x}}}");
    }

    fn property(&mut self, negated: bool, in_class: bool) -> Result<(), String> {
        let name: String = match self.chars.next() {
            Some('{') => self.chars.by_ref().take_while(|c| *c != '}').collect(),
            Some(c) => c.to_string(),
            None => String::new(),
        };
        let (name, negated) = name.strip_prefix('^').map_or((name.as_str(), negated), |rest| (rest, !negated));
        let inside = property(name).ok_or_else(|| format!("invalid character class range: `\\p{{{name}}}`"))?;
        if self.out.len() > REWRITTEN_MAX {
            return Err("expression too large".to_string());
        }
        let ranges = ranges(|c| inside(c) != negated);
        if in_class {
            self.out.push_str(&ranges);
        } else {
            let _ = write!(self.out, "[{ranges}]");
        }
        Ok(())
    }
}

fn property(name: &str) -> Option<fn(char) -> bool> {
    Some(match name {
        "Any" => |_| true,
        "L" => char::is_alphabetic,
        "Lu" => char::is_uppercase,
        "Ll" => char::is_lowercase,
        "N" => char::is_numeric,
        "Nd" => {
            |c| c.is_numeric() && (c.is_ascii_digit() || ('\u{660}'..='\u{1fbf9}').contains(&c)) && !c.is_alphabetic()
        }
        "Z" | "Zs" => |c| c.is_whitespace() && !c.is_control(),
        "Cc" => char::is_control,
        "P" => |c| {
            (c.is_ascii_punctuation() && !"$+<=>^`|~".contains(c))
                || matches!(c, '¡' | '§' | '«' | '¶' | '·' | '»' | '¿' | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}')
                || matches!(c, '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}')
        },
        "S" => |c| {
            "$+<=>^`|~¢£¤¥¦¨©¬®¯°±´¸×÷".contains(c) || matches!(c, '\u{20a0}'..='\u{20c0}' | '\u{2190}'..='\u{23ff}')
        },
        "Latin" => |c| c.is_alphabetic() && (c < '\u{250}' || ('\u{1e00}'..='\u{1eff}').contains(&c)) && c != 'µ',
        "Greek" => |c| c.is_alphabetic() && matches!(c, '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}'),
        "Cyrillic" => |c| matches!(c, '\u{400}'..='\u{52f}' | '\u{1c80}'..='\u{1c8a}'),
        "Hiragana" => |c| matches!(c, '\u{3041}'..='\u{3096}' | '\u{309d}'..='\u{309f}'),
        "Katakana" => |c| matches!(c, '\u{30a1}'..='\u{30fa}' | '\u{30fd}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}'),
        "Han" => |c| matches!(c, '\u{3005}' | '\u{3007}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'),
        _ => return None,
    })
}

/// The characters for which `inside` holds, as the ranges of a class.
fn ranges(inside: impl Fn(char) -> bool) -> String {
    let mut out = String::new();
    let mut open: Option<(char, char)> = None;
    let mut close = |range: Option<(char, char)>| {
        if let Some((low, high)) = range {
            let _ = write!(out, "\\x{{{:x}}}-\\x{{{:x}}}", u32::from(low), u32::from(high));
        }
    };
    for c in '\0'..=char::MAX {
        match (inside(c), &mut open) {
            (true, Some((_, high))) => *high = c,
            (true, None) => open = Some((c, c)),
            (false, Some(_)) => close(open.take()),
            (false, None) => {}
        }
    }
    close(open);
    out
}

#[cfg(test)]
mod tests {
    use super::super::pattern::Pattern;

    fn found(pattern: &str, text: &str) -> bool {
        Pattern::new(pattern).unwrap_or_else(|e| panic!("{pattern}: {e}")).found_in(text)
    }

    #[test]
    fn what_re2_takes_for_a_literal_is_one() {
        assert!(
            found("^a{$", "a{")
                && found("^a{,2}$", "a{,2}")
                && found(r"^\Qa.b\E$", "a.b")
                && !found(r"^\Qa.b\E$", "axb")
        );
        assert!(found("^[a[b]+$", "a[b") && found("^[a&&b]+$", "&ab") && found(r"^\<a\>$", "<a>"));
        assert!(found(r"^\07\0$", "\u{7}\0") && found("^[]a]$", "]") && found("^[[:alpha:]]$", "x"));
        assert!(found(r"^\s$", " ") && !found(r"^\s$", "\u{b}") && found(r"^[\s]\S$", "\tx"));
    }

    #[test]
    fn classes_by_name_know_letters_case_and_scripts() {
        assert!(
            found(r"^\p{L}+$", "añß日") && !found(r"^\p{L}+$", "a1") && found(r"^\pN$", "7") && found(r"^\PL$", "7")
        );
        assert!(found(r"^[\p{Lu}_]+$", "Ä_") && !found(r"^[\p{Lu}_]+$", "ä") && found(r"^\p{Greek}+$", "αβ"));
        assert!(found(r"^\p{^L}$", "-") && Pattern::new(r"\p{Klingon}").is_err());
    }

    #[test]
    fn what_re2_refuses_is_refused() {
        for bad in [
            "a**",
            "a{2}{3}",
            "(a{100}){11}",
            "a{1001}",
            "(?x)a",
            "(?=a)",
            r"(a)\1",
            "[a",
            "(a",
            "a)",
            r"\Z",
            "*a",
            &r"\pL".repeat(99),
        ] {
            assert!(Pattern::new(bad).is_err(), "{bad}");
        }
        assert!(
            Pattern::new("(a{100}){10}").is_ok()
                && Pattern::new("a*?").is_ok()
                && Pattern::new("(?i:a)(?P<n>b)").is_ok()
        );
    }
}
