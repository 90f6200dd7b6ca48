//! The working directory and its stack.

use drydock_contract::port::{FileKind, Follow};

use crate::shell::{
    exec::file_error,
    state::{Env, Eval},
};

async fn go(env: &mut Env, by: &str, name: &str) -> Eval<bool> {
    let target = env.absolute(name);
    let found =
        env.tree_path(name).and_then(|path| env.shared.files.stat(&path, Follow::Yes).map_err(file_error));
    let error = match found {
        Ok(stat) if stat.kind == FileKind::Directory => None,
        Ok(_) => Some("Not a directory".to_owned()),
        Err(error) => Some(error),
    };
    if let Some(error) = error {
        env.complain(&format!("{by}: {name}: {error}")).await?;
        return Ok(false);
    }
    let old = std::mem::replace(&mut env.cwd, target.clone());
    let _ = env.vars.set("OLDPWD", old);
    env.vars.entry("OLDPWD").attributes.exported = true;
    let _ = env.vars.set("PWD", target);
    Ok(true)
}

pub(super) async fn cd(env: &mut Env, args: &[String]) -> Eval<i32> {
    if let Some(bad) = args.first().filter(|it| it.len() > 1 && it.starts_with('-'))
        && !matches!(bad.as_str(), "-L" | "-P" | "--" | "-e" | "-@")
    {
        env.complain(&format!("cd: {bad}: invalid option")).await?;
        return Ok(2);
    }
    let args: Vec<&String> =
        args.iter().filter(|it| !matches!(it.as_str(), "-L" | "-P" | "--" | "-e" | "-@")).collect();
    let (name, show) = match args.as_slice() {
        [] => match env.vars.get("HOME") {
            Some(home) => (home.to_owned(), false),
            None => {
                env.complain("cd: HOME not set").await?;
                return Ok(1);
            }
        },
        [dash] if dash.as_str() == "-" => match env.vars.get("OLDPWD") {
            Some(old) => (old.to_owned(), true),
            None => {
                env.complain("cd: OLDPWD not set").await?;
                return Ok(1);
            }
        },
        [name] => match beyond(env, name) {
            Some(found) => (found, true),
            None => ((*name).clone(), false),
        },
        _ => {
            env.complain("cd: too many arguments").await?;
            return Ok(1);
        }
    };
    if name.is_empty() {
        return Ok(0);
    }
    if !go(env, "cd", &name).await? {
        return Ok(1);
    }
    if show {
        let line = format!("{}\n", env.cwd);
        env.print(&line).await?;
    }
    Ok(0)
}

/// The directory of `CDPATH` that has `name`, unless that is where the shell is already.
fn beyond(env: &Env, name: &str) -> Option<String> {
    let list = env.vars.get("CDPATH").filter(|it| !it.is_empty())?;
    if name.starts_with('/') || matches!(name.split('/').next(), Some("." | "..")) {
        return None;
    }
    for base in list.split(':') {
        let path =
            if base.is_empty() { name.to_owned() } else { format!("{}/{name}", base.trim_end_matches('/')) };
        let found = env.tree_path(&path).ok().and_then(|it| env.shared.files.stat(&it, Follow::Yes).ok());
        if found.is_some_and(|stat| stat.kind == FileKind::Directory) {
            return (!matches!(base, "" | ".")).then_some(path);
        }
    }
    None
}

fn listing(env: &Env) -> String {
    let home = env.vars.get("HOME").unwrap_or_default().to_owned();
    let short = |path: &String| match path.strip_prefix(&home) {
        Some(rest) if !home.is_empty() && (rest.is_empty() || rest.starts_with('/')) => format!("~{rest}"),
        _ => path.clone(),
    };
    let mut all = vec![short(&env.cwd)];
    all.extend(env.dirs.iter().rev().map(short));
    all.join(" ") + "\n"
}

pub(super) async fn pushd(env: &mut Env, args: &[String]) -> Eval<i32> {
    let quiet = args.first().is_some_and(|it| it == "-n");
    let old = env.cwd.clone();
    match args.iter().find(|it| *it != "-n") {
        None => {
            let Some(top) = env.dirs.pop() else {
                env.complain("pushd: no other directory").await?;
                return Ok(1);
            };
            if !go(env, "pushd", &top).await? {
                env.dirs.push(top);
                return Ok(1);
            }
            env.dirs.push(old);
        }
        Some(name) if quiet => {
            let path = env.absolute(name);
            env.dirs.push(path);
        }
        Some(name) => {
            if !go(env, "pushd", name).await? {
                return Ok(1);
            }
            env.dirs.push(old);
        }
    }
    let line = listing(env);
    env.print(&line).await?;
    Ok(0)
}

pub(super) async fn popd(env: &mut Env, _: &[String]) -> Eval<i32> {
    let Some(top) = env.dirs.pop() else {
        env.complain("popd: directory stack empty").await?;
        return Ok(1);
    };
    if !go(env, "popd", &top).await? {
        return Ok(1);
    }
    let line = listing(env);
    env.print(&line).await?;
    Ok(0)
}

pub(super) async fn dirs(env: &mut Env, args: &[String]) -> Eval<i32> {
    match args.first().map(String::as_str) {
        Some("-c") => env.dirs.clear(),
        Some("-p") => {
            let lines = listing(env).replace(' ', "\n");
            env.print(&lines).await?;
        }
        Some("-v") => {
            let mut lines = String::new();
            for (index, path) in listing(env).split_whitespace().enumerate() {
                lines.push_str(&format!("{index:2}  {path}\n"));
            }
            env.print(&lines).await?;
        }
        _ => {
            let line = listing(env);
            env.print(&line).await?;
        }
    }
    Ok(0)
}
