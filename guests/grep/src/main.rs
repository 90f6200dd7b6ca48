//! The guest `grep`: GNU grep's command line, output and exit codes around ripgrep's matcher.
//!
//! `main` is the table of contents: arguments, patterns, files, exit status. Patterns in POSIX syntax
//! are read by the crate `posix-regex`, which also matches those with back-references.

mod cli;
mod color;
mod matching;
mod output;
mod search;
mod walk;

use cli::Request;
use std::io::Write as _;
use std::process::exit;

#[cfg(target_family = "wasm")]
#[global_allocator]
static HEAP: heap::SmallBlocks = heap::SmallBlocks::new();

/// Exit codes, as GNU has them.
const FOUND: i32 = 0;
const NOT_FOUND: i32 = 1;
const TROUBLE: i32 = 2;

fn main() {
    place::enter();
    let mut args: Vec<String> = std::env::args_os().map(|it| it.to_string_lossy().into_owned()).collect();
    let valued = [("-e", 1), ("-m", 1), ("-A", 1), ("-B", 1), ("-C", 1)];
    match first_line::arguments(&["grep", "egrep", "fgrep"], &valued) {
        Some(Ok(line)) => exit(run(&line)),
        Some(Err(cause)) => exit(trouble(&format!("could not read the first line: {cause}"))),
        None => {}
    }
    // The old names are flags; a later flag still wins.
    match args.first_mut() {
        Some(name) if name.ends_with("egrep") => "-E".clone_into(name),
        Some(name) if name.ends_with("fgrep") => "-F".clone_into(name),
        Some(_) => drop(args.remove(0)),
        None => {}
    }
    exit(run(&args))
}

fn run(args: &[String]) -> i32 {
    let options = match cli::parse(args) {
        Ok(Request::Run(options)) => options,
        Ok(Request::Print(text)) => {
            let written = std::io::stdout().write_all(text.as_bytes());
            return if written.is_ok() { FOUND } else { TROUBLE };
        }
        Err(problem) => return trouble(&problem),
    };
    // Nothing is asked for, so nothing is read: neither patterns nor files.
    if options.count_max == Some(0) && options.report != cli::Report::FilesWithout {
        return NOT_FOUND;
    }
    let patterns = match cli::patterns(&options) {
        Ok(patterns) => patterns,
        Err(problem) => return trouble(&problem),
    };
    match matching::Matcher::new(&patterns, &options) {
        Ok(matcher) => search::run(&options, &matcher),
        Err(problem) => trouble(&problem),
    }
}

fn trouble(problem: &str) -> i32 {
    let _ = writeln!(std::io::stderr(), "grep: {problem}");
    TROUBLE
}
