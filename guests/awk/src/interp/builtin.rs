//! The functions that awk has: a table of contents, arithmetic, bits, time and streams.

use super::{Interp, Stop};
use crate::ast::{Builtin, Expr};
use crate::number;
use crate::value::Value;

impl<'p> Interp<'p> {
    #[inline(never)]
    pub(super) fn builtin(&mut self, builtin: Builtin, args: &'p [Expr]) -> Result<Value, Stop> {
        let number = match builtin {
            Builtin::Length => self.length(args)?,
            Builtin::Substr => return self.substr(args),
            Builtin::Index => self.index(args)?,
            Builtin::Split => self.split(args)?,
            Builtin::PatSplit => self.pat_split(args)?,
            Builtin::Match => self.match_text(args)?,
            Builtin::Sub | Builtin::Gsub => self.substitute(args, builtin == Builtin::Gsub)?,
            Builtin::Gensub => return self.gensub(args),
            Builtin::Sprintf => {
                let mut out = Vec::new();
                self.format(args, &mut out)?;
                return Ok(Value::text(out));
            }
            Builtin::ToLower | Builtin::ToUpper => return self.change_case(&args[0], builtin),
            Builtin::Asort | Builtin::Asorti => self.sort_array(args, builtin == Builtin::Asorti)?,
            Builtin::IsArray => f64::from(u8::from(self.known_array(&args[0])?.is_some())),
            Builtin::TypeOf => return self.type_of(&args[0]),
            Builtin::Int => self.num(&args[0])?.trunc(),
            Builtin::Sqrt => self.num(&args[0])?.sqrt(),
            Builtin::Exp => self.num(&args[0])?.exp(),
            Builtin::Log => self.num(&args[0])?.ln(),
            Builtin::Sin => self.num(&args[0])?.sin(),
            Builtin::Cos => self.num(&args[0])?.cos(),
            Builtin::Atan2 => {
                let y = self.num(&args[0])?;
                y.atan2(self.num(&args[1])?)
            }
            Builtin::Rand => self.random(),
            Builtin::Srand => {
                let seed = match args.first() {
                    Some(seed) => self.num(seed)?,
                    None => crate::time::now() as f64,
                };
                // Mixed, so that neighbouring seeds give different numbers from the first on.
                self.random =
                    (seed.to_bits() ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9) | 1;
                self.random();
                std::mem::replace(&mut self.seed, seed)
            }
            Builtin::And => self.bits(args, |a, b| a & b)?,
            Builtin::Or => self.bits(args, |a, b| a | b)?,
            Builtin::Xor => self.bits(args, |a, b| a ^ b)?,
            Builtin::Compl => (!(self.num(&args[0])? as u64) & ((1 << 53) - 1)) as f64,
            Builtin::LeftShift => self.bits(args, |a, b| a.checked_shl(b as u32).unwrap_or(0))?,
            Builtin::RightShift => self.bits(args, |a, b| a.checked_shr(b as u32).unwrap_or(0))?,
            Builtin::StrToNum => self.str_to_num(&args[0])?,
            Builtin::Now => crate::time::now() as f64,
            Builtin::MakeTime => {
                let text = self.text(&args[0])?;
                crate::time::make(&String::from_utf8_lossy(&text)) as f64
            }
            Builtin::FormatTime => return self.format_time(args),
            Builtin::Close => {
                let name = self.text(&args[0])?;
                let read = self.readers.remove(&*name).is_some();
                let read = read.then(|| self.statuses.remove(&*name).unwrap_or(0));
                let status = self.outputs.close(&name)?.or(read);
                if status.is_none() {
                    self.vars.errno = b"close of redirection that was never opened".to_vec();
                }
                f64::from(status.unwrap_or(-1))
            }
            Builtin::Fflush => {
                self.outputs.flush()?;
                0.0
            }
            Builtin::System => {
                let command = self.text(&args[0])?;
                self.outputs.flush()?;
                // A custom from the days before `fflush`.
                if command.iter().all(u8::is_ascii_whitespace) {
                    return Ok(Value::Num(0.0));
                }
                f64::from(crate::command::run(&command, crate::command::Input::Ours))
            }
        };
        Ok(Value::Num(number))
    }

    fn random(&mut self) -> f64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) as f64 / (1u64 << 53) as f64
    }

    #[inline(never)]
    fn bits(&mut self, args: &'p [Expr], join: fn(u64, u64) -> u64) -> Result<f64, Stop> {
        let mut all = None;
        for arg in args {
            let next = self.num(arg)?;
            if next < 0.0 {
                return Err("fatal: negative values are not allowed in operations on bits".to_owned().into());
            }
            let next = next as u64;
            all = Some(all.map_or(next, |all| join(all, next)));
        }
        Ok(all.unwrap_or(0) as f64)
    }

    #[inline(never)]
    fn str_to_num(&mut self, arg: &'p Expr) -> Result<f64, Stop> {
        let value = self.eval(arg)?;
        if let Value::Num(number) = value {
            return Ok(number);
        }
        let text = value.to_text(&self.vars.convfmt);
        let text = text.trim_ascii_start();
        let (negative, digits) = match text {
            [b'-', rest @ ..] => (true, rest),
            _ => (false, text),
        };
        let (base, digits) = match digits {
            [b'0', b'x' | b'X', rest @ ..] => (16, rest),
            [b'0', rest @ ..] if !rest.contains(&b'.') && !rest.contains(&b'e') => (8, rest),
            _ => return Ok(number::prefix(text)),
        };
        let digits = digits.iter().map_while(|it| char::from(*it).to_digit(base));
        let value = digits.fold(0.0, |value, digit| value * f64::from(base) + f64::from(digit));
        Ok(if negative { -value } else { value })
    }

    #[inline(never)]
    fn format_time(&mut self, args: &'p [Expr]) -> Result<Value, Stop> {
        let format = match args.first() {
            Some(format) => self.text(format)?,
            None => b"%a %b %e %H:%M:%S %Z %Y".to_vec().into(),
        };
        let seconds = match args.get(1) {
            Some(seconds) => self.num(seconds)?.floor() as i64,
            None => crate::time::now(),
        };
        // Years beyond these have no calendar.
        if seconds.abs() > 1 << 46 {
            return Err("fatal: strftime: the time is out of range".to_owned().into());
        }
        Ok(Value::text(crate::time::format(&String::from_utf8_lossy(&format), seconds)))
    }

    #[inline(never)]
    fn type_of(&mut self, arg: &'p Expr) -> Result<Value, Stop> {
        if self.known_array(arg)?.is_some() {
            return Ok(Value::text("array"));
        }
        if let Expr::Regex(_) = arg {
            return Ok(Value::text("regexp"));
        }
        if let Expr::Field(index) = arg {
            let index = Self::field_index(self.num(index)?)?;
            self.split_record()?;
            if index > self.record.fields() {
                return Ok(Value::text("unassigned"));
            }
        }
        let name = match self.eval(arg)? {
            Value::Nothing => "untyped",
            Value::Num(_) => "number",
            Value::Str(_) => "string",
            Value::Input(text) if number::whole(&text).is_some() => "strnum",
            Value::Input(_) => "string",
            Value::Array(_) => "array",
        };
        Ok(Value::text(name))
    }
}
