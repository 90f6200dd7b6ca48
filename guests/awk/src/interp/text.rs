//! Functions on strings. Positions and lengths are in characters, as in a UTF-8 locale.

use super::record::Splitter;
use super::{Interp, Stop};
use crate::array::Array;
use crate::ast::{Builtin, Expr};
use crate::format::{prefix_length, sign_count};
use crate::value::{Shared, Value};

impl<'p> Interp<'p> {
    #[inline(never)]
    pub(super) fn length(&mut self, args: &'p [Expr]) -> Result<f64, Stop> {
        let Some(arg) = args.first() else { return Ok(sign_count(self.record_text()) as f64) };
        if let Some(array) = self.known_array(arg)? {
            return Ok(array.borrow().len() as f64);
        }
        if let Expr::Field(index) = arg {
            let index = Self::field_index(self.num(index)?)?;
            return Ok(self.with_field(index, sign_count)? as f64);
        }
        Ok(sign_count(&self.text(arg)?) as f64)
    }

    #[inline(never)]
    pub(super) fn substr(&mut self, args: &'p [Expr]) -> Result<Value, Stop> {
        let text = self.text(&args[0])?;
        // Gawk cuts fractions off, and what stands before the first character is not counted.
        let first = self.num(&args[1])?.trunc().max(1.0);
        let end = match args.get(2) {
            Some(length) => first + self.num(length)?.trunc(),
            None => f64::INFINITY,
        };
        let end = end.min(sign_count(&text) as f64 + 1.0);
        // Also when one of them is no number.
        if first.partial_cmp(&end) != Some(std::cmp::Ordering::Less) {
            return Ok(Value::text(""));
        }
        let from = prefix_length(&text, first as usize - 1);
        let to = from + prefix_length(&text[from..], (end - first) as usize);
        Ok(Value::text(&text[from..to]))
    }

    #[inline(never)]
    pub(super) fn index(&mut self, args: &'p [Expr]) -> Result<f64, Stop> {
        let text = self.text(&args[0])?;
        let wanted = self.text(&args[1])?;
        let found = if self.vars.ignore_case {
            memchr::memmem::find(&text.to_ascii_lowercase(), &wanted.to_ascii_lowercase())
        } else {
            memchr::memmem::find(&text, &wanted)
        };
        Ok(found.map_or(0, |at| sign_count(&text[..at]) + 1) as f64)
    }

    #[inline(never)]
    pub(super) fn change_case(&mut self, arg: &'p Expr, how: Builtin) -> Result<Value, Stop> {
        let text = self.text(arg)?;
        let upper = how == Builtin::ToUpper;
        if text.is_ascii() {
            return Ok(Value::text(if upper {
                text.to_ascii_uppercase()
            } else {
                text.to_ascii_lowercase()
            }));
        }
        let mut out = Vec::with_capacity(text.len());
        for chunk in text.utf8_chunks() {
            let valid = chunk.valid();
            out.extend_from_slice(if upper { valid.to_uppercase() } else { valid.to_lowercase() }.as_bytes());
            out.extend_from_slice(chunk.invalid());
        }
        Ok(Value::text(out))
    }

    #[inline(never)]
    pub(super) fn split(&mut self, args: &'p [Expr]) -> Result<f64, Stop> {
        let text = self.text(&args[0])?;
        let array = self.array_argument(&args[1])?;
        let splitter = match args.get(2) {
            Some(Expr::Regex(pattern)) if pattern.text == b" " => Splitter::Byte(b' '),
            Some(Expr::Regex(pattern)) => Splitter::Matches(self.regex(pattern)?),
            Some(separator) => {
                let separator = self.text(separator)?;
                self.text_splitter(&separator)?
            }
            None => {
                let fs = self.vars.fs.clone();
                self.text_splitter(&fs)?
            }
        };
        let separators = match args.get(3) {
            Some(separators) => Some(self.array_argument(separators)?),
            None => None,
        };
        Ok(fill(&text, &splitter, &array, separators.as_ref()))
    }

    #[inline(never)]
    pub(super) fn pat_split(&mut self, args: &'p [Expr]) -> Result<f64, Stop> {
        let text = self.text(&args[0])?;
        let array = self.array_argument(&args[1])?;
        let regex = match args.get(2) {
            Some(pattern) => self.regex_of(pattern)?,
            None => {
                let pattern = self.pattern(&self.vars.fpat.clone());
                self.regex(&pattern)?
            }
        };
        let separators = match args.get(3) {
            Some(separators) => Some(self.array_argument(separators)?),
            None => None,
        };
        Ok(fill(&text, &Splitter::Content(regex), &array, separators.as_ref()))
    }

    #[inline(never)]
    pub(super) fn match_text(&mut self, args: &'p [Expr]) -> Result<f64, Stop> {
        let text = self.text(&args[0])?;
        let regex = self.regex_of(&args[1])?;
        let array = match args.get(2) {
            Some(array) => Some(self.array_argument(array)?),
            None => None,
        };
        let found = match array {
            Some(_) => regex.captures_at(&text, 0, &mut self.captures),
            None => regex.find_at(&text, 0),
        };
        if let Some(array) = &array {
            array.borrow_mut().clear();
        }
        let Some(span) = found else {
            (self.vars.rstart, self.vars.rlength) = (0.0, -1.0);
            return Ok(0.0);
        };
        self.vars.rstart = sign_count(&text[..span.start]) as f64 + 1.0;
        self.vars.rlength = sign_count(&text[span.start..span.end]) as f64;
        if let Some(array) = &array {
            let mut array = array.borrow_mut();
            for group in 0..=regex.groups() {
                let Some(part) = self.captures.get(group) else { continue };
                let name = group.to_string();
                array.set(&name.clone().into_bytes(), Value::input(&text[part.start..part.end]));
                for (what, number) in [
                    ("start", sign_count(&text[..part.start]) + 1),
                    ("length", sign_count(&text[part.start..part.end])),
                ] {
                    let key = [name.as_bytes(), &self.vars.subsep, what.as_bytes()].concat();
                    array.set(&key, Value::Num(number as f64));
                }
            }
        }
        Ok(self.vars.rstart)
    }
}

/// Puts the parts of `text`, and what was between them, into arrays.
fn fill(text: &[u8], splitter: &Splitter, array: &Shared, separators: Option<&Shared>) -> f64 {
    let mut parts = Array::default();
    let mut between = Array::default();
    let (mut count, mut last_end) = (0usize, None);
    let content = matches!(splitter, Splitter::Content(_));
    let blanks = matches!(splitter, Splitter::Blanks);
    splitter.split(text, |start, end| {
        let before = last_end.unwrap_or(0);
        // What stands before the first part is number 0; blanks there are dropped, but also number 0.
        if last_end.is_some() || content || (blanks && start > before) {
            between.set(&count.to_string().into_bytes(), Value::text(&text[before..start]));
        }
        count += 1;
        parts.set(&count.to_string().into_bytes(), Value::input(&text[start..end]));
        last_end = Some(end);
    });
    if let Some(end) = last_end
        && (content || (blanks && end < text.len()))
    {
        between.set(&count.to_string().into_bytes(), Value::text(&text[end..]));
    }
    *array.borrow_mut() = parts;
    if let Some(separators) = separators {
        *separators.borrow_mut() = between;
    }
    count as f64
}
