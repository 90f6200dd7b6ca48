//! Sorted runs that did not fit into memory, in files of the session's own scratch.
//!
//! A file goes when its run is done with, also after an error.

use crate::stream::{self, Out, reason, text};
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::path::PathBuf;

/// Where runs are kept.
pub struct Scratch {
    folder: Vec<u8>,
    mark: u64,
    count: usize,
}

/// One run. The file is removed with it.
pub struct Run {
    pub path: PathBuf,
}

impl Drop for Run {
    fn drop(&mut self) {
        // Nothing more can be done about a file that will not go.
        let _ = fs::remove_file(&self.path);
    }
}

impl Scratch {
    pub fn new(folder: Vec<u8>) -> Self {
        Self { folder, mark: RandomState::new().hash_one("sort"), count: 0 }
    }

    /// Makes an empty run, and where to write it.
    pub fn run(&mut self) -> Result<(Run, Out), String> {
        let name = format!(".sort-{:016x}-{}", self.mark, self.count);
        self.count += 1;
        let path = stream::path(&self.folder).join(name);
        let create = || OpenOptions::new().write(true).create_new(true).open(&path);
        let file = create().or_else(|error| {
            // A session that has no scratch yet gets one.
            if error.kind() != io::ErrorKind::NotFound {
                return Err(error);
            }
            fs::create_dir_all(stream::path(&self.folder))?;
            create()
        });
        let file = file.map_err(|error| {
            format!("cannot create temporary file in '{}': {}", text(&self.folder), reason(&error))
        })?;
        Ok((Run { path }, Out::into_file("sort", file)))
    }
}

impl Run {
    /// Opens it for reading.
    pub fn open(&self) -> Result<File, String> {
        File::open(&self.path)
            .map_err(|error| format!("cannot read: {}: {}", self.path.display(), reason(&error)))
    }
}
