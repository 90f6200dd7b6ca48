//! Names of commits: HEAD, branches, tags; one file each, or lines of `packed-refs`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use bstr::{BStr, ByteSlice as _};

use super::Repo;
use crate::Oid;
use crate::fail::{Done, fatal};

/// Names that lead to names.
const DEPTH_MAX: usize = 5;

/// What HEAD is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Head {
    /// A branch by its full name; it may have no commit yet.
    Branch(String),
    Detached(Oid),
}

/// Whether a full name of a reference may exist at all.
pub fn is_legal(name: &str) -> bool {
    gix_validate::reference::name(BStr::new(name)).is_ok()
}

impl Repo {
    fn ref_file(&self, name: &str) -> Option<PathBuf> {
        let safe = is_legal(name) && !name.split('/').any(|part| part == ".." || part.is_empty());
        safe.then(|| self.git_dir.join(name))
    }

    /// What HEAD is.
    pub fn head(&self) -> Done<Head> {
        let text = std::fs::read_to_string(self.git_dir.join("HEAD")).map_err(|_| super::none_here())?;
        match text.trim_end().strip_prefix("ref:").map(str::trim) {
            Some(name) if is_legal(name) => Ok(Head::Branch(name.to_owned())),
            None if text.len() >= 40 => match Oid::from_hex(&text.as_bytes()[..40]) {
                Ok(id) => Ok(Head::Detached(id)),
                Err(_) => Err(super::none_here()),
            },
            _ => Err(super::none_here()),
        }
    }

    /// The commit HEAD leads to; none on a branch without one.
    pub fn head_id(&self) -> Done<Option<Oid>> {
        match self.head()? {
            Head::Branch(name) => self.find_ref(&name),
            Head::Detached(id) => Ok(Some(id)),
        }
    }

    /// What a full name leads to.
    pub fn find_ref(&self, name: &str) -> Done<Option<Oid>> {
        let mut name = name.to_owned();
        for _ in 0..DEPTH_MAX {
            let Some(file) = self.ref_file(&name) else { return Ok(None) };
            let Ok(text) = std::fs::read_to_string(file) else { return self.find_packed(&name) };
            match text.trim_end().strip_prefix("ref:") {
                Some(next) => name = next.trim().to_owned(),
                None => {
                    return match text.get(..40).and_then(|it| Oid::from_hex(it.as_bytes()).ok()) {
                        Some(id) => Ok(Some(id)),
                        None => Ok(None),
                    };
                }
            }
        }
        Err(fatal(format!("reference '{name}' leads nowhere")))
    }

    fn find_packed(&self, name: &str) -> Done<Option<Oid>> {
        Ok(self.packed()?.remove(name))
    }

    fn packed(&self) -> Done<BTreeMap<String, Oid>> {
        let Ok(text) = std::fs::read(self.git_dir.join("packed-refs")) else { return Ok(BTreeMap::new()) };
        Ok(parse_packed(&text))
    }

    /// All references that begin with `prefix`, by name.
    pub fn list_refs(&self, prefix: &str) -> Done<Vec<(String, Oid)>> {
        let mut all = self.packed()?;
        let mut names = Vec::new();
        collect(&self.git_dir.join("refs"), "refs/", &mut names, 0);
        for name in names {
            match self.find_ref(&name)? {
                Some(id) => all.insert(name, id),
                None => all.remove(&name),
            };
        }
        Ok(all.into_iter().filter(|(name, _)| name.starts_with(prefix)).collect())
    }

    /// Makes a name lead to an object.
    pub fn set_ref(&self, name: &str, id: Oid) -> Done {
        let file = self.ref_file(name).ok_or_else(|| fatal(format!("'{name}' is not a valid ref name")))?;
        let taken = |other: &str| {
            fatal(format!("cannot lock ref '{name}': '{other}' exists; cannot create '{name}'"))
        };
        for (at, _) in name.match_indices('/').skip(2) {
            if self.find_ref(&name[..at])?.is_some() {
                return Err(taken(&name[..at]));
            }
        }
        if file.is_dir() {
            let below = self.list_refs(&format!("{name}/"))?;
            if let Some((other, _)) = below.first() {
                return Err(taken(other));
            }
            remove_empty(&file);
        }
        crate::file::replace(&file, format!("{id}\n").as_bytes())
    }

    /// Removes a name.
    pub fn remove_ref(&self, name: &str) -> Done {
        let packed = self.packed()?;
        if packed.contains_key(name) {
            let text = std::fs::read(self.git_dir.join("packed-refs")).unwrap_or_default();
            let mut kept = Vec::new();
            let mut dropped = false;
            for line in text.lines_with_terminator() {
                let peeled = line.starts_with(b"^");
                dropped =
                    if peeled { dropped } else { line.trim_end().ends_with(format!(" {name}").as_bytes()) };
                if !dropped {
                    kept.extend_from_slice(line);
                }
            }
            crate::file::replace(&self.git_dir.join("packed-refs"), &kept)?;
        }
        if let Some(file) = self.ref_file(name) {
            let _ = std::fs::remove_file(&file);
            let mut folder = file.parent();
            while let Some(it) = folder.filter(|it| it.starts_with(self.git_dir.join("refs/heads/"))) {
                if it == self.git_dir.join("refs/heads") || std::fs::remove_dir(it).is_err() {
                    break;
                }
                folder = it.parent();
            }
        }
        let _ = std::fs::remove_file(self.git_dir.join("logs").join(name));
        Ok(())
    }

    /// Makes HEAD a branch or a commit.
    pub fn set_head(&self, head: &Head) -> Done {
        let text = match head {
            Head::Branch(name) => format!("ref: {name}\n"),
            Head::Detached(id) => format!("{id}\n"),
        };
        crate::file::replace(&self.git_dir.join("HEAD"), text.as_bytes())
    }

    /// Moves what HEAD is on to a commit, and says why in the log.
    pub fn move_head(&self, to: Oid, why: &str) -> Done {
        let from = self.head_id()?;
        match self.head()? {
            Head::Branch(name) => {
                self.set_ref(&name, to)?;
                self.log_ref(&name, from, to, why)?;
            }
            Head::Detached(_) => self.set_head(&Head::Detached(to))?,
        }
        self.log_ref("HEAD", from, to, why)
    }

    /// The branch HEAD is on, without `refs/heads/`.
    pub fn branch(&self) -> Done<Option<String>> {
        Ok(match self.head()? {
            Head::Branch(name) => Some(short(&name).to_owned()),
            Head::Detached(_) => None,
        })
    }

    /// The commit that one of git's own files such as `MERGE_HEAD` names.
    pub fn pseudo(&self, name: &str) -> Option<Oid> {
        let text = std::fs::read(self.git_dir.join(name)).ok()?;
        Oid::from_hex(text.get(..40)?).ok()
    }
}

/// A full name as people say it.
pub fn short(name: &str) -> &str {
    ["refs/heads/", "refs/tags/", "refs/remotes/", "refs/"]
        .iter()
        .find_map(|it| name.strip_prefix(it))
        .unwrap_or(name)
}

/// The lines of `packed-refs`; what is not one is passed over.
pub fn parse_packed(text: &[u8]) -> BTreeMap<String, Oid> {
    let lines = text.lines().filter_map(|line| {
        let (id, name) = (line.get(..40)?, line.get(41..)?);
        let name = name.trim_end().to_str().ok()?;
        Some((name.to_owned(), Oid::from_hex(id).ok()?)).filter(|it| is_legal(&it.0))
    });
    lines.collect()
}

fn collect(folder: &std::path::Path, prefix: &str, names: &mut Vec<String>, depth: usize) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && depth < 64 {
            collect(&entry.path(), &format!("{prefix}{name}/"), names, depth + 1);
        } else if !name.ends_with(".lock") && kind.is_file() {
            names.push(format!("{prefix}{name}"));
        }
    }
}

fn remove_empty(folder: &std::path::Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        remove_empty(&entry.path());
    }
    let _ = std::fs::remove_dir(folder);
}
