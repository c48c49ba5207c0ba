//! Field errors: what is wrong with which field, in the words of the API.
//!
//! Rendering mirrors apimachinery `pkg/util/validation/field/errors.go`.

use crate::api::status::{ApiStatus, Cause};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt;

/// What sort of fault a field has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ErrorKind {
    Required,
    Invalid,
    TypeInvalid,
    NotSupported,
    Duplicate,
    Forbidden,
    TooLong,
    TooMany,
    NotFound,
    Internal,
}

impl ErrorKind {
    /// The words that open the message.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            ErrorKind::Required => "Required value",
            ErrorKind::Invalid | ErrorKind::TypeInvalid => "Invalid value",
            ErrorKind::NotSupported => "Unsupported value",
            ErrorKind::Duplicate => "Duplicate value",
            ErrorKind::Forbidden => "Forbidden",
            ErrorKind::TooLong => "Too long",
            ErrorKind::TooMany => "Too many",
            ErrorKind::NotFound => "Not found",
            ErrorKind::Internal => "Internal error",
        }
    }

    /// The `reason` of the cause.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            ErrorKind::Required => "FieldValueRequired",
            ErrorKind::Invalid => "FieldValueInvalid",
            ErrorKind::TypeInvalid => "FieldValueTypeInvalid",
            ErrorKind::NotSupported => "FieldValueNotSupported",
            ErrorKind::Duplicate => "FieldValueDuplicate",
            ErrorKind::Forbidden => "FieldValueForbidden",
            ErrorKind::TooLong => "FieldValueTooLong",
            ErrorKind::TooMany => "FieldValueTooMany",
            ErrorKind::NotFound => "FieldValueNotFound",
            ErrorKind::Internal => "InternalError",
        }
    }

    fn prints_value(self) -> bool {
        !matches!(self, ErrorKind::Required | ErrorKind::Forbidden | ErrorKind::TooLong | ErrorKind::Internal)
    }
}

/// One fault. An empty `path` is a nil path and prints `<nil>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    pub kind: ErrorKind,
    pub path: String,
    /// The offending value as it is printed; `None` leaves it out.
    pub value: Option<String>,
    pub detail: String,
}

impl FieldError {
    #[must_use]
    pub fn new(kind: ErrorKind, path: impl Into<String>, value: Option<&Value>, detail: impl Into<String>) -> Self {
        FieldError { kind, path: path.into(), value: value.map(render_value), detail: detail.into() }
    }
    #[must_use]
    pub fn required(path: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(ErrorKind::Required, path, None, detail)
    }
    #[must_use]
    pub fn invalid(path: impl Into<String>, value: &Value, detail: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, path, Some(value), detail)
    }
    /// `Invalid` about a text, without making a `Value` of it first.
    #[must_use]
    pub fn invalid_text(path: impl Into<String>, value: &str, detail: impl Into<String>) -> Self {
        FieldError { kind: ErrorKind::Invalid, path: path.into(), value: Some(quote(value)), detail: detail.into() }
    }
    #[must_use]
    pub fn type_invalid(path: impl Into<String>, value: &Value, detail: impl Into<String>) -> Self {
        Self::new(ErrorKind::TypeInvalid, path, Some(value), detail)
    }
    #[must_use]
    pub fn forbidden(path: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(ErrorKind::Forbidden, path, None, detail)
    }
    #[must_use]
    pub fn duplicate(path: impl Into<String>, value: &Value) -> Self {
        Self::new(ErrorKind::Duplicate, path, Some(value), "")
    }
    /// `NotSupported`, listing what would be.
    #[must_use]
    pub fn not_supported<S: AsRef<str>>(path: impl Into<String>, value: &Value, supported: &[S]) -> Self {
        let list = supported.iter().map(|s| quote(s.as_ref())).collect::<Vec<_>>().join(", ");
        let detail = if list.is_empty() { String::new() } else { format!("supported values: {list}") };
        Self::new(ErrorKind::NotSupported, path, Some(value), detail)
    }
    #[must_use]
    pub fn too_long(path: impl Into<String>, max: usize) -> Self {
        Self::new(ErrorKind::TooLong, path, None, format!("may not be more than {max} bytes"))
    }
    #[must_use]
    pub fn too_many(path: impl Into<String>, actual: usize, max: usize) -> Self {
        let detail = format!("must have at most {max} items");
        FieldError { kind: ErrorKind::TooMany, path: path.into(), value: Some(actual.to_string()), detail }
    }

    /// The field as it stands in a cause and before the message.
    #[must_use]
    pub fn field(&self) -> &str {
        if self.path.is_empty() { "<nil>" } else { &self.path }
    }

    /// The message without the path.
    #[must_use]
    pub fn body(&self) -> String {
        let mut text = self.kind.text().to_string();
        if let (true, Some(value)) = (self.kind.prints_value(), &self.value) {
            text.push_str(": ");
            text.push_str(value);
        }
        if !self.detail.is_empty() {
            text.push_str(": ");
            text.push_str(&self.detail);
        }
        text
    }

    #[must_use]
    pub fn to_cause(&self) -> Cause {
        Cause { reason: self.kind.reason().to_string(), message: self.body(), field: self.field().to_string() }
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field(), self.body())
    }
}

/// Several faults as one text: equal ones once, in brackets when there is more than one.
#[must_use]
pub fn aggregate(errors: &[FieldError]) -> String {
    let mut seen = BTreeSet::new();
    let texts: Vec<String> = errors.iter().map(ToString::to_string).filter(|t| seen.insert(t.clone())).collect();
    match texts.as_slice() {
        [one] => one.clone(),
        many => format!("[{}]", many.join(", ")),
    }
}

impl ApiStatus {
    /// 422: the object of `kind` in `group` has these faults.
    #[must_use]
    pub fn invalid(kind: &str, group: &str, name: &str, errors: &[FieldError]) -> Self {
        let qualified = if group.is_empty() { kind.to_string() } else { format!("{kind}.{group}") };
        let mut message = format!("{qualified} {} is invalid", quote(name));
        if !errors.is_empty() {
            message.push_str(": ");
            message.push_str(&aggregate(errors));
        }
        ApiStatus {
            name: name.to_string(),
            group: group.to_string(),
            kind: kind.to_string(),
            causes: errors.iter().map(FieldError::to_cause).collect(),
            ..ApiStatus::new(422, "Invalid", message)
        }
    }
}

/// A text in double quotes with escapes, as Go's `%q` prints it (near enough for what people type).
#[must_use]
pub fn quote(text: &str) -> String {
    Value::from(text).to_string()
}

/// Longest value printed inside a message; a hostile object must not blow up its own refusal.
const RENDERED_MAX: usize = 4096;

fn render_value(value: &Value) -> String {
    let mut text = value.to_string();
    if text.len() > RENDERED_MAX {
        let cut = (0..=RENDERED_MAX).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
        text.truncate(cut);
        text.push('…');
    }
    text
}

/// A place in an object, built on the way down without allocating; only an error renders it.
#[derive(Clone, Copy, Debug)]
pub enum FieldPath<'a> {
    /// The nil path.
    Root,
    /// `parent.name`.
    Child(&'a FieldPath<'a>, &'a str),
    /// `parent[3]`.
    Index(&'a FieldPath<'a>, usize),
    /// `parent[name]`.
    Key(&'a FieldPath<'a>, &'a str),
}

impl<'a> FieldPath<'a> {
    #[must_use]
    pub fn child(&'a self, name: &'a str) -> FieldPath<'a> {
        FieldPath::Child(self, name)
    }
    #[must_use]
    pub fn index(&'a self, index: usize) -> FieldPath<'a> {
        FieldPath::Index(self, index)
    }
    #[must_use]
    pub fn key(&'a self, name: &'a str) -> FieldPath<'a> {
        FieldPath::Key(self, name)
    }
    /// The rendered path of a child, for an error about it.
    #[must_use]
    pub fn child_text(&self, name: &str) -> String {
        FieldPath::Child(self, name).to_string()
    }
    #[must_use]
    pub fn is_root(&self) -> bool {
        matches!(self, FieldPath::Root)
    }
}

impl fmt::Display for FieldPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FieldPath::Root => Ok(()),
            FieldPath::Child(parent, name) if parent.is_root() => f.write_str(name),
            FieldPath::Child(parent, name) => write!(f, "{parent}.{name}"),
            FieldPath::Index(parent, index) => write!(f, "{parent}[{index}]"),
            FieldPath::Key(parent, name) => write!(f, "{parent}[{name}]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_invalid_value_is_printed_with_path_value_and_detail() {
        let e = FieldError::invalid("spec.n", &json!(0), "must be positive");
        assert_eq!(e.to_string(), "spec.n: Invalid value: 0: must be positive");
        assert_eq!(FieldError::invalid_text("a", "x", "no").to_string(), r#"a: Invalid value: "x": no"#);
    }

    #[test]
    fn required_and_too_long_never_print_the_value() {
        assert_eq!(FieldError::required("spec.x", "").to_string(), "spec.x: Required value");
        assert_eq!(FieldError::too_long("s", 2).to_string(), "s: Too long: may not be more than 2 bytes");
    }

    #[test]
    fn a_nil_path_is_printed_as_nil() {
        assert_eq!(FieldError::required("", "").to_cause().field, "<nil>");
    }

    #[test]
    fn an_invalid_status_names_the_kind_and_lists_every_cause_but_says_equal_texts_once() {
        let e = FieldError::required("spec.x", "");
        let status = ApiStatus::invalid("Widget", "example.com", "w", &[e.clone(), e]);
        assert_eq!(status.message, r#"Widget.example.com "w" is invalid: spec.x: Required value"#);
        assert_eq!((status.code, status.causes.len()), (422, 2));
    }

    #[test]
    fn a_path_renders_children_indices_and_keys() {
        let root = FieldPath::Root;
        let (a, list) = (root.child("spec"), "list");
        let list = a.child(list);
        let item = list.index(2);
        assert_eq!(item.key("k").to_string(), "spec.list[2][k]");
    }
}
