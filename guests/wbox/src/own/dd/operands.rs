//! The operands of `dd`: `name=value` each.

/// What to copy, and how.
#[derive(Debug, PartialEq)]
pub struct Operands {
    pub input: Option<String>,
    pub output: Option<String>,
    pub ibs: usize,
    pub obs: usize,
    pub count: Option<u64>,
    pub skip: u64,
    pub seek: u64,
    pub case: Case,
    pub swab: bool,
    pub sync: bool,
    pub notrunc: bool,
    pub report: Report,
}

/// What becomes of letters.
#[derive(Debug, PartialEq, Clone, Copy)]
pub enum Case {
    Kept,
    Lower,
    Upper,
}

/// What is said in the end.
#[derive(Debug, PartialEq, Clone, Copy)]
pub enum Report {
    All,
    Records,
    Nothing,
}

/// A larger block would be a way to ask for all memory at once.
const BLOCK_BYTES_MAX: u64 = 16 << 20;

impl Operands {
    /// Reads the arguments after the applet's name.
    pub fn parse(args: &[String]) -> Result<Self, String> {
        let mut all = Self {
            input: None,
            output: None,
            ibs: 512,
            obs: 512,
            count: None,
            skip: 0,
            seek: 0,
            case: Case::Kept,
            swab: false,
            sync: false,
            notrunc: false,
            report: Report::All,
        };
        for arg in args {
            let (name, value) = arg.split_once('=').ok_or_else(|| format!("unrecognized operand '{arg}'"))?;
            match name {
                "if" => all.input = Some(value.to_owned()),
                "of" => all.output = Some(value.to_owned()),
                "bs" => (all.ibs, all.obs) = (block(value)?, block(value)?),
                "ibs" => all.ibs = block(value)?,
                "obs" => all.obs = block(value)?,
                "count" => all.count = Some(number(value)?),
                "skip" | "iseek" => all.skip = number(value)?,
                "seek" | "oseek" => all.seek = number(value)?,
                "conv" => value.split(',').try_for_each(|word| all.convert(word))?,
                "status" => all.report = report(value)?,
                _ => return Err(format!("unrecognized operand '{arg}'")),
            }
        }
        Ok(all)
    }

    fn convert(&mut self, word: &str) -> Result<(), String> {
        match word {
            "lcase" => self.case = Case::Lower,
            "ucase" => self.case = Case::Upper,
            "swab" => self.swab = true,
            "sync" => self.sync = true,
            "notrunc" => self.notrunc = true,
            // Nothing is kept back that these could force out.
            "fsync" | "fdatasync" => {}
            _ => return Err(format!("invalid conversion: '{word}'")),
        }
        Ok(())
    }
}

fn report(value: &str) -> Result<Report, String> {
    match value {
        "none" => Ok(Report::Nothing),
        "noxfer" => Ok(Report::Records),
        "progress" => Ok(Report::All),
        _ => Err(format!("invalid status level: '{value}'")),
    }
}

fn block(value: &str) -> Result<usize, String> {
    match number(value)? {
        0 => Err(format!("invalid number: '{value}'")),
        bytes @ 1..=BLOCK_BYTES_MAX => Ok(bytes as usize),
        _ => Err(format!("block size '{value}' is above {BLOCK_BYTES_MAX}")),
    }
}

/// `12`, `4k`, `1M`, `2x512`.
fn number(value: &str) -> Result<u64, String> {
    let wrong = || format!("invalid number: '{value}'");
    value.split('x').try_fold(1u64, |product, factor| {
        let digits = factor.trim_end_matches(|sign: char| !sign.is_ascii_digit());
        let unit = match &factor[digits.len()..] {
            "" | "c" => 1,
            "w" => 2,
            "b" => 512,
            "k" | "K" | "KiB" => 1 << 10,
            "kB" | "KB" => 1000,
            "M" | "MiB" => 1 << 20,
            "MB" => 1_000_000,
            "G" | "GiB" => 1 << 30,
            "GB" => 1_000_000_000,
            _ => return Err(wrong()),
        };
        let count: u64 = digits.parse().map_err(|_| wrong())?;
        count.checked_mul(unit).and_then(|it| it.checked_mul(product)).ok_or_else(wrong)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_units_and_factors() {
        let cases = [
            ("7", Some(7)),
            ("2b", Some(1024)),
            ("2x3k", Some(6144)),
            ("1MB", Some(1_000_000)),
            ("", None),
            ("k", None),
            ("1z", None),
        ];
        for (value, want) in cases {
            assert_eq!(number(value).ok(), want, "{value:?}");
        }
    }

    #[test]
    fn operands_are_checked() {
        let parse = |line: &str| Operands::parse(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert!(
            parse("if=a bs=2 count=1 conv=ucase,sync status=none").is_ok_and(|it| it.sync && it.obs == 2)
        );
        for line in ["bs=0", "nope=1", "conv=nope", "plain", "bs=64M", "status=x"] {
            assert!(parse(line).is_err(), "{line:?}");
        }
    }
}
