//! jq's language, values and habits: what the guests `jq` and `yq` are both made of.
//!
//! A program is parsed ([`syntax`]), its names are looked up ([`compile`]), and it runs over values
//! ([`run`]). Nothing is prepared that a program does not use, so a short run starts at once.

pub mod cli;
pub mod compile;
pub mod error;
pub mod exec;
pub mod natives;
pub mod read;
pub mod regex;
pub mod run;
pub mod stdio;
pub mod syntax;
pub mod value;
pub mod write;

use error::Failure;

/// Runs with the arguments after the name; the exit status.
pub fn run(args: &[String]) -> Result<i32, Failure> {
    match cli::parse(args)? {
        cli::Request::Help => {
            stdio::print(cli::HELP.as_bytes());
            Ok(0)
        }
        cli::Request::Version => {
            stdio::print(b"jq-1.7.1\n");
            Ok(0)
        }
        cli::Request::Run(options) => exec::run(*options),
    }
}

/// Ends the run at once, from wherever a program says `halt`.
pub fn halt(status: i32) -> ! {
    stdio::flush();
    std::process::exit(status)
}
