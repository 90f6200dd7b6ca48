//! dc's operators, over bc's numbers.

use super::{Machine, Step, Value};
use crate::number::{Number, SCALE_MAX, Undefined};

impl Machine {
    /// The two numbers on top, the lower one first; both stay if one is none.
    fn pair(&mut self) -> Result<(Number, Number), String> {
        match self.stack.as_slice() {
            [.., Value::Number(_), Value::Number(_)] => {}
            [] | [_] => return Err("stack empty".to_owned()),
            _ => return Err("non-numeric value".to_owned()),
        }
        let right = self.pop_number()?;
        Ok((self.pop_number()?, right))
    }

    pub(super) fn operate(&mut self, command: u8) -> Step {
        let (left, right) = self.pair()?;
        let scale = self.scale;
        let done = match command {
            b'+' => Ok(left.add(&right)),
            b'-' => Ok(left.sub(&right)),
            b'*' => Ok(left.mul(&right, scale)),
            b'/' => left.div(&right, scale),
            b'%' => left.rem(&right, scale),
            _ => left.pow(&right, scale),
        };
        let problem = |why: Undefined| match (why, command) {
            (Undefined::DivideByZero, b'%') => "remainder by zero".to_owned(),
            (Undefined::DivideByZero, _) => "divide by zero".to_owned(),
            (other, _) => other.text().to_owned(),
        };
        match done {
            Ok(number) => self.push_number(number),
            Err(why) => {
                // What cannot be divided stays.
                self.push_number(left)?;
                self.push_number(right)?;
                Err(problem(why))
            }
        }
    }

    /// `~`: quotient and remainder.
    pub(super) fn divide_both(&mut self) -> Step {
        let (left, right) = self.pair()?;
        let both = left.div(&right, self.scale).and_then(|it| Ok((it, left.rem(&right, self.scale)?)));
        let (quotient, rest) = both.map_err(|_| "divide by zero".to_owned())?;
        self.push_number(quotient)?;
        self.push_number(rest)
    }

    /// `|`: a power, modulo the top.
    pub(super) fn power_modulo(&mut self) -> Step {
        let modulus = self.pop_number()?;
        let (base, exponent) = self.pair()?;
        let (base, exponent, modulus) = (base.at(0).digits, exponent.at(0).digits, modulus.at(0).digits);
        if modulus == 0.into() {
            return Err("remainder by zero".to_owned());
        }
        if exponent < 0.into() {
            return Err("negative exponent".to_owned());
        }
        self.push_number(Number::new(base.modpow(&exponent, &modulus), 0))
    }

    /// `i`, `o` and `k`.
    pub(super) fn set(&mut self, command: u8) -> Step {
        let number = self.pop_number()?.to_i64().unwrap_or(i64::MAX);
        match command {
            b'i' => {
                let fits = u32::try_from(number).ok().filter(|it| (2..=16).contains(it));
                self.input_base = fits
                    .ok_or_else(|| "input base must be a number between 2 and 16 (inclusive)".to_owned())?;
            }
            b'o' => {
                let fits = u32::try_from(number).ok().filter(|it| *it > 1);
                self.output_base =
                    fits.ok_or_else(|| "output base must be a number greater than 1".to_owned())?;
            }
            _ => {
                let fits = usize::try_from(number).ok();
                let scale = fits.ok_or_else(|| "scale must be a nonnegative integer".to_owned())?;
                self.scale = scale.min(SCALE_MAX);
            }
        }
        Ok(())
    }

    /// `Z`: digits of a number, bytes of a text. `X`: digits behind the point.
    pub(super) fn measure(&mut self, command: u8) -> Step {
        let size = match (self.pop()?, command) {
            (Value::Text(text), b'Z') => text.len(),
            (Value::Text(_), _) => 0,
            (Value::Number(number), b'Z') => number.length(),
            (Value::Number(number), _) => number.scale,
        };
        self.push_number((size as i64).into())
    }
}
