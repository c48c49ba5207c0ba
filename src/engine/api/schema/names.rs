//! The shapes names may have: labels, subdomains and path segments.
//!
//! Mirrors apimachinery `pkg/util/validation/validation.go`; each check answers with the sentences of what is wrong.

/// Longest DNS label.
pub const LABEL_MAX: usize = 63;
/// Longest DNS subdomain.
pub const SUBDOMAIN_MAX: usize = 253;

const LABEL_1123: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with \
     an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
     '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN_1123: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start \
     and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
     '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_1035: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, \
     and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is \
     '[a-z]([-a-z0-9]*[a-z0-9])?')";

fn lower_alnum(b: u8) -> bool {
    b.is_ascii_lowercase() || b.is_ascii_digit()
}

fn label_shape(text: &str) -> bool {
    let bytes = text.as_bytes();
    matches!((bytes.first(), bytes.last()), (Some(a), Some(z)) if lower_alnum(*a) && lower_alnum(*z))
        && bytes.iter().all(|b| lower_alnum(*b) || *b == b'-')
}

fn too_long(text: &str, max: usize) -> Option<String> {
    (text.len() > max).then(|| format!("must be no more than {max} bytes"))
}

/// What keeps a text from being an RFC 1123 label.
#[must_use]
pub fn dns1123_label(text: &str) -> Vec<String> {
    let shape = (!label_shape(text)).then(|| LABEL_1123.to_string());
    too_long(text, LABEL_MAX).into_iter().chain(shape).collect()
}

/// What keeps a text from being an RFC 1123 subdomain.
#[must_use]
pub fn dns1123_subdomain(text: &str) -> Vec<String> {
    let shape = (!text.split('.').all(label_shape)).then(|| SUBDOMAIN_1123.to_string());
    too_long(text, SUBDOMAIN_MAX).into_iter().chain(shape).collect()
}

/// What keeps a text from being an RFC 1035 label.
#[must_use]
pub fn dns1035_label(text: &str) -> Vec<String> {
    let shaped = label_shape(text) && text.as_bytes()[0].is_ascii_lowercase();
    too_long(text, LABEL_MAX).into_iter().chain((!shaped).then(|| LABEL_1035.to_string())).collect()
}

/// What keeps a text from being one segment of a URL path.
#[must_use]
pub fn path_segment(text: &str) -> Vec<String> {
    if text == "." || text == ".." {
        return vec![format!("may not be '{text}'")];
    }
    ['/', '%'].iter().filter(|c| text.contains(**c)).map(|c| format!("may not contain '{c}'")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_1035_label_starts_with_a_letter_and_a_1123_label_need_not() {
        assert!(dns1035_label("a-1").is_empty() && !dns1035_label("1a").is_empty() && !dns1035_label("a-").is_empty());
        assert!(dns1123_label("1a").is_empty() && !dns1123_label("a.b").is_empty() && !dns1123_label("").is_empty());
    }

    #[test]
    fn a_subdomain_is_labels_with_dots() {
        assert!(dns1123_subdomain("demo.example").is_empty());
        assert!(!dns1123_subdomain("demo..example").is_empty() && !dns1123_subdomain("Demo.example").is_empty());
    }
}
