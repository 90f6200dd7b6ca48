//! GNU sed: its language, command line, messages and exit codes.
//!
//! [`run`] is the table of contents: arguments, script, input, exit status. What needs another process
//! (`e`, and the flag `e` of `s`) is refused when the script is read.

mod cli;
mod exec;
mod input;
mod output;
mod script;

use cli::Request;
use std::ffi::OsString;
use std::io::Write as _;

pub use script::{Dialect, Part, Script, parse};

/// Wrong usage or script.
const BAD_USAGE: i32 = 1;
const PANIC: i32 = 4;

/// Runs with the arguments after the program's name; the exit status.
pub fn run(args: impl Iterator<Item = OsString>) -> i32 {
    let args: Vec<Vec<u8>> = args.map(OsString::into_encoded_bytes).collect();
    let options = match cli::parse(&args) {
        Ok(Request::Run(options)) => options,
        Ok(Request::Print(text)) => {
            let written = std::io::stdout().write_all(text.as_bytes());
            return i32::from(written.is_err());
        }
        Err(problem) => {
            complain(&problem);
            return if problem.starts_with("sed: couldn't open file") { PANIC } else { BAD_USAGE };
        }
    };
    match script::parse(&options.parts, options.dialect) {
        Ok(_) if options.in_place.is_some() && options.files.is_empty() => {
            complain("sed: no input files");
            PANIC
        }
        Ok(script) => exec::run(script, &options),
        Err(problem) => {
            complain(&problem);
            // GNU sed finds out about a missing label later, when it gives up with another status.
            if problem.starts_with("sed: can't find label") { PANIC } else { BAD_USAGE }
        }
    }
}

fn complain(problem: &str) {
    // There is nobody left to tell that standard error is closed.
    let _ = writeln!(std::io::stderr(), "{problem}");
}
