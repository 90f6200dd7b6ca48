//! `pushd`, `popd`, `dirs`: directories to come back to.

use std::sync::Arc;

use super::dirs::go;
use crate::state::{Env, Eval};

/// What the options of these three say.
#[derive(Default)]
struct Asked {
    letters: String,
    /// `+1` and `-1`: counted from the left, or from the right.
    at: Option<(char, usize)>,
    names: Vec<String>,
}

/// The options, or which one is wrong.
fn read(args: &[String], letters: &str) -> Result<Asked, String> {
    let mut asked = Asked::default();
    let mut options = true;
    for arg in args {
        let sign = arg.chars().next().filter(|it| matches!(it, '+' | '-'));
        match (sign, arg.get(1..).unwrap_or_default()) {
            (Some(_), "-") if options && arg == "--" => options = false,
            (Some(sign), rest) if options && !rest.is_empty() => match rest.parse() {
                Ok(number) => asked.at = Some((sign, number)),
                Err(_) if sign == '-' && rest.chars().all(|it| letters.contains(it)) => {
                    asked.letters.push_str(rest);
                }
                Err(_) => return Err(format!("{arg}: invalid option")),
            },
            _ => asked.names.push(arg.clone()),
        }
    }
    Ok(asked)
}

/// All directories, the current one first.
fn all(env: &Env) -> Vec<String> {
    let mut all = vec![env.dirs.cwd.to_string()];
    all.extend(env.dirs.stack.iter().rev().cloned());
    all
}

/// The place of `+1` or `-1` in the list.
fn place(env: &Env, at: (char, usize)) -> Option<usize> {
    let count = env.dirs.stack.len() + 1;
    match at {
        ('+', number) => Some(number).filter(|it| *it < count),
        (_, number) => count.checked_sub(number + 1),
    }
}

fn shown(env: &Env, path: &str, long: bool) -> String {
    let home = env.vars.get("HOME").unwrap_or_default();
    match path.strip_prefix(home) {
        Some(rest) if !long && !home.is_empty() && (rest.is_empty() || rest.starts_with('/')) => {
            format!("~{rest}")
        }
        _ => path.to_owned(),
    }
}

async fn list(env: &mut Env) -> Eval<()> {
    let paths: Vec<String> = all(env).iter().map(|it| shown(env, it, false)).collect();
    env.print(&(paths.join(" ") + "\n")).await
}

pub(super) async fn pushd(env: &mut Env, args: &[String]) -> Eval<i32> {
    let asked = match read(args, "n") {
        Ok(asked) => asked,
        Err(text) => {
            env.complain(&format!("pushd: {text}")).await?;
            return Ok(2);
        }
    };
    if asked.names.len() > 1 {
        env.complain("pushd: too many arguments").await?;
        return Ok(1);
    }
    let stay = asked.letters.contains('n');
    let old = env.dirs.cwd.to_string();
    match (asked.names.first(), asked.at) {
        (Some(name), _) if stay => {
            let path = env.absolute(name);
            env.dirs.stack_mut().push(path);
        }
        (Some(name), _) => {
            if !go(env, "pushd", name, false).await? {
                return Ok(1);
            }
            env.dirs.stack_mut().push(old);
        }
        (None, Some(at)) => {
            let Some(at) = place(env, at) else {
                env.complain("pushd: directory stack index out of range").await?;
                return Ok(1);
            };
            let mut paths = all(env);
            paths.rotate_left(at);
            if !go(env, "pushd", &paths[0], false).await? {
                return Ok(1);
            }
            env.dirs.stack = Arc::new(paths[1..].iter().rev().cloned().collect());
        }
        (None, None) => {
            let Some(top) = env.dirs.stack_mut().pop() else {
                env.complain("pushd: no other directory").await?;
                return Ok(1);
            };
            if !go(env, "pushd", &top, false).await? {
                env.dirs.stack_mut().push(top);
                return Ok(1);
            }
            env.dirs.stack_mut().push(old);
        }
    }
    list(env).await?;
    Ok(0)
}

pub(super) async fn popd(env: &mut Env, args: &[String]) -> Eval<i32> {
    let asked = match read(args, "n") {
        Ok(asked) => asked,
        Err(text) => {
            env.complain(&format!("popd: {text}")).await?;
            return Ok(2);
        }
    };
    if let Some(name) = asked.names.first() {
        env.complain(&format!("popd: {name}: invalid argument")).await?;
        return Ok(2);
    }
    if env.dirs.stack.is_empty() {
        env.complain("popd: directory stack empty").await?;
        return Ok(1);
    }
    let at = match asked.at {
        None if asked.letters.contains('n') => Some(1),
        None => Some(0),
        Some(at) => place(env, at),
    };
    let Some(at) = at else {
        env.complain("popd: directory stack index out of range").await?;
        return Ok(1);
    };
    let mut paths = all(env);
    paths.remove(at);
    if at == 0 && !go(env, "popd", &paths[0], false).await? {
        return Ok(1);
    }
    env.dirs.stack = Arc::new(paths[1..].iter().rev().cloned().collect());
    list(env).await?;
    Ok(0)
}

pub(super) async fn dirs(env: &mut Env, args: &[String]) -> Eval<i32> {
    let asked = match read(args, "clpv") {
        Ok(asked) if asked.names.is_empty() => asked,
        Ok(asked) => {
            env.complain(&format!("dirs: {}: invalid option", asked.names[0])).await?;
            return Ok(2);
        }
        Err(text) => {
            env.complain(&format!("dirs: {text}")).await?;
            return Ok(2);
        }
    };
    let has = |letter: char| asked.letters.contains(letter);
    if has('c') {
        env.dirs.stack_mut().clear();
        return Ok(0);
    }
    let long = has('l');
    let paths: Vec<String> = all(env).iter().map(|it| shown(env, it, long)).collect();
    let text = match asked.at {
        Some(at) => match place(env, at) {
            Some(at) => format!("{}\n", paths[at]),
            None => {
                env.complain(&format!("dirs: {}: directory stack index out of range", at.1)).await?;
                return Ok(1);
            }
        },
        None if has('v') => paths.iter().enumerate().map(|(at, path)| format!("{at:2}  {path}\n")).collect(),
        None if has('p') => paths.iter().map(|path| format!("{path}\n")).collect(),
        None => paths.join(" ") + "\n",
    };
    env.print(&text).await?;
    Ok(0)
}
