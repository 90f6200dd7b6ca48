//! Writes members: files, folders with what is in them, links.

use super::header::{BLOCK, Header, Kind, padding};
use super::options::{Options, default_owner};
use super::{list, name};
use crate::report::{complain, reason};
use std::fs::{self, Metadata};
use std::io::{self, Read as _, Write};
use std::path::Path;
use std::time::UNIX_EPOCH;

/// Two empty blocks end an archive, filled up to a record of twenty.
const RECORD: u64 = 20 * BLOCK as u64;

/// Appends members to `out`.
pub(super) struct Writer<'a, W: Write> {
    pub out: W,
    pub options: &'a Options,
    pub written: u64,
    pub failed: bool,
    /// Where names go: standard output, unless the archive does.
    pub log: &'a dyn Fn(&str),
    /// What is not to go into itself.
    pub archive: Option<Metadata>,
    pub told_of_slash: bool,
    /// The times of members that are in the archive already.
    pub known: Vec<(String, i64)>,
    pub width: usize,
}

impl<W: Write> Writer<'_, W> {
    /// Adds `path`, seen from the folder `base`. Only writing the archive can fail.
    pub(super) fn add(&mut self, base: &Path, path: &str) -> io::Result<()> {
        if self.options.exclude.iter().any(|pattern| name::excludes(pattern, path)) {
            return Ok(());
        }
        let full = base.join(path);
        let asked = if self.options.dereference { fs::metadata(&full) } else { fs::symlink_metadata(&full) };
        let about = match asked {
            Ok(about) => about,
            Err(error) => return self.problem(&format!("{path}: Cannot stat: {}", reason(&error))),
        };
        if about.is_dir() {
            let shown = format!("{}/", path.trim_end_matches('/'));
            self.member(&shown, Kind::Directory, &full, &about, 0, Vec::new())?;
            return if self.options.recurse { self.inside(base, path, &full) } else { Ok(()) };
        }
        if about.is_symlink() {
            let link = fs::read_link(&full).map(|to| to.to_string_lossy().into_owned().into_bytes());
            return match link {
                Ok(link) => self.member(path, Kind::Symbolic, &full, &about, 0, link).map(|_| ()),
                Err(error) => self.problem(&format!("{path}: Cannot readlink: {}", reason(&error))),
            };
        }
        if !about.is_file() {
            return self.problem(&format!("{path}: file is not a regular file; not dumped"));
        }
        self.file(path, &full, &about)
    }

    fn inside(&mut self, base: &Path, path: &str, full: &Path) -> io::Result<()> {
        let entries = match fs::read_dir(full) {
            Ok(entries) => entries,
            Err(error) => return self.problem(&format!("{path}: Cannot open: {}", reason(&error))),
        };
        let mut names: Vec<String> =
            entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort_unstable();
        for name in names {
            self.add(base, &format!("{}/{name}", path.trim_end_matches('/')))?;
        }
        Ok(())
    }

    fn file(&mut self, path: &str, full: &Path, about: &Metadata) -> io::Result<()> {
        if self.archive.as_ref().is_some_and(|archive| same(archive, about)) {
            complain(&format!("tar: {path}: file is the archive; not dumped"));
            return Ok(());
        }
        let mut file = match fs::File::open(full) {
            Ok(file) => file,
            Err(error) => return self.problem(&format!("{path}: Cannot open: {}", reason(&error))),
        };
        if !self.member(path, Kind::File, full, about, about.len(), Vec::new())? {
            return Ok(());
        }
        // Exactly as many bytes as the header says, whatever becomes of the file meanwhile.
        let copied = io::copy(&mut (&mut file).take(about.len()), &mut self.out)?;
        if copied < about.len() {
            self.problem(&format!(
                "{path}: File shrank by {} bytes; padding with zeros",
                about.len() - copied
            ))?;
            io::copy(&mut io::repeat(0).take(about.len() - copied), &mut self.out)?;
        }
        let rest = padding(about.len());
        self.out.write_all(&[0; BLOCK][..rest])?;
        self.written += about.len() + rest as u64;
        Ok(())
    }

    /// Writes a header; whether the member is to be written at all.
    fn member(
        &mut self,
        path: &str,
        kind: Kind,
        full: &Path,
        about: &Metadata,
        size: u64,
        link: Vec<u8>,
    ) -> io::Result<bool> {
        let mut stored = path;
        if !self.options.absolute && stored.starts_with('/') {
            if !std::mem::replace(&mut self.told_of_slash, true) {
                complain("tar: Removing leading `/' from member names");
            }
            stored = stored.trim_start_matches('/');
        }
        if stored.is_empty() {
            stored = "./";
        }
        let seconds = about.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let mtime = self.options.mtime.unwrap_or(seconds.map_or(0, |since| since.as_secs() as i64));
        if self.known.iter().any(|(name, time)| name == stored && *time >= mtime) {
            return Ok(false);
        }
        let (user, group) = self.options.transform_owner.clone().unwrap_or_else(default_owner);
        let name = stored.as_bytes().to_vec();
        // Of a file that cannot be asked, the usual bits.
        let mode = modes::get(full, kind != Kind::Symbolic).unwrap_or(0o644);
        let header = Header { name, link, kind, mode, size, mtime, user, group };
        match self.options.verbose {
            0 => {}
            1 => (self.log)(&list::shown(path.as_bytes())),
            _ => (self.log)(&list::long(&header, &mut self.width)),
        }
        let blocks = header.blocks();
        self.written += blocks.len() as u64;
        self.out.write_all(&blocks)?;
        Ok(true)
    }

    /// The end of the archive.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        let whole = (self.written + 2 * BLOCK as u64).next_multiple_of(RECORD);
        io::copy(&mut io::repeat(0).take(whole - self.written), &mut self.out)?;
        self.out.flush()
    }

    /// A member that cannot be had does not end the archive.
    pub(super) fn problem(&mut self, text: &str) -> io::Result<()> {
        complain(&format!("tar: {text}"));
        self.failed = true;
        Ok(())
    }
}

#[cfg(unix)]
fn same(left: &Metadata, right: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (left.dev(), left.ino()) == (right.dev(), right.ino())
}

/// Without numbers of files, the archive is known by having been written a moment ago.
#[cfg(not(unix))]
fn same(left: &Metadata, right: &Metadata) -> bool {
    left.len() == right.len()
        && left.modified().ok() == right.modified().ok()
        && left.created().ok() == right.created().ok()
}
