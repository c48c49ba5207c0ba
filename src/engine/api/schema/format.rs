//! The `format` keyword for texts.
//!
//! Rules follow kube-openapi `pkg/validation/strfmt`. Hyphens in a format's name do not count, and a name that is
//! not in the table checks nothing.

use super::names;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

type Check = fn(&str) -> bool;

/// Known formats by their name without hyphens.
const FORMATS: &[(&str, Check)] = &[
    ("bsonobjectid", |s| s.len() == 24 && hex(s)),
    ("byte", base64),
    ("cidr", cidr),
    ("creditcard", credit_card),
    ("date", date),
    ("datetime", date_time),
    ("duration", duration),
    ("email", email),
    ("hexcolor", hex_color),
    ("hostname", hostname),
    ("ipv4", |s| s.contains('.') && s.parse::<IpAddr>().is_ok()),
    ("ipv6", |s| s.contains(':') && s.parse::<IpAddr>().is_ok()),
    ("isbn", |s| isbn10(s) || isbn13(s)),
    ("isbn10", isbn10),
    ("isbn13", isbn13),
    ("k8slongname", |s| names::dns1123_subdomain(s).is_empty()),
    ("k8sshortname", |s| names::dns1123_label(s).is_empty()),
    ("mac", mac),
    ("password", |_| true),
    ("rgbcolor", rgb_color),
    ("ssn", ssn),
    ("uri", uri),
    ("uuid", |s| uuid(s, None, false)),
    ("uuid3", |s| uuid(s, Some('3'), false)),
    ("uuid4", |s| uuid(s, Some('4'), true)),
    ("uuid5", |s| uuid(s, Some('5'), true)),
];

/// The check behind a format's name, if the name is known.
#[must_use]
pub fn lookup(name: &str) -> Option<Check> {
    let wanted = name.bytes().filter(|b| *b != b'-');
    FORMATS.iter().find(|(known, _)| known.bytes().eq(wanted.clone())).map(|(_, check)| *check)
}

/// Whether a name is one of the number formats.
#[must_use]
pub fn numeric(name: &str) -> bool {
    matches!(name, "int32" | "int64" | "uint32" | "uint64" | "float" | "float32" | "double" | "float64")
}

fn hex(s: &str) -> bool {
    !s.is_empty() && s.bytes().all(|b| b.is_ascii_hexdigit())
}

fn digits(s: &str) -> bool {
    !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit())
}

fn base64(s: &str) -> bool {
    let body = s.trim_end_matches('=');
    let padding = s.len() - body.len();
    !body.is_empty()
        && s.len().is_multiple_of(4)
        && padding <= 2
        && body.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'+' || b == b'/')
}

fn cidr(s: &str) -> bool {
    let Some((address, length)) = s.split_once('/') else { return false };
    let max = match (address.parse::<Ipv4Addr>(), address.parse::<Ipv6Addr>()) {
        (Ok(_), _) => 32,
        (_, Ok(_)) => 128,
        _ => return false,
    };
    digits(length) && length.len() <= 3 && length.parse::<u32>().is_ok_and(|l| l <= max)
}

fn mac(s: &str) -> bool {
    let groups = |separator: char, width: usize| {
        let parts: Vec<&str> = s.split(separator).collect();
        parts.iter().all(|p| p.len() == width && hex(p)).then_some(parts.len() * width / 2)
    };
    let octets = groups(':', 2).or_else(|| groups('-', 2)).or_else(|| groups('.', 4));
    matches!(octets, Some(6 | 8 | 20))
}

fn uuid(s: &str, version: Option<char>, strict_variant: bool) -> bool {
    let mut plain = String::with_capacity(32);
    let mut rest = s;
    for width in [8, 4, 4, 4, 12] {
        let Some(group) = rest.get(..width).filter(|g| hex(g)) else { return false };
        plain.push_str(group);
        rest = rest[width..].strip_prefix('-').filter(|_| width != 12).unwrap_or(&rest[width..]);
    }
    let at = |i: usize| plain.as_bytes()[i].to_ascii_lowercase() as char;
    rest.is_empty()
        && version.is_none_or(|v| at(12) == v)
        && (!strict_variant || matches!(at(16), '8' | '9' | 'a' | 'b'))
}

fn isbn_digits(s: &str) -> String {
    s.chars().filter(|c| !c.is_whitespace() && *c != '-').collect()
}

fn isbn10(s: &str) -> bool {
    let text = isbn_digits(s);
    let Some((head, last)) = text.get(..9).zip(text.get(9..)) else { return false };
    if !digits(head) || !(last == "X" || (last.len() == 1 && digits(last))) {
        return false;
    }
    let sum: u32 = head.bytes().zip(1..).map(|(b, i)| u32::from(b - b'0') * i).sum();
    let check = if last == "X" { 10 } else { u32::from(last.as_bytes()[0] - b'0') };
    (sum + 10 * check).is_multiple_of(11)
}

fn isbn13(s: &str) -> bool {
    let text = isbn_digits(s);
    if text.len() != 13 || !digits(&text) {
        return false;
    }
    let sum: u32 = text.bytes().enumerate().map(|(i, b)| u32::from(b - b'0') * if i % 2 == 0 { 1 } else { 3 }).sum();
    sum.is_multiple_of(10)
}

/// Number prefixes of card issuers with the lengths their numbers have.
const CARDS: &[(u32, u32, &[usize])] = &[
    (4, 4, &[13, 16]),
    (51, 55, &[16]),
    (2221, 2720, &[16]),
    (6011, 6011, &[16]),
    (65, 65, &[16]),
    (34, 34, &[15]),
    (37, 37, &[15]),
    (300, 305, &[14]),
    (36, 36, &[14]),
    (38, 38, &[14]),
    (2131, 2131, &[15]),
    (1800, 1800, &[15]),
    (35, 35, &[16]),
    (62, 62, &[16]),
    (67, 67, &[16]),
];

fn credit_card(s: &str) -> bool {
    let number: String = s.chars().filter(char::is_ascii_digit).collect();
    let issued = CARDS.iter().any(|(low, high, lengths)| {
        let width = low.to_string().len();
        let prefix = number.get(..width).and_then(|p| p.parse::<u32>().ok());
        lengths.contains(&number.len()) && prefix.is_some_and(|p| (*low..=*high).contains(&p))
    });
    let luhn: u32 = number.bytes().rev().enumerate().map(|(i, b)| luhn_digit(i, u32::from(b - b'0'))).sum();
    issued && luhn.is_multiple_of(10)
}

fn luhn_digit(index: usize, digit: u32) -> u32 {
    match (index % 2, digit * 2) {
        (0, _) => digit,
        (_, doubled) if doubled > 9 => doubled - 9,
        (_, doubled) => doubled,
    }
}

fn ssn(s: &str) -> bool {
    let bytes = s.as_bytes();
    bytes.len() == 11
        && bytes.iter().enumerate().all(|(i, b)| match i {
            3 | 6 => matches!(b, b'-' | b' '),
            _ => b.is_ascii_digit(),
        })
}

fn hex_color(s: &str) -> bool {
    let body = s.strip_prefix('#').unwrap_or(s);
    matches!(body.len(), 3 | 6) && hex(body)
}

fn rgb_color(s: &str) -> bool {
    let Some(inner) = s.strip_prefix("rgb(").and_then(|r| r.strip_suffix(')')) else { return false };
    let parts: Vec<&str> = inner.split(',').map(str::trim).collect();
    let byte = |p: &&str| digits(p) && (p.len() == 1 || !p.starts_with('0')) && p.parse::<u8>().is_ok();
    parts.len() == 3 && parts.iter().all(byte)
}

/// `YYYY-MM-DD` of a day that exists.
#[must_use]
pub fn date(s: &str) -> bool {
    let bytes = s.as_bytes();
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return false;
    }
    let part = |a: usize, b: usize| s.get(a..b).filter(|p| digits(p)).and_then(|p| p.parse::<u32>().ok());
    let (Some(year), Some(month), Some(day)) = (part(0, 4), part(5, 7), part(8, 10)) else { return false };
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    (1..=days).contains(&day)
}

/// `date` T `time` with an optional fraction and a zone.
#[must_use]
pub fn date_time(s: &str) -> bool {
    let Some((day, time)) = s.get(..10).zip(s.get(10..)) else { return false };
    date(day) && time.strip_prefix(['T', 't']).is_some_and(clock_with_zone)
}

fn clock_with_zone(time: &str) -> bool {
    let Some((clock, rest)) = time.get(..8).zip(time.get(8..)) else { return false };
    let parts: Vec<&str> = clock.split(':').collect();
    let within = |i: usize, max: &str| parts.get(i).is_some_and(|p| p.len() == 2 && digits(p) && *p <= max);
    let zone =
        rest.strip_prefix('.').map_or(rest, |fraction| fraction.trim_start_matches(|c: char| c.is_ascii_digit()));
    let fraction_filled = !rest.starts_with('.') || rest.len() - zone.len() > 1;
    parts.len() == 3 && within(0, "23") && within(1, "59") && within(2, "59") && fraction_filled && zone_offset(zone)
}

fn zone_offset(zone: &str) -> bool {
    let offset = |o: &str| o.len() == 5 && o.as_bytes()[2] == b':' && o.split(':').all(digits);
    zone.eq_ignore_ascii_case("z") || zone.strip_prefix(['+', '-']).is_some_and(offset)
}

/// A duration as Go writes it, or numbers with English units as in `3 days`.
fn duration(s: &str) -> bool {
    go_duration(s) || worded_duration(s)
}

fn go_duration(s: &str) -> bool {
    let mut rest = s.strip_prefix(['+', '-']).unwrap_or(s);
    if rest == "0" {
        return true;
    }
    let mut any = false;
    while !rest.is_empty() {
        let number_end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let number = &rest[..number_end];
        if !number.bytes().any(|b| b.is_ascii_digit()) || number.matches('.').count() > 1 {
            return false;
        }
        rest = &rest[number_end..];
        let unit_end = rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len());
        if !["ns", "us", "µs", "μs", "ms", "s", "m", "h"].contains(&&rest[..unit_end]) {
            return false;
        }
        rest = &rest[unit_end..];
        any = true;
    }
    any
}

/// Units by their short names, which match whole, and their word, which matches as a prefix.
const UNITS: &[(&[&str], &str)] = &[
    (&["ns"], "nano"),
    (&["us", "µs"], "micro"),
    (&["ms"], "milli"),
    (&["s"], "sec"),
    (&["m"], "min"),
    (&["h", "hr"], "hour"),
    (&["d"], "day"),
    (&["w", "wk"], "week"),
];

fn worded_duration(s: &str) -> bool {
    let mut rest = s;
    let mut any = false;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        rest = &rest[start..];
        let number_end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let number = &rest[..number_end];
        rest = rest[number_end..].trim_start();
        let unit_end = rest.find(|c: char| !c.is_ascii_alphabetic() && c != 'µ').unwrap_or(rest.len());
        let unit = rest[..unit_end].to_lowercase();
        if unit.is_empty() {
            continue;
        }
        if number.parse::<i64>().is_err() {
            return false;
        }
        any |= UNITS.iter().any(|(short, word)| short.contains(&unit.as_str()) || unit.starts_with(word));
        rest = &rest[unit_end..];
    }
    any
}

/// An address as mail headers write it, with or without a display name.
fn email(s: &str) -> bool {
    let text = s.trim();
    let spec = match text.strip_suffix('>').and_then(|t| t.rsplit_once('<')) {
        Some((name, spec)) if !name.contains(['<', '>', '@', ',']) || name.trim().starts_with('"') => spec,
        Some(_) => return false,
        None => text,
    };
    let Some((local, domain)) = spec.rsplit_once('@') else { return false };
    let quoted = local.len() > 2 && local.starts_with('"') && local.ends_with('"');
    let literal = domain.starts_with('[') && domain.ends_with(']') && domain.len() > 2;
    (quoted || dot_atom(local)) && (literal || dot_atom(domain))
}

fn dot_atom(s: &str) -> bool {
    let atom = |c: char| c.is_ascii_alphanumeric() || !c.is_ascii() || "!#$%&'*+-/=?^_`{|}~".contains(c);
    !s.is_empty() && s.split('.').all(|part| !part.is_empty() && part.chars().all(atom))
}

/// Longest host name.
const HOSTNAME_MAX: usize = 255;

fn hostname(s: &str) -> bool {
    let labels: Vec<&str> = s.split('.').collect();
    let short = s.len() <= HOSTNAME_MAX && labels.iter().all(|l| l.len() <= names::LABEL_MAX);
    let Some((last, before)) = labels.split_last() else { return false };
    short
        && if before.is_empty() { single_label(last) } else { before.iter().all(|l| inner_label(l)) && top_label(last) }
}

fn host_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || "$+<=>^`|~".contains(c) || (!c.is_ascii() && !c.is_numeric() && !c.is_whitespace())
}

/// A name of one label may have a hyphen only after its first character: a quirk of the pattern upstream.
fn single_label(l: &str) -> bool {
    let mut chars = l.chars();
    chars.next().is_some_and(host_char) && {
        let rest = chars.as_str();
        rest.strip_prefix('-').unwrap_or(rest).chars().all(host_char)
    }
}

fn inner_label(l: &str) -> bool {
    l.chars().all(|c| host_char(c) || c == '-')
        && l.chars().next().is_some_and(host_char)
        && l.chars().next_back().is_some_and(host_char)
}

fn top_label(l: &str) -> bool {
    inner_label(l) && l.chars().filter(|c| *c != '-').count() >= 2 && !l.contains("--")
}

/// An absolute URI or an absolute path, as a request line takes it.
fn uri(s: &str) -> bool {
    if s.is_empty() || s.bytes().any(|b| b < 0x20 || b == 0x7f) || s.starts_with(':') {
        return false;
    }
    let (scheme, rest) = split_scheme(s);
    let path = rest.split_once('?').map_or(rest, |(p, _)| p);
    if s == "*" || (!path.starts_with('/') && !scheme.is_empty()) {
        return true;
    }
    if !path.starts_with('/') {
        return false;
    }
    let authority_allowed = !scheme.is_empty() || !path.starts_with("///");
    match path.strip_prefix("//").filter(|_| !scheme.is_empty() && authority_allowed) {
        Some(after) => {
            let end = after.find('/').unwrap_or(after.len());
            authority(&after[..end]) && escapes(&after[end..])
        }
        None => escapes(path),
    }
}

fn split_scheme(s: &str) -> (&str, &str) {
    let end = s.find(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c));
    match end {
        Some(i) if s[i..].starts_with(':') && s.starts_with(|c: char| c.is_ascii_alphabetic()) => {
            (&s[..i], &s[i + 1..])
        }
        _ => ("", s),
    }
}

fn authority(text: &str) -> bool {
    let host = text.rsplit_once('@').map_or(text, |(_, h)| h);
    if let Some(inner) = host.strip_prefix('[') {
        return inner.split_once(']').is_some_and(|(_, port)| valid_port(port));
    }
    let (name, port) = host.find(':').map_or((host, ""), |i| host.split_at(i));
    valid_port(port) && escapes(name) && !name.contains([' ', '"', '<', '>', '\\', '^', '`', '{', '|', '}'])
}

fn valid_port(port: &str) -> bool {
    port.is_empty() || port.strip_prefix(':').is_some_and(|p| p.bytes().all(|b| b.is_ascii_digit()))
}

/// Every percent sign is followed by two hexadecimal digits.
fn escapes(s: &str) -> bool {
    s.split('%').skip(1).all(|after| after.get(..2).is_some_and(hex))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, good: &[&str], bad: &[&str]) {
        let check = lookup(name).unwrap();
        for text in good {
            assert!(check(text), "{name} should take {text:?}");
        }
        for text in bad {
            assert!(!check(text), "{name} should refuse {text:?}");
        }
    }

    #[test]
    fn times_and_durations_are_judged_as_recorded() {
        check(
            "date-time",
            &["2024-02-29T10:00:00Z", "2024-02-29T10:00:00.123+02:00"],
            &["", "2024-02-29 10:00:00", "2024-02-30T10:00:00Z", "2024-02-29", "yesterday"],
        );
        check("date", &["2024-02-29"], &["2023-02-29", "29.02.2024", ""]);
        check("duration", &["1h30m", "3 days", "0", "1.5h", "-2m"], &["90", "soon", ""]);
    }

    #[test]
    fn addresses_are_judged_by_their_family() {
        check("ipv4", &["1.2.3.4"], &["", "1.2.3", "01.2.3.4", "::1"]);
        check("ipv6", &["::1", "fe80::1"], &["1.2.3.4", ""]);
        check("cidr", &["10.0.0.0/8", "::/0"], &["10.0.0.0/33", "10.0.0.0", "/8"]);
        check("mac", &["01:02:03:04:05:06", "0102.0304.0506"], &["01:02:03", "01:02:03:04:05:0g"]);
    }

    #[test]
    fn identifiers_and_colours_are_judged_as_recorded() {
        check("uuid", &["0f8fad5b-d9cb-469f-a165-70867728950e", "0f8fad5bd9cb469fa16570867728950e"], &["0f8fad5b"]);
        check("uuid4", &["0f8fad5b-d9cb-469f-a165-70867728950e"], &["0f8fad5b-d9cb-169f-a165-70867728950e"]);
        check("byte", &["aGVsbG8="], &["a", "", "===="]);
        check("hexcolor", &["#a1b2c3", "abc"], &["red", "#abcd"]);
        check("rgbcolor", &["rgb(1,2,3)", "rgb(0, 10, 255)"], &["rgb(1,2)", "rgb(1,2,256)", "rgb(01,2,3)"]);
        check("isbn", &["0-306-40615-2", "9780306406157"], &["0306406153"]);
        check("creditcard", &["4111 1111 1111 1111"], &["4111111111111112", "1234"]);
    }

    #[test]
    fn uris_and_mail_addresses_need_their_parts() {
        check(
            "uri",
            &["http://a.b/c?d", "/path", "mailto:x", "https://[::1]:80/"],
            &["", "a.b", "http://a b/", "/%zz"],
        );
        check("email", &["a@b.c", "Some One <a@b>"], &["", "a", "a@", "@b", "a b@c"]);
        check("hostname", &["localhost", "my-host.example.com"], &["", "my-host-a", "a..b", "-a.com"]);
    }

    #[test]
    fn hyphens_in_the_name_of_a_format_do_not_count() {
        assert!(lookup("k8s-short-name").is_some() && lookup("date-time").is_some() && lookup("semver-ish").is_none());
    }
}
