//! Keeps the cache under its size: what was not used for longest goes first.

use std::{fs, io, path::Path, time::SystemTime};

use crate::home::{note_of, remove_with_note};

/// How files of the cache end.
pub(super) const EXTENSION: &str = "cwasm";

/// Makes room for `bytes` more in `dir`, where `path` is about to be replaced.
pub(super) fn make_room(dir: &Path, path: &Path, bytes: u64, bytes_max: u64) -> io::Result<()> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.path() == path || entry.path().extension().is_none_or(|it| it != EXTENSION) {
            continue;
        }
        // A file that is gone by now needs no room.
        let Ok(facts) = entry.metadata() else { continue };
        let of_note = fs::metadata(note_of(&entry.path())).and_then(|note| note.modified());
        let used = facts.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        let used = of_note.map_or(used, |note| used.max(note));
        files.push((used, facts.len(), entry.path()));
    }
    let mut held = files.iter().fold(bytes, |sum, file| sum.saturating_add(file.1));
    files.sort();
    for (_, len, path) in files {
        if held <= bytes_max {
            break;
        }
        let _ = remove_with_note(&path);
        held = held.saturating_sub(len);
    }
    Ok(())
}
