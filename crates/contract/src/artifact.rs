//! Bytes that prove themselves: an [`Artifact`] exists only if its hash was computed and compared.
//!
//! What runs is the very bytes that were hashed, held in memory from then on, so there is no gap
//! between check and use. Bytes that nobody needs, because code was made from them before, may stay unread;
//! whoever needs them after all gets them hashed. Where reading and hashing would hold up others, an artifact may be
//! handed on unverified, and whoever runs it has it verified first, on a thread that may wait.

use std::{
    fmt,
    hash::{Hash, Hasher},
    str::FromStr,
    sync::Arc,
};

use bytes::Bytes;
use sha2::{Digest as _, Sha256};

use crate::port::LoadError;

/// The largest module that is taken in: the biggest program of the catalog, a compiler, has 75 MB.
pub const ARTIFACT_BYTES_MAX: u64 = 128 << 20;

/// The sha256 of some bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

impl Hash for Digest {
    /// It is a hash already, so a part of it serves a table as well as all of it, for a third of the time.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let [a, b, c, d, e, f, g, h, ..] = self.0;
        state.write_u64(u64::from_le_bytes([a, b, c, d, e, f, g, h]));
    }
}

/// The text is not a sha256 in lower-case hex.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a sha256: use 64 hexadecimal digits")]
pub struct NotADigest(String);

impl Digest {
    /// Hashes the bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// A hash that somebody computed piece by piece.
    pub const fn from_bytes(raw: [u8; 32]) -> Self {
        Self(raw)
    }

    /// The raw hash.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl FromStr for Digest {
    type Err = NotADigest;

    fn from_str(text: &str) -> Result<Self, NotADigest> {
        let bad = || NotADigest(text.chars().take(80).collect::<String>().escape_default().to_string());
        if text.len() != 64 || !text.is_ascii() {
            return Err(bad());
        }
        let mut raw = [0; 32];
        for (byte, pair) in raw.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            let digit = |b: u8| char::from(b).to_digit(16).map(|d| d as u8);
            let (Some(high), Some(low)) = (digit(pair[0]), digit(pair[1])) else {
                return Err(bad());
            };
            *byte = high << 4 | low;
        }
        Ok(Self(raw))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl serde::Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Digest {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        <std::borrow::Cow<'de, str>>::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

/// A module whose bytes are what their name says. Cheap to clone.
#[derive(Clone)]
pub struct Artifact {
    digest: Digest,
    bytes: Bytes,
    /// Where the bytes are to be had, if they were not read.
    unread: Option<Arc<dyn ReadArtifact>>,
    /// They were hashed at some time, and have not changed since.
    verified: bool,
}

/// Reads an artifact's bytes when they are needed after all, and hashes them.
pub trait ReadArtifact: Send + Sync {
    /// The bytes of that hash.
    fn read(&self, digest: Digest) -> Result<Artifact, LoadError>;
}

impl fmt::Debug for Artifact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Artifact({}, {} bytes)", self.digest, self.bytes.len())
    }
}

/// The bytes have another hash than the one they were asked for by.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected sha256 {expected}, got {got}")]
pub struct NotThoseBytes {
    /// The hash they should have.
    pub expected: Digest,
    /// The hash they have.
    pub got: Digest,
}

impl Artifact {
    /// Takes the bytes in if they hash to `expected`.
    pub fn verify(bytes: impl Into<Bytes>, expected: Digest) -> Result<Self, NotThoseBytes> {
        let artifact = Self::hash(bytes);
        if artifact.digest != expected {
            return Err(NotThoseBytes { expected, got: artifact.digest });
        }
        Ok(artifact)
    }

    /// Names new bytes by their hash: the way bytes enter the system.
    pub fn hash(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        Self { digest: Digest::of(&bytes), bytes, unread: None, verified: true }
    }

    /// An artifact that was verified before, and whose bytes nobody may need: its code is compiled already.
    pub fn unread(digest: Digest, source: Arc<dyn ReadArtifact>) -> Self {
        Self { digest, bytes: Bytes::new(), unread: Some(source), verified: true }
    }

    /// An artifact that nobody has verified yet. It is only a claim until [`verified`](Self::verified) was asked.
    pub fn unverified(digest: Digest, source: Arc<dyn ReadArtifact>) -> Self {
        Self { digest, bytes: Bytes::new(), unread: Some(source), verified: false }
    }

    /// Whether its bytes have the hash that it is named by.
    pub fn is_verified(&self) -> bool {
        self.verified
    }

    /// The same, verified now if it was not before: that reads and hashes the whole file.
    pub fn verified(&self) -> Result<Self, LoadError> {
        match &self.unread {
            Some(source) if !self.verified => source.read(self.digest),
            _ => Ok(self.clone()),
        }
    }

    /// The same with its bytes, read and hashed now if they were not before.
    pub fn loaded(&self) -> Result<Self, LoadError> {
        match &self.unread {
            None => Ok(self.clone()),
            Some(source) => source.read(self.digest),
        }
    }

    /// The hash the bytes were found to have.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// The bytes; none if they were not read, see [`loaded`](Self::loaded).
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// An artifact in the making: its bytes come in pieces, and are hashed as they come, so that nobody has to hash many
/// of them at once.
#[derive(Debug, Default)]
pub struct ArtifactInPieces {
    bytes: Vec<u8>,
    hasher: Sha256,
}

impl ArtifactInPieces {
    /// Room for that many bytes.
    pub fn with_capacity(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), hasher: Sha256::new() }
    }

    /// The next piece.
    pub fn push(&mut self, piece: &[u8]) {
        self.hasher.update(piece);
        self.bytes.extend_from_slice(piece);
    }

    /// How many bytes have come.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether none have come.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// All of them, under the hash they have.
    pub fn finish(self) -> Artifact {
        let digest = Digest(self.hasher.finalize().into());
        Artifact { digest, bytes: self.bytes.into(), unread: None, verified: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swapped_bytes_are_not_an_artifact() {
        let digest = Digest::of(b"trusted");
        assert!(Artifact::verify(&b"trusted"[..], digest).is_ok());
        let refused = Artifact::verify(&b"hostile"[..], digest).unwrap_err();
        assert_eq!(refused.got, Digest::of(b"hostile"));
    }

    #[test]
    fn an_artifact_in_pieces_is_the_same_as_a_whole_one() {
        let mut pieces = ArtifactInPieces::with_capacity(4);
        for piece in ["trus", "", "ted"] {
            pieces.push(piece.as_bytes());
        }
        let (whole, pieces) = (Artifact::hash(&b"trusted"[..]), pieces.finish());
        assert_eq!((whole.digest(), whole.bytes()), (pieces.digest(), pieces.bytes()));
    }

    #[test]
    fn a_digest_reads_back_what_it_prints() {
        let digest = Digest::of(b"");
        assert_eq!(digest.to_string(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(digest.to_string().parse(), Ok(digest));
        for bad in ["", "e3", "zz", &"g".repeat(64), &"é".repeat(32)] {
            assert!(bad.parse::<Digest>().is_err(), "{bad:?}");
        }
    }
}
