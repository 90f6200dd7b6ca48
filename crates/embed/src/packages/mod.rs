//! Python packages of a directory: pure wheels, locked by hash, unpacked in a guest, and nothing of them run.
//!
//! They lie below `.drydock/site-packages` of the directory they belong to, where `drydock py` and `python` find
//! them; `drydock-py.lock` beside them says which ones and which bytes. Who fetches wheels stands behind
//! [`WheelSource`]: this room asks no registry.

mod lock;
mod name;
mod place;
mod unpack;

use std::sync::Arc;

use bytes::Bytes;
use drydock_contract::{BoxFuture, Digest, Timestamp, port::Files};

pub use lock::{LOCK_FILE, Lock, LockedPackage};
pub use name::{BadRequirement, Requirement, WheelName};

use crate::Dock;

/// The most wheels of one call, and the bytes of each.
const WHEELS_MAX: usize = 200;
const WHEEL_BYTES_MAX: usize = 64 << 20;

/// A wheel as it was fetched.
#[derive(Debug, Clone)]
pub struct Wheel {
    /// Its file's name, which says what it is.
    pub file: String,
    /// The archive.
    pub bytes: Bytes,
}

/// Fetches wheels.
pub trait WheelSource: Send + Sync {
    /// The wheels of these requirements, and of what they depend on if `dependencies`. Nothing is installed and
    /// nothing of a package runs.
    fn fetch(
        &self,
        wanted: Vec<Requirement>,
        dependencies: bool,
    ) -> BoxFuture<'_, Result<Vec<Wheel>, String>>;
}

/// Why a package was not installed. What was there before stays.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PackageError {
    /// It is no requirement.
    #[error(transparent)]
    Requirement(#[from] BadRequirement),
    /// The wheels could not be fetched.
    #[error("{0}")]
    Fetch(String),
    /// Code for a machine, which no sandbox of ours runs.
    #[error("{name}: `{file}` is native code, which does not run here{hint}")]
    Native {
        /// The package.
        name: String,
        /// The file.
        file: String,
        /// What to do instead, if there is something.
        hint: &'static str,
    },
    /// The name of the file is not a wheel's.
    #[error("`{0}` is no wheel")]
    NoWheel(String),
    /// The lock says other bytes.
    #[error("{name} {version}: sha256 {found}, and the lock says {locked}")]
    Mismatch {
        /// The package.
        name: String,
        /// Its version.
        version: String,
        /// What came.
        found: String,
        /// What was meant.
        locked: String,
    },
    /// More than is taken.
    #[error("{0}")]
    TooLarge(String),
    /// The guest could not take it apart, or it names files where none may be.
    #[error("{file}: {why}")]
    Unpack {
        /// The wheel.
        file: String,
        /// Why.
        why: String,
    },
    /// The lock is not one.
    #[error("{LOCK_FILE}: {0}")]
    Lock(String),
    /// There is no such package.
    #[error("{0} is not installed here")]
    NotInstalled(String),
    /// The directory cannot be written.
    #[error("{path}: {cause}")]
    Files {
        /// Where.
        path: String,
        /// What the tree said.
        cause: drydock_contract::port::FileError,
    },
}

impl PackageError {
    /// The stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Requirement(_) => "bad_requirement",
            Self::Fetch(_) => "fetch_failed",
            Self::Native { .. } => "native_wheel",
            Self::NoWheel(_) | Self::Unpack { .. } => "bad_archive",
            Self::Mismatch { .. } => "sha_mismatch",
            Self::TooLarge(_) => "archive_too_large",
            Self::Lock(_) => "bad_lock",
            Self::NotInstalled(_) => "not_installed",
            Self::Files { .. } => "write_failed",
        }
    }
}

/// The packages of one directory.
pub struct Packages<'a> {
    dock: &'a Dock,
    files: Arc<dyn Files>,
    /// The directory, without a leading slash.
    root: String,
    now: Timestamp,
}

impl<'a> Packages<'a> {
    /// Those of the directory `root` of a tree; what is written is as old as `now`.
    pub fn of(dock: &'a Dock, files: &Arc<dyn Files>, root: &str, now: Timestamp) -> Self {
        Self { dock, files: Arc::clone(files), root: root.trim_matches('/').to_owned(), now }
    }

    /// What is installed.
    pub fn list(&self) -> Result<Lock, PackageError> {
        place::read_lock(&self.files, &self.root)
    }

    /// Installs these and what they need; without any, what the lock says, byte for byte. Answers what is new.
    pub async fn add(
        &self,
        wanted: &[Requirement],
        source: &dyn WheelSource,
    ) -> Result<Vec<LockedPackage>, PackageError> {
        let lock = self.list()?;
        let asked: Vec<Requirement> = match wanted {
            [] => lock.packages.iter().map(LockedPackage::exactly).collect(),
            some => some.to_vec(),
        };
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        if let Some(carried) = asked.iter().find(|it| CARRIED.contains(&it.name())) {
            let name = carried.name().to_owned();
            return Err(PackageError::Native { file: carried.as_str().to_owned(), name, hint: CARRIED_BY });
        }
        let wheels = source.fetch(asked, !wanted.is_empty()).await.map_err(PackageError::Fetch)?;
        let checked = check(wheels, &lock)?;
        // Everything is taken apart before anything is written.
        let mut unpacked = Vec::with_capacity(checked.len());
        for (package, wheel) in checked {
            let members = unpack::wheel(self.dock, &wheel, &package).await?;
            unpacked.push((package, members));
        }
        let mut lock = lock;
        let mut new = Vec::new();
        for (mut package, members) in unpacked {
            let key = package.name.clone();
            package.is_wanted =
                wanted.iter().any(|it| it.name() == key) || lock.package(&key).is_some_and(|it| it.is_wanted);
            if lock.package(&key).is_some() {
                place::remove(&self.files, &self.root, &key, self.now)?;
            }
            place::write(&self.files, &self.root, &key, &members, self.now)?;
            lock.put(package.clone());
            new.push(package);
        }
        place::write_lock(&self.files, &self.root, &lock, self.now)?;
        Ok(new)
    }

    /// Removes a package and leaves what it needed.
    pub fn remove(&self, name: &str) -> Result<LockedPackage, PackageError> {
        let mut lock = self.list()?;
        let name = name::normal(name);
        let gone = lock.take(&name).ok_or_else(|| PackageError::NotInstalled(name.clone()))?;
        place::remove(&self.files, &self.root, &name, self.now)?;
        place::write_lock(&self.files, &self.root, &lock, self.now)?;
        Ok(gone)
    }
}

/// Packages whose native code another row of the catalog carries.
const CARRIED: [&str; 2] = ["numpy", "pandas"];
const CARRIED_BY: &str = "; `drydock catalog add python-data` has it";

/// Wheels that may be unpacked, with what the lock will say of them.
fn check(wheels: Vec<Wheel>, lock: &Lock) -> Result<Vec<(LockedPackage, Wheel)>, PackageError> {
    if wheels.len() > WHEELS_MAX {
        return Err(PackageError::TooLarge(format!("{} wheels; at most {WHEELS_MAX}", wheels.len())));
    }
    let mut all = Vec::with_capacity(wheels.len());
    for wheel in wheels {
        let name = WheelName::parse(&wheel.file).ok_or_else(|| PackageError::NoWheel(wheel.file.clone()))?;
        if !name.is_pure() {
            let hint = match CARRIED.contains(&name.name.as_str()) {
                true => CARRIED_BY,
                false => "",
            };
            return Err(PackageError::Native { name: name.name, file: wheel.file, hint });
        }
        if wheel.bytes.len() > WHEEL_BYTES_MAX {
            let text = format!("{}: {} bytes; at most {WHEEL_BYTES_MAX}", wheel.file, wheel.bytes.len());
            return Err(PackageError::TooLarge(text));
        }
        let sha256 = Digest::of(&wheel.bytes).to_string();
        if let Some(locked) = lock.package(&name.name)
            && locked.version == name.version
            && locked.file == wheel.file
            && locked.sha256 != sha256
        {
            return Err(PackageError::Mismatch {
                name: name.name,
                version: name.version,
                found: sha256,
                locked: locked.sha256.clone(),
            });
        }
        let package = LockedPackage {
            name: name.name,
            version: name.version,
            sha256,
            file: wheel.file.clone(),
            is_wanted: false,
        };
        all.push((package, wheel));
    }
    Ok(all)
}

#[cfg(test)]
mod tests;
