//! Names that match a pattern, from the workspace.

use drydock_contract::port::{FileKind, Follow};

use super::{
    pattern::{Pattern, TIRED, is_pattern},
    state::Env,
    stubs::Stub,
};

/// How deep `**` looks.
const DEPTH_MAX: usize = 64;

/// Matching names, sorted; an error if there were too many to look at.
pub(crate) fn glob(env: &Env, pattern: &str) -> Result<Vec<String>, String> {
    let mut parts: Vec<&str> = split(pattern);
    let rooted = pattern.starts_with('/');
    let wants_directory = pattern.ends_with('/');
    parts.retain(|part| !part.is_empty());
    let start = if rooted { "/".to_owned() } else { String::new() };
    let hidden = env.options.dotglob || env.vars.get("GLOBIGNORE").is_some_and(|it| !it.is_empty());
    let mut walk = Walk { env, looked_at: 0, found: Vec::new(), wants_directory, hidden };
    walk.down(start, &parts, 0)?;
    let mut found = walk.found;
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// A list at its colons, but not at those of a class like `[[:digit:]]`.
pub(crate) fn split_colons(list: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut from, mut depth) = (0, 0u32);
    for (at, next) in list.char_indices() {
        match next {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            ':' if depth == 0 => {
                parts.push(&list[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&list[from..]);
    parts.retain(|it| !it.is_empty());
    parts
}

/// At slashes, but not at those inside a group or a class.
fn split(pattern: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut from, mut depth, mut escaped) = (0, 0u32, false);
    for (at, next) in pattern.char_indices() {
        match next {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            '/' if depth == 0 => {
                parts.push(&pattern[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&pattern[from..]);
    parts
}

struct Walk<'e> {
    env: &'e Env,
    looked_at: usize,
    found: Vec<String>,
    wants_directory: bool,
    /// Whether names that start with a dot count.
    hidden: bool,
}

impl Walk<'_> {
    fn down(&mut self, base: String, parts: &[&str], depth: usize) -> Result<(), String> {
        let Some((part, rest)) = parts.split_first() else { return Ok(()) };
        let options = self.env.options;
        if options.globstar && *part == "**" {
            return self.everything(base, rest, depth, true);
        }
        if !is_pattern(part) {
            let name = unescaped(part);
            let path = join(&base, &name);
            let tree = self.env.tree_path(&path).ok();
            let stat = tree.and_then(|it| self.env.shared.files.stat(&it, Follow::Yes).ok());
            let directory = match stat {
                Some(stat) => stat.kind == FileKind::Directory,
                None => match self.env.stub(&self.env.absolute(&path)) {
                    Some(stub) => stub == Stub::Directory,
                    None => return Ok(()),
                },
            };
            return self.step(path, directory, rest, depth);
        }
        let pattern = Pattern::with_case(part, options.nocaseglob);
        let mut names = self.names(&base)?;
        if !options.globskipdots && pattern.starts_with_dot() {
            names.extend([".", ".."].map(|it| (it.to_owned(), true)));
        }
        for (name, directory) in names {
            let hidden = name.starts_with('.') && !pattern.starts_with_dot() && !self.hidden;
            let seen = if options.nocaseglob { name.to_lowercase() } else { name.clone() };
            if !hidden && pattern.matches(&seen) {
                self.step(join(&base, &name), directory, rest, depth)?;
            }
        }
        if pattern.tired() {
            return Err(TIRED.to_owned());
        }
        Ok(())
    }

    fn step(&mut self, path: String, directory: bool, rest: &[&str], depth: usize) -> Result<(), String> {
        if rest.is_empty() {
            if !self.wants_directory {
                self.found.push(path);
            } else if directory {
                self.found.push(path + "/");
            }
            return Ok(());
        }
        if directory && depth < DEPTH_MAX {
            return self.down(path, rest, depth + 1);
        }
        Ok(())
    }

    /// `**`: this directory and all below it.
    fn everything(&mut self, base: String, rest: &[&str], depth: usize, top: bool) -> Result<(), String> {
        if depth >= DEPTH_MAX {
            return Ok(());
        }
        if rest.is_empty() {
            if !base.is_empty() {
                self.found.push(if self.wants_directory || top {
                    format!("{}/", base.trim_end_matches('/'))
                } else {
                    base.clone()
                });
            }
        } else {
            self.down(base.clone(), rest, depth)?;
        }
        for (name, directory) in self.names(&base)? {
            if name.starts_with('.') && !self.hidden {
                continue;
            }
            let path = join(&base, &name);
            if directory {
                self.everything(path, rest, depth + 1, false)?;
            } else if rest.is_empty() && !self.wants_directory {
                self.found.push(path);
            }
        }
        Ok(())
    }

    fn names(&mut self, base: &str) -> Result<Vec<(String, bool)>, String> {
        let name = if base.is_empty() { "." } else { base };
        let path = self.env.tree_path(name).ok();
        let Some(entries) = path.and_then(|it| self.env.shared.files.read_dir(&it).ok()) else {
            return Ok(self.env.stub_names(&self.env.absolute(name)));
        };
        self.looked_at += entries.len();
        let max = self.env.shared.limits.glob_names_max;
        if self.looked_at > max {
            return Err(format!("a glob looked at more than {max} names; --line-memory allows more"));
        }
        let rows = entries.into_iter().map(|entry| {
            let directory = match entry.kind {
                FileKind::Directory => true,
                FileKind::File => false,
                FileKind::Symlink => self
                    .env
                    .tree_path(&join(base, &entry.name))
                    .ok()
                    .and_then(|path| self.env.shared.files.stat(&path, Follow::Yes).ok())
                    .is_some_and(|stat| stat.kind == FileKind::Directory),
            };
            (entry.name, directory)
        });
        let mut rows: Vec<(String, bool)> = rows.collect();
        // Whatever the tree has there, a redirection can open these.
        if self.env.absolute(name) == "/dev" {
            let more = self.env.stub_names("/dev").into_iter();
            let more: Vec<_> = more.filter(|it| rows.iter().all(|row| row.0 != it.0)).collect();
            rows.extend(more);
        }
        Ok(rows)
    }
}

fn join(base: &str, name: &str) -> String {
    match base {
        "" => name.to_owned(),
        base if base.ends_with('/') => format!("{base}{name}"),
        base => format!("{base}/{name}"),
    }
}

fn unescaped(part: &str) -> String {
    let mut out = String::with_capacity(part.len());
    let mut chars = part.chars();
    while let Some(next) = chars.next() {
        match next {
            '\\' => out.extend(chars.next()),
            other => out.push(other),
        }
    }
    out
}
