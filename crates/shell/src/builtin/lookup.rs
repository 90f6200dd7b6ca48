//! What a name would run: `type`, `command`, `builtin`.

use super::flags;
use crate::{
    show,
    state::{Env, Eval},
    vars::Value,
};

/// Words that are syntax.
pub(crate) const KEYWORDS: [&str; 22] = [
    "!", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if",
    "in", "select", "then", "time", "until", "while", "{", "}",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Alias,
    Keyword,
    Function,
    Builtin,
    Command,
}

/// Everything a name means, what would run first.
fn kinds(env: &Env, name: &str, functions: bool) -> Vec<Kind> {
    let rows = [
        (env.definitions.aliases.contains_key(name), Kind::Alias),
        (KEYWORDS.contains(&name), Kind::Keyword),
        (functions && env.definitions.functions.contains_key(name), Kind::Function),
        (super::is_builtin(name), Kind::Builtin),
        (env.found_command(name).is_some(), Kind::Command),
    ];
    rows.into_iter().filter(|row| row.0).map(|row| row.1).collect()
}

/// What to say of a name that means `kind`.
fn sentence(env: &Env, name: &str, kind: Kind) -> String {
    match kind {
        Kind::Alias => {
            let value = env.definitions.aliases.get(name).map_or("", String::as_str);
            format!("{name} is aliased to `{value}'\n")
        }
        Kind::Keyword => format!("{name} is a shell keyword\n"),
        Kind::Builtin => format!("{name} is a shell builtin\n"),
        Kind::Command => format!("{name} is {}\n", env.found_command(name).unwrap_or_default()),
        Kind::Function => {
            let body = env.definitions.functions.get(name).map(|it| show::function(it)).unwrap_or_default();
            format!("{name} is a function\n{body}\n")
        }
    }
}

pub(super) async fn type_of(env: &mut Env, args: &[String]) -> Eval<i32> {
    let Some((letters, rest)) = flags(env, "type", "afptP", args).await? else { return Ok(2) };
    let has = |letter: char| letters.contains(letter);
    let (all, short, path, forced) = (has('a'), has('t'), has('p') || has('P'), has('P'));
    let mut status = 0;
    for name in rest {
        let mut found = kinds(env, name, !has('f'));
        if forced {
            found.retain(|it| *it == Kind::Command);
        }
        if !all {
            found.truncate(1);
        }
        if found.is_empty() {
            if !short && !path {
                env.complain(&format!("type: {name}: not found")).await?;
            }
            status = 1;
            continue;
        }
        for kind in found {
            let line = match (short, path, kind) {
                (true, _, Kind::Alias) => "alias\n".to_owned(),
                (true, _, Kind::Keyword) => "keyword\n".to_owned(),
                (true, _, Kind::Function) => "function\n".to_owned(),
                (true, _, Kind::Builtin) => "builtin\n".to_owned(),
                (true, _, Kind::Command) => "file\n".to_owned(),
                (_, true, Kind::Command) => format!("{}\n", env.found_command(name).unwrap_or_default()),
                (_, true, _) => continue,
                _ => sentence(env, name, kind),
            };
            env.print(&line).await?;
        }
    }
    Ok(status)
}

pub(super) async fn command(env: &mut Env, args: &[String]) -> Eval<i32> {
    let Some((letters, rest)) = flags(env, "command", "vVp", args).await? else { return Ok(2) };
    let standard = letters.contains('p');
    let Some(asks) = letters.chars().rfind(|it| *it != 'p') else {
        if rest.is_empty() {
            return Ok(0);
        }
        if !standard {
            env.dispatch_command(rest.to_vec()).await?;
            return Ok(env.status);
        }
        // Where commands always are, and nowhere that a script put some.
        env.vars.push_temporary();
        env.vars.innermost("PATH").value = Value::Scalar("/usr/bin:/bin".into());
        let ran = env.dispatch_command(rest.to_vec()).await;
        env.vars.pop_scope();
        return ran.map(|()| env.status);
    };
    let mut status = i32::from(!rest.is_empty());
    for name in rest {
        match kinds(env, name, true).first() {
            None if asks == 'V' => env.complain(&format!("command: {name}: not found")).await?,
            None => {}
            Some(kind) => {
                let line = match kind {
                    _ if asks == 'V' => sentence(env, name, *kind),
                    Kind::Alias => {
                        let value = env.definitions.aliases.get(name).map_or("", String::as_str);
                        format!("alias {name}='{}'\n", value.replace('\'', "'\\''"))
                    }
                    Kind::Command => format!("{}\n", env.found_command(name).unwrap_or_default()),
                    _ => format!("{name}\n"),
                };
                env.print(&line).await?;
                status = 0;
            }
        }
    }
    Ok(status)
}

pub(super) async fn builtin(env: &mut Env, args: &[String]) -> Eval<i32> {
    let args = if args.first().is_some_and(|it| it == "--") { &args[1..] } else { args };
    let Some(name) = args.first() else { return Ok(0) };
    if !super::is_builtin(name) {
        env.complain(&format!("builtin: {name}: not a shell builtin")).await?;
        return Ok(1);
    }
    env.dispatch_command(args.to_vec()).await?;
    Ok(env.status)
}

/// `which`: a command elsewhere, and here the only one that knows what there is.
pub(crate) async fn which(env: &mut Env, args: &[String]) -> Eval<i32> {
    let all = args.iter().take_while(|it| it.starts_with('-')).any(|it| it.contains('a'));
    let mut status = i32::from(args.iter().all(|it| it.starts_with('-')));
    for name in args.iter().filter(|it| !it.starts_with('-')) {
        match env.found_command(name) {
            Some(path) => {
                env.print(&format!("{path}\n")).await?;
                let elsewhere = path.strip_prefix("/usr/bin/").filter(|_| all);
                if let Some(base) = elsewhere {
                    env.print(&format!("/bin/{base}\n")).await?;
                }
            }
            None => status = 1,
        }
    }
    Ok(status)
}
