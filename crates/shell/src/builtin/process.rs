//! What asks about a process there is not: `umask`, `enable`, `times`.
//!
//! They answer as bash does where scripts look at the answer; what `umask` sets counts for the files that redirections
//! make, and commands are told of it.

use crate::state::{Env, Eval};

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
        let mask = env.dirs.umask;
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
        changed(env.dirs.umask, &text)
    };
    match mask {
        Some(mask) => {
            env.dirs.umask = mask;
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

pub(super) async fn enable(env: &mut Env, args: &[String]) -> Eval<i32> {
    if args.is_empty() || args[0] == "-a" || args[0] == "-p" {
        let text: String = super::names().map(|name| format!("enable {name}\n")).collect();
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

/// Commands are not ours to time.
pub(super) async fn times(env: &mut Env) -> Eval<i32> {
    env.print("0m0.000s 0m0.000s\n0m0.000s 0m0.000s\n").await?;
    Ok(0)
}
