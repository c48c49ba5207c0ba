//! Resource quantities: `500m`, `1Gi`, `2e3`.
//!
//! Arithmetic keeps mantissa and scale apart as apimachinery `pkg/api/resource/quantity.go` does, because
//! whether a sum counts as an integer depends on the scale it was computed in.

use super::value::{Outcome, Value, fail};
use std::cmp::Ordering;

#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    mantissa: i128,
    /// The power of ten the mantissa is multiplied with, not below -9.
    scale: i32,
    /// Kept in arbitrary precision upstream, where it never counts as an integer.
    slow: bool,
}

/// The smallest step is a billionth.
const NANO: i32 = -9;
/// Digits upstream's fast path can hold (`maxInt64Factors`).
const FAST_DIGITS: i32 = 18;

const DECIMAL: [(&str, i32); 10] =
    [("", 0), ("n", -9), ("u", -6), ("m", -3), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];
const BINARY: [(&str, u32); 6] = [("Ki", 10), ("Mi", 20), ("Gi", 30), ("Ti", 40), ("Pi", 50), ("Ei", 60)];

enum Suffix {
    Decimal(i32),
    Binary(u32),
}

fn suffix(text: &str) -> Option<Suffix> {
    if let Some((_, power)) = BINARY.iter().find(|(name, _)| *name == text) {
        return Some(Suffix::Binary(*power));
    }
    if let Some((_, power)) = DECIMAL.iter().find(|(name, _)| *name == text) {
        return Some(Suffix::Decimal(*power));
    }
    let exponent = text.strip_prefix(['e', 'E'])?;
    let power: i32 = exponent.strip_prefix('+').unwrap_or(exponent).parse().ok()?;
    (power.abs() <= 100).then_some(Suffix::Decimal(power))
}

impl Quantity {
    pub fn parse(text: &str) -> Option<Quantity> {
        let negative = text.starts_with('-');
        let body = text.strip_prefix(['-', '+']).unwrap_or(text);
        let end = body.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(body.len());
        let (number, unit) = body.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
            return None;
        }
        let whole = whole.trim_start_matches('0');
        let digits = whole.len() + fraction.len();
        if digits > 30 {
            return None;
        }
        let mantissa = format!("0{whole}{fraction}").parse::<i128>().ok()?;
        let places = fraction.len() as i32;
        let (mantissa, scale, fast) = match suffix(unit)? {
            Suffix::Decimal(power) => (mantissa, power - places, digits as i32 <= FAST_DIGITS),
            Suffix::Binary(power) => {
                let room = 15 - whole.len() as i32 - (power * 3 / 10) as i32 - 1;
                (mantissa.checked_mul(1 << power)?, -places, fraction.is_empty() && room >= 0)
            }
        };
        let fits = fast && scale >= NANO && i64::try_from(mantissa).is_ok();
        let mut quantity = Quantity { mantissa: if negative { -mantissa } else { mantissa }, scale, slow: !fits };
        quantity.round_up();
        // Anything beyond what 128 bits of billionths hold is out of the model's reach.
        quantity.at_scale(NANO)?;
        Some(quantity)
    }

    /// Below a billionth, away from zero to the next one.
    fn round_up(&mut self) {
        while self.scale < NANO {
            let rest = self.mantissa % 10;
            self.mantissa = self.mantissa / 10 + rest.signum();
            self.scale += 1;
        }
    }

    fn at_scale(&self, scale: i32) -> Option<i128> {
        if self.mantissa == 0 {
            return Some(0);
        }
        let power = u32::try_from(self.scale - scale).ok()?;
        self.mantissa.checked_mul(10_i128.checked_pow(power)?)
    }

    pub fn of_int(value: i64) -> Quantity {
        Quantity { mantissa: i128::from(value), scale: 0, slow: false }
    }

    pub fn compare(&self, other: &Quantity) -> Ordering {
        let scale = self.scale.min(other.scale);
        match (self.at_scale(scale), other.at_scale(scale)) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ => self.approximate().total_cmp(&other.approximate()),
        }
    }

    pub fn plus(&self, other: &Quantity, minus: bool) -> Outcome {
        let other = Quantity { mantissa: if minus { -other.mantissa } else { other.mantissa }, ..*other };
        if other.mantissa == 0 {
            return Ok(Value::Quantity(*self));
        }
        if self.mantissa == 0 && !self.slow {
            return Ok(Value::Quantity(other));
        }
        let scale = self.scale.min(other.scale);
        let sum = self.at_scale(scale).zip(other.at_scale(scale)).and_then(|(a, b)| a.checked_add(b));
        match sum {
            Some(mantissa) => {
                let slow = self.slow || other.slow || i64::try_from(mantissa).is_err();
                Ok(Value::Quantity(Quantity { mantissa, scale, slow }))
            }
            None => fail("quantity overflow"),
        }
    }

    pub fn sign(&self) -> i64 {
        self.mantissa.signum() as i64
    }

    pub fn as_int(&self) -> Option<i64> {
        if self.slow || self.scale < 0 && self.mantissa != 0 {
            return None;
        }
        i64::try_from(self.at_scale(0)?).ok()
    }

    pub fn approximate(&self) -> f64 {
        let mut value = self.mantissa as f64;
        for _ in 0..self.scale.abs() {
            value = if self.scale < 0 { value / 10.0 } else { value * 10.0 };
        }
        value
    }
}
