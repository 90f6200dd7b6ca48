//! The definitions and functions a program can call, and the compiler over them.
//!
//! Reading the definitions takes longer than running a short program, so [`prepare`] does it when
//! the module is built and the parsed form is found in memory at start. Of that, only what the
//! program can reach is compiled.

mod base32;
mod meaning;
mod natives;
mod paths;
mod reach;
mod regex;
mod report;
mod rewrite;
mod scalars;
mod spelling;
mod table;
pub mod wording;

use crate::data::Kind;
use crate::error::Failure;
use jaq_core::load::{Arena, File, Loader, parse::Def};
use jaq_core::native::Fun;
use jaq_core::{Compiler, Filter};
use std::path::PathBuf;
use std::sync::Mutex;

/// Later definitions of a name hide earlier ones, so ours come last.
const OURS: &str = include_str!("ours.jq");

/// The name of the program as a definition.
const MAIN: &str = "_main";
/// What the rewritten program calls.
const CALLED: [&str; 2] = ["_assign", "_modify"];

/// Native functions, and what our definitions call them.
const WRAPPED: [(&str, &str); 11] = [
    ("range", "range_native"),
    ("has", "has_native"),
    ("keys_unsorted", "keys_native"),
    ("contains", "contains_native"),
    ("indices", "indices_native"),
    ("reverse", "reverse_native"),
    ("utf8bytelength", "utf8bytelength_native"),
    ("implode", "implode_native"),
    ("limit", "limit_native"),
    ("strftime", "strftime_native"),
    ("strptime", "strptime_native"),
];

struct Library {
    defs: Vec<Def>,
    /// The names each definition mentions.
    mentions: Vec<Vec<&'static str>>,
    funs: Vec<Fun<Kind>>,
}

static READY: Mutex<Option<Library>> = Mutex::new(None);

/// Parses the definitions, to be found by a later [`compile`].
pub fn prepare() {
    if let Ok(mut ready) = READY.lock() {
        *ready = Some(Library::new());
    }
}

/// Compiles `program`, which may use the variables `globals` and modules below `folders`.
pub fn compile(program: &str, globals: &[String], folders: &[String]) -> Result<Filter<Kind>, Failure> {
    let program = &spelling::normal(program);
    let ready = READY.lock().ok().and_then(|mut ready| ready.take());
    let library = ready.unwrap_or_else(Library::new);
    let (mut defs, funs) = library.reachable_from(program);

    // A program without modules becomes one more definition, so that it can be rewritten; one with
    // errors, or with modules, is left to the loader as it is.
    let parsed = jaq_core::load::parse(program, |parser| parser.term());
    let code = match parsed {
        _ if program.trim().is_empty() => ".",
        Some(mut body) => {
            rewrite::assignments(&mut body);
            meaning::apply(&mut body);
            defs.push(Def { name: MAIN, args: Vec::new(), body });
            MAIN
        }
        None => program,
    };
    let folders: Vec<PathBuf> = folders.iter().map(PathBuf::from).collect();
    let arena = Arena::default();
    let file = File { path: PathBuf::from("."), code };
    let modules = Loader::new(defs)
        .with_std_read(&folders)
        .load(&arena, file)
        .map_err(|errors| Failure::Compile(report::loading(errors)))?;
    Compiler::default()
        .with_funs(funs)
        .with_global_vars(globals.iter().map(String::as_str))
        .compile(modules)
        .map_err(|errors| Failure::Compile(report::compiling(errors, program)))
}

impl Library {
    fn new() -> Self {
        let ours = jaq_core::load::parse(OURS, |parser| parser.defs())
            .expect("our definitions parse: see the tests");
        let defs: Vec<Def> =
            jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs()).chain(ours).collect();
        let mentions = defs.iter().map(reach::mentions).collect();
        // The first function of a name is the one that is called.
        let ours = natives::funs().chain(scalars::funs()).chain(theirs().filter_map(wrapped));
        let funs = ours.chain(theirs());
        let inputs = jaq_std::input::funs().into_vec().into_iter().map(jaq_core::native::run);
        Self { defs, mentions, funs: funs.chain(inputs).collect() }
    }

    /// The definitions and functions that `program` can get to.
    fn reachable_from<'s>(self, program: &'s str) -> (Vec<Def<&'s str>>, Vec<Fun<Kind>>) {
        let mut names = reach::words(program);
        if program.contains('=') {
            names.extend(CALLED);
        }
        names.extend(meaning::CALLED.iter().filter(|name| meaning::may_call(program, name)));
        if names.contains("import") || names.contains("include") {
            return (self.defs, self.funs);
        }
        // A definition can only call earlier ones and itself, so one pass from the end suffices.
        let mut kept: Vec<Def<&'s str>> = Vec::new();
        for (def, mentions) in self.defs.into_iter().zip(self.mentions).rev() {
            if names.contains(def.name) {
                names.extend(mentions);
                kept.push(def);
            } else {
                // Taking it apart would cost more than the run; the memory dies with the guest.
                std::mem::forget((def, mentions));
            }
        }
        kept.reverse();
        let funs = self.funs.into_iter().filter(|(name, ..)| names.contains(name)).collect();
        (kept, funs)
    }
}

fn theirs() -> impl Iterator<Item = Fun<Kind>> {
    jaq_core::funs().chain(jaq_std::funs()).chain(jaq_json::funs())
}

/// The function under its other name, if a definition of ours calls it by that.
fn wrapped((name, args, native): Fun<Kind>) -> Option<Fun<Kind>> {
    let (_, other) = WRAPPED.iter().find(|(known, _)| *known == name)?;
    Some((other, args, native))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_definitions_parse_and_compile_together() {
        let library = Library::new();
        let every: Vec<&str> = library.defs.iter().map(|def| def.name).collect();
        assert!(every.contains(&"ltrimstr") || every.contains(&"tostream"));
        // `include` in a string keeps everything, so that a definition that cannot compile shows.
        assert!(compile("\"include\" | .", &[], &[]).is_ok());
    }

    #[test]
    fn only_what_a_program_can_reach_is_compiled() {
        let (defs, funs) = Library::new().reachable_from("map(. + 1)");
        assert_eq!(defs.iter().map(|def| def.name).collect::<Vec<_>>(), ["map"]);
        assert!(funs.is_empty());
        let (defs, _) = Library::new().reachable_from("with_entries(.value += 1)");
        assert!(defs.iter().any(|def| def.name == "from_entries"));
    }
}
