//! What was built before: a file under the key of a build that names the module's hash. The module itself lies in the
//! artifact store and is hashed when it is read. Whoever can write to the data directory can lead a key to another
//! module, as they can lead a name to one.

use std::{fs, io::Read as _, path::PathBuf};

use bytes::Bytes;
use drydock_contract::Digest;
use drydock_embed::store::{ArtifactStore, Home, PutArtifactError};

/// As many digits as a hash has, and a line's end.
const NOTE_BYTES_MAX: u64 = 65;

fn note(home: &Home, key: Digest) -> PathBuf {
    home.root().join("catalog/builds").join(key.to_string())
}

/// The module of that key, if it is there and whole. Whatever is wrong with a note, it is built again.
pub(super) fn look_up(home: &Home, key: Digest) -> Option<Bytes> {
    let mut text = String::new();
    fs::File::open(note(home, key)).ok()?.take(NOTE_BYTES_MAX).read_to_string(&mut text).ok()?;
    let digest: Digest = text.trim_end().parse().ok()?;
    let artifact = ArtifactStore::new(home).load(digest).ok()?;
    Some(Bytes::copy_from_slice(artifact.bytes()))
}

/// Keeps the module, and then the note. A note that cannot be written costs a build, and nothing else.
pub(super) fn keep(home: &Home, key: Digest, module: &Bytes) -> Result<(), PutArtifactError> {
    let artifact = ArtifactStore::new(home).put(module.clone())?;
    let path = note(home, key);
    let Some(folder) = path.parent() else { return Ok(()) };
    let half = folder.join(format!(".{}", std::process::id()));
    let written = fs::create_dir_all(folder)
        .and_then(|()| fs::write(&half, format!("{}\n", artifact.digest())))
        .and_then(|()| fs::rename(&half, &path));
    if written.is_err() {
        let _ = fs::remove_file(&half);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_leads_to_the_module_and_a_broken_one_to_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::open(folder.path()).unwrap();
        let (key, other) = (Digest::of(b"key"), Digest::of(b"other"));
        assert_eq!(look_up(&home, key), None);
        keep(&home, key, &Bytes::from_static(b"\0asm module")).unwrap();
        assert_eq!(look_up(&home, key).as_deref(), Some(&b"\0asm module"[..]));
        assert_eq!(look_up(&home, other), None);
        for text in ["", "zz", "../../etc/passwd", &"0".repeat(64), &"a".repeat(1 << 20)] {
            fs::write(note(&home, key), text).unwrap();
            assert_eq!(look_up(&home, key), None, "{text:.20}");
        }
    }

    #[test]
    fn a_module_that_was_altered_is_built_again() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::open(folder.path()).unwrap();
        let (key, module) = (Digest::of(b"key"), Bytes::from_static(b"\0asm module"));
        keep(&home, key, &module).unwrap();
        let path = ArtifactStore::new(&home).path_of(Digest::of(&module));
        fs::write(path, b"\0asm hostile").unwrap();
        assert_eq!(look_up(&home, key), None);
    }
}
