//! The guest `rg`: ripgrep's command line around ripgrep's own crates.
//!
//! One thread and no terminal, so output is what rg writes into a pipe, and files come sorted by
//! path. PCRE is not there.

mod cli;
mod files;
mod help;
mod pattern;
mod search;
mod settings;
mod summary;

use std::io::Write as _;

#[cfg(target_family = "wasm")]
#[global_allocator]
static HEAP: heap::SmallBlocks = heap::SmallBlocks::new();

/// Exit codes, as ripgrep has them.
const FOUND: i32 = 0;
const NOT_FOUND: i32 = 1;
const TROUBLE: i32 = 2;

fn main() {
    place::enter();
    std::process::exit(run(&options::arguments()))
}

fn run(args: &[String]) -> i32 {
    let settings = match cli::parse(args) {
        Ok(cli::Request::Run(settings)) => settings,
        Ok(cli::Request::Print(text)) => return print(&text),
        Err(problem) => return trouble(&problem),
    };
    if settings.list_types {
        return match files::types(&settings) {
            Ok(text) => print(&text),
            Err(problem) => trouble(&problem),
        };
    }
    let roots = files::Roots::of(&settings);
    if settings.list_files {
        return files::list(&settings, &roots);
    }
    match pattern::matcher(&settings) {
        Ok(matcher) => search::run(&settings, &roots, &matcher),
        Err(problem) => trouble(&problem),
    }
}

fn print(text: &str) -> i32 {
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => FOUND,
        Err(_) => TROUBLE,
    }
}

fn trouble(problem: &str) -> i32 {
    let _ = writeln!(std::io::stderr(), "rg: {problem}");
    TROUBLE
}
