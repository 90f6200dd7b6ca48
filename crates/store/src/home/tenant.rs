//! The folder of one tenant: names of paths, and nothing that opens them.
//!
//! No name that a tenant or a guest chose becomes part of a path as it is: tenants lie under [`Tenant::folder`],
//! workspaces and contexts have names that cannot be anything but a file's, and a principal is only ever hashed. Each
//! owner of a file makes its directory when it first writes there, so that a tenant that keeps nothing has no folder.

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use drydock_contract::Tenant;

use super::{Durability, Home, lock::Lock, make_dir, write_atomic};

/// What is kept for one tenant. Cheap to clone.
#[derive(Debug, Clone)]
pub struct TenantHome {
    home: Home,
    tenant: Tenant,
    root: PathBuf,
}

impl TenantHome {
    pub(super) fn of(home: &Home, tenant: &Tenant) -> Self {
        let root = home.tenants().join(tenant.folder());
        Self { home: home.clone(), tenant: tenant.clone(), root }
    }

    /// The home it lies in.
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// Whose it is.
    pub fn tenant(&self) -> &Tenant {
        &self.tenant
    }

    /// The folder, absolute. It may not be there yet.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The file of names that this tenant registered.
    pub fn registry_file(&self) -> PathBuf {
        self.root.join("registry.json")
    }

    /// Where the segments of its audit journal lie.
    pub fn audit(&self) -> PathBuf {
        self.root.join("audit")
    }

    /// Where its workspaces lie, one SQLite file each.
    pub fn workspaces(&self) -> PathBuf {
        self.root.join("workspaces")
    }

    /// Where the memory lies that its programs left.
    pub fn contexts(&self) -> PathBuf {
        self.root.join("contexts")
    }

    /// Where the sessions of its principals lie, a folder each.
    pub fn sessions(&self) -> PathBuf {
        self.root.join("sessions")
    }

    /// Where the tapes of its runs lie, a file each.
    pub fn tapes(&self) -> PathBuf {
        self.root.join("tapes")
    }

    /// Its counters and cells.
    pub fn ledger_file(&self) -> PathBuf {
        self.root.join("ledger.sqlite")
    }

    /// Its values by key.
    pub fn key_values_file(&self) -> PathBuf {
        self.root.join("kv.sqlite")
    }

    /// Its messages.
    pub fn queues_file(&self) -> PathBuf {
        self.root.join("queue.sqlite")
    }

    /// Runs of its agents, with what people are asked in them.
    pub fn agents_file(&self) -> PathBuf {
        self.root.join("agents.sqlite")
    }

    /// Makes a directory of this tenant, or the folder itself.
    pub(crate) fn make(&self, dir: &Path) -> io::Result<()> {
        debug_assert!(dir.starts_with(&self.root), "each tenant makes its own directories");
        if dir.is_dir() {
            return Ok(());
        }
        let new = !self.root.is_dir();
        make_dir(dir)?;
        // A folder that is named by a hash says whose it is, for people. Nothing reads it.
        if new && self.tenant.folder() != self.tenant.as_str() {
            let name = self.tenant.as_str().as_bytes();
            write_atomic(&self.root.join("tenant"), &[name, b"\n"], Durability::Process)?;
        }
        Ok(())
    }

    /// Waits for the lock of that name among this tenant's, across threads and processes.
    pub(crate) fn lock(&self, name: &str) -> io::Result<Lock> {
        self.make(&self.root)?;
        Lock::wait(&self.root.join(format!("{name}.lock")))
    }

    /// The same, for so long at most.
    pub(crate) fn lock_within(&self, name: &str, patience: Duration) -> io::Result<Lock> {
        self.make(&self.root)?;
        Lock::wait_within(&self.root.join(format!("{name}.lock")), patience)
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs};

    use super::*;

    #[test]
    fn whatever_a_tenant_is_called_its_folder_lies_below_tenants_and_is_its_own() {
        let temp = tempfile::tempdir().unwrap();
        let home = Home::open(temp.path()).unwrap();
        let dots = ".".repeat(128);
        let mut folders = BTreeSet::new();
        for name in ["dev", "..", ".", "/", "../../etc", "a/b", "a\\b", "~", "DEV", "-rf", &dots] {
            let tenant = home.tenant(&name.parse().unwrap());
            tenant.make(&tenant.audit()).unwrap();
            assert_eq!(fs::canonicalize(tenant.root()).unwrap(), tenant.root());
            assert_eq!(tenant.root().parent(), Some(&*home.tenants()), "{name}");
            folders.insert(tenant.root().to_owned());
            let told = fs::read_to_string(tenant.root().join("tenant"));
            assert_eq!(told.ok(), (name != "dev").then(|| format!("{name}\n")));
        }
        assert_eq!(fs::read_dir(home.tenants()).unwrap().count(), folders.len());
        assert_eq!(folders.len(), 11);
        for bad in ["", "a b", "a\0b", "ü", &"x".repeat(129)] {
            assert!(bad.parse::<Tenant>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn looking_at_a_tenant_makes_nothing() {
        let temp = tempfile::tempdir().unwrap();
        let home = Home::open(temp.path()).unwrap();
        let tenant = home.tenant(&Tenant::default());
        assert!(tenant.registry_file().starts_with(tenant.root()));
        assert!(!tenant.root().exists());
    }
}
