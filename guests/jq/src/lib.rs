//! jq's language, values and habits: what the guests `jq` and `yq` are both made of.
//!
//! The library of definitions can be made ready before the first run: the build calls
//! `wizer-initialize` and keeps the memory it leaves behind (see [`library`]).

pub mod cli;
pub mod data;
pub mod error;
pub mod exec;
pub mod input;
pub mod library;
pub mod output;
pub mod stdio;

use error::Failure;

/// Runs with the arguments after the name; the exit status.
pub fn run(args: &[String]) -> Result<i32, Failure> {
    match cli::parse(args)? {
        cli::Request::Help => {
            stdio::print(cli::HELP.as_bytes());
            Ok(0)
        }
        cli::Request::Version => {
            stdio::print(concat!("jq-1.7-drydock-", env!("CARGO_PKG_VERSION"), "\n").as_bytes());
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
