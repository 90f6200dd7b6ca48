//! The options there are, as a table: how each takes its value, and what it means here.

use crate::line::Until;

/// What an option means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// How far to go.
    Until(Until),
    /// Where the result goes.
    Output,
    /// `-x`.
    Language,
    /// `-O…`.
    Optimise,
    /// Passed to every compilation.
    Compile,
    /// `-lNAME`.
    Library,
    /// `-LDIR`.
    Folder,
    /// `-Wl,…`.
    Linker,
    /// `-Xlinker WORD`.
    LinkerWord,
    Strip,
    /// `-u NAME`.
    Undefined,
    /// No libraries but those that are named.
    Bare,
    /// It changes nothing here.
    Dropped,
    /// It cannot be had, and the program would not be what was asked for.
    Refused(&'static str),
    Verbose,
    Dry,
    /// Answered by clang itself.
    Question,
}

/// How an option takes its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    /// Attached, or else the next word.
    Either,
    /// The next word.
    Next,
    /// Whatever is attached; the table's name is a beginning.
    Rest,
}

/// Where the value of an option is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    None,
    Attached(&'a str),
    Next,
}

struct Row(&'static str, Takes, Meaning);

const THREADS: &str = "a program has one thread";
const STATIC: &str = "programs are linked statically, so there is nothing to load at run time";
const RUNTIME: &str = "its run-time library is not in the sysroot";

/// Longer names come before their beginnings.
const TABLE: &[Row] = &[
    Row("-###", Takes::Nothing, Meaning::Dry),
    Row("-c", Takes::Nothing, Meaning::Until(Until::Object)),
    Row("-S", Takes::Nothing, Meaning::Until(Until::Assembly)),
    Row("-E", Takes::Nothing, Meaning::Until(Until::Preprocessed)),
    Row("-M", Takes::Nothing, Meaning::Until(Until::Preprocessed)),
    Row("-MM", Takes::Nothing, Meaning::Until(Until::Preprocessed)),
    Row("-fsyntax-only", Takes::Nothing, Meaning::Until(Until::Checked)),
    Row("-o", Takes::Either, Meaning::Output),
    Row("-x", Takes::Either, Meaning::Language),
    Row("-v", Takes::Nothing, Meaning::Verbose),
    Row("--verbose", Takes::Nothing, Meaning::Verbose),
    Row("--version", Takes::Nothing, Meaning::Question),
    Row("--help", Takes::Rest, Meaning::Question),
    Row("-dumpversion", Takes::Nothing, Meaning::Question),
    Row("-dumpmachine", Takes::Nothing, Meaning::Question),
    Row("-dumpfullversion", Takes::Nothing, Meaning::Question),
    Row("-print-", Takes::Rest, Meaning::Question),
    Row("--print-", Takes::Rest, Meaning::Question),
    Row("-l", Takes::Either, Meaning::Library),
    Row("-L", Takes::Either, Meaning::Folder),
    Row("-Wl,", Takes::Rest, Meaning::Linker),
    Row("-Xlinker", Takes::Next, Meaning::LinkerWord),
    Row("-u", Takes::Either, Meaning::Undefined),
    Row("-s", Takes::Nothing, Meaning::Strip),
    Row("-nostdlib", Takes::Nothing, Meaning::Bare),
    Row("-nodefaultlibs", Takes::Nothing, Meaning::Bare),
    Row("-O", Takes::Rest, Meaning::Optimise),
    Row("-shared", Takes::Nothing, Meaning::Refused(STATIC)),
    Row("-fopenmp", Takes::Rest, Meaning::Refused(THREADS)),
    Row("-fsanitize=", Takes::Rest, Meaning::Refused(RUNTIME)),
    Row("--coverage", Takes::Nothing, Meaning::Refused(RUNTIME)),
    Row("-fprofile-", Takes::Rest, Meaning::Refused(RUNTIME)),
    Row("-pg", Takes::Nothing, Meaning::Refused(RUNTIME)),
    Row("-B", Takes::Either, Meaning::Dropped),
    Row("-T", Takes::Either, Meaning::Dropped),
    // A program of one thread may still include <pthread.h>; creating one fails when it is called.
    Row("-pthread", Takes::Nothing, Meaning::Dropped),
    Row("-static", Takes::Rest, Meaning::Dropped),
    Row("-rdynamic", Takes::Nothing, Meaning::Dropped),
    Row("-pie", Takes::Nothing, Meaning::Dropped),
    Row("-no-pie", Takes::Nothing, Meaning::Dropped),
    Row("-nopie", Takes::Nothing, Meaning::Dropped),
    Row("-pipe", Takes::Nothing, Meaning::Dropped),
    Row("-save-temps", Takes::Rest, Meaning::Dropped),
    Row("-f", Takes::Rest, Meaning::Compile),
    Row("-m", Takes::Rest, Meaning::Dropped),
    Row("-specs=", Takes::Rest, Meaning::Dropped),
    Row("-Wa,", Takes::Rest, Meaning::Dropped),
    Row("-D", Takes::Either, Meaning::Compile),
    Row("-U", Takes::Either, Meaning::Compile),
    Row("-include", Takes::Next, Meaning::Compile),
    Row("-imacros", Takes::Next, Meaning::Compile),
    Row("-isystem", Takes::Either, Meaning::Compile),
    Row("-iquote", Takes::Either, Meaning::Compile),
    Row("-idirafter", Takes::Either, Meaning::Compile),
    Row("-isysroot", Takes::Either, Meaning::Dropped),
    Row("--sysroot", Takes::Rest, Meaning::Dropped),
    Row("-I", Takes::Either, Meaning::Compile),
    Row("-MF", Takes::Either, Meaning::Compile),
    Row("-MT", Takes::Either, Meaning::Compile),
    Row("-MQ", Takes::Either, Meaning::Compile),
    Row("-Xpreprocessor", Takes::Next, Meaning::Compile),
    Row("-Xclang", Takes::Next, Meaning::Compile),
    Row("-mllvm", Takes::Next, Meaning::Compile),
    Row("--param", Takes::Next, Meaning::Dropped),
    Row("--param=", Takes::Rest, Meaning::Dropped),
    Row("-target", Takes::Next, Meaning::Refused("there is one target, wasm32-wasip1")),
    Row("--target=", Takes::Rest, Meaning::Refused("there is one target, wasm32-wasip1")),
    Row("-", Takes::Rest, Meaning::Compile),
];

/// Options of code generation that gcc takes and that mean nothing, or something unwanted, to clang here.
const DROPPED: &[&str] = &[
    "-fPIC",
    "-fpic",
    "-fPIE",
    "-fpie",
    "-fno-pie",
    "-fno-PIE",
    "-fno-plt",
    "-flto",
    "-fno-lto",
    "-ffat-lto-objects",
    "-fuse-linker-plugin",
    "-fwhole-program",
    "-fstack-clash-protection",
    "-fcf-protection",
    "-fuse-ld",
    "-fno-semantic-interposition",
    "-fdiagnostics-color",
];

/// The row of an option: its name in the table, and what it means.
pub(crate) fn find(arg: &str) -> Result<(&'static str, Meaning), String> {
    if DROPPED
        .iter()
        .any(|it| arg.strip_prefix(*it).is_some_and(|rest| rest.is_empty() || rest.starts_with('=')))
        || arg.starts_with("-fstack-protector")
    {
        return Ok(("-f", Meaning::Dropped));
    }
    // Of clang's own, those that choose what is made and how; the others are names of machines.
    if arg == "-mllvm" {
        return Ok(("-mllvm", Meaning::Compile));
    }
    let fits = |row: &&Row| match row.1 {
        Takes::Nothing | Takes::Next => arg == row.0,
        Takes::Either | Takes::Rest => arg.starts_with(row.0),
    };
    let mut found: Option<&Row> = None;
    for row in TABLE.iter().filter(fits) {
        if found.is_none_or(|it| row.0.len() > it.0.len()) {
            found = Some(row);
        }
    }
    found.map(|row| (row.0, row.2)).ok_or_else(|| format!("unrecognized command-line option '{arg}'"))
}

/// Where its value is.
pub(crate) fn value<'a>(arg: &'a str, name: &str, meaning: Meaning) -> Value<'a> {
    let Some(row) = TABLE.iter().find(|it| it.0 == name && it.2 == meaning) else { return Value::None };
    let rest = arg.get(name.len()..).unwrap_or_default();
    match row.1 {
        Takes::Nothing => Value::None,
        Takes::Next => Value::Next,
        Takes::Either if rest.is_empty() => Value::Next,
        Takes::Either | Takes::Rest => Value::Attached(rest),
    }
}
