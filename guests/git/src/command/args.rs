//! A command's own line: options anywhere before `--`, then what is left.

use options::{Item, Order};

use crate::fail::{Done, usage};

/// A line taken apart.
#[derive(Debug, Default)]
pub struct Args {
    flags: Vec<(&'static str, Option<String>)>,
    /// What is no option and comes before `--`.
    pub words: Vec<String>,
    /// What comes after `--`.
    pub after: Vec<String>,
    /// Whether there was a `--`.
    pub dashes: bool,
}

impl Args {
    /// Reads a line by a table of options.
    pub fn parse(args: &[String], tables: &[&[&'static str]]) -> Done<Self> {
        let end = args.iter().position(|it| it == "--");
        let (line, after) = match end {
            Some(at) => (&args[..at], args[at + 1..].to_vec()),
            None => (args, Vec::new()),
        };
        // `-5` is `-n 5`.
        let line: Vec<String> = line
            .iter()
            .map(|it| match it.strip_prefix('-') {
                Some(digits) if !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit()) => {
                    format!("-n{digits}")
                }
                _ => it.clone(),
            })
            .collect();
        let table: Vec<&'static str> = tables.concat();
        let items = options::parse(&line, &table, Order::Anywhere).map_err(|text| usage(reworded(&text)))?;
        let mut all = Self { after, dashes: end.is_some(), ..Self::default() };
        for item in items {
            match item {
                Item::Flag(id, value) => all.flags.push((id, value)),
                Item::Operand(word) => all.words.push(word),
            }
        }
        Ok(all)
    }

    /// Whether an option was given.
    pub fn has(&self, id: &str) -> bool {
        self.flags.iter().any(|it| it.0 == id)
    }

    /// The last value of an option.
    pub fn value(&self, id: &str) -> Option<&str> {
        self.flags.iter().rev().find(|it| it.0 == id)?.1.as_deref()
    }

    /// All values of an option.
    pub fn values(&self, id: &str) -> Vec<String> {
        self.flags.iter().filter(|it| it.0 == id).filter_map(|it| it.1.clone()).collect()
    }

    /// Every option in order.
    pub fn flags(&self) -> impl Iterator<Item = (&'static str, Option<&str>)> {
        self.flags.iter().map(|it| (it.0, it.1.as_deref()))
    }

    /// Words before and after `--` together.
    pub fn all_words(&self) -> Vec<String> {
        self.words.iter().chain(&self.after).cloned().collect()
    }
}

/// GNU's words as git's.
fn reworded(text: &str) -> String {
    if let Some(name) = text.strip_prefix("unrecognized option '--").and_then(|it| it.strip_suffix('\'')) {
        return format!("unknown option `{}'", name.split('=').next().unwrap_or(name));
    }
    if let Some(letter) = text.strip_prefix("invalid option -- '").and_then(|it| it.strip_suffix('\'')) {
        return format!("unknown switch `{letter}'");
    }
    text.to_owned()
}
