//! The everyday vocabulary behind one dispatcher.
//!
//! One command line, several modules: the compiled whole would take the host too long to translate
//! on first use, so the applets are cut into [`parts`], each a program of its own. Every part knows
//! the list of all applets; the host chooses the part by the applet's name.
//!
//! The everyday ones are our own ([`own`], decision 0038); the others are the coreutils crates.

pub mod messages;
pub mod own;
pub mod parts;
pub mod stream;

use parts::Applet;
use std::ffi::{OsStr, OsString};
use std::io::Write as _;

#[cfg(target_family = "wasm")]
#[global_allocator]
static HEAP: heap::SmallBlocks = heap::SmallBlocks::new();

/// A misused dispatcher, as opposed to an applet that failed.
const USAGE: i32 = 2;

/// What ends a run of ours that is not the applet's own doing.
const INTERNAL: i32 = 125;

/// An applet that gives up says so and ends; it never traps. Whoever stopped reading is told nothing.
fn never_trap() {
    std::panic::set_hook(Box::new(|panic| {
        let said = panic.payload_as_str().unwrap_or("unknown");
        if said.contains("failed printing to") {
            std::process::exit(1);
        }
        let name = std::env::args_os().next().map(|it| base_name(&it)).unwrap_or_default();
        let _ = writeln!(std::io::stderr(), "{name}: internal error: {said}");
        std::process::exit(INTERNAL);
    }));
}

/// Runs the applet named by the program's name, or else by its first argument.
pub fn run(find: fn(&str) -> Option<Applet>) -> ! {
    place::enter();
    never_trap();
    let mut args: Vec<OsString> = std::env::args_os().collect();
    let called = args.first().map(|it| base_name(it)).unwrap_or_default();
    if !parts::all().any(|name| name == called) {
        args.drain(..1.min(args.len()));
        uucore::set_utility_is_second_arg();
    }
    std::process::exit(dispatch(args, find))
}

fn dispatch(args: Vec<OsString>, find: fn(&str) -> Option<Applet>) -> i32 {
    let name = args.first().map(|it| base_name(it)).unwrap_or_default();
    if let Some(applet) = find(&name) {
        let words: Vec<&[u8]> = args.iter().skip(1).map(|arg| arg.as_encoded_bytes()).collect();
        let (main, messages, app) = match applet {
            Applet::Own(main) => return main(&words),
            Applet::Theirs { main, messages, app } => (main, messages, app),
        };
        messages::install(messages);
        // It fails only without messages, and then an applet prints their ids.
        let _ = uucore::locale::setup_localization(&name);
        // Theirs complains when nobody reads all of it.
        let asks = args.iter().skip(1).take_while(|arg| *arg != "--").any(|arg| arg == "--help");
        if asks {
            return print(&app().render_help().to_string());
        }
        return main(args.into_iter());
    }
    match name.as_str() {
        "" => complain("wbox: missing applet\nTry `wbox --list` for the names."),
        "--list" => print(&list()),
        "--help" | "-h" => print(&help()),
        "--version" | "-V" => print(concat!("wbox ", env!("CARGO_PKG_VERSION"), "\n")),
        known if parts::all().any(|it| it == known) => {
            complain(&format!("wbox: applet `{known}` is in another module of wbox"))
        }
        unknown => complain(&format!("wbox: unknown applet `{unknown}`")),
    }
}

fn base_name(path: &OsStr) -> String {
    let path = path.to_string_lossy();
    path.rsplit('/').next().unwrap_or_default().to_owned()
}

fn list() -> String {
    let mut names: Vec<&str> = parts::all().collect();
    names.sort_unstable();
    names.iter().map(|name| format!("{name}\n")).collect()
}

fn help() -> String {
    format!(
        "Usage: wbox APPLET [ARGUMENT]...\n\
         \x20  or: wbox --list\n\n\
         Runs one of {} small commands. `wbox APPLET --help` tells what it takes.\n",
        parts::all().count()
    )
}

fn print(text: &str) -> i32 {
    let written = std::io::stdout().write_all(text.as_bytes());
    i32::from(written.is_err())
}

fn complain(text: &str) -> i32 {
    let _ = writeln!(std::io::stderr(), "{text}");
    USAGE
}
