//! The numeric checks, with the quirks of the validator upstream.
//!
//! Mirrors kube-openapi `pkg/validation/validate/{validator,values}.go`: a whole JSON number is compared with its
//! bounds cut to integers, a fraction with the bounds as written; the bounds themselves must fit type and format.

use super::structural::{Bound, Checks};
use serde_json::{Number, Value};

/// A JSON number as the server decodes it: 64-bit integer when it is written as one and fits, else a float.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Num {
    Int(i64),
    Float(f64),
}

impl Num {
    #[must_use]
    pub fn of(number: &Number) -> Num {
        number.as_i64().map_or_else(|| Num::Float(number.as_f64().unwrap_or(0.0)), Num::Int)
    }
    #[must_use]
    pub fn as_f64(self) -> f64 {
        match self {
            Num::Int(i) => i as f64,
            Num::Float(f) => f,
        }
    }
    /// What the value prints as.
    #[must_use]
    pub fn to_value(self) -> Value {
        match self {
            Num::Int(i) => Value::from(i),
            Num::Float(f) => float_value(f),
        }
    }
}

fn float_value(f: f64) -> Value {
    if f.fract() == 0.0 && f.abs() < 1e21 && fits_i64(f) { Value::from(f as i64) } else { Value::from(f) }
}

fn fits_i64(f: f64) -> bool {
    f.fract() == 0.0 && (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&f)
}

/// Largest magnitude at which a float is written without an exponent.
const PLAIN_MAX: f64 = 1e21;

/// Rewrites whole floats as the integers they are written as: what was sent as `2.0` or `1e3` is stored as `2` and
/// `1000`, and read back as a whole number.
pub fn settle(value: &mut Value) {
    match value {
        Value::Number(number) if number.is_f64() => {
            let f = number.as_f64().unwrap_or(0.0);
            if f.fract() == 0.0 && f.abs() < PLAIN_MAX {
                if fits_i64(f) {
                    *value = Value::from(f as i64);
                } else if (0.0..18_446_744_073_709_551_616.0).contains(&f) {
                    *value = Value::from(f as u64);
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(settle),
        Value::Object(map) => map.values_mut().for_each(settle),
        _ => {}
    }
}

/// Largest magnitude at which every whole float is an exact integer.
const SAFE_INTEGER_MAX: f64 = 9_007_199_254_740_991.0;
/// How far from whole a float may be and still count as whole.
const WHOLE_TOLERANCE: f64 = 1e-9;

/// Whether a float counts as an integer.
#[must_use]
pub fn whole(f: f64) -> bool {
    if f.is_nan() || f.abs() > SAFE_INTEGER_MAX {
        return false;
    }
    let nearest = f.trunc();
    if f == nearest {
        return true;
    }
    nearest != 0.0 && (f - nearest).abs() / (f.abs() + nearest.abs()) < WHOLE_TOLERANCE
}

/// A fault of a number.
#[derive(Clone, Debug, PartialEq)]
pub enum NumberFault {
    /// Does not fit type and format; reported at no field. The text opens with what was checked.
    Range(String),
    /// Reported at the field.
    Bound(String),
}

/// What a number is held to.
pub struct NumberCheck<'a> {
    pub checks: &'a Checks,
    /// `integer`, `number` or nothing.
    pub type_name: &'a str,
    /// The number format, or nothing.
    pub format: &'a str,
    pub path: &'a dyn std::fmt::Display,
}

impl NumberCheck<'_> {
    /// The faults of a number, in the order the server finds them.
    #[must_use]
    pub fn faults(&self, value: Num) -> Vec<NumberFault> {
        let mut faults = Vec::new();
        self.range(value, "Checked", &mut faults);
        if let Some(factor) = self.checks.multiple_of {
            let native = self.range(Num::Float(factor), "MultipleOf", &mut faults);
            faults.extend(self.multiple(native_or_float(value, native), factor));
        }
        if let Some(bound) = self.checks.maximum {
            let native = self.range(Num::Float(bound.value), "Maximum boundary", &mut faults);
            faults.extend(self.maximum(native_or_float(value, native), bound));
        }
        if let Some(bound) = self.checks.minimum {
            let native = self.range(Num::Float(bound.value), "Minimum boundary", &mut faults);
            faults.extend(self.minimum(native_or_float(value, native), bound));
        }
        faults
    }

    fn range(&self, value: Num, what: &str, faults: &mut Vec<NumberFault>) -> bool {
        let fits = match (self.type_name, self.format) {
            ("integer", format) => integer_fits(value, format),
            (_, "float" | "float32") => (value.as_f64() as f32).is_finite(),
            _ => true,
        };
        if !fits {
            let format = match self.format {
                "" => "(default format)".to_string(),
                format => format!("with format {format}"),
            };
            let text = format!("{what} value must be of type {} {format} in {}", self.type_name, self.path);
            faults.push(NumberFault::Range(text));
        }
        fits
    }

    fn multiple(&self, value: Num, factor: f64) -> Option<NumberFault> {
        let (ok, shown) = match value {
            Num::Int(v) => match go_int(factor) {
                f if f <= 0 => return Some(self.factor_not_positive(factor)),
                f => (v % f == 0, Value::from(f)),
            },
            Num::Float(_) if factor <= 0.0 => return Some(self.factor_not_positive(factor)),
            Num::Float(v) => (whole(if factor < 1.0 { 1.0 / factor * v } else { v / factor }), float_value(factor)),
        };
        (!ok).then(|| NumberFault::Bound(format!("{} in body should be a multiple of {shown}", self.path)))
    }

    fn factor_not_positive(&self, factor: f64) -> NumberFault {
        let shown = float_value(factor);
        NumberFault::Bound(format!("factor MultipleOf declared for {} must be positive: {shown}", self.path))
    }

    fn maximum(&self, value: Num, bound: Bound) -> Option<NumberFault> {
        let (over, shown) = match value {
            Num::Int(v) => {
                let max = go_int(bound.value);
                (v > max || (bound.exclusive && v == max), Value::from(max))
            }
            Num::Float(v) => (v > bound.value || (bound.exclusive && v == bound.value), float_value(bound.value)),
        };
        let words = if bound.exclusive { "less than" } else { "less than or equal to" };
        over.then(|| NumberFault::Bound(format!("{} in body should be {words} {shown}", self.path)))
    }

    fn minimum(&self, value: Num, bound: Bound) -> Option<NumberFault> {
        let (under, shown) = match value {
            Num::Int(v) => {
                let min = go_int(bound.value);
                (v < min || (bound.exclusive && v == min), Value::from(min))
            }
            Num::Float(v) => (v < bound.value || (bound.exclusive && v == bound.value), float_value(bound.value)),
        };
        let words = if bound.exclusive { "greater than" } else { "greater than or equal to" };
        under.then(|| NumberFault::Bound(format!("{} in body should be {words} {shown}", self.path)))
    }
}

fn native_or_float(value: Num, native: bool) -> Num {
    if native { value } else { Num::Float(value.as_f64()) }
}

fn integer_fits(value: Num, format: &str) -> bool {
    match (value, format) {
        (Num::Int(v), "int32") => i32::try_from(v).is_ok(),
        (Num::Int(v), "uint32") => u32::try_from(v).is_ok(),
        (Num::Int(v), "uint64") => v >= 0,
        (Num::Int(_), _) => true,
        (Num::Float(f), "int32") => f.fract() == 0.0 && (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&f),
        (Num::Float(f), "uint32") => f.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&f),
        (Num::Float(f), "uint64") => f.fract() == 0.0 && (0.0..18_446_744_073_709_551_616.0).contains(&f),
        (Num::Float(f), _) => fits_i64(f),
    }
}

/// Cuts a float to an integer as the server's hardware does: whatever does not fit becomes the smallest integer.
fn go_int(f: f64) -> i64 {
    if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&f) { f as i64 } else { i64::MIN }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(checks: Checks, type_name: &str, format: &str, value: Num) -> Vec<NumberFault> {
        NumberCheck { checks: &checks, type_name, format, path: &"n" }.faults(value)
    }
    fn bound(value: f64) -> Option<Bound> {
        Some(Bound { value, exclusive: false })
    }

    #[test]
    fn a_fractional_bound_is_cut_for_a_whole_number_and_kept_for_a_fraction() {
        let lo = || Checks { minimum: bound(0.5), ..Checks::default() };
        assert!(faults(lo(), "number", "", Num::Int(0)).is_empty());
        assert_eq!(faults(lo(), "number", "", Num::Float(0.0)).len(), 1);
        let hi = || Checks { maximum: bound(-0.5), ..Checks::default() };
        assert!(faults(hi(), "number", "", Num::Int(0)).is_empty());
        let of = |f| Checks { multiple_of: Some(f), ..Checks::default() };
        assert_eq!(faults(of(0.5), "number", "", Num::Int(3)).len(), 1);
        assert!(faults(of(1.5), "number", "", Num::Int(2)).is_empty());
        assert!(faults(of(0.5), "number", "", Num::Float(3.0)).is_empty());
    }

    #[test]
    fn a_number_out_of_the_range_of_its_format_is_a_fault_of_no_field() {
        let big = faults(Checks::default(), "integer", "int32", Num::Int(2_147_483_648));
        assert!(matches!(big.as_slice(), [NumberFault::Range(_)]));
        assert!(faults(Checks::default(), "integer", "", Num::Float(1e18)).is_empty());
        assert_eq!(faults(Checks::default(), "integer", "", Num::Float(9_223_372_036_854_775_808.0)).len(), 1);
        assert_eq!(faults(Checks::default(), "number", "float", Num::Float(1e300)).len(), 1);
    }

    #[test]
    fn a_whole_float_is_stored_as_an_integer() {
        let mut value = serde_json::json!([2.0, 1e3, 1.5, 1e300, -4.0]);
        settle(&mut value);
        assert_eq!(value, serde_json::json!([2, 1000, 1.5, 1e300, -4]));
    }

    #[test]
    fn a_float_counts_as_whole_below_two_to_the_fifty_third_only() {
        assert!(whole(1000.0) && !whole(1e18) && !whole(0.5) && !whole(1e-12));
    }
}
