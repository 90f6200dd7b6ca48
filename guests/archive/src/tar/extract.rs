//! Puts members where they belong, and nowhere else.
//!
//! A name with `..` is refused, a leading slash is dropped. A symbolic link that leads out of the
//! folder is made after everything else, so that no member can be written through it.

use super::header::{Header, Kind};
use super::name;
use super::options::Options;
use crate::report::{complain, reason};
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

/// Makes files out of members.
pub(super) struct Extractor<'a> {
    options: &'a Options,
    base: PathBuf,
    pub failed: bool,
    told_of_slash: bool,
    /// Links to be made last: where, and to what.
    later: Vec<(PathBuf, String)>,
    /// Folders with their times and modes, set last: one that may not be written to has members, too.
    folders: Vec<(PathBuf, i64, u32)>,
}

impl<'a> Extractor<'a> {
    pub(super) fn new(options: &'a Options, base: PathBuf) -> Self {
        Self { options, base, failed: false, told_of_slash: false, later: Vec::new(), folders: Vec::new() }
    }

    /// Makes one member; only reading the archive can fail for good.
    pub(super) fn member(&mut self, header: &Header, content: &mut impl Read) -> io::Result<()> {
        let shown = String::from_utf8_lossy(&header.name).into_owned();
        let stripped = if self.options.strip > 0 {
            name::strip(&shown, self.options.strip)
        } else {
            Some(shown.clone())
        };
        let Some(stripped) = stripped else { return Ok(()) };
        if self.options.to_stdout {
            if header.kind == Kind::File {
                io::copy(content, &mut io::stdout().lock())?;
            }
            return Ok(());
        }
        if stripped.starts_with('/') && !std::mem::replace(&mut self.told_of_slash, true) {
            complain("tar: Removing leading `/' from member names");
        }
        let Some(safe) = name::harmless(&stripped) else {
            self.problem(&format!("{shown}: Member name contains '..'"));
            return Ok(());
        };
        if safe.is_empty() {
            return Ok(());
        }
        let path = self.base.join(&safe);
        if let Some(parent) = path.parent()
            && let Err(error) = fs::create_dir_all(parent)
        {
            self.problem(&format!("{shown}: Cannot open: {}", reason(&error)));
            return Ok(());
        }
        if header.kind != Kind::Directory && fs::symlink_metadata(&path).is_ok() {
            if self.options.keep_old {
                self.problem(&format!("{shown}: Cannot open: File exists"));
                return Ok(());
            }
            // Not through a link that is there, but in its place.
            let _ = fs::remove_file(&path);
        }
        let made = match header.kind {
            Kind::Directory => self.folder(&path, header),
            Kind::File => match fs::File::create(&path) {
                Ok(file) => return self.file(&shown, &path, file, header, content),
                Err(error) => Err(error),
            },
            Kind::Symbolic => {
                self.link(path, &String::from_utf8_lossy(&header.link));
                Ok(())
            }
            Kind::Hard => self.hard_link(&path, &String::from_utf8_lossy(&header.link)),
            _ => Err(io::Error::other("special files cannot be made here")),
        };
        if let Err(error) = made {
            self.problem(&format!("{shown}: Cannot open: {}", reason(&error)));
        }
        Ok(())
    }

    fn folder(&mut self, path: &Path, header: &Header) -> io::Result<()> {
        fs::create_dir_all(path)?;
        self.folders.push((path.to_owned(), header.mtime, header.mode));
        Ok(())
    }

    fn file(
        &mut self,
        shown: &str,
        path: &Path,
        mut file: fs::File,
        header: &Header,
        content: &mut impl Read,
    ) -> io::Result<()> {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let count = content.read(&mut buffer)?;
            if count == 0 {
                break;
            }
            if let Err(error) = file.write_all(&buffer[..count]) {
                self.problem(&format!("{shown}: Cannot write: {}", reason(&error)));
                return Ok(());
            }
        }
        if !self.options.no_mtime {
            let _ =
                file.set_modified(UNIX_EPOCH + Duration::from_secs(u64::try_from(header.mtime).unwrap_or(0)));
        }
        drop(file);
        self.set_mode(path, header.mode);
        Ok(())
    }

    fn link(&mut self, path: PathBuf, target: &str) {
        let leads_out = target.starts_with('/') || target.split('/').any(|part| part == "..");
        if leads_out {
            self.later.push((path, target.to_owned()));
        } else if let Err(error) = symlink(target, &path) {
            self.problem(&format!(
                "{}: Cannot create symlink to '{target}': {}",
                path.display(),
                reason(&error)
            ));
        }
    }

    /// A second name; where there are none, a copy.
    fn hard_link(&mut self, path: &Path, target: &str) -> io::Result<()> {
        let target = name::strip(target, self.options.strip).and_then(|it| name::harmless(&it));
        let target = self.base.join(target.ok_or_else(|| io::Error::other("link leads out of the archive"))?);
        fs::hard_link(&target, path).or_else(|_| fs::copy(&target, path).map(|_| ()))
    }

    /// What had to wait for the last member.
    pub(super) fn finish(&mut self) {
        for (path, target) in std::mem::take(&mut self.later) {
            if let Err(error) = symlink(&target, &path) {
                self.problem(&format!(
                    "{}: Cannot create symlink to '{target}': {}",
                    path.display(),
                    reason(&error)
                ));
            }
        }
        for (path, mtime, mode) in std::mem::take(&mut self.folders).into_iter().rev() {
            // Times of folders are a nicety that not every file tree has.
            if !self.options.no_mtime
                && let Ok(folder) = fs::File::open(&path)
            {
                let _ =
                    folder.set_modified(UNIX_EPOCH + Duration::from_secs(u64::try_from(mtime).unwrap_or(0)));
            }
            self.set_mode(&path, mode);
        }
    }

    /// The bits of the archive, as far as the umask lets unless `-p` says otherwise. Never setuid, setgid
    /// or sticky: a stranger's archive has no say in those.
    fn set_mode(&mut self, path: &Path, mode: u32) {
        let mask = if self.options.same_modes { 0 } else { modes::umask() };
        if let Err(error) = modes::set(path, true, mode & 0o777 & !mask) {
            self.problem(&format!("{}: Cannot change mode: {}", path.display(), reason(&error)));
        }
    }

    fn problem(&mut self, text: &str) {
        complain(&format!("tar: {text}"));
        self.failed = true;
    }
}

#[cfg(unix)]
pub(crate) fn symlink(target: &str, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

/// std's own is not stable for WASI; libc's is what it would call.
#[cfg(not(unix))]
pub(crate) fn symlink(target: &str, path: &Path) -> io::Result<()> {
    use std::ffi::{CString, c_char, c_int};
    unsafe extern "C" {
        fn symlink(target: *const c_char, path: *const c_char) -> c_int;
    }
    let (target, path) = (CString::new(target)?, CString::new(path.to_string_lossy().as_bytes())?);
    // SAFETY: both are C strings that live until after the call.
    if unsafe { symlink(target.as_ptr(), path.as_ptr()) } == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
