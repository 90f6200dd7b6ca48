//! The working directory.

use drydock_contract::port::{FileKind, Follow};

use crate::{
    exec::file_error,
    state::{Env, Eval},
    text,
};

/// How many links lead from a name to its directory at most.
const LINKS_MAX: u32 = 40;

impl Env {
    /// The path with every link in it followed.
    pub(super) fn physical(&self, path: &str) -> String {
        let mut done = String::new();
        let mut rest: Vec<String> = path.split('/').rev().map(str::to_owned).collect();
        let mut links = 0;
        while let Some(part) = rest.pop() {
            match part.as_str() {
                "" | "." => continue,
                ".." => {
                    done.truncate(done.rfind('/').unwrap_or(0));
                    continue;
                }
                _ => {}
            }
            let here = format!("{done}/{part}");
            let link = self.tree_path(&here).ok().and_then(|it| self.shared.files.read_link(&it).ok());
            match link.filter(|_| links < LINKS_MAX) {
                None => done = here,
                Some(target) => {
                    links += 1;
                    if target.starts_with('/') {
                        done.clear();
                    }
                    rest.extend(target.split('/').rev().map(str::to_owned));
                }
            }
        }
        if done.is_empty() { "/".to_owned() } else { done }
    }

    /// Whether each directory before a `..` is there.
    fn can_go_up(&self, name: &str) -> bool {
        let parts: Vec<&str> = name.split('/').collect();
        (1..parts.len()).filter(|at| parts[*at] == "..").all(|at| {
            let before = parts[..at].join("/");
            before.is_empty()
                || self.tree_path(&before).is_ok_and(|it| self.shared.files.stat(&it, Follow::Yes).is_ok())
        })
    }
}

pub(super) async fn go(env: &mut Env, by: &str, name: &str, physical: bool) -> Eval<bool> {
    let target = match physical {
        true => {
            let full =
                if name.starts_with('/') { name.to_owned() } else { format!("{}/{name}", env.dirs.cwd) };
            env.physical(&full)
        }
        false => env.absolute(name),
    };
    if !env.can_go_up(name) {
        env.complain(&format!("{by}: {name}: No such file or directory")).await?;
        return Ok(false);
    }
    let found =
        env.tree_path(&target).and_then(|path| env.shared.files.stat(&path, Follow::Yes).map_err(file_error));
    let error = match found {
        Ok(stat) if stat.kind == FileKind::Directory => None,
        Ok(_) => Some("Not a directory".to_owned()),
        Err(error) => Some(error),
    };
    if let Some(error) = error {
        env.complain(&format!("{by}: {name}: {error}")).await?;
        return Ok(false);
    }
    let old = std::mem::replace(&mut env.dirs.cwd, target.as_str().into());
    let _ = env.vars.set("OLDPWD", old.to_string());
    env.vars.entry("OLDPWD").attributes.exported = true;
    let _ = env.vars.set("PWD", target);
    Ok(true)
}

pub(super) async fn cd(env: &mut Env, args: &[String]) -> Eval<i32> {
    let physical = args
        .iter()
        .take_while(|it| it.starts_with('-'))
        .filter(|it| matches!(it.as_str(), "-L" | "-P"))
        .last();
    let physical = physical.map_or(env.options.long("physical").is_some_and(|it| *it), |it| it == "-P");
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
    if !go(env, "cd", &name, physical).await? {
        return Ok(1);
    }
    if show {
        let line = format!("{}\n", env.dirs.cwd);
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

pub(super) async fn pwd(env: &mut Env, args: &[String]) -> Eval<i32> {
    if let Some(bad) =
        args.iter().find(|it| it.starts_with('-') && !matches!(it.as_str(), "-L" | "-P" | "--"))
    {
        env.complain(&format!("pwd: {bad}: invalid option")).await?;
        return Ok(2);
    }
    let physical = args.iter().rev().find(|it| *it != "--").is_some_and(|it| it == "-P");
    let line = match physical {
        true => format!("{}\n", env.physical(&env.dirs.cwd)),
        false => format!("{}\n", env.dirs.cwd),
    };
    let bytes = text::to_bytes(&line).into_owned();
    Ok(i32::from(!env.write(1, &bytes).await?))
}
