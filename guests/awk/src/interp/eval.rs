//! Expressions. Numbers, conditions and printed values are found without making a value where that is
//! possible, because most of them come straight from a field.

use super::{Interp, Stop};
use crate::ast::{Compare, Expr, Moment, Op, Place, Special, Var};
use crate::number;
use crate::value::{Text, Value};
use std::cmp::Ordering;
use std::rc::Rc;

impl<'p> Interp<'p> {
    pub(super) fn eval(&mut self, expr: &'p Expr) -> Result<Value, Stop> {
        Ok(match expr {
            Expr::Num(value) => Value::Num(*value),
            Expr::Str(text) => Value::Str(Rc::clone(text)),
            Expr::Var(var) => self.get(var)?,
            Expr::Field(index) => {
                let index = Self::field_index(self.num(index)?)?;
                self.field(index)?
            }
            Expr::Element(array, keys) => {
                let array = self.array(array)?;
                let key = self.key(keys)?;
                array.borrow_mut().entry(&key).clone()
            }
            Expr::Group(inner) => match inner.as_slice() {
                [one] => self.eval(one)?,
                several => Value::text(self.key(several)?),
            },
            Expr::Assign(place, value) => {
                let value = self.eval(value)?;
                self.assign(place, value.clone())?;
                value
            }
            Expr::Concat(parts) => {
                let mut out = Vec::new();
                for part in parts {
                    self.push(part, &mut out)?;
                }
                Value::text(out)
            }
            Expr::If(parts) => {
                let (condition, then, otherwise) = &**parts;
                return if self.truth(condition)? { self.eval(then) } else { self.eval(otherwise) };
            }
            Expr::Call(function, arguments) => self.call(*function, arguments)?,
            Expr::Builtin(builtin, arguments) => self.builtin(*builtin, arguments)?,
            Expr::Regex(_)
            | Expr::And(_)
            | Expr::Or(_)
            | Expr::Not(_)
            | Expr::Compare(..)
            | Expr::Match(..)
            | Expr::In(..) => Value::Num(f64::from(u8::from(self.truth(expr)?))),
            Expr::AssignOp(..)
            | Expr::Step(..)
            | Expr::Negate(_)
            | Expr::Plus(_)
            | Expr::Binary(..)
            | Expr::Getline(..) => Value::Num(self.num(expr)?),
        })
    }

    /// For what it does, not for its value.
    pub(super) fn discard(&mut self, expr: &'p Expr) -> Result<(), Stop> {
        match expr {
            Expr::Assign(place, value) => {
                if !self.append(place, value)? {
                    let value = self.eval(value)?;
                    self.assign(place, value)?;
                }
            }
            Expr::AssignOp(..) | Expr::Step(..) => drop(self.num(expr)?),
            _ => drop(self.eval(expr)?),
        }
        Ok(())
    }

    /// `s = s more`: appends in place, so that building a long text takes no longer than it is long.
    /// Whether that was it.
    #[inline(never)]
    fn append(&mut self, place: &'p Place, value: &'p Expr) -> Result<bool, Stop> {
        let (Place::Var(Var::Global(number)), Expr::Concat(parts)) = (place, value) else { return Ok(false) };
        let Some(Expr::Var(Var::Global(first))) = parts.first() else { return Ok(false) };
        if first != number {
            return Ok(false);
        }
        let mut more = Vec::new();
        for part in &parts[1..] {
            self.push(part, &mut more)?;
        }
        let mut text = match std::mem::take(&mut self.globals[*number]) {
            Value::Str(text) | Value::Input(text) => text,
            other => other.to_text(&self.vars.convfmt),
        };
        match Rc::get_mut(&mut text) {
            Some(owned) => owned.append(&mut more),
            None => {
                let mut joined = Vec::with_capacity(2 * (text.len() + more.len()));
                joined.extend_from_slice(&text);
                joined.append(&mut more);
                text = Rc::new(joined);
            }
        }
        self.globals[*number] = Value::Str(text);
        Ok(true)
    }

    pub(super) fn num(&mut self, expr: &'p Expr) -> Result<f64, Stop> {
        Ok(match expr {
            Expr::Num(value) => *value,
            Expr::Var(Var::Global(number)) => {
                self.check_scalar(*number)?;
                self.globals[*number].num()
            }
            Expr::Var(Var::Special(Special::Nf)) => {
                self.split_record()?;
                self.record.fields() as f64
            }
            Expr::Var(Var::Special(Special::Nr)) => self.vars.nr,
            Expr::Var(Var::Special(Special::Fnr)) => self.vars.fnr,
            Expr::Field(index) => {
                let index = Self::field_index(self.num(index)?)?;
                self.with_field(index, number::prefix)?
            }
            Expr::Group(inner) if inner.len() == 1 => self.num(&inner[0])?,
            Expr::Binary(op, sides) => {
                let left = self.num(&sides.0)?;
                let right = self.num(&sides.1)?;
                calculate(*op, left, right)?
            }
            Expr::Negate(inner) => -self.num(inner)?,
            Expr::Plus(inner) => self.num(inner)?,
            Expr::AssignOp(place, op, value) => {
                let value = self.num(value)?;
                self.change(place, |old| Ok((calculate(*op, old, value)?, Moment::Before)))?
            }
            Expr::Step(place, by, moment) => self.change(place, |old| Ok((old + by, *moment)))?,
            Expr::Getline(source, place) => self.getline(source, place.as_deref())?,
            _ => self.eval(expr)?.num(),
        })
    }

    /// Changes a number in its place; the new one, or the old one if that is wanted.
    #[inline(never)]
    fn change(
        &mut self,
        place: &'p Place,
        new: impl FnOnce(f64) -> Result<(f64, Moment), String>,
    ) -> Result<f64, Stop> {
        let pick = |old: f64, (new, moment): (f64, Moment)| if moment == Moment::After { old } else { new };
        match place {
            Place::Var(Var::Global(number)) => {
                let value = &mut self.globals[*number];
                let old = value.num();
                let changed = new(old)?;
                *value = Value::Num(changed.0);
                Ok(pick(old, changed))
            }
            Place::Element(array, keys) => {
                let array = self.array(array)?;
                let key = self.key(keys)?;
                let mut array = array.borrow_mut();
                let value = array.entry(&key);
                let old = value.num();
                let changed = new(old)?;
                *value = Value::Num(changed.0);
                Ok(pick(old, changed))
            }
            Place::Var(var) => {
                let old = self.get(var)?.num();
                let changed = new(old)?;
                self.set(var, Value::Num(changed.0))?;
                Ok(pick(old, changed))
            }
            Place::Field(index) => {
                let index = Self::field_index(self.num(index)?)?;
                let old = self.with_field(index, number::prefix)?;
                let changed = new(old)?;
                self.set_field(index, Value::Num(changed.0))?;
                Ok(pick(old, changed))
            }
        }
    }

    pub(super) fn truth(&mut self, expr: &'p Expr) -> Result<bool, Stop> {
        Ok(match expr {
            Expr::Regex(pattern) => {
                let regex = self.regex(pattern)?;
                regex.is_match(self.record_text())
            }
            Expr::And(sides) => self.truth(&sides.0)? && self.truth(&sides.1)?,
            Expr::Or(sides) => self.truth(&sides.0)? || self.truth(&sides.1)?,
            Expr::Not(inner) => !self.truth(inner)?,
            Expr::Group(inner) if inner.len() == 1 => self.truth(&inner[0])?,
            Expr::Match(sides, negated) => self.matches(&sides.0, &sides.1)? != *negated,
            Expr::In(keys, array) => {
                let key = self.key(keys)?;
                let array = self.array(array)?;
                array.borrow().contains(&key)
            }
            Expr::Compare(compare, sides) => {
                let left = self.eval(&sides.0)?;
                let right = self.eval(&sides.1)?;
                if let (Some(left), Some(right)) = (left.as_number(), right.as_number()) {
                    return Ok(match compare {
                        Compare::Less => left < right,
                        Compare::LessEqual => left <= right,
                        Compare::Equal => left == right,
                        Compare::NotEqual => left != right,
                        Compare::Greater => left > right,
                        Compare::GreaterEqual => left >= right,
                    });
                }
                let order = self.order(&left, &right);
                match compare {
                    Compare::Less => order.is_lt(),
                    Compare::LessEqual => order.is_le(),
                    Compare::Equal => order.is_eq(),
                    Compare::NotEqual => order.is_ne(),
                    Compare::Greater => order.is_gt(),
                    Compare::GreaterEqual => order.is_ge(),
                }
            }
            Expr::Num(_)
            | Expr::Binary(..)
            | Expr::Negate(_)
            | Expr::Plus(_)
            | Expr::Step(..)
            | Expr::AssignOp(..)
            | Expr::Getline(..) => self.num(expr)? != 0.0,
            _ => self.eval(expr)?.truth(),
        })
    }

    /// Numbers if both can be, strings otherwise.
    pub(super) fn order(&self, left: &Value, right: &Value) -> Ordering {
        if let (Some(left), Some(right)) = (left.as_number(), right.as_number()) {
            return left.partial_cmp(&right).unwrap_or(Ordering::Less);
        }
        let (left, right) = (left.to_text(&self.vars.convfmt), right.to_text(&self.vars.convfmt));
        if self.vars.ignore_case {
            return left.to_ascii_lowercase().cmp(&right.to_ascii_lowercase());
        }
        left.cmp(&right)
    }

    #[inline(never)]
    fn matches(&mut self, text: &'p Expr, pattern: &'p Expr) -> Result<bool, Stop> {
        let regex = self.regex_of(pattern)?;
        if let Expr::Field(index) = text {
            let index = Self::field_index(self.num(index)?)?;
            return self.with_field(index, |text| regex.is_match(text));
        }
        let text = self.text(text)?;
        Ok(regex.is_match(&text))
    }

    /// The expression as a regular expression.
    #[inline(never)]
    pub(super) fn regex_of(&mut self, pattern: &'p Expr) -> Result<Rc<posix_regex::Regex>, Stop> {
        match pattern {
            Expr::Regex(pattern) => self.regex(pattern),
            Expr::Group(inner) if inner.len() == 1 => self.regex_of(&inner[0]),
            other => {
                let text = self.text(other)?;
                let pattern = self.pattern(&text);
                self.regex(&pattern)
            }
        }
    }

    pub(super) fn text(&mut self, expr: &'p Expr) -> Result<Text, Stop> {
        Ok(self.eval(expr)?.to_text(&self.vars.convfmt))
    }

    /// Appends the value as a string.
    fn push(&mut self, expr: &'p Expr, out: &mut Vec<u8>) -> Result<(), Stop> {
        match expr {
            Expr::Str(text) => out.extend_from_slice(text),
            Expr::Var(Var::Global(number)) => {
                self.check_scalar(*number)?;
                self.globals[*number].push_to(out, &self.vars.convfmt);
            }
            Expr::Field(index) => {
                let index = Self::field_index(self.num(index)?)?;
                self.with_field(index, |text| out.extend_from_slice(text))?;
            }
            Expr::Concat(parts) => {
                for part in parts {
                    self.push(part, out)?;
                }
            }
            _ => {
                let value = self.eval(expr)?;
                value.push_to(out, &self.vars.convfmt);
            }
        }
        Ok(())
    }

    /// The same, with `OFMT` for numbers.
    #[inline(never)]
    pub(super) fn push_printed(&mut self, expr: &'p Expr, out: &mut Vec<u8>) -> Result<(), Stop> {
        match expr {
            Expr::Str(_) | Expr::Field(_) | Expr::Concat(_) => self.push(expr, out),
            Expr::Group(inner) if inner.len() == 1 => self.push_printed(&inner[0], out),
            _ => {
                let value = self.eval(expr)?;
                value.push_to(out, &self.vars.ofmt);
                Ok(())
            }
        }
    }

    /// The subscript that the values come to.
    #[inline(never)]
    pub(super) fn key(&mut self, keys: &'p [Expr]) -> Result<Vec<u8>, Stop> {
        let mut out = Vec::new();
        for (index, key) in keys.iter().enumerate() {
            if index > 0 {
                out.extend_from_slice(&self.vars.subsep);
            }
            self.push(key, &mut out)?;
        }
        Ok(out)
    }

    #[inline(never)]
    fn get(&mut self, var: &Var) -> Result<Value, Stop> {
        match var {
            Var::Global(number) => {
                self.check_scalar(*number)?;
                Ok(self.globals[*number].clone())
            }
            Var::Local(number) => Ok(self.slots[self.base + number].value.clone()),
            Var::Special(special) => self.special(*special),
        }
    }

    #[inline(never)]
    fn set(&mut self, var: &Var, value: Value) -> Result<(), Stop> {
        match var {
            Var::Global(number) => self.globals[*number] = value,
            Var::Local(number) => self.slots[self.base + number].value = value,
            Var::Special(special) => return self.set_special(*special, value),
        }
        Ok(())
    }

    #[inline(never)]
    pub(super) fn assign(&mut self, place: &'p Place, value: Value) -> Result<(), Stop> {
        match place {
            Place::Var(var) => self.set(var, value),
            Place::Field(index) => {
                let index = Self::field_index(self.num(index)?)?;
                self.set_field(index, value)
            }
            Place::Element(array, keys) => {
                let array = self.array(array)?;
                let key = self.key(keys)?;
                array.borrow_mut().set(&key, value);
                Ok(())
            }
        }
    }
}

fn calculate(op: Op, left: f64, right: f64) -> Result<f64, String> {
    Ok(match op {
        Op::Add => left + right,
        Op::Subtract => left - right,
        Op::Multiply => left * right,
        Op::Divide if right == 0.0 => return Err("fatal: division by zero attempted".to_owned()),
        Op::Divide => left / right,
        Op::Modulo if right == 0.0 => return Err("fatal: division by zero attempted in `%'".to_owned()),
        Op::Modulo => left % right,
        Op::Power => power(left, right),
    })
}

/// Whole exponents exactly, as long as the result is exact.
fn power(base: f64, exponent: f64) -> f64 {
    if exponent == exponent.trunc() && exponent.abs() <= 1024.0 {
        base.powi(exponent as i32)
    } else {
        base.powf(exponent)
    }
}
