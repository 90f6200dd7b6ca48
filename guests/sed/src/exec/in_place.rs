//! `-i`: what a file becomes is written line by line beside it, and takes its name at the end.
//!
//! Until then the file is as it was, whatever happens; afterwards it has the mode it had. A link is
//! replaced by a file, as by GNU, unless `--follow-symlinks` is given.

use super::Machine;
use crate::output::Output;
use place::reason;
use place::stdio::path;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// Names that are tried for the new file.
const TRIES: u32 = 1_000;

/// A file that is being edited.
pub(super) struct Edit {
    /// What it will be called.
    name: PathBuf,
    /// What it is called now.
    beside: PathBuf,
    pub output: Output,
}

impl Machine {
    /// Makes the file that will take the place of `name`; `false` if that cannot be.
    pub(super) fn begin_file(&mut self, name: Vec<u8>) -> bool {
        let mut name = path(&name).to_path_buf();
        if self.follow {
            name = fs::canonicalize(&name).unwrap_or(name);
        }
        match create_beside(&name) {
            Ok((file, beside)) => {
                let output = Output::edited(file, self.separator);
                self.edited = Some(Edit { name, beside, output });
                true
            }
            Err(error) => {
                let folder = name.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
                let folder = folder.display();
                self.complain(&format!("sed: couldn't open temporary file {folder}/sed: {}", reason(&error)));
                self.failed = true;
                false
            }
        }
    }

    /// Gives what the file has become its name.
    pub(super) fn finish_file(&mut self) {
        let Some(Edit { name, beside, output }) = self.edited.take() else { return };
        let copy = (!self.suffix.is_empty()).then(|| copy_name(&name, &self.suffix));
        let mode = modes::get(&name, true);
        let done = output
            .close()
            .and_then(|()| mode.and_then(|mode| modes::set(&beside, true, mode)))
            .and_then(|()| copy.map_or(Ok(()), |copy| fs::rename(&name, copy)))
            .and_then(|()| fs::rename(&beside, &name));
        if let Err(error) = done {
            // Half a file is of no use, and the old one is still there.
            let _ = fs::remove_file(&beside);
            self.complain(&format!("sed: couldn't write {}: {}", name.display(), reason(&error)));
            self.input.trouble = 4;
        }
    }
}

fn create_beside(name: &Path) -> io::Result<(File, PathBuf)> {
    let base = name.file_name().unwrap_or_default().to_string_lossy();
    let mut number = 0;
    loop {
        let beside = name.with_file_name(format!("sed{number:03}{base}"));
        match OpenOptions::new().write(true).create_new(true).open(&beside) {
            Ok(file) => return Ok((file, beside)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < TRIES => number += 1,
            Err(error) => return Err(error),
        }
    }
}

/// What the file as it was is called: a suffix, or where `*` stands for the name.
fn copy_name(name: &Path, suffix: &[u8]) -> PathBuf {
    let base = name.file_name().unwrap_or_default().as_encoded_bytes();
    let copy = if suffix.contains(&b'*') {
        suffix.split(|it| *it == b'*').collect::<Vec<_>>().join(base)
    } else {
        [base, suffix].concat()
    };
    if copy.contains(&b'/') { path(&copy).to_path_buf() } else { name.with_file_name(path(&copy)) }
}
