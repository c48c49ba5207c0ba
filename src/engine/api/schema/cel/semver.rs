//! Semantic versions.

use std::cmp::Ordering;

#[derive(Clone, Debug)]
pub struct Semver {
    pub numbers: [u64; 3],
    pre: Vec<String>,
}

impl Semver {
    /// Strict reading; with `normalize` a leading `v`, missing parts and leading zeros are forgiven.
    pub fn parse(text: &str, normalize: bool) -> Option<Semver> {
        let text = if normalize { text.strip_prefix('v').unwrap_or(text) } else { text };
        let (core, build) = text.split_once('+').map_or((text, None), |(c, b)| (c, Some(b)));
        let (core, pre) = core.split_once('-').map_or((core, None), |(c, p)| (c, Some(p)));
        let parts: Vec<&str> = core.split('.').collect();
        if parts.len() > 3 || (parts.len() < 3 && (!normalize || pre.is_some() || build.is_some())) {
            return None;
        }
        let mut numbers = [0; 3];
        for (number, part) in numbers.iter_mut().zip(&parts) {
            *number = numeric(part, normalize)?;
        }
        let mut identifiers = Vec::new();
        for part in pre.iter().flat_map(|p| p.split('.')) {
            let zero_led = part.len() > 1 && part.starts_with('0') && all_digits(part);
            if !is_identifier(part) || zero_led {
                return None;
            }
            identifiers.push(part.to_string());
        }
        let build_fits = build.iter().flat_map(|b| b.split('.')).all(is_identifier);
        build_fits.then_some(Semver { numbers, pre: identifiers })
    }

    pub fn compare(&self, other: &Semver) -> Ordering {
        let by_numbers = self.numbers.cmp(&other.numbers);
        if by_numbers != Ordering::Equal {
            return by_numbers;
        }
        match (self.pre.is_empty(), other.pre.is_empty()) {
            (true, true) => return Ordering::Equal,
            (true, false) => return Ordering::Greater,
            (false, true) => return Ordering::Less,
            (false, false) => {}
        }
        for (a, b) in self.pre.iter().zip(&other.pre) {
            let order = match (all_digits(a), all_digits(b)) {
                (true, true) => a.len().cmp(&b.len()).then_with(|| a.cmp(b)),
                (true, false) => Ordering::Less,
                (false, true) => Ordering::Greater,
                (false, false) => a.cmp(b),
            };
            if order != Ordering::Equal {
                return order;
            }
        }
        self.pre.len().cmp(&other.pre.len())
    }
}

fn all_digits(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit())
}

fn is_identifier(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

fn numeric(text: &str, normalize: bool) -> Option<u64> {
    if text.is_empty() || !all_digits(text) || (!normalize && text.len() > 1 && text.starts_with('0')) {
        return None;
    }
    text.parse().ok()
}
