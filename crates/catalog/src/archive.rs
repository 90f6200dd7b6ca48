//! The archive of a row, whole and checked, or a clear reason: from the cache, from a file, by a package client, or over
//! https by way of the gate.
//!
//! Nothing of an archive is read before its hash is what the row says. What has another hash, is cut off or does
//! not end is not kept; what is kept lies in `catalog/archives` under its hash, and needs no client again.

use std::{
    fs, io,
    io::Read as _,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use drydock_contract::Digest;
use drydock_embed::{DockSession, DownloadError, DownloadLimits, Seen};

use crate::{
    client::{self, ClientEnvironment, FetchError, FetchLimits},
    progress::{Progress, Watcher},
    row::{Row, RowSource},
    scratch::Scratch,
    source::Source,
};

/// Where archives come from and where they are kept.
pub(crate) struct Archives<'a> {
    /// `catalog` in the data directory.
    pub(crate) root: &'a Path,
    pub(crate) environment: &'a ClientEnvironment,
    pub(crate) limits: FetchLimits,
    /// Whether clients may be started and hosts asked.
    pub(crate) offline: bool,
    /// In whose name hosts are asked: a session that may reach those that were granted, and nothing else.
    pub(crate) session: &'a DockSession,
}

/// No source of a row gave its archive.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// The bytes are not the ones that the row promises.
    #[error("{from}: expected sha256 {expected}, got {got}; nothing of it was kept")]
    ShaMismatch {
        /// Where they came from.
        from: String,
        /// The promised hash.
        expected: Digest,
        /// The hash they have.
        got: Digest,
    },
    /// A client failed.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// Clients may not be started.
    #[error("{from} is not in the cache, and --offline starts no client and asks no host")]
    Offline {
        /// Where it would come from.
        from: String,
    },
    /// A host did not give it, or was not granted.
    #[error("{from}: {error}")]
    Download {
        /// The URL.
        from: String,
        /// Why not.
        #[source]
        error: DownloadError,
    },
    /// A file could not be read.
    #[error("could not read `{path}`")]
    Unreadable {
        /// Which one.
        path: PathBuf,
        /// What the disk said.
        #[source]
        cause: io::Error,
    },
    /// It is too large.
    #[error("{from} has more than {} MiB", .bytes_max >> 20)]
    TooLarge {
        /// Where it came from.
        from: String,
        /// How much it might have.
        bytes_max: u64,
    },
    /// The cache could not be written. What was there before is untouched.
    #[error("could not write `{path}`")]
    Write {
        /// Which file.
        path: PathBuf,
        /// What the disk said.
        #[source]
        cause: io::Error,
    },
}

impl ArchiveError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::ShaMismatch { .. } => "sha_mismatch",
            Self::Fetch(error) => error.code(),
            Self::Offline { .. } => "offline",
            Self::Download { error, .. } => error.code(),
            Self::Unreadable { .. } => "unreadable",
            Self::TooLarge { .. } => "fetch_too_large",
            Self::Write { .. } => "write_failed",
        }
    }

    /// Whether the next source may do better: it does where a client or a way out is absent, and not where bytes
    /// are wrong or the disk is full.
    fn is_absence(&self) -> bool {
        match self {
            Self::Offline { .. } | Self::Unreadable { .. } => true,
            Self::Download { error, .. } => !matches!(error, DownloadError::Write(_)),
            Self::Fetch(error) => !matches!(error, FetchError::Scratch { .. }),
            _ => false,
        }
    }
}

impl Archives<'_> {
    /// The first source of the row that gives the bytes it promises.
    pub(crate) async fn of<'r>(
        &self,
        row: &'r Row,
        watcher: &Watcher,
    ) -> Result<(&'r RowSource, Bytes), Vec<ArchiveError>> {
        let mut errors = Vec::new();
        for source in &row.sources {
            match self.get(row, source, watcher).await {
                Ok(bytes) => return Ok((source, bytes)),
                Err(error) if error.is_absence() => errors.push(error),
                Err(error) => {
                    errors.push(error);
                    break;
                }
            }
        }
        Err(errors)
    }

    async fn get(&self, row: &Row, source: &RowSource, watcher: &Watcher) -> Result<Bytes, ArchiveError> {
        let from = source.from.to_string();
        // The bytes of a plain source are the module itself.
        let expected = source.sha256.or(row.sha256);
        if let Some(bytes) = expected.and_then(|it| self.cached(it)) {
            return Ok(bytes);
        }
        let package = match &source.from {
            Source::File { path, .. } => {
                let bytes = self.read(path, &from)?;
                watcher.tell(Progress::Verifying { bytes: bytes.len() as u64 });
                return checked(bytes, expected, from);
            }
            _ if self.offline => return Err(ArchiveError::Offline { from }),
            Source::Https { url, .. } => Err(url),
            Source::Package(package) => Ok(package),
        };
        let scratch = Scratch::below(self.root).map_err(|cause| self.unwritten(self.root.into(), cause))?;
        let limits = tightened(self.limits, source.bytes);
        watcher.tell(Progress::Fetching { bytes: 0, of: source.bytes });
        let (told, of) = (watcher.clone(), source.bytes);
        let seen = move |bytes| told.tell(Progress::Fetching { bytes, of });
        let file = match package {
            Ok(package) => client::fetch(package, self.environment, scratch.path(), limits, &seen).await?,
            Err(url) => {
                let file = scratch.path().join("fetched");
                self.download(url, &file, limits, of, Arc::new(seen)).await?;
                file
            }
        };
        let bytes = self.read(&file, &from)?;
        watcher.tell(Progress::Verifying { bytes: bytes.len() as u64 });
        let bytes = checked(bytes, expected, from)?;
        self.keep(&file, expected)?;
        Ok(bytes)
    }

    /// A row that knows the size of its archive gets so many bytes at most.
    async fn download(
        &self,
        url: &str,
        to: &Path,
        limits: FetchLimits,
        bytes: Option<u64>,
        seen: Seen,
    ) -> Result<u64, ArchiveError> {
        let file = fs::File::create(to).map_err(|cause| self.unwritten(to.to_owned(), cause))?;
        let bytes_max = bytes.unwrap_or(u64::MAX).min(limits.archive_bytes_max);
        let limits = DownloadLimits { bytes_max, wall_max: limits.wall_max };
        let from = url.to_owned();
        self.session
            .download(url, file, limits, seen)
            .await
            .map_err(|error| ArchiveError::Download { from, error })
    }

    fn read(&self, path: &Path, from: &str) -> Result<Bytes, ArchiveError> {
        let unreadable = |cause| ArchiveError::Unreadable { path: path.to_owned(), cause };
        // Looked at before it is opened: opening a pipe would wait for a writer.
        if !fs::metadata(path).map_err(unreadable)?.is_file() {
            return Err(unreadable(io::Error::other("not a regular file")));
        }
        let bytes_max = self.limits.archive_bytes_max;
        let mut bytes = Vec::new();
        let file = fs::File::open(path).map_err(unreadable)?;
        file.take(bytes_max + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes.len() as u64 > bytes_max {
            return Err(ArchiveError::TooLarge { from: from.to_owned(), bytes_max });
        }
        Ok(bytes.into())
    }

    /// The cached archive, if its bytes still are what its name says. What is damaged is removed.
    fn cached(&self, digest: Digest) -> Option<Bytes> {
        let path = self.place(digest);
        let bytes = self.read(&path, "").ok()?;
        if Digest::of(&bytes) != digest {
            let _ = fs::remove_file(&path);
            return None;
        }
        Some(bytes)
    }

    fn place(&self, digest: Digest) -> PathBuf {
        self.root.join("archives").join(digest.to_string())
    }

    /// Moves a checked file into the cache, whole or not at all.
    fn keep(&self, file: &Path, digest: Option<Digest>) -> Result<(), ArchiveError> {
        let Some(digest) = digest else { return Ok(()) };
        let place = self.place(digest);
        let kept = || -> io::Result<()> {
            fs::create_dir_all(self.root.join("archives"))?;
            fs::File::open(file)?.sync_all()?;
            fs::rename(file, &place)
        };
        kept().map_err(|cause| self.unwritten(place.clone(), cause))
    }

    fn unwritten(&self, path: PathBuf, cause: io::Error) -> ArchiveError {
        ArchiveError::Write { path, cause }
    }
}

fn checked(bytes: Bytes, expected: Option<Digest>, from: String) -> Result<Bytes, ArchiveError> {
    let got = Digest::of(&bytes);
    match expected.filter(|expected| *expected != got) {
        Some(expected) => Err(ArchiveError::ShaMismatch { from, expected, got }),
        None => Ok(bytes),
    }
}

/// A known size makes the limits tighter: a client holds the archive up to three times.
fn tightened(limits: FetchLimits, bytes: Option<u64>) -> FetchLimits {
    let Some(bytes) = bytes else { return limits };
    let scratch = bytes.saturating_mul(3).saturating_add(64 << 20);
    FetchLimits {
        scratch_bytes_max: limits.scratch_bytes_max.min(scratch),
        wall_max: limits.wall_max.max(Duration::from_secs(1)),
        ..limits
    }
}
