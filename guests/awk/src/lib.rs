//! awk: the POSIX language and what gawk's users rely on.
//!
//! [`run`] is the table of contents: arguments, program, run, exit status. What other commands do
//! (`system`, pipes to and from them) is asked of the host, except output to `sort` and `cat`, which awk
//! does itself.

mod array;
mod ast;
mod cli;
mod command;
mod format;
mod input;
mod interp;
mod lexer;
mod number;
mod output;
mod parse;
mod pattern;
mod sort;
mod time;
mod value;

use cli::Request;
use std::ffi::OsString;
use std::io::Write as _;

pub use parse::parse;

/// Wrong usage or program.
const BAD_USAGE: i32 = 1;
const FATAL: i32 = 2;

/// Runs with all arguments; the exit status.
pub fn run(args: impl Iterator<Item = OsString>) -> i32 {
    let args: Vec<Vec<u8>> = args.skip(1).map(OsString::into_encoded_bytes).collect();
    let options = match cli::parse(&args) {
        Ok(Request::Run(options)) => options,
        Ok(Request::Print(text)) => {
            let written = std::io::stdout().write_all(text.as_bytes());
            return i32::from(written.is_err());
        }
        Err((status, problem)) => {
            complain(&problem);
            return status;
        }
    };
    match parse::parse(&options.program) {
        Ok(program) => interp::run(&program, *options),
        Err(problem) => {
            complain(&problem);
            if problem.starts_with("fatal: ") { FATAL } else { BAD_USAGE }
        }
    }
}

fn complain(problem: &str) {
    // There is nobody left to tell that standard error is closed.
    let _ = writeln!(std::io::stderr(), "awk: {problem}");
}
