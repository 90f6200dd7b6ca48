//! `printf`, and the escapes it shares with `echo -e`.

mod escape;
mod number;

use std::num::IntErrorKind;

use escape::escape_length;
pub(super) use escape::escaped;
use number::{float_digits, integer, zero_filled};

use crate::{
    date,
    expand::quote,
    state::{Env, Eval},
    text,
};

/// The widest field and the most digits: `%999999999s` is refused and costs nothing.
const WIDTH_MAX: usize = 1 << 20;

#[derive(Debug, Clone, Default)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
}

struct Printer<'e> {
    env: &'e mut Env,
    args: std::iter::Cloned<std::slice::Iter<'e, String>>,
    out: Vec<u8>,
    errors: Vec<String>,
    stopped: bool,
}

pub(super) async fn run(env: &mut Env, args: &[String]) -> Eval<i32> {
    let mut rest = args;
    let mut into = None;
    if let [flag, more @ ..] = rest
        && let Some(inline) = flag.strip_prefix("-v")
    {
        let (name, more) = match (inline, more) {
            ("", [name, more @ ..]) => (name.clone(), more),
            ("", []) => {
                env.complain("printf: -v: option requires an argument").await?;
                return Ok(2);
            }
            (name, more) => (name.to_owned(), more),
        };
        let base = name.split('[').next().unwrap_or_default();
        if !crate::syntax::is_name(base) || (name.contains('[') && !name.ends_with(']')) {
            env.complain(&format!("printf: `{name}': not a valid identifier")).await?;
            return Ok(2);
        }
        into = Some(name);
        rest = more;
    }
    if rest.first().is_some_and(|it| it == "--") {
        rest = &rest[1..];
    }
    if let Some(bad) = rest.first().filter(|it| it.len() > 1 && it.starts_with('-'))
        && rest.as_ptr() == args.as_ptr()
    {
        let letter: String = bad.chars().take(2).collect();
        env.complain(&format!("printf: {letter}: invalid option")).await?;
        return Ok(2);
    }
    let Some((format, args)) = rest.split_first() else {
        env.complain("printf: usage: printf [-v var] format [arguments]").await?;
        return Ok(2);
    };
    let bytes_max = env.shared.limits.expansion_bytes_max;
    let mut printer =
        Printer { env, args: args.iter().cloned(), out: Vec::new(), errors: Vec::new(), stopped: false };
    loop {
        let before = printer.args.len();
        printer.once(format);
        if printer.out.len() > bytes_max {
            let text = format!("printf gave more than {bytes_max} bytes; --line-memory allows more");
            return Err(printer.env.abort(text));
        }
        if printer.stopped || printer.args.len() == 0 || printer.args.len() == before {
            break;
        }
    }
    let Printer { out, errors, .. } = printer;
    for error in &errors {
        env.complain(&format!("printf: {error}")).await?;
    }
    let failed = i32::from(!errors.is_empty());
    let Some(name) = into else {
        let written = env.write(1, &out).await?;
        return Ok(if written { failed } else { 1 });
    };
    let mut value = text::from_bytes(&out);
    if env.vars.var(&name).is_some_and(|var| var.attributes.integer) {
        match env.compute(&value) {
            Ok(number) => value = number.to_string(),
            Err(error) => {
                env.complain(&format!("printf: {}", error.0)).await?;
                return Ok(1);
            }
        }
    }
    let result = match name.strip_suffix(']').and_then(|it| it.split_once('[')) {
        None => env.vars.set(&name, value),
        Some((base, key)) => {
            let key = &env.key_text(key);
            if matches!(env.value(base), crate::vars::Value::Assoc(_)) {
                env.vars.set_key(base, key, value)
            } else {
                let index = env.compute(key).unwrap_or(0);
                env.vars.set_index(base, index, value)
            }
        }
    };
    if let Err(error) = result {
        env.complain(&format!("printf: {error}")).await?;
        return Ok(1);
    }
    Ok(failed)
}

impl Printer<'_> {
    fn once(&mut self, format: &str) {
        let bytes_max = self.env.shared.limits.expansion_bytes_max;
        let mut rest = format;
        while let Some(at) = rest.find(['%', '\\']) {
            self.out.extend_from_slice(&text::to_bytes(&rest[..at]));
            rest = &rest[at..];
            if rest.starts_with('\\') {
                let length = escape_length(rest);
                // `\\c` ends the output only inside `%b`.
                if rest.starts_with("\\c") {
                    self.out.extend_from_slice(b"\\c");
                } else {
                    self.out.extend_from_slice(&escaped(&rest[..length], false).0);
                }
                rest = &rest[length..];
                continue;
            }
            rest = self.conversion(&rest[1..]);
            // A format may have as many wide fields as it has room for.
            if self.stopped || self.out.len() > bytes_max {
                return;
            }
        }
        self.out.extend_from_slice(&text::to_bytes(rest));
    }

    /// One `%…`, without the `%`; answers what follows it.
    fn conversion<'f>(&mut self, format: &'f str) -> &'f str {
        let mut spec = Spec::default();
        let mut rest = format;
        while let Some(flag) = rest.chars().next() {
            match flag {
                '-' => spec.left = true,
                '+' => spec.plus = true,
                ' ' => spec.space = true,
                '#' => spec.alternate = true,
                '0' => spec.zero = true,
                '\'' => {}
                _ => break,
            }
            rest = &rest[1..];
        }
        let mut number = |rest: &mut &'f str| {
            if let Some(after) = rest.strip_prefix('*') {
                *rest = after;
                return Some(self.args.next().and_then(|it| saturating(&it)).unwrap_or(0));
            }
            let length = rest.find(|it: char| !it.is_ascii_digit()).unwrap_or(rest.len());
            let value = saturating(&rest[..length]);
            *rest = &rest[length..];
            value
        };
        if let Some(width) = number(&mut rest) {
            spec.left |= width < 0;
            spec.width = usize::try_from(width.unsigned_abs()).unwrap_or(usize::MAX);
        }
        if let Some(after) = rest.strip_prefix('.') {
            rest = after;
            let precision = number(&mut rest).unwrap_or(0);
            spec.precision = usize::try_from(precision).ok();
        }
        if self.refuses("width", spec.width) {
            return rest;
        }
        rest = rest.trim_start_matches(['l', 'h', 'j', 'z', 'q', 'L']).trim_start_matches('t');
        // `q` is also a conversion; give it back if it was one.
        let letter_at = format.len() - rest.len();
        if letter_at > 0 && format[..letter_at].ends_with('q') {
            self.text(&spec, |value| quote::backslashed(&value));
            return rest;
        }
        if let Some(after) = rest.strip_prefix('(')
            && let Some(end) = after.find(")T")
        {
            let shape = &after[..end];
            let at = self.args.next().and_then(|it| it.parse::<i64>().ok()).unwrap_or(-1);
            // -1 is now, and -2 when the shell began.
            let moment = match at {
                -1 => Some(self.env.shared.clock.now()),
                -2 => Some(self.env.computed.seconds_from),
                _ => None,
            };
            let at = moment.map_or(at, |it| i64::try_from(it.0 / 1_000_000_000).unwrap_or(i64::MAX));
            let shown = date::format(shape, at, self.env.zone());
            let shown = cut(&spec, shown);
            self.pad(&spec, &shown);
            return &after[end + 2..];
        }
        let Some(letter) = rest.chars().next() else {
            self.errors.push("`%': missing format character".into());
            return rest;
        };
        let after = &rest[letter.len_utf8()..];
        match letter {
            '%' => self.out.push(b'%'),
            's' => self.text(&spec, |value| value),
            'b' => {
                let value = self.args.next().unwrap_or_default();
                let (bytes, stopped) = escaped(&value, true);
                self.stopped = stopped;
                let shown = cut(&spec, text::from_bytes(&bytes));
                self.pad(&spec, &shown);
            }
            'q' => self.text(&spec, |value| quote::backslashed(&value)),
            'Q' => {
                let value = cut(&spec, self.args.next().unwrap_or_default());
                self.pad(&spec, &quote::backslashed(&value));
            }
            'c' => {
                let value = self.args.next().unwrap_or_default();
                // One byte, whatever character it is of.
                let bytes = crate::text::to_bytes(&value);
                self.pad(&spec, &crate::text::from_bytes(bytes.get(..1).unwrap_or_default()));
            }
            // Of text a precision only takes away; of numbers it makes digits.
            'a'..='z' | 'A'..='Z' if self.refuses("precision", spec.precision.unwrap_or(0)) => {}
            'd' | 'i' => self.signed(&spec),
            'o' | 'u' | 'x' | 'X' => self.unsigned(&spec, letter),
            'e' | 'E' | 'f' | 'F' | 'g' | 'G' | 'a' | 'A' => self.float(&spec, letter),
            other => {
                self.errors.push(format!("`{other}': invalid format character"));
                self.stopped = true;
            }
        }
        after
    }

    /// Whether a figure is too large; then it is said, and nothing more is printed.
    fn refuses(&mut self, what: &str, figure: usize) -> bool {
        let large = figure > WIDTH_MAX;
        if large {
            self.errors.push(format!("{what} {figure} is more than the limit of {WIDTH_MAX}"));
            self.stopped = true;
        }
        large
    }

    fn text(&mut self, spec: &Spec, change: impl Fn(String) -> String) {
        let value = cut(spec, change(self.args.next().unwrap_or_default()));
        self.pad(spec, &value);
    }

    fn pad(&mut self, spec: &Spec, shown: &str) {
        // Bash counts bytes here.
        let bytes = text::to_bytes(shown);
        let fill = spec.width.saturating_sub(bytes.len());
        if !spec.left {
            self.out.resize(self.out.len() + fill, b' ');
        }
        self.out.extend_from_slice(&bytes);
        if spec.left {
            self.out.resize(self.out.len() + fill, b' ');
        }
    }

    fn number(&mut self) -> i128 {
        let Some(text) = self.args.next() else { return 0 };
        match integer(&text) {
            Ok(value) => value,
            Err(value) => {
                self.errors.push(format!("{text}: invalid number"));
                value
            }
        }
    }

    fn signed(&mut self, spec: &Spec) {
        let value = self.number().clamp(i128::from(i64::MIN), i128::from(i64::MAX));
        let sign = match (value < 0, spec.plus, spec.space) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (_, _, true) => " ",
            _ => "",
        };
        self.digits(spec, sign, value.unsigned_abs().to_string());
    }

    fn unsigned(&mut self, spec: &Spec, letter: char) {
        let value = self.number() as u64;
        let (prefix, digits) = match letter {
            'o' => (if spec.alternate { "0" } else { "" }, format!("{value:o}")),
            'x' => (if spec.alternate && value != 0 { "0x" } else { "" }, format!("{value:x}")),
            'X' => (if spec.alternate && value != 0 { "0X" } else { "" }, format!("{value:X}")),
            _ => ("", value.to_string()),
        };
        self.digits(spec, prefix, digits);
    }

    fn digits(&mut self, spec: &Spec, prefix: &str, mut digits: String) {
        if spec.precision == Some(0) && digits == "0" && prefix != "0" {
            digits.clear();
        } else if prefix == "0" && digits == "0" {
            return self.pad(spec, "0");
        } else if let Some(precision) = spec.precision {
            digits = zero_filled(&digits, precision);
        } else if spec.zero && !spec.left {
            let width = spec.width.saturating_sub(prefix.len());
            digits = zero_filled(&digits, width);
        }
        self.pad(spec, &format!("{prefix}{digits}"));
    }

    fn float(&mut self, spec: &Spec, letter: char) {
        let text = self.args.next().unwrap_or_default();
        let value = if text.is_empty() {
            0.0
        } else if let Ok(value) = text.trim().parse::<f64>() {
            value
        } else {
            match integer(&text) {
                Ok(value) => value as f64,
                Err(_) => {
                    let end = text.find(|it: char| !(it.is_ascii_digit() || "+-.".contains(it)));
                    self.errors.push(format!("{text}: invalid number"));
                    text[..end.unwrap_or(text.len())].parse().unwrap_or(0.0)
                }
            }
        };
        let sign = match (value.is_sign_negative() && !value.is_nan(), spec.plus, spec.space) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (_, _, true) => " ",
            _ => "",
        };
        let mut digits = float_digits(value.abs(), spec, letter.to_ascii_lowercase());
        if spec.alternate && value.is_finite() && !digits.contains('.') {
            let at = digits.find('e').unwrap_or(digits.len());
            digits.insert(at, '.');
        }
        if letter.is_ascii_uppercase() {
            digits = digits.to_uppercase();
        }
        if spec.zero && !spec.left && value.is_finite() {
            let width = spec.width.saturating_sub(sign.len());
            digits = zero_filled(&digits, width);
        }
        self.pad(spec, &format!("{sign}{digits}"));
    }
}

/// A number; one beyond all limits is the largest there is.
fn saturating(text: &str) -> Option<i64> {
    match text.parse::<i64>() {
        Ok(number) => Some(number),
        Err(error) => match error.kind() {
            IntErrorKind::PosOverflow => Some(i64::MAX),
            IntErrorKind::NegOverflow => Some(i64::MIN),
            _ => None,
        },
    }
}

fn cut(spec: &Spec, value: String) -> String {
    match spec.precision {
        None => value,
        Some(precision) => {
            let bytes = text::to_bytes(&value);
            text::from_bytes(&bytes[..precision.min(bytes.len())])
        }
    }
}
