//! Where a path leads that was given with a directory descriptor: beneath that directory, or nowhere.
//!
//! The tree itself cannot be left, so a descriptor of its root needs no help. Below, `..` and links are
//! followed here, name by name, and what would lead out is EPERM; the tree then gets plain names. Another
//! run that swaps a directory for a link in between can only lead to another place of the same tree.

use drydock_contract::port::{FileError, FileKind, Files, Follow, TreePath};

use super::Errno;

/// How many links one path may lead through.
const HOPS_MAX: usize = 40;
/// How many names are looked up for one path, those that links say included: each look is a walk.
const LOOKS_MAX: usize = 2048;

/// The path that `text` names from the directory at `base`.
pub(super) fn beneath(
    files: &dyn Files,
    base: &TreePath,
    text: &str,
    follow: Follow,
) -> Result<TreePath, Errno> {
    if base.names().next().is_none() {
        return Ok(TreePath::new(text)?);
    }
    // Measured as a whole before it is taken apart.
    base.join(text)?;
    let names: Vec<String> = base.names().map(str::to_owned).collect();
    let mut walk = Walk { files, floor: names.len(), names, hops: 0, looks: 0 };
    let slash = walk.go(text, follow)?;
    let path = walk.names.join("/");
    Ok(TreePath::new(&if slash { path + "/" } else { path })?)
}

/// The same directory by plain names: no link on the way, no `..`.
pub(super) fn plain(files: &dyn Files, path: &TreePath) -> Result<TreePath, Errno> {
    let names: Vec<&str> = path.names().collect();
    let trail = files.trail(path);
    let known = trail.len() == names.len() && trail.iter().all(|it| *it == FileKind::Directory);
    if known && !names.contains(&"..") {
        return Ok(TreePath::new(&names.join("/"))?);
    }
    let mut walk = Walk { files, floor: 0, names: Vec::new(), hops: 0, looks: 0 };
    walk.go(path.as_str(), Follow::Yes)?;
    Ok(TreePath::new(&walk.names.join("/"))?)
}

struct Walk<'f> {
    files: &'f dyn Files,
    /// Where the walk is, from the root of the tree: real directories, but for the last.
    names: Vec<String>,
    /// How many of them cannot be left. None, and `..` stays at the root as everywhere.
    floor: usize,
    hops: usize,
    looks: usize,
}

impl Walk<'_> {
    /// Walks on by `text`; answers whether it ends as a directory's path does.
    fn go(&mut self, text: &str, follow: Follow) -> Result<bool, Errno> {
        let mut slash = ends_as_a_directory(text);
        let mut todo: Vec<String> = text.rsplit('/').map(str::to_owned).collect();
        while let Some(name) = todo.pop() {
            match name.as_str() {
                "" | "." => continue,
                ".." if self.names.len() > self.floor => {
                    self.names.pop();
                    continue;
                }
                ".." if self.floor == 0 => continue,
                ".." => return Err(Errno::Perm),
                _ => {}
            }
            let last = todo.iter().all(|it| it.is_empty() || it == ".");
            self.names.push(name);
            if last && follow == Follow::No && !slash {
                break;
            }
            match self.look()? {
                None if last => break,
                None => return Err(Errno::Noent),
                Some(FileKind::File) if !last => return Err(Errno::Notdir),
                Some(FileKind::File | FileKind::Directory) => {}
                Some(FileKind::Symlink) if last && follow == Follow::No => {
                    // The tree decides what a slash behind a link means; it may follow it no further than we.
                    let mut further = Walk { files: self.files, names: self.names.clone(), ..*self };
                    let target = further.turn()?;
                    match further.go(&target, Follow::Yes) {
                        Ok(_) | Err(Errno::Noent | Errno::Notdir) => break,
                        Err(errno) => return Err(errno),
                    }
                }
                Some(FileKind::Symlink) => {
                    let target = self.turn()?;
                    slash |= last && ends_as_a_directory(&target);
                    todo.extend(target.rsplit('/').map(str::to_owned));
                }
            }
        }
        Ok(slash)
    }

    /// What is there, if anything.
    fn look(&mut self) -> Result<Option<FileKind>, Errno> {
        self.looks += 1;
        if self.looks > LOOKS_MAX {
            return Err(Errno::Loop);
        }
        match self.files.stat(&TreePath::new(&self.names.join("/"))?, Follow::No) {
            Ok(stat) => Ok(Some(stat.kind)),
            Err(FileError::NotFound) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// What the link says at which the walk has arrived; the walk goes on from beside it.
    fn turn(&mut self) -> Result<String, Errno> {
        self.hops += 1;
        if self.hops > HOPS_MAX {
            return Err(Errno::Loop);
        }
        let target = self.files.read_link(&TreePath::new(&self.names.join("/"))?)?;
        self.names.pop();
        match (target.starts_with('/'), self.floor) {
            (false, _) => {}
            (true, 0) => self.names.clear(),
            (true, _) => return Err(Errno::Perm),
        }
        Ok(target)
    }
}

fn ends_as_a_directory(text: &str) -> bool {
    text.ends_with('/') || text.ends_with("/.") || text == "."
}

#[cfg(test)]
mod tests {
    use drydock_contract::{Meter, Timestamp};
    use drydock_store::MemoryFiles;
    use proptest::prelude::*;

    use super::*;

    fn path(text: &str) -> TreePath {
        TreePath::new(text).unwrap()
    }

    /// `d` is what is opened; `secret` and `e` lie beside it.
    fn tree(links: &[(String, String)]) -> MemoryFiles {
        let files = MemoryFiles::with(std::sync::Arc::new(Meter::new(1 << 20)));
        for file in ["secret", "e/f", "d/f", "d/in/f", "d/in/deep/f"] {
            files.write(file, file.as_bytes()).unwrap();
        }
        for (at, target) in links {
            // One that is there already stays.
            let _ = files.symlink(target, &path(at), Timestamp(0));
        }
        files
    }

    fn inodes(files: &MemoryFiles, below: &str, all: &mut Vec<u64>) {
        all.push(files.stat(&path(below), Follow::No).unwrap().inode);
        for entry in files.read_dir(&path(below)).unwrap() {
            let child = format!("{below}/{}", entry.name);
            match entry.kind {
                FileKind::Directory => inodes(files, &child, all),
                _ => all.push(entry.inode),
            }
        }
    }

    fn walked() -> impl Strategy<Value = String> {
        let name = prop::sample::select(vec![
            "..", ".", "", "d", "e", "f", "in", "deep", "secret", "l", "m", "none",
        ]);
        prop::collection::vec(name, 1..8).prop_map(|names| names.join("/"))
    }

    fn link() -> impl Strategy<Value = (String, String)> {
        let at = prop::sample::select(vec!["d/l", "d/m", "d/in/l", "d/in/deep/m", "l", "e/m"]);
        (at, walked()).prop_map(|(at, target)| (at.to_owned(), target))
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

        /// What is answered lies beneath the directory, and is what the tree itself finds there.
        #[test]
        fn no_path_and_no_link_leads_out(links in prop::collection::vec(link(), 0..6), text in walked(), follows in any::<bool>()) {
            prop_assume!(!text.starts_with('/') && !text.is_empty());
            let files = tree(&links);
            let follow = if follows { Follow::Yes } else { Follow::No };
            let mut inside = Vec::new();
            inodes(&files, "d", &mut inside);
            let whole = files.stat(&path("d").join(&text).unwrap(), follow).map(|it| it.inode);
            match beneath(&files, &path("d"), &text, follow) {
                Ok(found) => {
                    let got = files.stat(&found, follow).map(|it| it.inode);
                    prop_assert_eq!(got, whole, "{:?} became {:?}", &text, &found);
                    if let Ok(inode) = got {
                        prop_assert!(inside.contains(&inode), "{:?} leads out by {:?}", &text, &found);
                    }
                }
                // It went out, if only to come back; or the tree finds nothing either.
                Err(Errno::Perm) => {}
                Err(_) => prop_assert!(whole.is_err(), "{:?}", &text),
            }
        }

        #[test]
        fn a_plain_path_is_the_same_directory(links in prop::collection::vec(link(), 0..6), text in walked()) {
            let files = tree(&links);
            let Ok(stat) = files.stat(&path(&text), Follow::Yes) else { return Ok(()) };
            prop_assume!(stat.kind == FileKind::Directory);
            let plain = plain(&files, &path(&text)).unwrap();
            prop_assert!(plain.names().all(|it| it != ".."));
            prop_assert_eq!(files.stat(&plain, Follow::No).unwrap().inode, stat.inode);
            prop_assert_eq!(files.trail(&plain).len(), plain.names().count());
        }
    }
}
