//! Files that are sealed: magic, version, length of the head, MAC; the head; the body.
//!
//! The MAC is over all before the body, under a key of this installation that is made for files of one kind, and the head has
//! the hash of the body: who only looks at heads reads no body, and is as safe as if he did. Nothing of a head is believed
//! before its MAC was found to be right. Whose the file is, and what else a head says, is for its kind to judge.

use std::{
    fmt,
    fs::File,
    io::{self, Read as _},
    path::Path,
};

use serde::{Serialize, de::DeserializeOwned};

use crate::{
    codecache::key::MacKey,
    home::{open_regular, read_capped},
};

const MAGIC_BYTES: usize = 8;
/// Magic, version, length of the head.
const FRONT_BYTES: usize = MAGIC_BYTES + 4 + 4;
const MAC_BYTES: usize = 32;
/// Names, numbers and the like, each with a bound of its own.
const HEAD_BYTES_MAX: usize = 64 << 10;

/// What tells files of one kind from all others.
pub(crate) struct Kind {
    pub(crate) magic: &'static [u8; MAGIC_BYTES],
    pub(crate) version: u32,
    /// What the key of the installation is turned into for these files.
    pub(crate) key_use: &'static str,
}

/// What a head says of the body behind it.
pub(crate) trait Head: Serialize + DeserializeOwned {
    fn body_bytes(&self) -> u64;
    fn body_hash(&self) -> [u8; 32];
}

/// Why a file cannot be used.
#[derive(Debug)]
pub(crate) enum Broken {
    NotThere,
    TooLarge {
        bytes: u64,
    },
    Disk(io::Error),
    /// It has another magic.
    Foreign,
    Version(u32),
    Cut,
    /// It was altered, or is of another installation.
    Changed,
}

/// Seals files of one kind, and opens them. Its key is never printed.
#[derive(Clone)]
pub(crate) struct Seal {
    kind: &'static Kind,
    key: [u8; 32],
}

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seal(..)")
    }
}

impl Seal {
    pub(crate) fn of(kind: &'static Kind, installation: &MacKey) -> Self {
        Self { kind, key: installation.for_use(kind.key_use) }
    }

    /// Everything that stands before the body.
    pub(crate) fn front(&self, head: &impl Head) -> Vec<u8> {
        #[expect(clippy::expect_used, reason = "a struct of texts and numbers is always JSON")]
        let head = serde_json::to_vec(head).expect("texts and numbers are JSON");
        let mut all = Vec::with_capacity(FRONT_BYTES + MAC_BYTES + head.len());
        all.extend_from_slice(self.kind.magic);
        all.extend_from_slice(&self.kind.version.to_le_bytes());
        all.extend_from_slice(&u32::try_from(head.len()).unwrap_or(u32::MAX).to_le_bytes());
        let mac = self.mac(&all, &head);
        all.extend_from_slice(mac.as_bytes());
        all.extend_from_slice(&head);
        all
    }

    fn mac(&self, front: &[u8], head: &[u8]) -> blake3::Hash {
        blake3::Hasher::new_keyed(&self.key).update(front).update(head).finalize()
    }

    /// Opens a file of at most `bytes_max` bytes, and reads up to its body.
    pub(crate) fn open<H: Head>(&self, path: &Path, bytes_max: u64) -> Result<Opened<H>, Broken> {
        let (mut file, length) = open_regular(path, bytes_max).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Broken::NotThere,
            io::ErrorKind::FileTooLarge => {
                Broken::TooLarge { bytes: path.metadata().map_or(bytes_max.saturating_add(1), |it| it.len()) }
            }
            _ => Broken::Disk(error),
        })?;
        let mut take = |bytes: &mut [u8]| {
            file.read_exact(bytes).map_err(|cause| match cause.kind() {
                io::ErrorKind::UnexpectedEof => Broken::Cut,
                _ => Broken::Disk(cause),
            })
        };
        let (mut front, mut claimed) = ([0; FRONT_BYTES], [0; MAC_BYTES]);
        take(&mut front)?;
        let (magic, numbers) = front.split_at(MAGIC_BYTES);
        if magic != self.kind.magic {
            return Err(Broken::Foreign);
        }
        let number =
            |at: usize| u32::from_le_bytes([numbers[at], numbers[at + 1], numbers[at + 2], numbers[at + 3]]);
        let (found, head_bytes) = (number(0), number(4) as usize);
        if found != self.kind.version {
            return Err(Broken::Version(found));
        }
        if head_bytes > HEAD_BYTES_MAX {
            return Err(Broken::Changed);
        }
        take(&mut claimed)?;
        let mut text = vec![0; head_bytes];
        take(&mut text)?;
        // `blake3::Hash` compares in constant time.
        if self.mac(&front, &text) != blake3::Hash::from_bytes(claimed) {
            return Err(Broken::Changed);
        }
        let head: H = serde_json::from_slice(&text).map_err(|_| Broken::Changed)?;
        Ok(Opened { file, length, before: (FRONT_BYTES + MAC_BYTES + head_bytes) as u64, head })
    }
}

/// A file whose head was found to be right. Its body is next.
pub(crate) struct Opened<H> {
    file: File,
    length: u64,
    /// Bytes before the body.
    before: u64,
    pub(crate) head: H,
}

impl<H: Head> Opened<H> {
    /// Whether all of the body is there, and nothing behind it.
    pub(crate) fn check_length(&self) -> Result<(), Broken> {
        let whole = self.before.saturating_add(self.head.body_bytes());
        match self.length {
            length if length < whole => Err(Broken::Cut),
            length if length > whole => Err(Broken::Changed),
            _ => Ok(()),
        }
    }

    /// The body, of the length that was checked, and the head.
    pub(crate) fn body(self) -> Result<(Vec<u8>, H), Broken> {
        let bytes = self.head.body_bytes();
        let body = read_capped(&self.file, bytes, bytes).map_err(Broken::Disk)?;
        match blake3::hash(&body) == blake3::Hash::from_bytes(self.head.body_hash()) {
            true => Ok((body, self.head)),
            false => Err(Broken::Changed),
        }
    }
}
