//! The list of what is in a tree: one line for each file, with its hash, in the order of the names.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs::{self, File},
    io::{self, Read},
    path::Path,
};

use drydock_contract::{Digest, NotThoseBytes, port::LoadError};
use sha2::{Digest as _, Sha256};

use crate::home::{open_regular, read_capped};

/// The largest list that is read: as many names as a tree may have, none of them short.
const LIST_BYTES_MAX: u64 = 64 << 20;

/// The lines of a list.
pub(super) fn print(files: &BTreeMap<String, Digest>) -> String {
    files.iter().fold(String::new(), |mut text, (path, digest)| {
        let _ = writeln!(text, "{digest}  {path}");
        text
    })
}

/// Hashes what the list names, and compares.
pub(super) fn verify(tree: &Path, list: &Path) -> Result<u64, LoadError> {
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |cause| LoadError::Read { path, cause }
    };
    let (file, len) = open_regular(list, LIST_BYTES_MAX).map_err(unreadable(list))?;
    let text = read_capped(&file, len, LIST_BYTES_MAX).map_err(unreadable(list))?;
    let bent = || unreadable(list)(io::ErrorKind::InvalidData.into());
    let text = std::str::from_utf8(&text).map_err(|_| bent())?;
    let mut total = 0;
    for line in text.lines() {
        let (expected, name) = line.split_once("  ").ok_or_else(bent)?;
        let expected: Digest = expected.parse().map_err(|_| bent())?;
        if !super::make::is_plain(name) {
            return Err(bent());
        }
        let path = tree.join(name);
        // A link that took the place of a file is not followed.
        let found = fs::symlink_metadata(&path).map_err(unreadable(&path))?;
        if !found.is_file() {
            return Err(unreadable(&path)(io::ErrorKind::InvalidData.into()));
        }
        let (got, bytes) = File::open(&path).and_then(hash).map_err(unreadable(&path))?;
        if got != expected {
            return Err(LoadError::Integrity { path, cause: NotThoseBytes { expected, got } });
        }
        total += bytes;
    }
    Ok(total)
}

fn hash(mut file: File) -> io::Result<(Digest, u64)> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 << 10];
    let mut total = 0;
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            count => {
                hasher.update(&buffer[..count]);
                total += count as u64;
            }
        }
    }
    Ok((Digest::from_bytes(hasher.finalize().into()), total))
}
