//! `hash`: where commands were found. Those of the registry are found by name alone, and for them the table is there to be
//! read; a script on `PATH` runs from where it was found first, until `PATH` changes or `hash -r` forgets it.

use std::sync::Arc;

use crate::state::{Env, Eval, Hashed};

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
        env.define().hashed = Arc::default();
    }
    if rest.is_empty() {
        return if has('r') { Ok(0) } else { list(env, has('l')).await };
    }
    let mut status = 0;
    for name in rest {
        let known = env.definitions.hashed.get(name).map(|it| it.path.clone());
        match (&path, known) {
            (Some(path), _) => env.remember_command(name, path.clone(), 0),
            (None, Some(path)) if has('t') => {
                let line = match (has('l'), rest.len() > 1) {
                    (true, _) => format!("builtin hash -p {path} {name}\n"),
                    (false, true) => format!("{name}\t{path}\n"),
                    (false, false) => format!("{path}\n"),
                };
                env.print(&line).await?;
            }
            (None, Some(_)) if has('d') => drop(Arc::make_mut(&mut env.define().hashed).remove(name)),
            (None, None) if !has('t') && !has('d') && name.contains('/') => {}
            _ if !has('t') && !has('d') => match env.found_command(name) {
                Some(path) => env.remember_command(name, path, 0),
                None if super::is_builtin(name) || env.definitions.functions.contains_key(name) => {}
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

impl Env {
    /// Notes where a command is, and so many runs of it.
    pub(crate) fn remember_command(&mut self, name: &str, path: String, runs: u32) {
        let known = self.definitions.hashed.get(name);
        if let Some(known) = known.filter(|it| it.path == path) {
            return known.hit(runs);
        }
        let hits = known.map_or(0, Hashed::hits);
        if hits > 0 && runs == 0 || self.definitions.hashed.len() >= NAMES_MAX {
            return;
        }
        let hashed = Hashed::new(path, hits.saturating_add(runs));
        Arc::make_mut(&mut self.define().hashed).insert(name.to_owned(), hashed);
    }
}

async fn list(env: &mut Env, again: bool) -> Eval<i32> {
    if env.definitions.hashed.is_empty() {
        env.print("hash: hash table empty\n").await?;
        return Ok(0);
    }
    let mut text = if again { String::new() } else { "hits\tcommand\n".to_owned() };
    for (name, hashed) in &*env.definitions.hashed {
        let (path, hits) = (&hashed.path, hashed.hits());
        text.push_str(&match again {
            true => format!("builtin hash -p {path} {name}\n"),
            false => format!("{hits:4}\t{path}\n"),
        });
    }
    env.print(&text).await?;
    Ok(0)
}
