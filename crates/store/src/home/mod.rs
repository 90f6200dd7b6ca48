//! The one data directory, and who may be in it.
//!
//! Two kinds of things lie in it. What is named by its own hash, or belongs to the installation, is there once:
//! modules, trees, compiled code, keys, the catalog, and what is revoked. Everything else belongs to a tenant and lies
//! in that tenant's folder ([`TenantHome`]), which is made when the tenant first keeps something.
//!
//! Opening makes what is missing, each directory readable by its owner only. What killed writers left is swept away by
//! those who write there next. Nothing here knows what the files mean.

mod atomic;
mod folders;
mod lock;
mod read;
mod tenant;
mod verified;

use std::{
    fs::{self, DirBuilder},
    io,
    os::unix::fs::{DirBuilderExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use drydock_contract::Tenant;

pub(crate) use atomic::{Durability, keep_second_name, sync_dir, temporary_path, write_atomic};
pub(crate) use lock::Lock;
pub(crate) use read::{is_damage, open_regular, read_capped};
pub use tenant::TenantHome;
#[cfg(test)]
pub(crate) use verified::testing as verified_testing;
pub(crate) use verified::{VerifiedFiles, is_ours_alone, is_ours_or_the_systems, note_of, remove_with_note};

/// The data directory. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Home {
    root: Arc<Path>,
}

/// The data directory could not be made ready.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenHomeError {
    /// A directory could not be made.
    #[error("could not make the data directory `{path}`; choose another home or fix its permissions")]
    Create {
        /// Which one.
        path: PathBuf,
        /// What the disk said.
        #[source]
        cause: io::Error,
    },
    /// The directory is there and cannot be used.
    #[error("could not read the data directory `{path}`; choose another home or fix its permissions")]
    Read {
        /// Which one.
        path: PathBuf,
        /// What the disk said.
        #[source]
        cause: io::Error,
    },
    /// Another version made it.
    #[error(
        "the data directory `{path}` has layout {found}, and this drydock has layout {LAYOUT}; use the drydock that \
         made it, or move it away, or choose another home with DRYDOCK_HOME"
    )]
    Layout {
        /// Which one.
        path: PathBuf,
        /// What it says of itself.
        found: String,
    },
}

impl OpenHomeError {
    /// The stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Layout { .. } => "home_version",
            Self::Create { .. } | Self::Read { .. } => "home_unavailable",
        }
    }
}

/// How things lie in the directory. Another number is another version's.
const LAYOUT: &str = "2";
const LAYOUT_FILE: &str = "layout";

/// What lay at the top of a home before tenants had folders. Such a home may have no marker.
const LAYOUT_1: [&str; 3] = ["registry.json", "workspaces", "audit"];

const COMMANDS: &str = "commands";
const CACHE: &str = "cache";
const KEYS: &str = "keys";
const LOCK: &str = "lock";
const TREES: &str = "trees";
const TENANTS: &str = "tenants";

impl Home {
    /// Opens the data directory, making what is missing.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenHomeError> {
        let path = path.as_ref();
        make_private_dir(path)?;
        // Absolute from here on: the process may change its directory, its home may not move.
        let root =
            fs::canonicalize(path).map_err(|cause| OpenHomeError::Read { path: path.to_owned(), cause })?;
        let home = Self { root: root.into() };
        home.check_layout()?;
        warn_if_others_may_write(&home.root);
        for name in [COMMANDS, CACHE, KEYS, LOCK, TREES, TENANTS] {
            make_private_dir(&home.root.join(name))?;
        }
        Ok(home)
    }

    /// Refuses what another version made, before anything in it is touched; says whose it is otherwise.
    fn check_layout(&self) -> Result<(), OpenHomeError> {
        let path = self.root.join(LAYOUT_FILE);
        let found = open_regular(&path, 64).and_then(|(file, len)| read_capped(&file, len, 64));
        match found.as_deref().map(<[u8]>::trim_ascii) {
            Ok(found) if found == LAYOUT.as_bytes() => Ok(()),
            Ok(found) => {
                let found = String::from_utf8_lossy(found).escape_debug().to_string();
                Err(OpenHomeError::Layout { path: self.root.to_path_buf(), found })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if LAYOUT_1.iter().any(|it| self.root.join(it).exists()) {
                    return Err(OpenHomeError::Layout { path: self.root.to_path_buf(), found: "1".into() });
                }
                // On a full disk it is written the next time.
                let _ = write_atomic(&path, &[LAYOUT.as_bytes(), b"\n"], Durability::Process);
                Ok(())
            }
            Err(_) => {
                let cause = io::Error::other("its file `layout` cannot be read");
                Err(OpenHomeError::Read { path: self.root.to_path_buf(), cause })
            }
        }
    }

    /// The directory itself, absolute.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where artifacts lie, each named by its hash.
    pub fn commands(&self) -> PathBuf {
        self.root.join(COMMANDS)
    }

    /// Where compiled code lies.
    pub fn cache(&self) -> PathBuf {
        self.root.join(CACHE)
    }

    /// Where keys of this installation lie.
    pub fn keys(&self) -> PathBuf {
        self.root.join(KEYS)
    }

    /// Where directories of commands lie, each named by the hash of what it was made from.
    pub fn trees(&self) -> PathBuf {
        self.root.join(TREES)
    }

    /// What is revoked. One file for all tenants, because whoever opens a session must know, and because it is looked
    /// at several times a second.
    pub fn revocations_file(&self) -> PathBuf {
        self.root.join("revocations.sqlite")
    }

    /// Where the folders of tenants lie.
    pub fn tenants(&self) -> PathBuf {
        self.root.join(TENANTS)
    }

    /// What is kept for this tenant. Makes nothing.
    pub fn tenant(&self, tenant: &Tenant) -> TenantHome {
        TenantHome::of(self, tenant)
    }

    /// Waits for the lock of that name, across threads and processes. Dropped, or its process
    /// killed, it is free again.
    pub(crate) fn lock(&self, name: &str) -> io::Result<Lock> {
        Lock::wait(&self.lock_file(name))
    }

    /// The same, for so long at most.
    pub(crate) fn lock_within(&self, name: &str, patience: Duration) -> io::Result<Lock> {
        Lock::wait_within(&self.lock_file(name), patience)
    }

    /// The file of the lock of that name.
    pub(crate) fn lock_file(&self, name: &str) -> PathBuf {
        self.root.join(LOCK).join(format!("{name}.lock"))
    }
}

fn make_private_dir(path: &Path) -> Result<(), OpenHomeError> {
    if path.is_dir() {
        return Ok(());
    }
    make_dir(path).map_err(|cause| OpenHomeError::Create { path: path.to_owned(), cause })
}

/// Makes a directory, and those above it, for its owner only. It may be there already.
pub(crate) fn make_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

// Not refused: shared volumes of containers are often born that way. Built-ins, artifacts and
// cached code stay safe regardless, because each is verified; the registered names do not.
fn warn_if_others_may_write(root: &Path) {
    let Ok(facts) = fs::metadata(root) else { return };
    let mode = facts.permissions().mode();
    if mode & 0o022 != 0 {
        tracing::warn!(path = %root.display(), mode = format!("{:o}", mode & 0o7777),
            "other users may write to the data directory and so bind command names; chmod go-w it");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_home_is_for_its_owner_only_and_opens_twice() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("a/b");
        let home = Home::open(&path).unwrap();
        for dir in [home.root().to_owned(), home.commands(), home.tenants(), home.cache(), home.keys()] {
            let mode = fs::metadata(&dir).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700, "{dir:?}");
        }
        assert_eq!(Home::open(&path).unwrap().root(), home.root());
    }

    #[test]
    fn a_home_of_another_layout_is_refused_by_name_and_left_alone() {
        let temp = tempfile::tempdir().unwrap();
        fs::write(temp.path().join("layout"), "7\n").unwrap();
        let error = Home::open(temp.path()).unwrap_err();
        let said = error.to_string();
        assert!(said.contains(temp.path().to_str().unwrap()) && said.contains("layout 7"), "{said}");
        assert!(said.contains("DRYDOCK_HOME"), "{said}");
        assert_eq!((error.code(), fs::read_dir(temp.path()).unwrap().count()), ("home_version", 1));
        fs::write(temp.path().join("layout"), "x".repeat(100)).unwrap();
        assert!(Home::open(temp.path()).is_err());
        fs::remove_file(temp.path().join("layout")).unwrap();
        Home::open(temp.path()).unwrap();
        Home::open(temp.path()).unwrap();
    }

    #[test]
    fn a_home_of_before_tenants_had_folders_is_refused_though_it_has_no_marker() {
        for name in LAYOUT_1 {
            let temp = tempfile::tempdir().unwrap();
            fs::create_dir(temp.path().join(name)).unwrap();
            let error = Home::open(temp.path()).unwrap_err();
            assert!(error.to_string().contains("has layout 1, and this drydock has layout 2"), "{error}");
            assert_eq!((error.code(), fs::read_dir(temp.path()).unwrap().count()), ("home_version", 1));
        }
    }

    #[test]
    fn a_home_that_is_a_file_is_refused_with_its_name() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = Home::open(file.path()).unwrap_err();
        assert!(error.to_string().contains(file.path().to_str().unwrap()), "{error}");
    }
}
