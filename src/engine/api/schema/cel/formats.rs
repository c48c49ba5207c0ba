//! The named formats of `format.named`; see apiserver `pkg/cel/library/format.go`.

use super::time;
use super::value::Value;

const LABEL_MAX: usize = 63;
const SUBDOMAIN_MAX: usize = 253;

/// None when `text` fits, else the list of what is wrong.
pub fn validate(format: &str, text: &str) -> Value {
    let prefix = |t: &str| t.strip_suffix('-').map_or(t.to_string(), |head| format!("{head}a"));
    let (fits, must) = match format {
        "dns1123Label" => (dns_label(text, false), "be a lowercase RFC 1123 label"),
        "dns1123LabelPrefix" => (dns_label(&prefix(text), false), "be a prefix of a lowercase RFC 1123 label"),
        "dns1123Subdomain" => (subdomain(text), "be a lowercase RFC 1123 subdomain"),
        "dns1123SubdomainPrefix" => (subdomain(&prefix(text)), "be a prefix of a lowercase RFC 1123 subdomain"),
        "dns1035Label" => (dns_label(text, true), "be a DNS-1035 label"),
        "dns1035LabelPrefix" => (dns_label(&prefix(text), true), "be a prefix of a DNS-1035 label"),
        "qualifiedName" => (qualified_name(text), "be a qualified name"),
        "labelValue" => (text.is_empty() || name_part(text), "be a valid label value"),
        "uri" => (super::net::Url::parse(text).is_some(), "be a valid URI"),
        "uuid" => (uuid(text), "be a valid UUID"),
        "byte" => (base64(text).is_some(), "be base64"),
        "date" => (time::parse_date(text).is_some(), "be a full date"),
        _ => (time::parse_timestamp(text).is_some(), "be a date and time of RFC 3339"),
    };
    if fits {
        return Value::Optional(None);
    }
    Value::some(Value::list(vec![Value::str(format!("must {must}"))]))
}

fn dns_label(text: &str, starts_with_letter: bool) -> bool {
    let bytes = text.as_bytes();
    let plain = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return false };
    let start = if starts_with_letter { first.is_ascii_lowercase() } else { plain(first) };
    start && plain(last) && bytes.len() <= LABEL_MAX && bytes.iter().all(|b| plain(b) || *b == b'-')
}

fn subdomain(text: &str) -> bool {
    let label = |part: &str| {
        let bytes = part.as_bytes();
        let plain = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit();
        bytes.first().is_some_and(plain)
            && bytes.last().is_some_and(plain)
            && bytes.iter().all(|b| plain(b) || *b == b'-')
    };
    text.len() <= SUBDOMAIN_MAX && text.split('.').all(label)
}

fn name_part(text: &str) -> bool {
    let bytes = text.as_bytes();
    let edge = |b: Option<&u8>| b.is_some_and(u8::is_ascii_alphanumeric);
    edge(bytes.first())
        && edge(bytes.last())
        && bytes.len() <= LABEL_MAX
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

fn qualified_name(text: &str) -> bool {
    match text.split_once('/') {
        Some((domain, name)) => subdomain(domain) && name_part(name),
        None => name_part(text),
    }
}

fn uuid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    let widths: Vec<usize> = groups.iter().map(|g| g.len()).collect();
    let hex = groups.iter().all(|g| g.bytes().all(|b| b.is_ascii_hexdigit()));
    hex && (widths == [8, 4, 4, 4, 12] || widths == [32])
}

/// Decodes standard base64 with padding; line breaks are skipped, as Go does.
pub fn base64(text: &str) -> Option<Vec<u8>> {
    let bytes: Vec<u8> = text.bytes().filter(|b| !matches!(b, b'\r' | b'\n')).collect();
    if !bytes.len().is_multiple_of(4) {
        return None;
    }
    let padding = bytes.iter().rev().take_while(|b| **b == b'=').count();
    if padding > 2 {
        return None;
    }
    let mut out = Vec::with_capacity(bytes.len() / 4 * 3);
    let (mut bits, mut held) = (0_u32, 0);
    for byte in &bytes[..bytes.len() - padding] {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(six);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    Some(out)
}
