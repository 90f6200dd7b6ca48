//! Files that were verified before and have not been changed since, so that they need not be read again.
//!
//! Beside a file that was found to be what it claims lies a note: a MAC, under this installation's key, of what
//! it was found to be and of the facts by which the system tells one state of a file from the next (device,
//! inode, length, and the times of the last change of its content and of anything about it). Every write, rename
//! or change of mode moves the last of them, and no program but the administrator's can move it back.
//!
//! Whoever can write the file without that is its owner, who holds the key as well, or the administrator.
//! A file that others may write, or of another owner, is never taken by its note.

use std::{
    fs::{self, File, Metadata},
    io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use super::{Durability, open_regular, read_capped, write_atomic};
use crate::codecache::key::MacKey;

const MAC_BYTES: usize = 32;
/// Clocks of file systems move in steps. A file that was changed so short a time ago may change once more
/// without being seen to.
const SETTLED_AFTER: Duration = Duration::from_secs(2);
/// What the key is for.
const USE: &str = "drydock 2026 files that were verified before";

/// The notes of one home.
#[derive(Debug)]
pub(crate) struct VerifiedFiles {
    key: Option<VerifiedKey>,
}

struct VerifiedKey([u8; 32]);

/// Who may write a file so that a note about it means something.
pub(crate) type Trusted = fn(&Metadata) -> bool;

impl std::fmt::Debug for VerifiedKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("VerifiedKey(..)")
    }
}

impl VerifiedFiles {
    /// With this installation's key. Without one, every file is read every time.
    pub(crate) fn new(key: Option<&MacKey>) -> Self {
        Self { key: key.map(|key| VerifiedKey(key.for_use(USE))) }
    }

    /// Whether the open file at `path` was found to be `what`, and is as it was then.
    pub(crate) fn is_unchanged(&self, path: &Path, file: &File, what: &[u8]) -> bool {
        self.holds(&note_of(path), file, what, is_ours_alone)
    }

    /// The same by a note that lies elsewhere, about a file that has a trusted owner.
    pub(crate) fn holds(&self, note: &Path, file: &File, what: &[u8], trusted: Trusted) -> bool {
        let read = open_regular(note, MAC_BYTES as u64)
            .and_then(|(note, len)| read_capped(&note, len, MAC_BYTES as u64));
        let Ok(claimed) = read.map(<[u8; MAC_BYTES]>::try_from) else { return false };
        let (Ok(claimed), Ok(facts)) = (claimed, file.metadata()) else { return false };
        // `blake3::Hash` compares in constant time.
        trusted(&facts) && self.mac(&facts, what).is_some_and(|mac| mac == blake3::Hash::from_bytes(claimed))
    }

    /// Notes that the open file at `path` was just found to be `what`, if it had these facts before it was
    /// read and still has. A failure costs a look at the whole file the next time.
    pub(crate) fn remember(&self, path: &Path, file: &File, before: &Metadata, what: &[u8]) {
        self.remember_in(&note_of(path), file, before, what, is_ours_alone);
    }

    /// The same in a note that lies elsewhere, about a file that has a trusted owner.
    pub(crate) fn remember_in(
        &self,
        note: &Path,
        file: &File,
        before: &Metadata,
        what: &[u8],
        trusted: Trusted,
    ) {
        let Ok(after) = file.metadata() else { return };
        let changed = changed_at(&after);
        let settled = SystemTime::now().duration_since(changed).is_ok_and(|age| age > SETTLED_AFTER);
        if !settled || facts_of(before) != facts_of(&after) || !trusted(&after) {
            return;
        }
        if let Some(mac) = self.mac(&after, what) {
            let _ = write_atomic(note, &[mac.as_bytes()], Durability::Process);
        }
    }

    fn mac(&self, facts: &Metadata, what: &[u8]) -> Option<blake3::Hash> {
        let mut hasher = blake3::Hasher::new_keyed(&self.key.as_ref()?.0);
        for fact in facts_of(facts) {
            hasher.update(&fact.to_le_bytes());
        }
        hasher.update(what);
        Some(hasher.finalize())
    }
}

/// Where the note of a file lies.
pub(crate) fn note_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".verified");
    name.into()
}

/// Removes a file and its note.
pub(crate) fn remove_with_note(path: &Path) -> io::Result<()> {
    let _ = fs::remove_file(note_of(path));
    fs::remove_file(path)
}

fn facts_of(facts: &Metadata) -> [u64; 7] {
    [
        facts.dev(),
        facts.ino(),
        facts.len(),
        facts.mtime().cast_unsigned(),
        facts.mtime_nsec().cast_unsigned(),
        facts.ctime().cast_unsigned(),
        facts.ctime_nsec().cast_unsigned(),
    ]
}

/// Nobody else may write it.
pub(crate) fn is_ours_alone(facts: &Metadata) -> bool {
    facts.is_file() && facts.mode() & 0o022 == 0 && facts.uid() == rustix::process::geteuid().as_raw()
}

/// Nobody else may write it but the administrator: a file that somebody installed for everybody.
pub(crate) fn is_ours_or_the_systems(facts: &Metadata) -> bool {
    let is_the_systems = facts.is_file() && facts.mode() & 0o022 == 0 && facts.uid() == 0;
    is_the_systems || is_ours_alone(facts)
}

/// When anything about the file last changed.
fn changed_at(facts: &Metadata) -> SystemTime {
    let since = Duration::new(
        u64::try_from(facts.ctime()).unwrap_or(0),
        u32::try_from(facts.ctime_nsec()).unwrap_or(0),
    );
    SystemTime::UNIX_EPOCH.checked_add(since).unwrap_or(SystemTime::UNIX_EPOCH)
}

/// What tests do instead of waiting for two seconds.
#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// Notes a file however fresh it is. Afterwards the clock of the file system has moved on: otherwise nothing
    /// could tell the next state of the file from this one, which is why fresh files get no note.
    pub(crate) fn note(notes: &VerifiedFiles, path: &Path, what: &[u8]) {
        note_in(notes, &note_of(path), path, what);
    }

    /// Notes a file in a note that lies elsewhere.
    pub(crate) fn note_in(notes: &VerifiedFiles, note: &Path, path: &Path, what: &[u8]) {
        let facts = fs::metadata(path).unwrap();
        let mac = notes.mac(&facts, what).unwrap();
        fs::write(note, mac.as_bytes()).unwrap();
        let clock = path.with_extension("clock");
        while {
            fs::write(&clock, "").unwrap();
            changed_at(&fs::metadata(&clock).unwrap()) <= changed_at(&facts)
        } {}
        fs::remove_file(clock).unwrap();
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn key(byte: u8) -> MacKey {
        MacKey::for_tests([byte; 32])
    }

    /// A file, and its note under the key of ones.
    fn settled(dir: &Path) -> (PathBuf, VerifiedFiles) {
        let path = dir.join("file");
        fs::write(&path, "content").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let notes = VerifiedFiles::new(Some(&key(1)));
        testing::note(&notes, &path, b"what");
        (path, notes)
    }

    fn unchanged(notes: &VerifiedFiles, path: &Path, what: &[u8]) -> bool {
        notes.is_unchanged(path, &File::open(path).unwrap(), what)
    }

    #[test]
    fn a_note_holds_for_the_same_file_claim_and_key_only() {
        let dir = tempfile::tempdir().unwrap();
        let (path, notes) = settled(dir.path());
        assert!(unchanged(&notes, &path, b"what"));
        assert!(!unchanged(&notes, &path, b"else"));
        assert!(!unchanged(&VerifiedFiles::new(Some(&key(2))), &path, b"what"));
        assert!(!unchanged(&VerifiedFiles::new(None), &path, b"what"));
        fs::write(note_of(&path), [0; 32]).unwrap();
        assert!(!unchanged(&notes, &path, b"what"), "a forged note");
        fs::remove_file(note_of(&path)).unwrap();
        assert!(!unchanged(&notes, &path, b"what"), "no note");
    }

    #[test]
    fn every_way_to_change_a_file_ends_its_note() {
        type Change = fn(&Path);
        let ways: [(&str, Change); 5] = [
            ("other bytes of the same length", |path| fs::write(path, "c0ntent").unwrap()),
            ("the same bytes again", |path| fs::write(path, "content").unwrap()),
            ("another file under its name", |path| {
                let other = path.with_extension("other");
                fs::write(&other, "c0ntent").unwrap();
                fs::rename(other, path).unwrap();
            }),
            ("bytes changed and the time of that put back", |path| {
                let before = fs::metadata(path).unwrap().modified().unwrap();
                fs::write(path, "c0ntent").unwrap();
                File::options().write(true).open(path).unwrap().set_modified(before).unwrap();
            }),
            ("writable by others", |path| {
                fs::set_permissions(path, fs::Permissions::from_mode(0o666)).unwrap();
            }),
        ];
        for (what, change) in ways {
            let dir = tempfile::tempdir().unwrap();
            let (path, notes) = settled(dir.path());
            change(&path);
            assert!(!unchanged(&notes, &path, b"what"), "{what}");
        }
    }

    #[test]
    fn a_file_that_has_just_changed_is_not_remembered() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("fresh");
        fs::write(&path, "content").unwrap();
        let file = File::open(&path).unwrap();
        let facts = file.metadata().unwrap();
        VerifiedFiles::new(Some(&key(1))).remember(&path, &file, &facts, b"what");
        assert!(!note_of(&path).exists());
    }
}
