//! `hash`: what scripts told the shell about where commands are. Commands are found by name alone, so
//! the table is for those who read it.

use std::sync::Arc;

use crate::shell::state::{Env, Eval};

/// Most names remembered.
const NAMES_MAX: usize = 4_096;

pub(super) async fn run(env: &mut Env, args: &[String]) -> Eval<i32> {
    let (mut letters, mut path, mut rest) = (String::new(), None, args);
    while let [first, more @ ..] = rest {
        let Some(flags) = first.strip_prefix('-').filter(|it| !it.is_empty()) else { break };
        rest = more;
        if flags == "-" {
            break;
        }
        if let Some(bad) = flags.chars().find(|it| !"dlprt".contains(*it)) {
            env.complain(&format!("hash: -{bad}: invalid option")).await?;
            return Ok(2);
        }
        letters.push_str(flags);
        if flags.ends_with('p') {
            path = rest.first().cloned();
            rest = rest.get(1..).unwrap_or_default();
        }
    }
    let has = |letter: char| letters.contains(letter);
    if has('r') {
        env.hashed = Arc::default();
    }
    if rest.is_empty() {
        return if has('r') { Ok(0) } else { list(env, has('l')).await };
    }
    let mut status = 0;
    for name in rest {
        let known = env.hashed.get(name).cloned();
        match (&path, known) {
            (Some(path), _) => remember(env, name, path.clone()),
            (None, Some(path)) if has('t') => {
                let line = match (has('l'), rest.len() > 1) {
                    (true, _) => format!("builtin hash -p {path} {name}\n"),
                    (false, true) => format!("{name}\t{path}\n"),
                    (false, false) => format!("{path}\n"),
                };
                env.print(&line).await?;
            }
            (None, Some(_)) if has('d') => drop(Arc::make_mut(&mut env.hashed).remove(name)),
            (None, None) if !has('t') && !has('d') && name.contains('/') => {}
            _ if !has('t') && !has('d') => match env.found_command(name) {
                Some(path) => remember(env, name, path),
                None if super::is_builtin(name) || env.functions.contains_key(name) => {}
                None => {
                    env.complain(&format!("hash: {name}: not found")).await?;
                    status = 1;
                }
            },
            _ => {
                env.complain(&format!("hash: {name}: not found")).await?;
                status = 1;
            }
        }
    }
    Ok(status)
}

fn remember(env: &mut Env, name: &str, path: String) {
    if env.hashed.len() < NAMES_MAX {
        Arc::make_mut(&mut env.hashed).insert(name.to_owned(), path);
    }
}

async fn list(env: &mut Env, again: bool) -> Eval<i32> {
    if env.hashed.is_empty() {
        env.print("hash: hash table empty\n").await?;
        return Ok(0);
    }
    let mut text = if again { String::new() } else { "hits\tcommand\n".to_owned() };
    for (name, path) in &*env.hashed {
        text.push_str(&match again {
            true => format!("builtin hash -p {path} {name}\n"),
            false => format!("   0\t{path}\n"),
        });
    }
    env.print(&text).await?;
    Ok(0)
}
