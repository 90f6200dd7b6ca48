//! One name and what it stands for.

use facts::{Facts, Follow, Kind};
use std::io;
use std::path::Path;

pub struct Entry {
    pub name: Vec<u8>,
    pub facts: Facts,
    /// Where a symbolic link leads, and what is there.
    pub target: Option<(Vec<u8>, Option<Facts>)>,
}

impl Entry {
    /// Looks the name up at `path`.
    pub fn read(name: Vec<u8>, path: &Path, follow: Follow) -> io::Result<Self> {
        let facts = facts::of(path, follow)?;
        let target = (facts.kind == Kind::Symlink).then(|| {
            let target = std::fs::read_link(path).map(|it| it.into_os_string().into_encoded_bytes());
            (target.unwrap_or_default(), facts::of(path, Follow::Yes).ok())
        });
        Ok(Self { name, facts, target })
    }

    /// Whether it is a directory, or leads to one.
    pub fn is_folder(&self) -> bool {
        let behind = self.target.as_ref().and_then(|it| it.1);
        behind.unwrap_or(self.facts).kind == Kind::Directory
    }

    /// Behind the last dot, with it.
    pub fn extension(&self) -> &[u8] {
        let dot = self.name.iter().rposition(|byte| *byte == b'.').filter(|at| *at > 0);
        dot.map_or(b"", |at| &self.name[at..])
    }
}
