//! Every builtin in one table: its name, how the shell treats its words, and what runs it.
//!
//! Whoever asks whether a name is a builtin, lists them or treats one unlike other commands looks here; nothing else compares
//! names.

use drydock_contract::BoxFuture;

use super::{
    alias, bind, caller, complete, control, dirs, echo, getopts, hash, help, history, jobs, kill, lookup,
    mapfile, nested, printf, process, read, set, source, stack, test, trap, ulimit, unset,
};
use crate::state::{Env, Eval};

/// How a builtin differs from commands in what happens around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// In nothing.
    Plain,
    /// What follows it is a command: `command`, `builtin`.
    Prefix,
    /// Its arguments may be assignments.
    Declares,
    /// Without arguments, its redirections are the shell's from then on.
    KeepsDescriptors,
    /// Its words are parsed: what an expansion put there is no code unless that is allowed.
    TakesCode,
    /// It asks whether names are set, so an unknown one must be empty there.
    AsksIfSet,
}

type Run = for<'a> fn(&'a mut Env, &'a [String]) -> BoxFuture<'a, Eval<i32>>;

/// One of the shell's own commands.
pub(crate) struct Builtin {
    pub(crate) name: &'static str,
    role: Role,
    /// Runs it with all its words, the name first; answers its status.
    pub(crate) run: Run,
}

macro_rules! table {
    ($($name:literal $role:ident |$env:ident, $words:ident| $run:expr;)*) => {
        &[$(Builtin { name: $name, role: Role::$role, run: |$env, $words| Box::pin($run) }),*]
    };
}

/// Sorted by name.
#[rustfmt::skip]
const BUILTINS: &[Builtin] = table! {
    "." Plain |env, words| source::source(env, &words[0], &words[1..]);
    ":" Plain |_env, _words| async { Ok(0) };
    "[" AsksIfSet |env, words| test::run(env, words);
    "alias" Plain |env, words| alias::alias(env, &words[1..]);
    "bg" Plain |env, words| jobs::foreground(env, &words[0], &words[1..]);
    "bind" Plain |env, words| bind::run(env, &words[1..]);
    "break" Plain |env, words| control::leave_loop(env, &words[0], &words[1..]);
    "builtin" Prefix |env, words| lookup::builtin(env, &words[1..]);
    "caller" Plain |env, words| caller::run(env, &words[1..]);
    "cd" Plain |env, words| dirs::cd(env, &words[1..]);
    "command" Prefix |env, words| lookup::command(env, &words[1..]);
    "compgen" Plain |env, words| complete::compgen(env, &words[1..]);
    "complete" Plain |env, words| complete::complete(env, &words[1..]);
    "compopt" Plain |env, words| complete::compopt(env, &words[1..]);
    "continue" Plain |env, words| control::leave_loop(env, &words[0], &words[1..]);
    "declare" Declares |env, words| env.declare_words(words);
    "dirs" Plain |env, words| stack::dirs(env, &words[1..]);
    "disown" Plain |env, words| jobs::disown(env, &words[1..]);
    "echo" Plain |env, words| echo::run(env, &words[1..]);
    "enable" Plain |env, words| process::enable(env, &words[1..]);
    "eval" Plain |env, words| source::eval(env, &words[1..]);
    "exec" KeepsDescriptors |env, words| control::exec(env, &words[1..]);
    "exit" Plain |env, words| control::exit(env, &words[1..]);
    "export" Declares |env, words| env.declare_words(words);
    "false" Plain |_env, _words| async { Ok(1) };
    "fc" Plain |env, words| history::fc(env, &words[1..]);
    "fg" Plain |env, words| jobs::foreground(env, &words[0], &words[1..]);
    "getopts" Plain |env, words| getopts::run(env, &words[1..]);
    "hash" Plain |env, words| hash::run(env, &words[1..]);
    "help" Plain |env, words| help::run(env, &words[1..]);
    "history" Plain |env, words| history::history(env, &words[1..]);
    "jobs" Plain |env, words| jobs::jobs(env, &words[1..]);
    "kill" Plain |env, words| kill::run(env, &words[1..]);
    "let" AsksIfSet |env, words| control::let_(env, &words[1..]);
    "local" Declares |env, words| env.declare_words(words);
    "mapfile" Plain |env, words| mapfile::run(env, &words[0], &words[1..]);
    "popd" Plain |env, words| stack::popd(env, &words[1..]);
    "printf" Plain |env, words| printf::run(env, &words[1..]);
    "pushd" Plain |env, words| stack::pushd(env, &words[1..]);
    "pwd" Plain |env, words| dirs::pwd(env, &words[1..]);
    "read" AsksIfSet |env, words| read::run(env, &words[1..]);
    "readarray" Plain |env, words| mapfile::run(env, &words[0], &words[1..]);
    "readonly" Declares |env, words| env.declare_words(words);
    "return" Plain |env, words| control::give_back(env, &words[1..]);
    "set" Plain |env, words| set::set(env, &words[1..]);
    "shift" Plain |env, words| set::shift(env, &words[1..]);
    "shopt" Plain |env, words| set::shopt(env, &words[1..]);
    "source" Plain |env, words| source::source(env, &words[0], &words[1..]);
    "test" AsksIfSet |env, words| test::run(env, words);
    "times" Plain |env, _words| process::times(env);
    "trap" TakesCode |env, words| trap::run(env, &words[1..]);
    "true" Plain |_env, _words| async { Ok(0) };
    "type" Plain |env, words| lookup::type_of(env, &words[1..]);
    "typeset" Declares |env, words| env.declare_words(words);
    "ulimit" Plain |env, words| ulimit::run(env, &words[1..]);
    "umask" Plain |env, words| process::umask(env, &words[1..]);
    "unalias" Plain |env, words| alias::unalias(env, &words[1..]);
    "unset" AsksIfSet |env, words| unset::run(env, &words[1..]);
    "wait" Plain |env, words| jobs::wait(env, &words[1..]);
};

/// Commands elsewhere that only the shell can answer. One that is registered goes first.
const ANSWERED: &[Builtin] = table! {
    "bash" Plain |env, words| nested::run(env, words);
    "dash" Plain |env, words| nested::run(env, words);
    "sh" Plain |env, words| nested::run(env, words);
    "which" Plain |env, words| lookup::which(env, &words[1..]);
};

/// Where the names that begin with a byte begin, in a table that is sorted. Every command of a line is looked up here
/// several times, and most are not in it.
static FIRST: [u8; 128] = {
    let mut first = [0; 128];
    let (mut byte, mut at) = (0, 0);
    while byte < first.len() {
        while at < BUILTINS.len() && (BUILTINS[at].name.as_bytes()[0] as usize) < byte {
            at += 1;
        }
        first[byte] = at as u8;
        byte += 1;
    }
    first
};

/// The builtin of that name.
pub(crate) fn find(name: &str) -> Option<&'static Builtin> {
    let byte = *name.as_bytes().first()?;
    let at = usize::from(*FIRST.get(usize::from(byte))?);
    let mut alike = BUILTINS[at..].iter().take_while(|it| it.name.as_bytes()[0] == byte);
    alike.find(|it| it.name == name)
}

pub(crate) fn is_builtin(name: &str) -> bool {
    find(name).is_some()
}

/// How a command of that name is treated.
pub(crate) fn role(name: &str) -> Role {
    find(name).map_or(Role::Plain, |it| it.role)
}

/// Whether POSIX calls it special: in that mode no function stands before it, and assignments before it stay.
pub(crate) fn is_special(name: &str) -> bool {
    const SPECIAL: [&str; 15] = [
        ".", ":", "break", "continue", "eval", "exec", "exit", "export", "readonly", "return", "set",
        "shift", "times", "trap", "unset",
    ];
    SPECIAL.contains(&name) || name == "source"
}

/// Every builtin's name, sorted.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    BUILTINS.iter().map(|it| it.name)
}

/// The command of that name that the shell answers in the place of a program.
pub(crate) fn answered(name: &str) -> Option<&'static Builtin> {
    ANSWERED.iter().find(|it| it.name == name)
}

/// The names of those.
pub(crate) fn answered_names() -> impl Iterator<Item = &'static str> {
    ANSWERED.iter().map(|it| it.name)
}

#[test]
fn the_table_is_sorted_so_that_every_builtin_is_found() {
    assert!(BUILTINS.is_sorted_by_key(|it| it.name));
    assert_eq!(role("export"), Role::Declares);
    assert_eq!(role("cat"), Role::Plain);
}
