//! Artifacts on disk: `<sha256>.wasm`, the same bytes always at the same path.
//!
//! Bytes are hashed whenever they are read, and what was hashed is what is handed out. A large file that was
//! hashed before and has not changed since is not read until somebody needs its bytes: mostly its code is
//! compiled already (decision 0046). Files are never deleted here, so that a name can be
//! bound anew while runs of the old bytes are still to be loaded.

mod hot;

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use bytes::Bytes;
use drydock_contract::{ARTIFACT_BYTES_MAX, Artifact, Digest, ReadArtifact, port::LoadError};

use crate::{
    codecache::key,
    home::{Durability, Home, VerifiedFiles, open_regular, read_capped, write_atomic},
};
use hot::Hot;

/// How much verified artifacts may hold in memory, all together.
const HOT_BYTES_MAX: u64 = 512 << 20;
/// Files of at least so many bytes are worth a note that they were hashed: less is read as fast as the note.
const NOTED_BYTES_MIN: u64 = 256 << 10;

/// The artifacts of one home.
#[derive(Debug)]
pub struct ArtifactStore(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    dir: PathBuf,
    hot: Hot,
    verified: VerifiedFiles,
}

/// Reads and hashes an artifact that nobody had verified, and keeps or notes it for the next run.
impl ReadArtifact for Inner {
    fn read(&self, digest: Digest) -> Result<Artifact, LoadError> {
        let path = self.dir.join(file_name(digest));
        let large = open_regular(&path, ARTIFACT_BYTES_MAX).ok().filter(|it| it.1 >= NOTED_BYTES_MIN);
        let before = large.and_then(|(file, _)| Some((file.metadata().ok()?, file)));
        let artifact = self.load(digest)?;
        if let Some((before, file)) = before {
            self.verified.remember(&path, &file, &before, digest.as_bytes());
        }
        Ok(artifact)
    }
}

impl Inner {
    fn load(&self, digest: Digest) -> Result<Artifact, LoadError> {
        if let Some(artifact) = self.hot.get(digest) {
            return Ok(artifact);
        }
        let artifact = OnDisk { dir: self.dir.clone() }.read(digest)?;
        self.hot.insert(artifact.clone());
        Ok(artifact)
    }
}

/// Reads one file of the store when its bytes are needed after all.
#[derive(Debug)]
struct OnDisk {
    dir: PathBuf,
}

impl ReadArtifact for OnDisk {
    fn read(&self, digest: Digest) -> Result<Artifact, LoadError> {
        let path = self.dir.join(file_name(digest));
        let read = open_regular(&path, ARTIFACT_BYTES_MAX)
            .and_then(|(file, len)| read_capped(&file, len, ARTIFACT_BYTES_MAX));
        match read {
            Ok(bytes) => {
                Artifact::verify(bytes, digest).map_err(|cause| LoadError::Integrity { path, cause })
            }
            Err(cause) => Err(LoadError::Read { path, cause }),
        }
    }
}

/// Bytes could not be taken in.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PutArtifactError {
    /// There are more of them than any module may have.
    #[error("a module of {bytes} bytes exceeds the limit of {max}")]
    TooLarge {
        /// How many there are, as far as was read.
        bytes: u64,
        /// The limit.
        max: u64,
    },
    /// They could not be read from where they come from.
    #[error("could not read the module")]
    Read(#[source] io::Error),
    /// They could not be written.
    #[error("could not write artifact `{path}`")]
    Write {
        /// Where to.
        path: PathBuf,
        /// What the disk said.
        #[source]
        cause: io::Error,
    },
}

impl PutArtifactError {
    /// The stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "artifact_too_large",
            Self::Read(_) => "artifact_read",
            Self::Write { .. } => "write_failed",
        }
    }
}

/// One file of the store, as its name has it: not verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredArtifact {
    /// The hash it is named by.
    pub digest: Digest,
    /// Its length.
    pub size: u64,
    /// Where it lies.
    pub path: PathBuf,
}

impl ArtifactStore {
    /// The store of a home.
    pub fn new(home: &Home) -> Self {
        let key = key::load_or_make(home).ok();
        let verified = VerifiedFiles::new(key.as_ref());
        Self(Arc::new(Inner { dir: home.commands(), hot: Hot::new(HOT_BYTES_MAX), verified }))
    }

    /// Where the artifact lies, if it is there.
    pub fn path_of(&self, digest: Digest) -> PathBuf {
        self.0.dir.join(file_name(digest))
    }

    /// The directory artifacts lie in.
    pub fn dir(&self) -> &Path {
        &self.0.dir
    }

    /// Reads new bytes up to the limit, before anything is made of them.
    pub fn read_new(source: impl io::Read) -> Result<Bytes, PutArtifactError> {
        let mut bytes = Vec::new();
        let mut capped = source.take(ARTIFACT_BYTES_MAX + 1);
        io::Read::read_to_end(&mut capped, &mut bytes).map_err(PutArtifactError::Read)?;
        check_size(bytes.len() as u64)?;
        Ok(bytes.into())
    }

    /// Takes bytes in. The same bytes again change nothing; a file that is not what its name says
    /// is written anew.
    pub fn put(&self, bytes: impl Into<Bytes>) -> Result<Artifact, PutArtifactError> {
        let bytes = bytes.into();
        check_size(bytes.len() as u64)?;
        let artifact = Artifact::hash(bytes);
        self.keep(&artifact)?;
        Ok(artifact)
    }

    /// As [`put`](Self::put), for bytes that were hashed already.
    pub(crate) fn keep(&self, artifact: &Artifact) -> Result<(), PutArtifactError> {
        let path = self.path_of(artifact.digest());
        if !holds(&path, artifact.bytes()) {
            write_atomic(&path, &[artifact.bytes()], Durability::Power)
                .map_err(|cause| PutArtifactError::Write { path, cause })?;
        }
        self.0.hot.insert(artifact.clone());
        Ok(())
    }

    /// The verified bytes of that hash. The first load reads and hashes the file, later ones cost
    /// a look into memory.
    pub fn load(&self, digest: Digest) -> Result<Artifact, LoadError> {
        self.0.load(digest)
    }

    /// The artifact of that hash for a run, which mostly finds its code compiled: a large file that was hashed
    /// before and is as it was then stays unread. One that was not is [unverified](Artifact::unverified).
    pub fn to_run(&self, digest: Digest) -> Artifact {
        if let Some(artifact) = self.0.hot.get(digest) {
            return artifact;
        }
        let path = self.path_of(digest);
        let large = open_regular(&path, ARTIFACT_BYTES_MAX).ok().filter(|it| it.1 >= NOTED_BYTES_MIN);
        let noted = |file: &fs::File| self.0.verified.is_unchanged(&path, file, digest.as_bytes());
        match large {
            Some((file, _)) if noted(&file) => {
                Artifact::unread(digest, Arc::new(OnDisk { dir: self.0.dir.clone() }))
            }
            _ => Artifact::unverified(digest, Arc::clone(&self.0) as _),
        }
    }

    /// The same, verified.
    pub fn load_to_run(&self, digest: Digest) -> Result<Artifact, LoadError> {
        self.to_run(digest).verified()
    }

    /// Reads and hashes the file, whatever is in memory.
    pub(crate) fn load_from_disk(&self, digest: Digest) -> Result<Artifact, LoadError> {
        OnDisk { dir: self.0.dir.clone() }.read(digest)
    }

    /// Every file that is named as an artifact, by hash.
    pub fn list(&self) -> io::Result<Vec<StoredArtifact>> {
        let mut all = Vec::new();
        for entry in fs::read_dir(&self.0.dir)? {
            let entry = entry?;
            let Some(digest) = digest_in(Path::new(&entry.file_name())) else { continue };
            let facts = entry.metadata()?;
            if facts.is_file() {
                all.push(StoredArtifact { digest, size: facts.len(), path: entry.path() });
            }
        }
        all.sort_by_key(|it| it.digest);
        Ok(all)
    }

    /// Reads and hashes one artifact on disk.
    pub fn verify(&self, digest: Digest) -> Result<(), LoadError> {
        self.load_from_disk(digest).map(drop)
    }

    /// Reads and hashes every artifact on disk.
    pub fn verify_all(&self) -> io::Result<Vec<(StoredArtifact, Result<(), LoadError>)>> {
        let verify = |it: StoredArtifact| {
            let verdict = self.load_from_disk(it.digest).map(drop);
            (it, verdict)
        };
        Ok(self.list()?.into_iter().map(verify).collect())
    }
}

fn file_name(digest: Digest) -> String {
    format!("{digest}.wasm")
}

/// The hash a file of the store is named by. Only one spelling counts: 64 lower-case digits.
pub(crate) fn digest_in(file_name: &Path) -> Option<Digest> {
    let stem = file_name.to_str()?.strip_suffix(".wasm")?;
    let digest: Digest = stem.parse().ok()?;
    (digest.to_string() == stem).then_some(digest)
}

pub(crate) fn check_size(bytes: u64) -> Result<(), PutArtifactError> {
    if bytes > ARTIFACT_BYTES_MAX {
        return Err(PutArtifactError::TooLarge { bytes, max: ARTIFACT_BYTES_MAX });
    }
    Ok(())
}

fn holds(path: &Path, bytes: &[u8]) -> bool {
    let max = bytes.len() as u64;
    open_regular(path, max)
        .and_then(|(file, len)| read_capped(&file, len, max))
        .is_ok_and(|there| there == bytes)
}

#[cfg(test)]
mod tests;
