//! What asks about a process there is not: `umask`, `ulimit`, `times`, `hash`, `enable`, `compgen`.
//!
//! They answer as bash does where scripts look at the answer, and change nothing outside the shell.

use crate::shell::{
    state::{Env, Eval},
    vars::Value,
};

pub(super) async fn umask(env: &mut Env, args: &[String]) -> Eval<i32> {
    let (mut symbolic, mut again) = (false, false);
    let mut operand = None;
    for arg in args {
        match arg.as_str() {
            "-S" => symbolic = true,
            "-p" => again = true,
            "--" => {}
            other if other.len() > 1 && other.starts_with('-') => {
                env.complain(&format!("umask: {other}: invalid option")).await?;
                return Ok(2);
            }
            other => {
                operand = Some(other.to_owned());
                break;
            }
        }
    }
    let Some(text) = operand else {
        let mask = env.mask;
        let shown = if symbolic { symbols(mask) } else { format!("{mask:04o}") };
        let line = match (again, symbolic) {
            (true, true) => format!("umask -S {shown}\n"),
            (true, false) => format!("umask {shown}\n"),
            _ => format!("{shown}\n"),
        };
        env.print(&line).await?;
        return Ok(0);
    };
    let mask = if text.starts_with(|it: char| it.is_ascii_digit()) {
        u32::from_str_radix(&text, 8).ok().filter(|it| *it <= 0o777)
    } else {
        changed(env.mask, &text)
    };
    match mask {
        Some(mask) => {
            env.mask = mask;
            Ok(0)
        }
        None => {
            env.complain(&format!("umask: {text}: invalid mask")).await?;
            Ok(1)
        }
    }
}

/// What a mask leaves, as `u=rwx,g=rx,o=rx`.
fn symbols(mask: u32) -> String {
    let part = |shift: u32| {
        let left = !(mask >> shift) & 7;
        [(4, 'r'), (2, 'w'), (1, 'x')]
            .iter()
            .filter(|row| left & row.0 != 0)
            .map(|row| row.1)
            .collect::<String>()
    };
    format!("u={},g={},o={}", part(6), part(3), part(0))
}

/// The mask after `u=rwx,g-w`; nothing if that is no such text.
fn changed(mask: u32, text: &str) -> Option<u32> {
    let mut left = !mask & 0o777;
    for clause in text.split(',') {
        let at = clause.find(['=', '+', '-'])?;
        let (who, rest) = clause.split_at(at);
        let mut bits = 0;
        for letter in rest[1..].chars() {
            bits |= match letter {
                'r' => 4,
                'w' => 2,
                'x' => 1,
                _ => return None,
            };
        }
        let who = if who.is_empty() || who == "a" { "ugo" } else { who };
        for one in who.chars() {
            let shift = match one {
                'u' => 6,
                'g' => 3,
                'o' => 0,
                _ => return None,
            };
            match rest.as_bytes()[0] {
                b'=' => left = (left & !(7 << shift)) | (bits << shift),
                b'+' => left |= bits << shift,
                _ => left &= !(bits << shift),
            }
        }
    }
    Some(!left & 0o777)
}

/// There are limits, and they are not the shell's to tell or to change.
pub(super) async fn ulimit(env: &mut Env, args: &[String]) -> Eval<i32> {
    if args.iter().all(|it| it.starts_with('-')) {
        env.print("unlimited\n").await?;
    }
    Ok(0)
}

pub(super) async fn hash(env: &mut Env, args: &[String]) -> Eval<i32> {
    if args.is_empty() {
        env.print("hash: hash table empty\n").await?;
    }
    let mut status = 0;
    for name in args.iter().filter(|it| !it.starts_with('-')) {
        if !super::is_builtin(name) && env.found_command(name).is_none() && !env.functions.contains_key(name)
        {
            env.complain(&format!("hash: {name}: not found")).await?;
            status = 1;
        }
    }
    Ok(status)
}

pub(super) async fn enable(env: &mut Env, args: &[String]) -> Eval<i32> {
    if args.is_empty() || args[0] == "-a" || args[0] == "-p" {
        let text: String = super::NAMES.iter().map(|name| format!("enable {name}\n")).collect();
        env.print(&text).await?;
        return Ok(0);
    }
    let mut status = 0;
    for name in args.iter().filter(|it| !it.starts_with('-')) {
        if !super::is_builtin(name) {
            env.complain(&format!("enable: {name}: not a shell builtin")).await?;
            status = 1;
        }
    }
    Ok(status)
}

/// The words that start with the last argument: of `-W`, or names of variables, functions, builtins.
pub(super) async fn compgen(env: &mut Env, args: &[String]) -> Eval<i32> {
    let mut words: Vec<String> = Vec::new();
    let mut prefix = String::new();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let wanted = match arg.as_str() {
            "-A" => rest.next().map_or("", String::as_str),
            other => other,
        };
        match wanted {
            "-W" => {
                let list = rest.next().cloned().unwrap_or_default();
                let ifs = env.ifs();
                words
                    .extend(list.split(|it| ifs.contains(it)).filter(|it| !it.is_empty()).map(str::to_owned));
            }
            "-v" | "variable" => {
                let set = |name: &String| env.vars.own(name).is_some_and(|var| var.value != Value::Unset);
                words.extend(env.vars.names().into_iter().filter(set));
            }
            "function" => {
                let mut names: Vec<String> = env.functions.keys().cloned().collect();
                names.sort_unstable();
                words.extend(names);
            }
            "-b" | "builtin" => words.extend(super::NAMES.map(str::to_owned)),
            "-k" | "keyword" => words.extend(super::lookup::KEYWORDS.map(str::to_owned)),
            "-e" | "export" => words.extend(env.vars.exported().into_iter().map(|row| row.0)),
            "-f" | "-d" | "file" | "directory" => {
                let found = crate::shell::glob::glob(env, "*").unwrap_or_default();
                for name in found {
                    if !matches!(wanted, "-d" | "directory") || env.unary_test('d', &name) {
                        words.push(name);
                    }
                }
            }
            "--" => {}
            other if other.starts_with('-') => {
                env.complain(&format!("compgen: {other}: not supported")).await?;
                return Ok(2);
            }
            other => prefix = other.to_owned(),
        }
    }
    words.retain(|word| word.starts_with(&prefix));
    let text: String = words.iter().map(|word| format!("{word}\n")).collect();
    env.print(&text).await?;
    Ok(i32::from(words.is_empty()))
}
