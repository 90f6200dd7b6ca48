//! Decimal numbers with a scale, and bc's arithmetic over them.
//!
//! A number is an integer and how many of its digits stand behind the point. Results are cut off,
//! never rounded, at the scale the language defines for each operation. What would not fit into a
//! guest's memory is refused before it is computed.

use num_bigint::{BigInt, Sign};
use num_integer::Integer as _;
use num_traits::{One as _, Signed as _, ToPrimitive as _, Zero as _};
use std::cmp::Ordering;

/// More digits than this behind the point are not computed.
pub const SCALE_MAX: usize = 1_000_000;
/// Larger results of `^` are refused: about ten million digits.
const POWER_BITS_MAX: u64 = 32 << 20;

/// A number.
#[derive(Clone, Debug, Default)]
pub struct Number {
    pub digits: BigInt,
    pub scale: usize,
}

/// What cannot be computed, in GNU's words.
#[derive(Debug, PartialEq, Eq)]
pub enum Undefined {
    DivideByZero,
    NegativeRoot,
    ExponentTooLarge,
}

impl Undefined {
    pub fn text(&self) -> &'static str {
        match self {
            Self::DivideByZero => "Divide by zero",
            Self::NegativeRoot => "Square root of a negative number",
            Self::ExponentTooLarge => "exponent too large in raise",
        }
    }
}

pub fn ten_to(power: usize) -> BigInt {
    BigInt::from(10).pow(u32::try_from(power).unwrap_or(u32::MAX))
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self { digits: value.into(), scale: 0 }
    }
}

impl Number {
    pub fn new(digits: BigInt, scale: usize) -> Self {
        Self { digits, scale }
    }

    pub fn is_zero(&self) -> bool {
        self.digits.is_zero()
    }

    pub fn is_negative(&self) -> bool {
        self.digits.is_negative()
    }

    pub fn neg(&self) -> Self {
        Self { digits: -&self.digits, scale: self.scale }
    }

    /// With `scale` digits behind the point: cut off, or filled up with zeros.
    pub fn at(&self, scale: usize) -> Self {
        let digits = match scale.cmp(&self.scale) {
            Ordering::Equal => self.digits.clone(),
            Ordering::Greater => &self.digits * ten_to(scale - self.scale),
            Ordering::Less => &self.digits / ten_to(self.scale - scale),
        };
        Self { digits, scale }
    }

    /// With no more than `scale` digits behind the point.
    pub fn at_most(&self, scale: usize) -> Self {
        if self.scale > scale { self.at(scale) } else { self.clone() }
    }

    /// The whole part, if it fits.
    pub fn to_i64(&self) -> Option<i64> {
        self.at(0).digits.to_i64()
    }

    pub fn add(&self, other: &Self) -> Self {
        let scale = self.scale.max(other.scale);
        Self { digits: self.at(scale).digits + other.at(scale).digits, scale }
    }

    pub fn sub(&self, other: &Self) -> Self {
        self.add(&other.neg())
    }

    pub fn mul(&self, other: &Self, scale: usize) -> Self {
        let exact = Self { digits: &self.digits * &other.digits, scale: self.scale + other.scale };
        exact.at_most(scale.max(self.scale).max(other.scale))
    }

    pub fn div(&self, other: &Self, scale: usize) -> Result<Self, Undefined> {
        if other.is_zero() {
            return Err(Undefined::DivideByZero);
        }
        // a·10^-s / b·10^-t, wanted with `scale` digits: shift the dividend, or the divisor.
        let (up, down) = (scale + other.scale, self.scale);
        let digits = match up >= down {
            true => &self.digits * ten_to(up - down) / &other.digits,
            false => &self.digits / (&other.digits * ten_to(down - up)),
        };
        Ok(Self { digits, scale })
    }

    pub fn rem(&self, other: &Self, scale: usize) -> Result<Self, Undefined> {
        let quotient = self.div(other, scale)?;
        let wanted = self.scale.max(scale + other.scale);
        let product = Self { digits: &quotient.digits * &other.digits, scale: quotient.scale + other.scale };
        Ok(self.sub(&product).at(wanted))
    }

    pub fn pow(&self, exponent: &Self, scale: usize) -> Result<Self, Undefined> {
        let exponent = exponent.at(0).digits.to_i64().ok_or(Undefined::ExponentTooLarge)?;
        if exponent == 0 {
            return Ok(Self::from(1));
        }
        let times = exponent.unsigned_abs();
        if self.digits.bits().max(1).saturating_mul(times) > POWER_BITS_MAX && self.digits.bits() > 1 {
            return Err(Undefined::ExponentTooLarge);
        }
        let whole_scale = u64::try_from(self.scale).unwrap_or(u64::MAX).saturating_mul(times);
        if whole_scale > SCALE_MAX as u64 {
            return Err(Undefined::ExponentTooLarge);
        }
        let exact = match self.digits.bits() {
            0 | 1 => unit_power(&self.digits, times),
            _ => self.digits.pow(u32::try_from(times).map_err(|_| Undefined::ExponentTooLarge)?),
        };
        let exact = Self { digits: exact, scale: whole_scale as usize };
        if exponent < 0 {
            return Self::from(1).div(&exact, scale);
        }
        Ok(exact.at_most(scale.max(self.scale)))
    }

    pub fn sqrt(&self, scale: usize) -> Result<Self, Undefined> {
        if self.is_negative() {
            return Err(Undefined::NegativeRoot);
        }
        let scale = scale.max(self.scale);
        Ok(Self { digits: self.at(scale * 2).digits.sqrt(), scale })
    }

    /// Which of the two is greater, whatever their scales.
    pub fn compare(&self, other: &Self) -> Ordering {
        let scale = self.scale.max(other.scale);
        self.at(scale).digits.cmp(&other.at(scale).digits)
    }

    /// How many digits it has: what bc's `length` says.
    pub fn length(&self) -> usize {
        let text = self.digits.magnitude().to_string();
        if self.digits.is_zero() { self.scale.max(1) } else { text.len().max(self.scale) }
    }

    /// The whole part, and the rest as digits at the same scale; both without sign.
    pub fn split(&self) -> (BigInt, BigInt) {
        let magnitude = BigInt::from_biguint(Sign::Plus, self.digits.magnitude().clone());
        magnitude.div_rem(&ten_to(self.scale))
    }
}

/// Zero, one or minus one, however often multiplied.
fn unit_power(digits: &BigInt, times: u64) -> BigInt {
    match digits.sign() {
        Sign::NoSign => BigInt::zero(),
        Sign::Minus if times % 2 == 1 => -BigInt::one(),
        _ => BigInt::one(),
    }
}
