//! What a name would run: `type`, `command`, `builtin`.

use crate::shell::{
    show,
    state::{Env, Eval},
};

/// Words that are syntax.
pub(super) const KEYWORDS: [&str; 22] = [
    "!", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if",
    "in", "select", "then", "time", "until", "while", "{", "}",
];

/// Where a command is said to be: its name alone runs it, and so does this.
fn path_of(env: &Env, word: &str) -> String {
    match env.command_of(word) {
        Some(name) if name == word => format!("/usr/bin/{name}"),
        _ => word.to_owned(),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Keyword,
    Function,
    Builtin,
    Command,
}

fn kind(env: &Env, name: &str) -> Option<Kind> {
    if KEYWORDS.contains(&name) {
        Some(Kind::Keyword)
    } else if env.functions.contains_key(name) {
        Some(Kind::Function)
    } else if super::is_builtin(name) {
        Some(Kind::Builtin)
    } else if env.command_of(name).is_some() {
        Some(Kind::Command)
    } else {
        None
    }
}

pub(super) async fn type_of(env: &mut Env, args: &[String]) -> Eval<i32> {
    let mut status = 0;
    let (mut short, mut path) = (false, false);
    let mut forced = false;
    for arg in args {
        if let Some(letters) = arg.strip_prefix('-').filter(|it| !it.is_empty()) {
            short |= letters.contains('t');
            path |= letters.contains(['p', 'P']);
            forced |= letters.contains('P');
            continue;
        }
        let found = if forced { env.command_of(arg).map(|_| Kind::Command) } else { kind(env, arg) };
        let Some(kind) = found else {
            if !short && !path {
                env.complain(&format!("type: {arg}: not found")).await?;
            }
            status = 1;
            continue;
        };
        let word = match kind {
            Kind::Keyword => "keyword",
            Kind::Function => "function",
            Kind::Builtin => "builtin",
            Kind::Command => "file",
        };
        let line = match (short, path, kind) {
            (true, _, _) => format!("{word}\n"),
            (_, true, Kind::Command) => format!("{}\n", path_of(env, arg)),
            (_, true, _) => String::new(),
            (_, _, Kind::Keyword) => format!("{arg} is a shell keyword\n"),
            (_, _, Kind::Builtin) => format!("{arg} is a shell builtin\n"),
            (_, _, Kind::Command) => format!("{arg} is {}\n", path_of(env, arg)),
            (_, _, Kind::Function) => {
                let body = env.functions.get(arg).map(|it| show::function(it)).unwrap_or_default();
                format!("{arg} is a function\n{body}\n")
            }
        };
        env.print(&line).await?;
    }
    Ok(status)
}

pub(super) async fn command(env: &mut Env, args: &[String]) -> Eval<i32> {
    let mut rest = args;
    let mut asks = None;
    while let [first, more @ ..] = rest {
        match first.as_str() {
            "-v" | "-V" => asks = Some(first.as_str()),
            "-p" | "--" => {}
            _ => break,
        }
        rest = more;
    }
    let Some(asks) = asks else {
        if rest.is_empty() {
            return Ok(0);
        }
        env.dispatch_command(rest.to_vec()).await?;
        return Ok(env.status);
    };
    let mut status = 1;
    for name in rest {
        match kind(env, name) {
            None if asks == "-V" => env.complain(&format!("command: {name}: not found")).await?,
            None => {}
            Some(_) if asks == "-V" => {
                status = type_of(env, std::slice::from_ref(name)).await?;
            }
            Some(kind) => {
                let shown = if kind == Kind::Command { path_of(env, name) } else { name.clone() };
                env.print(&format!("{shown}\n")).await?;
                status = 0;
            }
        }
    }
    Ok(status)
}

pub(super) async fn builtin(env: &mut Env, args: &[String]) -> Eval<i32> {
    let Some(name) = args.first() else { return Ok(0) };
    if !super::is_builtin(name) {
        env.complain(&format!("builtin: {name}: not a shell builtin")).await?;
        return Ok(1);
    }
    env.dispatch_command(args.to_vec()).await?;
    Ok(env.status)
}
