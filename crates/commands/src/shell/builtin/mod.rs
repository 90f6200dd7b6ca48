//! The shell's own commands: those that must see or change its state, and the few that are too
//! small to be worth a guest.

mod alias;
mod caller;
mod complete;
mod control;
mod dirs;
mod getopts;
mod hash;
mod history;
mod jobs;
mod kill;
pub(crate) mod lookup;
mod mapfile;
pub(crate) mod nested;
mod printf;
mod process;
mod read;
mod set;
mod signals;
mod source;
mod stack;
mod test;
mod trap;
mod unset;

pub(crate) use signals::signal_name;

use super::state::{Env, Eval};
use super::text;

/// Every builtin.
pub(crate) const NAMES: [&str; 57] = [
    ".",
    ":",
    "[",
    "alias",
    "bg",
    "break",
    "builtin",
    "caller",
    "cd",
    "command",
    "compgen",
    "complete",
    "compopt",
    "continue",
    "declare",
    "dirs",
    "disown",
    "echo",
    "enable",
    "eval",
    "exec",
    "exit",
    "export",
    "false",
    "fc",
    "fg",
    "getopts",
    "hash",
    "history",
    "jobs",
    "kill",
    "let",
    "local",
    "mapfile",
    "popd",
    "printf",
    "pushd",
    "pwd",
    "read",
    "readarray",
    "readonly",
    "return",
    "set",
    "shift",
    "shopt",
    "source",
    "test",
    "times",
    "trap",
    "true",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "wait",
];

pub(crate) fn is_builtin(name: &str) -> bool {
    NAMES.binary_search(&name).is_ok()
}

impl Env {
    /// Writes text to stdout.
    pub(crate) async fn print(&mut self, line: &str) -> Eval<()> {
        let bytes = text::to_bytes(line).into_owned();
        if !self.write(1, &bytes).await? {
            self.status = 1;
        }
        Ok(())
    }
}

/// Runs the builtin `words[0]`; answers its status.
pub(crate) async fn run(env: &mut Env, words: &[String]) -> Eval<i32> {
    let args = &words[1..];
    match words[0].as_str() {
        ":" | "true" => Ok(0),
        "false" => Ok(1),
        "echo" => echo(env, args).await,
        "printf" => printf::run(env, args).await,
        "read" => read::run(env, args).await,
        "mapfile" | "readarray" => mapfile::run(env, &words[0], args).await,
        "test" | "[" => test::run(env, words).await,
        "cd" => dirs::cd(env, args).await,
        "pwd" => {
            if let Some(bad) =
                args.iter().find(|it| it.starts_with('-') && !matches!(it.as_str(), "-L" | "-P" | "--"))
            {
                env.complain(&format!("pwd: {bad}: invalid option")).await?;
                return Ok(2);
            }
            let physical = args.iter().rev().find(|it| *it != "--").is_some_and(|it| it == "-P");
            let line = match physical {
                true => format!("{}\n", env.physical(&env.cwd)),
                false => format!("{}\n", env.cwd),
            };
            let bytes = text::to_bytes(&line).into_owned();
            Ok(i32::from(!env.write(1, &bytes).await?))
        }
        "pushd" => stack::pushd(env, args).await,
        "popd" => stack::popd(env, args).await,
        "dirs" => stack::dirs(env, args).await,
        "type" => lookup::type_of(env, args).await,
        "command" => lookup::command(env, args).await,
        "builtin" => lookup::builtin(env, args).await,
        "getopts" => getopts::run(env, args).await,
        "trap" => trap::run(env, args).await,
        "exit" => control::exit(env, args).await,
        "return" => control::give_back(env, args).await,
        "break" | "continue" => control::leave_loop(env, &words[0], args).await,
        "set" => set::set(env, args).await,
        "shopt" => set::shopt(env, args).await,
        "shift" => set::shift(env, args).await,
        "unset" => unset::run(env, args).await,
        "let" => control::let_(env, args).await,
        "eval" => source::eval(env, args).await,
        "source" | "." => source::source(env, &words[0], args).await,
        "exec" => control::exec(env, args).await,
        "wait" => jobs::wait(env, args).await,
        "kill" => kill::run(env, args).await,
        "disown" => jobs::disown(env, args).await,
        "jobs" => jobs::jobs(env, args).await,
        "fg" | "bg" => jobs::foreground(env, &words[0], args).await,
        "history" => history::history(env, args).await,
        "fc" => history::fc(env, args).await,
        "umask" => process::umask(env, args).await,
        "ulimit" => process::ulimit(env, args).await,
        "hash" => hash::run(env, args).await,
        "enable" => process::enable(env, args).await,
        "compgen" => complete::compgen(env, args).await,
        "complete" => complete::complete(env, args).await,
        "compopt" => complete::compopt(env, args).await,
        "times" => {
            env.print("0m0.000s 0m0.000s\n0m0.000s 0m0.000s\n").await?;
            Ok(0)
        }
        "caller" => caller::run(env, args).await,
        "alias" => alias::alias(env, args).await,
        "unalias" => alias::unalias(env, args).await,
        name if env.declares(name) => {
            env.declare_words(name, args).await?;
            Ok(env.status)
        }
        other => {
            env.complain(&format!("{other}: not a builtin here")).await?;
            Ok(2)
        }
    }
}

async fn echo(env: &mut Env, args: &[String]) -> Eval<i32> {
    let (mut newline, mut escapes) = (true, env.options.xpg_echo);
    let mut rest = args;
    while let [first, more @ ..] = rest {
        let letters = first.strip_prefix('-').unwrap_or_default();
        if letters.is_empty() || !letters.chars().all(|it| matches!(it, 'n' | 'e' | 'E')) {
            break;
        }
        for letter in letters.chars() {
            match letter {
                'n' => newline = false,
                'e' => escapes = true,
                _ => escapes = false,
            }
        }
        rest = more;
    }
    let mut line = rest.join(" ");
    if escapes {
        let (bytes, stopped) = printf::escaped(&without_bare_octal(&line), true);
        line = text::from_bytes(&bytes);
        newline &= !stopped;
    }
    if newline {
        line.push('\n');
    }
    let bytes = text::to_bytes(&line).into_owned();
    Ok(i32::from(!env.write(1, &bytes).await?))
}

/// For `echo` octal digits count after a `\0` only; before others the backslash stays.
fn without_bare_octal(line: &str) -> String {
    let mut all = String::with_capacity(line.len());
    let mut rest = line.chars();
    while let Some(next) = rest.next() {
        all.push(next);
        if next == '\\'
            && let Some(escaped) = rest.next()
        {
            if ('1'..='7').contains(&escaped) {
                all.push('\\');
            }
            all.push(escaped);
        }
    }
    all
}
