//! Tapes: what entered a session from outside, kept per tenant so that the run can be gone through again.
//!
//! A file each, for its owner alone, sealed under the key of this installation, within a bound for each and a quota for
//! all. What the frames mean is for whoever records and replays; nothing here runs anything.

mod body;
mod error;
mod frame;
mod head;
mod tally;
#[cfg(test)]
mod tests;

use std::{fmt, fs, io, path::PathBuf, str::FromStr};

use drydock_contract::Timestamp;

pub(crate) use body::count;
pub use body::{Frames, TapeBody, TapeWriter};
pub use error::TapeError;
pub use frame::{BadFrame, FRAME_BYTES_MAX, FRAME_NAME_BYTES_MAX, Frame, Seam};

use crate::{
    TenantHome,
    codecache::key,
    home::{Durability, Lock, write_atomic},
    sealed::Seal,
};
use tally::Tally;

/// The longest tape, compressed, where nobody says otherwise.
pub const TAPE_BYTES_MAX: u64 = 64 << 20;
/// What all tapes of a tenant may take.
pub const TAPES_BYTES_MAX: u64 = 1 << 30;
/// How many a tenant may have.
pub const TAPES_MAX: usize = 1024;

const EXTENSION: &str = "tape";
const TITLE_BYTES_MAX: usize = 200;
const LOCK: &str = "tapes";

/// Which tape: sixteen hexadecimal digits that nobody can guess.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TapeId(String);

/// The text names no tape.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no tape's id: those are 16 hexadecimal digits, as `drydock tape list` shows them")]
pub struct BadTapeId(String);

impl TapeId {
    /// One that nobody has.
    pub fn fresh() -> Self {
        let mut bytes = [0; 8];
        // Without randomness the file of the name is there already, and is not written over.
        let _ = getrandom::fill(&mut bytes);
        Self(format!("{:016x}", u64::from_le_bytes(bytes)))
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for TapeId {
    type Err = BadTapeId;

    fn from_str(text: &str) -> Result<Self, BadTapeId> {
        let legal = text.len() == 16 && text.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'));
        if legal { Ok(Self(text.to_owned())) } else { Err(BadTapeId(text.chars().take(40).collect())) }
    }
}

impl fmt::Display for TapeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What is known of a tape beside its frames.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TapeFacts {
    /// Which one.
    pub id: TapeId,
    /// Who was recorded.
    pub principal: String,
    /// What was: `run`, `sh`, `js`, `py`, `ext`, or an embedder's own word.
    pub kind: String,
    /// In words, for a listing.
    pub title: String,
    /// When.
    pub created: Timestamp,
    /// How many frames it has.
    pub frames: u64,
    /// Bytes of its frames.
    pub raw_bytes: u64,
    /// The same, compressed.
    pub bytes: u64,
}

/// What a new tape is called.
#[derive(Debug, Clone, Default)]
pub struct TapeLabel {
    /// Who was recorded.
    pub principal: String,
    /// What was.
    pub kind: String,
    /// In words; what is long is cut.
    pub title: String,
    /// When.
    pub created: Timestamp,
}

/// A tape as it was read: its seal is right.
pub struct Tape {
    /// What is known of it.
    pub facts: TapeFacts,
    body: Vec<u8>,
}

impl Tape {
    /// Its frames, from the first.
    pub fn frames(&self) -> Frames {
        Frames::of(self.body.clone(), self.facts.raw_bytes)
    }
}

/// A tape in a listing, or why it cannot be used.
pub type ListedTape = (TapeId, Result<TapeFacts, TapeError>);

/// The tapes of one tenant.
#[derive(Clone)]
pub struct Tapes {
    tenant: TenantHome,
    seal: Seal,
    bytes_max: u64,
    tapes_max: usize,
}

impl Tapes {
    /// Those of this tenant.
    pub fn of(tenant: &TenantHome) -> Result<Self, TapeError> {
        Self::within(tenant, TAPES_BYTES_MAX, TAPES_MAX)
    }

    /// As [`of`](Self::of), with a quota that may be tighter than the usual.
    pub fn within(tenant: &TenantHome, bytes_max: u64, tapes_max: usize) -> Result<Self, TapeError> {
        let key = key::load_or_make(tenant.home())
            .map_err(|error| TapeError::Disk { path: error.path, cause: error.cause })?;
        let (bytes_max, tapes_max) = (bytes_max.min(TAPES_BYTES_MAX), tapes_max.min(TAPES_MAX));
        Ok(Self { tenant: tenant.clone(), seal: Seal::of(&head::KIND, &key), bytes_max, tapes_max })
    }

    /// Keeps a tape.
    pub fn keep(&self, label: TapeLabel, body: &TapeBody) -> Result<TapeFacts, TapeError> {
        let dir = self.tenant.tapes();
        self.tenant.make(&dir).map_err(|cause| TapeError::Disk { path: dir.clone(), cause })?;
        let lock = self.tenant.lock(LOCK).map_err(|cause| TapeError::Disk { path: dir.clone(), cause })?;
        let tally = self.room_for(&lock, body.bytes.len() as u64)?;
        let mut title = label.title;
        title.truncate(title.floor_char_boundary(TITLE_BYTES_MAX));
        let facts = TapeFacts {
            id: TapeId::fresh(),
            principal: label.principal,
            kind: label.kind,
            title,
            created: label.created,
            frames: body.frames,
            raw_bytes: body.raw_bytes,
            bytes: body.bytes.len() as u64,
        };
        let head = head::front(&facts, self.tenant.tenant(), &self.seal, &body.bytes);
        let path = self.file(&facts.id);
        if path.exists() {
            let cause = io::ErrorKind::AlreadyExists.into();
            return Err(TapeError::Disk { path, cause });
        }
        let written = write_atomic(&path, &[&head, &body.bytes], Durability::Process);
        written.map_err(|cause| TapeError::Disk { path, cause })?;
        tally.with((head.len() + body.bytes.len()) as u64).note(&lock, &dir);
        Ok(facts)
    }

    /// What is there, if so many bytes more may be.
    fn room_for(&self, lock: &Lock, more: u64) -> Result<Tally, TapeError> {
        let has_room =
            |it: &Tally| it.bytes.saturating_add(more) <= self.bytes_max && it.tapes < self.tapes_max as u64;
        // A note may tell of a tape that was removed since; who is refused was counted.
        if let Some(tally) = Tally::noted(lock, &self.tenant.tapes()).filter(has_room) {
            return Ok(tally);
        }
        let mut tally = Tally::default();
        // Each is looked at from its folder: by its whole path it takes three times as long.
        self.each(|_, entry| tally = tally.with(entry.metadata().map_or(0, |it| it.len())))?;
        if !has_room(&tally) {
            let (bytes_max, tapes_max) = (self.bytes_max, self.tapes_max);
            let (bytes, tapes) = (tally.bytes, usize::try_from(tally.tapes).unwrap_or(usize::MAX));
            return Err(TapeError::Full { bytes, tapes, bytes_max, tapes_max });
        }
        Ok(tally)
    }

    /// Reads a tape whole.
    pub fn open(&self, id: &TapeId) -> Result<Tape, TapeError> {
        let (body, facts) = head::read(&self.file(id), id, self.tenant.tenant(), &self.seal)?;
        Ok(Tape { facts, body })
    }

    /// All of them, the oldest first, those included that cannot be used.
    pub fn list(&self) -> Result<Vec<ListedTape>, TapeError> {
        let facts = |id: TapeId| {
            let facts = head::facts(&self.file(&id), &id, self.tenant.tenant(), &self.seal);
            (id, facts)
        };
        let mut all: Vec<_> = self.ids()?.into_iter().map(facts).collect();
        all.sort_by_key(|(id, facts)| (facts.as_ref().map_or(Timestamp(0), |it| it.created), id.clone()));
        Ok(all)
    }

    /// Removes a tape.
    pub fn remove(&self, id: &TapeId) -> Result<(), TapeError> {
        let path = self.file(id);
        fs::remove_file(&path).map_err(|cause| match cause.kind() {
            io::ErrorKind::NotFound => TapeError::NotThere { id: id.clone() },
            _ => TapeError::Disk { path, cause },
        })
    }

    /// An id cannot be anything but a file's: see [`TapeId`].
    fn file(&self, id: &TapeId) -> PathBuf {
        self.tenant.tapes().join(format!("{id}.{EXTENSION}"))
    }

    fn ids(&self) -> Result<Vec<TapeId>, TapeError> {
        let mut ids = Vec::new();
        self.each(|id, _| ids.push(id))?;
        Ok(ids)
    }

    /// Every file that has a tape's name.
    fn each(&self, mut look: impl FnMut(TapeId, &fs::DirEntry)) -> Result<(), TapeError> {
        let dir = self.tenant.tapes();
        let broken = |cause| TapeError::Disk { path: dir.clone(), cause };
        let entries = match fs::read_dir(&dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            other => other.map_err(broken)?,
        };
        for entry in entries {
            let entry = entry.map_err(broken)?;
            let name = entry.file_name();
            let id = name.to_str().and_then(|it| it.strip_suffix(EXTENSION)?.strip_suffix('.'));
            if let Some(id) = id.and_then(|it| it.parse::<TapeId>().ok()) {
                look(id, &entry);
            }
        }
        Ok(())
    }
}

/// A digest of a question, in pieces.
pub fn asked(pieces: &[&[u8]]) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    for piece in pieces {
        hasher.update(&(piece.len() as u64).to_le_bytes()).update(piece);
    }
    let mut half = [0; 16];
    half.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    half
}
