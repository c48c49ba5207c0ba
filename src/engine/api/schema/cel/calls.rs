//! What each function does with its arguments.

use super::eval::{index_call, unwrap};
use super::functions::Fun;
use super::net::{self, Cidr, Url};
use super::quantity::Quantity;
use super::semver::Semver;
use super::value::{MapKey, Outcome, Value, compare, concat, contains, equal, fail, no_overload};
use super::{formats, lists, strings, time};
use std::cmp::Ordering;
use std::sync::Arc;

/// Every function but those that need the state of the run.
pub fn apply(fun: Fun, args: &[Value]) -> Outcome {
    match (fun, args) {
        (Fun::Add | Fun::Sub | Fun::Mul | Fun::Div | Fun::Rem, [a, b]) => arithmetic(fun, a, b),
        (Fun::Neg, [Value::Int(i)]) => int(i.checked_neg()),
        (Fun::Neg, [Value::Double(d)]) => Ok(Value::Double(-d)),
        (Fun::Not, [Value::Bool(b)]) => Ok(Value::Bool(!b)),
        (Fun::Less | Fun::LessEq | Fun::Greater | Fun::GreaterEq, [a, b]) => {
            let order = compare(a, b)?;
            Ok(Value::Bool(order.is_some_and(|o| match fun {
                Fun::Less => o == Ordering::Less,
                Fun::LessEq => o != Ordering::Greater,
                Fun::Greater => o == Ordering::Greater,
                _ => o != Ordering::Less,
            })))
        }
        (Fun::Equals, [a, b]) => equal(a, b).map(Value::Bool),
        (Fun::NotEquals, [a, b]) => equal(a, b).map(|same| Value::Bool(!same)),
        (Fun::In, [wanted, Value::List(l)]) => contains(&l.items, wanted).map(Value::Bool),
        (Fun::In, [wanted, Value::Map(m) | Value::Object(m)]) => {
            Ok(Value::Bool(MapKey::of(wanted).is_some_and(|k| m.contains_key(&k))))
        }
        (Fun::Index, [base, at]) => index_call(base, at, false),
        (Fun::OptIndex, [base, at]) => index_call(base, at, true),
        (Fun::Size, [v @ (Value::Str(_) | Value::Bytes(_) | Value::List(_) | Value::Map(_) | Value::Object(_))]) => {
            Ok(Value::Int(v.size() as i64))
        }
        _ => library(fun, args),
    }
}

/// Conversions, text, time, sets and optionals.
fn library(fun: Fun, args: &[Value]) -> Outcome {
    match (fun, args) {
        (Fun::TypeOf, [v]) => Ok(Value::Type(v.type_of())),
        (Fun::Dyn, [v]) => Ok(v.clone()),
        (
            Fun::ToInt
            | Fun::ToUint
            | Fun::ToDouble
            | Fun::ToString
            | Fun::ToBytes
            | Fun::ToBool
            | Fun::ToTimestamp
            | Fun::ToDuration,
            [v],
        ) => super::convert::convert(fun, v),
        (
            Fun::FullYear
            | Fun::Month
            | Fun::DayOfYear
            | Fun::DayOfMonth
            | Fun::Date
            | Fun::DayOfWeek
            | Fun::Hours
            | Fun::Minutes
            | Fun::Seconds
            | Fun::Milliseconds,
            _,
        ) => time::accessor(fun, args),
        (Fun::IndexOf | Fun::LastIndexOf, [Value::List(_), ..]) => lists::call(fun, args),
        (
            Fun::StartsWith
            | Fun::EndsWith
            | Fun::Contains
            | Fun::CharAt
            | Fun::IndexOf
            | Fun::LastIndexOf
            | Fun::LowerAscii
            | Fun::UpperAscii
            | Fun::Replace
            | Fun::Split
            | Fun::Join
            | Fun::Substring
            | Fun::Trim
            | Fun::FormatText
            | Fun::Quote,
            _,
        ) => strings::call(fun, args),
        (Fun::SetsContains | Fun::SetsEquivalent | Fun::SetsIntersects, [Value::List(a), Value::List(b)]) => {
            strings::sets(fun, &a.items, &b.items)
        }
        (Fun::Validate, [Value::Format(format), Value::Str(text)]) => Ok(formats::validate(format, text)),
        (Fun::OptionalNone, []) => Ok(Value::Optional(None)),
        (Fun::OptionalUnwrap | Fun::UnwrapOpt, [Value::List(l)]) => {
            let mut out = Vec::new();
            for item in &l.items {
                out.extend(unwrap(item.clone())?);
            }
            Ok(Value::list(out))
        }
        (Fun::OptionalOf, [v]) => Ok(Value::some(v.clone())),
        (Fun::OptionalNonZero, [v]) => Ok(if v.is_zero() { Value::Optional(None) } else { Value::some(v.clone()) }),
        (Fun::HasValue | Fun::OptionalValue | Fun::Or | Fun::OrValue, [Value::Optional(o), rest @ ..]) => {
            optional(fun, o, rest)
        }
        _ => kubernetes(fun, args),
    }
}

fn optional(fun: Fun, held: &Option<Arc<Value>>, rest: &[Value]) -> Outcome {
    match (fun, held, rest) {
        (Fun::HasValue, held, _) => Ok(Value::Bool(held.is_some())),
        (Fun::Or, Some(_), _) => Ok(Value::Optional(held.clone())),
        (_, Some(value), _) => Ok((**value).clone()),
        (Fun::Or | Fun::OrValue, None, [other]) => Ok(other.clone()),
        _ => fail("optional.none() dereference"),
    }
}

fn parsed(value: Option<Value>, what: &str) -> Outcome {
    value.map_or_else(|| fail(format!("{what} parse error during conversion from string")), Ok)
}

/// The libraries of Kubernetes.
fn kubernetes(fun: Fun, args: &[Value]) -> Outcome {
    let truth = |b: bool| Ok(Value::Bool(b));
    match (fun, args) {
        (Fun::Url, [Value::Str(s)]) => parsed(Url::parse(s).map(net::shared), "URL"),
        (Fun::IsUrl, [Value::Str(s)]) => truth(Url::parse(s).is_some()),
        (_, [Value::Url(url)]) => net::url_accessor(fun, url),
        (Fun::Quantity, [Value::Str(s)]) => parsed(Quantity::parse(s).map(Value::Quantity), "quantity"),
        (Fun::IsQuantity, [Value::Str(s)]) => truth(Quantity::parse(s).is_some()),
        (_, [Value::Quantity(q), rest @ ..]) => quantity(fun, q, rest),
        (Fun::Ip, [Value::Str(s)]) => parsed(net::parse_ip(s).map(Value::Ip), "IP Address"),
        (Fun::Ip, [Value::Cidr(c)]) => Ok(Value::Ip(c.ip)),
        (Fun::IsIp, [Value::Str(s)]) => truth(net::parse_ip(s).is_some()),
        (Fun::IpCanonical, [Value::Str(s)]) => match net::parse_ip(s) {
            Some(ip) => truth(ip.to_string() == **s),
            None => fail("IP Address parse error during conversion from string"),
        },
        (_, [Value::Ip(ip)]) => net::ip_accessor(fun, *ip),
        (Fun::Cidr, [Value::Str(s)]) => parsed(Cidr::parse(s).map(Value::Cidr), "network address"),
        (Fun::IsCidr, [Value::Str(s)]) => truth(Cidr::parse(s).is_some()),
        (_, [Value::Cidr(_), ..]) => net::cidr_call(fun, args),
        (Fun::Semver | Fun::IsSemver, [Value::Str(s), rest @ ..]) => {
            let normalize = matches!(rest, [Value::Bool(true)]);
            let version = Semver::parse(s, normalize).map(|v| Value::Semver(Arc::new(v)));
            if fun == Fun::IsSemver { truth(version.is_some()) } else { parsed(version, "semver") }
        }
        (_, [Value::Semver(a), rest @ ..]) => match (fun, rest) {
            (Fun::Major, []) => Ok(Value::Int(a.numbers[0] as i64)),
            (Fun::Minor, []) => Ok(Value::Int(a.numbers[1] as i64)),
            (Fun::Patch, []) => Ok(Value::Int(a.numbers[2] as i64)),
            (_, [Value::Semver(b)]) => ordering(fun, a.compare(b)),
            _ => no_overload(),
        },
        _ => lists::call(fun, args),
    }
}

fn ordering(fun: Fun, order: Ordering) -> Outcome {
    match fun {
        Fun::IsGreater => Ok(Value::Bool(order == Ordering::Greater)),
        Fun::IsLess => Ok(Value::Bool(order == Ordering::Less)),
        Fun::CompareTo => Ok(Value::Int(order as i64)),
        _ => no_overload(),
    }
}

fn quantity(fun: Fun, q: &Quantity, rest: &[Value]) -> Outcome {
    match (fun, rest) {
        (Fun::Sign, []) => Ok(Value::Int(q.sign())),
        (Fun::IsInteger, []) => Ok(Value::Bool(q.as_int().is_some())),
        (Fun::AsInteger, []) => {
            q.as_int().map_or_else(|| fail("cannot convert value to integer"), |i| Ok(Value::Int(i)))
        }
        (Fun::AsFloat, []) => Ok(Value::Double(q.approximate())),
        (Fun::QuantityAdd | Fun::QuantitySub, [Value::Quantity(other)]) => q.plus(other, fun == Fun::QuantitySub),
        (Fun::QuantityAdd | Fun::QuantitySub, [Value::Int(i)]) => {
            q.plus(&Quantity::of_int(*i), fun == Fun::QuantitySub)
        }
        (_, [Value::Quantity(other)]) => ordering(fun, q.compare(other)),
        _ => no_overload(),
    }
}

fn int(value: Option<i64>) -> Outcome {
    value.map_or_else(|| fail("integer overflow"), |i| Ok(Value::Int(i)))
}

/// `+ - * / %` with checked integers.
pub fn arithmetic(fun: Fun, a: &Value, b: &Value) -> Outcome {
    match (a, b) {
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) if fun == Fun::Div => {
            fail("division by zero")
        }
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) if fun == Fun::Rem => fail("modulus by zero"),
        (Value::Int(a), Value::Int(b)) => int(match fun {
            Fun::Add => a.checked_add(*b),
            Fun::Sub => a.checked_sub(*b),
            Fun::Mul => a.checked_mul(*b),
            Fun::Div => a.checked_div(*b),
            _ => a.checked_rem(*b),
        }),
        (Value::Uint(a), Value::Uint(b)) => {
            let value = match fun {
                Fun::Add => a.checked_add(*b),
                Fun::Sub => a.checked_sub(*b),
                Fun::Mul => a.checked_mul(*b),
                Fun::Div => a.checked_div(*b),
                _ => a.checked_rem(*b),
            };
            value.map_or_else(|| fail("unsigned integer overflow"), |u| Ok(Value::Uint(u)))
        }
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(match fun {
            Fun::Add => a + b,
            Fun::Sub => a - b,
            Fun::Mul => a * b,
            Fun::Div => a / b,
            _ => return no_overload(),
        })),
        (Value::Str(a), Value::Str(b)) if fun == Fun::Add => Ok(Value::str([&**a, &**b].concat())),
        (Value::Bytes(a), Value::Bytes(b)) if fun == Fun::Add => Ok(Value::Bytes([&**a, &**b].concat().into())),
        (Value::List(a), Value::List(b)) if fun == Fun::Add => concat(a, b),
        _ => time::arithmetic(fun, a, b),
    }
}
