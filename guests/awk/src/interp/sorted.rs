//! Arrays in order: `asort`, `asorti`, and loops under `PROCINFO["sorted_in"]`.

use super::{Interp, Slot, Stop};
use crate::array::Array;
use crate::ast::Expr;
use crate::number;
use crate::value::{Shared, Text, Value};
use std::rc::Rc;

impl<'p> Interp<'p> {
    /// The subscripts, in the order that the program asks for.
    pub(super) fn ordered_keys(&mut self, array: &Shared) -> Result<Vec<Text>, Stop> {
        let keys = array.borrow().keys();
        let Some(number) = self.procinfo else { return Ok(keys) };
        let how = self.arrays[number].borrow().get(&b"sorted_in".to_vec()).cloned();
        let Some(how) = how else { return Ok(keys) };
        let how = how.to_text(b"%.6g");
        let pairs = self.sorted(array, &how)?;
        Ok(pairs.into_iter().map(|(key, _)| key).collect())
    }

    /// `asort` and `asorti`.
    #[inline(never)]
    pub(super) fn sort_array(&mut self, args: &'p [Expr], subscripts: bool) -> Result<f64, Stop> {
        let source = self.array_argument(&args[0])?;
        let target = match args.get(1) {
            Some(target) => self.array_argument(target)?,
            None => Rc::clone(&source),
        };
        let how = match args.get(2) {
            Some(how) => self.text(how)?,
            None if subscripts => Rc::new(b"@ind_str_asc".to_vec()),
            None => Rc::new(b"@val_type_asc".to_vec()),
        };
        let pairs = self.sorted(&source, &how)?;
        let mut made = Array::default();
        let count = pairs.len();
        for (number, (key, value)) in pairs.into_iter().enumerate() {
            let value = if subscripts { Value::Str(key) } else { value };
            made.set(&(number + 1).to_string().into_bytes(), value);
        }
        *target.borrow_mut() = made;
        Ok(count as f64)
    }

    fn sorted(&mut self, array: &Shared, how: &[u8]) -> Result<Vec<(Text, Value)>, Stop> {
        let mut pairs: Vec<(Text, Value)> = array.borrow().pairs();
        let how = String::from_utf8_lossy(how).into_owned();
        let Some(rest) = how.strip_prefix('@') else {
            if how == "unsorted" || how.is_empty() {
                return Ok(pairs);
            }
            return self.sorted_by(pairs, &how);
        };
        let descending = rest.ends_with("_desc");
        let ignore_case = self.vars.ignore_case;
        let strings = |a: &[u8], b: &[u8]| {
            if ignore_case { a.to_ascii_lowercase().cmp(&b.to_ascii_lowercase()) } else { a.cmp(b) }
        };
        let convfmt = self.vars.convfmt.clone();
        let by = rest.trim_end_matches("_desc").trim_end_matches("_asc").to_owned();
        if by == "unsorted" {
            return Ok(pairs);
        }
        pairs.sort_by(|(key_a, a), (key_b, b)| {
            let by_text = || strings(&a.to_text(&convfmt), &b.to_text(&convfmt));
            let order = match by.as_str() {
                "ind_str" => strings(key_a, key_b),
                "ind_num" => number::prefix(key_a)
                    .total_cmp(&number::prefix(key_b))
                    .then_with(|| strings(key_a, key_b)),
                "val_str" => by_text().then_with(|| strings(key_a, key_b)),
                "val_num" => {
                    a.num().total_cmp(&b.num()).then_with(by_text).then_with(|| strings(key_a, key_b))
                }
                // Numbers before strings before arrays.
                _ => rank(a)
                    .cmp(&rank(b))
                    .then_with(|| match (a.as_number(), b.as_number()) {
                        (Some(a), Some(b)) => a.total_cmp(&b),
                        _ => by_text(),
                    })
                    .then_with(|| strings(key_a, key_b)),
            };
            if descending { order.reverse() } else { order }
        });
        Ok(pairs)
    }

    /// Sorts by a function of the program: it gets two subscripts and two values.
    fn sorted_by(&mut self, pairs: Vec<(Text, Value)>, name: &str) -> Result<Vec<(Text, Value)>, Stop> {
        let program = self.program;
        let Some(function) = program.functions.iter().find(|it| it.name == name) else {
            return Err(format!("fatal: sort comparison function `{name}' is not defined").into());
        };
        // Merge sort by hand: the comparison can fail, and need not make sense.
        let mut runs: Vec<Vec<(Text, Value)>> = pairs.into_iter().map(|it| vec![it]).collect();
        while runs.len() > 1 {
            let mut merged = Vec::with_capacity(runs.len().div_ceil(2));
            let mut all = runs.into_iter();
            while let Some(left) = all.next() {
                let Some(right) = all.next() else {
                    merged.push(left);
                    break;
                };
                let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
                let mut out = Vec::new();
                while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
                    let (a, b) = (a.clone(), b.clone());
                    let slots = [Value::Str(a.0), a.1, Value::Str(b.0), b.1];
                    let after = self.call_values(function, slots)?.num() > 0.0;
                    out.extend(if after { right.next() } else { left.next() });
                }
                out.extend(left);
                out.extend(right);
                merged.push(out);
            }
            runs = merged;
        }
        Ok(runs.pop().unwrap_or_default())
    }

    fn call_values(&mut self, function: &'p crate::ast::Function, values: [Value; 4]) -> Result<Value, Stop> {
        let base = std::mem::replace(&mut self.base, self.slots.len());
        let parameters = function.arrays.len();
        self.slots.extend(values.into_iter().take(parameters).map(|value| Slot { value, array: None }));
        self.slots.resize_with(self.base + parameters, Slot::default);
        let flow = self.block(&function.body);
        self.slots.truncate(self.base);
        self.base = base;
        flow?;
        Ok(std::mem::take(&mut self.returned))
    }
}

fn rank(value: &Value) -> u8 {
    match value {
        Value::Array(_) => 2,
        value if value.as_number().is_some() => 0,
        _ => 1,
    }
}
