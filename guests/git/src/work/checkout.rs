//! Puts files into the work tree and takes them away.
//!
//! A path comes from a repository that somebody else may have made, so each of its names is judged before
//! anything is written: nothing leaves the tree, nothing enters a `.git`, whatever its spelling, and no link
//! is followed on the way.

use std::path::Path;

use bstr::{BStr, BString, ByteSlice as _};
use facts::Follow;
use gix_validate::path::component;

use crate::fail::{Done, Fail, error, fatal};
use crate::index::{Entry, Index, Seen};
use crate::object::{FILE, Files, Item, LINK, MODULE, PROGRAM, TREE};
use crate::repo::Repo;

/// Whether a path may be written at all.
pub fn is_safe(path: &[u8], mode: u32) -> bool {
    let rules = component::Options { protect_windows: false, protect_hfs: true, protect_ntfs: true };
    let last = path.rfind_byte(b'/').map_or(0, |it| it + 1);
    let link = (mode == LINK).then_some(component::Mode::Symlink);
    // An empty name, as between two slashes, is none either.
    let mut folders = last.checked_sub(1).map(|end| path[..end].split_str("/")).into_iter().flatten();
    !path.contains(&0)
        && component(BStr::new(&path[last..]), link, rules).is_ok()
        && folders.all(|it| component(BStr::new(it), None, rules).is_ok())
}

impl Repo {
    /// Refuses paths that would leave the tree or enter `.git`.
    pub fn check_paths(&self, files: &Files) -> Done {
        for (path, item) in files {
            let known = matches!(item.mode, FILE | PROGRAM | LINK | MODULE);
            if !is_safe(path, item.mode) || item.mode == TREE || !known {
                return Err(error(format!("invalid path '{}'", quoted(path))));
            }
        }
        Ok(())
    }

    /// Writes one file, and answers the entry of it.
    pub fn write_file(&self, path: &[u8], item: Item) -> Done<Entry> {
        if !is_safe(path, item.mode) {
            return Err(error(format!("invalid path '{}'", quoted(path))));
        }
        let place = self.path(path)?;
        self.clear_way(path)?;
        let mut entry = Entry::new(path, 0, item);
        if item.mode == MODULE {
            crate::file::make_dirs(&place)?;
            return Ok(entry);
        }
        let bytes = self.odb.blob(item.id)?;
        let cannot = |cause: std::io::Error| {
            error(format!("unable to create file {}: {}", quoted(path), place::reason(&cause)))
        };
        if let Ok(about) = std::fs::symlink_metadata(&place) {
            match about.is_dir() {
                true => std::fs::remove_dir_all(&place).map_err(cannot)?,
                false => std::fs::remove_file(&place).map_err(cannot)?,
            }
        }
        match item.mode {
            LINK => symlink(&bytes, &place).map_err(cannot)?,
            mode => {
                std::fs::write(&place, bytes).map_err(cannot)?;
                if mode == PROGRAM {
                    modes::set(&place, true, 0o777 & !modes::umask()).map_err(cannot)?;
                }
            }
        }
        if let Ok(facts) = facts::of(&place, Follow::No) {
            entry.seen = Seen::of(&facts);
        }
        Ok(entry)
    }

    /// Makes the directories that lead to a path, in the place of files and links.
    fn clear_way(&self, path: &[u8]) -> Done {
        for at in path.find_iter(b"/").collect::<Vec<_>>() {
            let folder = self.path(&path[..at])?;
            let cannot = |cause: std::io::Error| {
                fatal(format!(
                    "cannot create directory at '{}': {}",
                    quoted(&path[..at]),
                    place::reason(&cause)
                ))
            };
            match std::fs::symlink_metadata(&folder) {
                Ok(about) if about.is_dir() => {}
                Ok(_) => {
                    std::fs::remove_file(&folder).map_err(cannot)?;
                    std::fs::create_dir(&folder).map_err(cannot)?;
                }
                Err(_) => std::fs::create_dir(&folder).map_err(cannot)?,
            }
        }
        Ok(())
    }

    /// Takes a file away, and the directories that are empty then.
    pub fn remove_file(&self, path: &[u8]) -> Done {
        if !is_safe(path, FILE) || self.is_behind_link(path)? {
            return Ok(());
        }
        let place = self.path(path)?;
        if place.is_dir() && !place.is_symlink() {
            let _ = std::fs::remove_dir(&place);
        } else {
            let _ = std::fs::remove_file(&place);
        }
        let root = self.root()?;
        let mut folder = place.parent();
        while let Some(it) = folder.filter(|it| *it != root && it.starts_with(root)) {
            if std::fs::remove_dir(it).is_err() {
                break;
            }
            folder = it.parent();
        }
        Ok(())
    }

    /// Makes the work tree and the index hold `files`, whatever they hold now.
    pub fn force(&self, files: &Files, index: &Index) -> Done<Index> {
        self.check_paths(files)?;
        let mut next = Index::of_files(files, index);
        let gone: Vec<&BString> =
            index.entries.iter().map(|it| &it.path).filter(|it| !files.contains_key(*it)).collect();
        for path in gone {
            self.remove_file(path)?;
        }
        for entry in &mut next.entries {
            if self.state(entry, index)? != super::State::Same {
                *entry = self.write_file(&entry.path, entry.item())?;
            } else if entry.seen == Seen::default()
                && let Ok(facts) = facts::of(&self.path(&entry.path)?, Follow::No)
            {
                entry.seen = Seen::of(&facts);
            }
        }
        Ok(next)
    }

    /// Goes from the files of one commit to those of another, keeping what was changed and not committed
    /// where both have the same file. What stands in the way is named and nothing is done.
    pub fn switch_files(&self, old: &Files, new: &Files, index: &Index, verb: &str) -> Done<Index> {
        self.check_paths(new)?;
        let (mut lost, mut covered) = (Vec::new(), Vec::new());
        let mut next = index.clone();
        let paths: std::collections::BTreeSet<&BString> = old.keys().chain(new.keys()).collect();
        let (mut writes, mut removes) = (Vec::new(), Vec::new());
        for path in paths {
            let (before, after, staged) = (old.get(path), new.get(path), index.get(path));
            if before == after || staged.map(Entry::item) == after.copied() && staged.is_some() {
                continue;
            }
            match staged {
                Some(entry) if Some(entry.item()) == before.copied() => {
                    if matches!(self.state(entry, index)?, super::State::Changed(_)) {
                        lost.push(path.clone());
                    }
                }
                Some(_) => lost.push(path.clone()),
                None if before.is_some() && after.is_none() => continue,
                None if before.is_some() => lost.push(path.clone()),
                None => {
                    if let Some(item) = after
                        && self.is_in_the_way(path, *item, index)?
                    {
                        covered.push(path.clone());
                    }
                }
            }
            match after {
                Some(item) => writes.push((path, *item)),
                None => removes.push(path),
            }
        }
        refuse(self, &lost, &covered, verb)?;
        for path in removes {
            self.remove_file(path)?;
            next.remove(path);
        }
        for (path, item) in writes {
            next.put(self.write_file(path, item)?);
        }
        Ok(next)
    }

    /// Whether a file that nobody keeps would be lost by writing a path.
    pub fn is_in_the_way(&self, path: &[u8], item: Item, index: &Index) -> Done<bool> {
        let place = self.path(path)?;
        let Ok(facts) = facts::of(&place, Follow::No) else { return Ok(false) };
        if self.is_behind_link(path)? || item.mode == MODULE {
            return Ok(false);
        }
        if facts.kind == facts::Kind::Directory {
            return self.has_untracked(&[path, b"/"].concat(), index, 0);
        }
        let same =
            crate::odb::hash(gix_object::Kind::Blob, &self.file_bytes(&place, facts.kind)?)? == item.id;
        let ignored = super::ignore::Ignore::new(self).skips_deep(path, false)?;
        Ok(!same && !ignored)
    }
}

impl Repo {
    /// Whether a directory, whose name ends with a slash, has files that the index does not have.
    fn has_untracked(&self, folder: &[u8], index: &Index, depth: usize) -> Done<bool> {
        for entry in std::fs::read_dir(self.path(folder)?).into_iter().flatten().flatten() {
            let path = [folder, entry.file_name().as_encoded_bytes()].concat();
            let is_folder = entry.file_type().is_ok_and(|it| it.is_dir());
            let lost = match is_folder && depth < 512 {
                true => self.has_untracked(&[&path[..], b"/"].concat(), index, depth + 1)?,
                false => index.get(&path).is_none(),
            };
            if lost {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn refuse(repo: &Repo, lost: &[BString], covered: &[BString], verb: &str) -> Done {
    let list = |paths: &[BString]| -> String {
        paths.iter().map(|it| format!("\t{}\n", quoted(&repo.relative(it)))).collect()
    };
    let mut text = String::new();
    let what = if verb == "merge" { "merge" } else { "checkout" };
    let then = if verb == "merge" { "merge" } else { "switch branches" };
    if !lost.is_empty() {
        text.push_str(&format!(
            "error: Your local changes to the following files would be overwritten by {what}:\n{}Please commit your changes or stash them before you {then}.\n",
            list(lost)
        ));
    }
    if !covered.is_empty() {
        text.push_str(&format!(
            "error: The following untracked working tree files would be overwritten by {what}:\n{}Please move or remove them before you {then}.\n",
            list(covered)
        ));
    }
    if text.is_empty() { Ok(()) } else { Err(Fail { status: 1, text: text + "Aborting" }) }
}

fn quoted(path: &[u8]) -> String {
    crate::quote::path(path, crate::quote::Non::Escaped).to_str_lossy().into_owned()
}

#[cfg(unix)]
fn symlink(target: &[u8], path: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(crate::repo::os(target), path)
}

/// std's own is not stable for WASI; libc's is what it would call.
#[cfg(not(unix))]
fn symlink(target: &[u8], path: &Path) -> std::io::Result<()> {
    use std::ffi::{CString, c_char, c_int};
    unsafe extern "C" {
        fn symlink(target: *const c_char, path: *const c_char) -> c_int;
    }
    let (target, path) = (CString::new(target)?, CString::new(path.as_os_str().as_encoded_bytes())?);
    // SAFETY: both are C strings that live until after the call.
    match unsafe { symlink(target.as_ptr(), path.as_ptr()) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}
