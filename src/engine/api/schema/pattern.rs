//! The `pattern` keyword: a search, not a full match, as RE2 does it.

use super::re2::translate;
use regex_lite::{Regex, RegexBuilder};
use std::fmt;

/// Longest pattern text taken. Real schemas stay far below; a longer one only serves to fill memory.
pub const PATTERN_MAX: usize = 4096;
/// Bytes a compiled pattern may take.
const COMPILED_MAX: usize = 1 << 20;

/// A compiled pattern with its text.
#[derive(Clone)]
pub struct Pattern {
    text: String,
    regex: Option<Regex>,
}

impl Pattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// What is wrong with it, as a sentence.
    pub fn new(text: &str) -> Result<Self, String> {
        if text.len() > PATTERN_MAX {
            return Err(format!("must not be longer than {PATTERN_MAX} bytes"));
        }
        let refused = |why: &dyn fmt::Display| format!("must be a valid regular expression, but isn't: {why}");
        let rewritten = translate(text).map_err(|why| refused(&why))?;
        let regex = RegexBuilder::new(&rewritten).size_limit(COMPILED_MAX).build();
        match regex {
            Ok(regex) => Ok(Pattern { text: text.to_string(), regex: Some(regex) }),
            Err(e) => Err(refused(&e)),
        }
    }

    /// Compiles a pattern; one that does not compile checks nothing, because its definition was refused already.
    #[must_use]
    pub fn new_or_inert(text: &str) -> Self {
        Self::new(text).unwrap_or_else(|_| Pattern { text: text.to_string(), regex: None })
    }

    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the pattern is found anywhere in `value`.
    #[must_use]
    pub fn found_in(&self, value: &str) -> bool {
        self.regex.as_ref().is_none_or(|r| r.is_match(value))
    }

    /// The first `limit` matches in `value`.
    #[must_use]
    pub fn finds<'t>(&self, value: &'t str, limit: usize) -> Vec<&'t str> {
        self.regex.iter().flat_map(|r| r.find_iter(value)).take(limit).map(|m| m.as_str()).collect()
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pattern({:?})", self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_searched_for_not_matched_in_full() {
        assert!(Pattern::new("b").unwrap().found_in("abc"));
        assert!(!Pattern::new("^b").unwrap().found_in("abc"));
    }

    #[test]
    fn what_re2_does_not_know_is_refused() {
        for bad in ["a(", "(?=a)", r"(a)\1", "(?<!a)b", "a{1001}", "a{1,1001}"] {
            assert!(Pattern::new(bad).is_err(), "{bad}");
        }
    }
}
