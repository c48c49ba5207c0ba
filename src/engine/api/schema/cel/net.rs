//! URLs, IP addresses and CIDRs.

use super::functions::Fun;
use super::value::{MapKey, Outcome, Value, fail, no_overload};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

/// An absolute URL or path, in the parts its accessors give out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    scheme: String,
    host: String,
    path: String,
    query: String,
}

impl Url {
    /// Reads what Go's `url.ParseRequestURI` takes.
    pub fn parse(text: &str) -> Option<Url> {
        if text.is_empty() || text.bytes().any(|b| b < b' ' || b == 0x7f) {
            return None;
        }
        let mut scheme = String::new();
        let mut rest = text;
        if !text.starts_with('/') {
            let (before, after) = text.split_once(':')?;
            let letters = before.bytes().enumerate().all(|(i, b)| {
                b.is_ascii_alphabetic() || (i > 0 && (b.is_ascii_digit() || matches!(b, b'+' | b'-' | b'.')))
            });
            if before.is_empty() || !letters {
                return None;
            }
            scheme = before.to_ascii_lowercase();
            rest = after;
        }
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (host, path) = if !scheme.is_empty() && rest.starts_with("//") {
            let rest = &rest[2..];
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
            (valid_host(host)?, path)
        } else {
            (String::new(), rest)
        };
        let path = escape_path(path)?;
        Some(Url { scheme, host, path, query: query.to_string() })
    }

    fn hostname_and_port(&self) -> (&str, &str) {
        let host = self.host.as_str();
        if let Some(inner) = host.strip_prefix('[') {
            let (name, after) = inner.split_once(']').unwrap_or((inner, ""));
            return (name, after.strip_prefix(':').unwrap_or(""));
        }
        host.rsplit_once(':').unwrap_or((host, ""))
    }
}

fn valid_host(host: &str) -> Option<String> {
    let after = match host.strip_prefix('[') {
        Some(inner) => {
            let (address, after) = inner.split_once(']')?;
            address.split('%').next()?.parse::<Ipv6Addr>().ok()?;
            after
        }
        None => {
            let bad = |b: u8| matches!(b, b' ' | b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'}' | b'|' | b'#');
            if host.bytes().any(bad) || host.matches(':').count() > 1 {
                return None;
            }
            host.find(':').map_or("", |at| &host[at..])
        }
    };
    let port = after.strip_prefix(':').unwrap_or("");
    let fits = (after.is_empty() || after.starts_with(':')) && port.bytes().all(|b| b.is_ascii_digit());
    fits.then(|| host.to_string())
}

/// Percent signs must lead two hex digits; what may not stand in a path is escaped.
fn escape_path(path: &str) -> Option<String> {
    let bytes = path.as_bytes();
    let mut out = String::with_capacity(path.len());
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'%' => {
                let hex = bytes.get(at + 1..at + 3)?;
                if !hex.iter().all(u8::is_ascii_hexdigit) {
                    return None;
                }
                out.push('%');
            }
            b if b.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@!'()*".contains(b) => out.push(*b as char),
            b => out.push_str(&format!("%{b:02X}")),
        }
    }
    Some(out)
}

fn unescape(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = text.get(at + 1..at + 3).and_then(|h| u8::from_str_radix(h, 16).ok());
        match (bytes[at], hex) {
            (b'%', Some(byte)) => {
                out.push(byte);
                at += 2;
            }
            (b'+', _) => out.push(b' '),
            (byte, _) => out.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn query(text: &str) -> Value {
    let mut lists: BTreeMap<MapKey, Vec<Value>> = BTreeMap::new();
    for pair in text.split('&').filter(|p| !p.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        lists.entry(MapKey::Str(unescape(name).into())).or_default().push(Value::str(unescape(value)));
    }
    Value::map(lists.into_iter().map(|(name, values)| (name, Value::list(values))).collect())
}

pub fn url_accessor(fun: Fun, url: &Url) -> Outcome {
    Ok(match fun {
        Fun::Scheme => Value::str(url.scheme.as_str()),
        Fun::Host => Value::str(url.host.as_str()),
        Fun::Hostname => Value::str(url.hostname_and_port().0),
        Fun::Port => Value::str(url.hostname_and_port().1),
        Fun::EscapedPath => Value::str(url.path.as_str()),
        _ => query(&url.query),
    })
}

/// An address as Kubernetes takes it: no zone, no IPv4 mapped into IPv6.
pub fn parse_ip(text: &str) -> Option<IpAddr> {
    match text.parse().ok()? {
        IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some() => None,
        ip => Some(ip),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cidr {
    pub ip: IpAddr,
    pub bits: u8,
}

fn number(ip: IpAddr) -> (u128, u8) {
    match ip {
        IpAddr::V4(v4) => (u128::from(u32::from(v4)), 32),
        IpAddr::V6(v6) => (u128::from(v6), 128),
    }
}

impl Cidr {
    pub fn parse(text: &str) -> Option<Cidr> {
        let (address, bits) = text.split_once('/')?;
        let ip = parse_ip(address)?;
        let canonical = bits.bytes().all(|b| b.is_ascii_digit()) && (bits.len() == 1 || !bits.starts_with('0'));
        let bits: u8 = if canonical { bits.parse().ok()? } else { return None };
        (bits <= number(ip).1).then_some(Cidr { ip, bits })
    }

    /// The leading bits of an address, in the width of its family.
    fn prefix(&self, ip: IpAddr) -> u128 {
        let (value, width) = number(ip);
        let shift = u32::from(width - self.bits.min(width));
        value.checked_shr(shift).unwrap_or(0)
    }

    pub fn contains(&self, ip: IpAddr) -> bool {
        self.ip.is_ipv4() == ip.is_ipv4() && self.prefix(self.ip) == self.prefix(ip)
    }

    fn masked(&self) -> Cidr {
        let (value, width) = number(self.ip);
        let shift = u32::from(width - self.bits);
        let value = value.checked_shr(shift).unwrap_or(0).checked_shl(shift).unwrap_or(0);
        let ip = if width == 32 { IpAddr::V4(Ipv4Addr::from(value as u32)) } else { IpAddr::V6(Ipv6Addr::from(value)) };
        Cidr { ip, bits: self.bits }
    }

    pub fn text(&self) -> String {
        format!("{}/{}", self.ip, self.bits)
    }
}

pub fn ip_accessor(fun: Fun, ip: IpAddr) -> Outcome {
    let (v4, v6) = match ip {
        IpAddr::V4(v4) => (v4, None),
        IpAddr::V6(v6) => (Ipv4Addr::UNSPECIFIED, Some(v6)),
    };
    let first = v6.map_or(0, |v6| v6.segments()[0]);
    Ok(match fun {
        Fun::Family => Value::Int(if v6.is_some() { 6 } else { 4 }),
        Fun::Unspecified => Value::Bool(ip.is_unspecified()),
        Fun::Loopback => Value::Bool(ip.is_loopback()),
        Fun::LinkLocalMulticast => {
            Value::Bool(v6.map_or(v4.octets()[..3] == [224, 0, 0], |_| first & 0xff0f == 0xff02))
        }
        Fun::LinkLocalUnicast => Value::Bool(v6.map_or(v4.is_link_local(), |_| first & 0xffc0 == 0xfe80)),
        _ => {
            let link_local = v6.map_or(v4.is_link_local(), |_| first & 0xffc0 == 0xfe80);
            let special = ip.is_unspecified() || ip.is_loopback() || ip.is_multicast() || link_local;
            Value::Bool(!special && ip != IpAddr::V4(Ipv4Addr::BROADCAST))
        }
    })
}

pub fn cidr_call(fun: Fun, args: &[Value]) -> Outcome {
    match (fun, args) {
        (Fun::Masked, [Value::Cidr(c)]) => Ok(Value::Cidr(c.masked())),
        (Fun::PrefixLength, [Value::Cidr(c)]) => Ok(Value::Int(i64::from(c.bits))),
        (Fun::ContainsIp, [Value::Cidr(c), Value::Ip(ip)]) => Ok(Value::Bool(c.contains(*ip))),
        (Fun::ContainsIp, [Value::Cidr(c), Value::Str(text)]) => match parse_ip(text) {
            Some(ip) => Ok(Value::Bool(c.contains(ip))),
            None => fail(format!("IP Address {text:?} parse error during conversion from string")),
        },
        (Fun::ContainsCidr, [Value::Cidr(c), Value::Cidr(inner)]) => Ok(contains_cidr(c, inner)),
        (Fun::ContainsCidr, [Value::Cidr(c), Value::Str(text)]) => match Cidr::parse(text) {
            Some(inner) => Ok(contains_cidr(c, &inner)),
            None => fail("network address parse error during conversion from string"),
        },
        _ => no_overload(),
    }
}

fn contains_cidr(outer: &Cidr, inner: &Cidr) -> Value {
    Value::Bool(outer.bits <= inner.bits && outer.contains(inner.masked().ip))
}

pub fn shared(url: Url) -> Value {
    Value::Url(Arc::new(url))
}
