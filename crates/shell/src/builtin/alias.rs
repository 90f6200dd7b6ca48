//! `alias` and `unalias`. What an alias stands for is parsed, so it is expanded only where `eval` is
//! allowed and `shopt -s expand_aliases` was said; defining and listing need neither.

use std::sync::Arc;

use crate::state::{Env, Eval};

/// Most aliases.
const ALIASES_MAX: usize = 4_096;

/// The line that would make it again.
fn line(name: &str, value: &str) -> String {
    let dash = if name.starts_with('-') { "-- " } else { "" };
    format!("alias {dash}{name}='{}'\n", value.replace('\'', "'\\''"))
}

pub(super) async fn alias(env: &mut Env, args: &[String]) -> Eval<i32> {
    let mut names = args;
    let mut list = args.is_empty();
    while let [first, rest @ ..] = names {
        match first.as_str() {
            "-p" => list = true,
            "--" => {
                names = rest;
                break;
            }
            other if other.len() > 1 && other.starts_with('-') => {
                env.complain(&format!("alias: {other}: invalid option")).await?;
                return Ok(2);
            }
            _ => break,
        }
        names = rest;
    }
    if list || names.is_empty() {
        let text: String = env.definitions.aliases.iter().map(|(name, value)| line(name, value)).collect();
        env.print(&text).await?;
    }
    let mut status = 0;
    for word in names {
        match word.split_once('=').filter(|it| !it.0.is_empty()) {
            Some((name, value)) => {
                let legal = !name.contains(|it: char| it.is_whitespace() || "/$`\"'\\&;|()<>".contains(it));
                if !legal || env.definitions.aliases.len() >= ALIASES_MAX {
                    env.complain(&format!("alias: `{name}': invalid alias name")).await?;
                    status = 1;
                    continue;
                }
                Arc::make_mut(&mut env.define().aliases).insert(name.to_owned(), value.to_owned());
            }
            None => match env.definitions.aliases.get(word) {
                Some(value) => {
                    let text = line(word, value);
                    env.print(&text).await?;
                }
                None => {
                    env.complain(&format!("alias: {word}: not found")).await?;
                    status = 1;
                }
            },
        }
    }
    Ok(status)
}

pub(super) async fn unalias(env: &mut Env, args: &[String]) -> Eval<i32> {
    let names: Vec<&String> = args.iter().filter(|it| *it != "--").collect();
    if names.is_empty() {
        env.announce("unalias: usage: unalias [-a] name [name ...]").await?;
        return Ok(2);
    }
    let mut status = 0;
    for name in names {
        if name == "-a" {
            env.define().aliases = Arc::default();
        } else if name.len() > 1 && name.starts_with('-') {
            env.complain(&format!("unalias: {name}: invalid option")).await?;
            return Ok(2);
        } else if Arc::make_mut(&mut env.define().aliases).remove(name).is_none() {
            env.complain(&format!("unalias: {name}: not found")).await?;
            status = 1;
        }
    }
    Ok(status)
}
