//! Tables of comma separated values: `xan NAME …` cuts, joins, counts and converts them.
//!
//! Rows stream wherever a command can do its work that way; what must see all rows keeps them, and
//! then memory is the limit. A row with more or fewer cells than the first is an error that names
//! its line: guessing would put values under the wrong names.

mod call;
mod commands;
mod condition;
mod expression;
mod json;
mod lines;
mod number;
mod select;
mod table;
#[cfg(test)]
mod tests;

pub use select::Base;

use call::{Call, Failure};
use commands::{COMMANDS, Command};
use options::{Item, Order};
use std::io::{Read, Write};

/// What every command takes.
const COMMON: &[&str] = &["d,delimiter=", "n,no-headers", "o,output=", "h,help"];
const COMMON_HELP: &str = "
Common options:
  -d, --delimiter CHAR   what separates the cells of the input; \\t or tab for a tab
                         (a comma; in files called .tsv or .tab a tab, in .ssv a semicolon)
  -n, --no-headers       the first row is data like the others
  -o, --output FILE      write there instead of to standard output
  -h, --help             print this and exit

A missing FILE, and `-`, mean standard input.
";

/// Runs one command line; the status, and what to say on standard error.
pub fn run(args: &[String], base: Base, stdin: Box<dyn Read>, mut stdout: Box<dyn Write>) -> (i32, String) {
    let program = match base {
        Base::Zero => "xan",
        Base::One => "qsv",
    };
    let mut say = |text: String| i32::from(stdout.write_all(text.as_bytes()).is_err());
    let usage =
        |text: &str| (2, format!("{program}: {text}\nTry '{program} --help' for more information.\n"));
    let Some((name, rest)) = args.split_first() else { return usage("no command was given") };
    match name.as_str() {
        "-h" | "--help" | "help" if rest.is_empty() => return (say(overview(program)), String::new()),
        "-V" | "--version" => {
            return (say(format!("{program} {} (drydock)\n", env!("CARGO_PKG_VERSION"))), String::new());
        }
        _ => {}
    }
    let (wanted, rest) = match (name.as_str(), rest.first()) {
        ("help", Some(wanted)) => (wanted.as_str(), None),
        _ => (name.as_str(), Some(rest)),
    };
    let Some(command) = COMMANDS.iter().find(|it| it.name == wanted || it.also.contains(&wanted)) else {
        return usage(&format!("there is no command '{wanted}'"));
    };
    let help = || format!("Usage: {program} {}{COMMON_HELP}", command.help);
    let Some(rest) = rest else { return (say(help()), String::new()) };
    let mut call = match read(command, rest, base) {
        Ok(call) if call.has("h") => return (say(help()), String::new()),
        Ok(call) => call,
        Err(problem) => return usage(&format!("{}: {problem}", command.name)),
    };
    call.lend(stdin, stdout);
    match (command.run)(&mut call) {
        // Nobody reads any more, and that is the reader's good right.
        Ok(()) | Err(Failure::Closed) => (0, String::new()),
        Err(Failure::Usage(problem)) => usage(&format!("{}: {problem}", command.name)),
        Err(Failure::Failed(problem)) => (1, format!("{program} {}: {problem}\n", command.name)),
    }
}

fn read(command: &Command, args: &[String], base: Base) -> Result<Call, String> {
    let table: Vec<&'static str> = COMMON.iter().chain(command.options).copied().collect();
    let mut call = Call::new(base);
    for item in options::parse(args, &table, Order::Anywhere)? {
        match item {
            Item::Flag(id, value) => call.flags.push((id, value)),
            Item::Operand(text) => call.operands.push(text),
        }
    }
    let (least, most) = command.operands;
    match call.operands.len() {
        _ if call.has("h") => Ok(call),
        given if given < least => Err("an operand is missing".to_owned()),
        given if given > most => Err(format!("extra operand '{}'", call.operands[most])),
        _ => Ok(call),
    }
}

fn overview(program: &str) -> String {
    let mut text = format!("Usage: {program} COMMAND [options] [FILE]\n\nCommands:\n");
    for command in COMMANDS {
        let summary = command.help.lines().nth(1).unwrap_or_default();
        text.push_str(&format!("  {:<12} {}\n", command.name, summary));
    }
    text.push_str(&format!("\n'{program} COMMAND --help' tells more of one.\n"));
    text
}
