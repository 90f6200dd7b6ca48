//! Where workspaces lie: a file for each, and a file for each snapshot of one.

use std::{fs, io, path::PathBuf};

use super::{Workspace, WorkspaceName};
use crate::{OpenWorkspaceError, Quota, TenantHome, sqlite::Db};

const SUFFIX: &str = ".sqlite";

/// The workspaces of a tenant.
#[derive(Debug, Clone)]
pub struct Workspaces {
    tenant: TenantHome,
    dir: PathBuf,
    quota: Quota,
}

impl Workspaces {
    /// Those of this tenant; each volume may hold as much as `quota` says.
    pub fn of(tenant: &TenantHome, quota: Quota) -> Self {
        let dir = tenant.workspaces();
        Self { tenant: tenant.clone(), dir, quota }
    }

    /// Their names, sorted.
    pub fn list(&self) -> io::Result<Vec<WorkspaceName>> {
        let mut names = self.stems()?;
        names.retain(|it| !it.contains('@'));
        Ok(names.iter().filter_map(|it| it.parse().ok()).collect())
    }

    /// The names of a workspace's snapshots, sorted.
    pub fn snapshots(&self, name: &WorkspaceName) -> io::Result<Vec<WorkspaceName>> {
        let stems = self.stems()?;
        let of_it = stems.iter().filter_map(|it| it.strip_prefix(name.as_str())?.strip_prefix('@'));
        Ok(of_it.filter_map(|it| it.parse().ok()).collect())
    }

    /// The same with the bytes that each takes.
    pub fn snapshot_sizes(
        &self,
        name: &WorkspaceName,
    ) -> Result<Vec<(WorkspaceName, u64)>, OpenWorkspaceError> {
        let read = |path: PathBuf, cause| OpenWorkspaceError::Read { path, cause };
        let names = self.snapshots(name).map_err(|cause| read(self.dir.clone(), cause))?;
        let mut all = Vec::with_capacity(names.len());
        for snapshot in names {
            let path = self.snapshot_file(name, &snapshot);
            match fs::metadata(&path) {
                Ok(facts) => all.push((snapshot, facts.len())),
                // Somebody forgot it meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(cause) => return Err(read(path, cause)),
            }
        }
        Ok(all)
    }

    /// Opens the one of that name.
    pub fn open(&self, name: &WorkspaceName) -> Result<Workspace, OpenWorkspaceError> {
        if !self.file(name).is_file() {
            return Err(OpenWorkspaceError::Missing(name.to_string()));
        }
        self.open_or_create(name)
    }

    /// Opens the one of that name to look into it. Where the disk takes nothing it cannot be changed
    /// then, and still be read.
    pub fn look(&self, name: &WorkspaceName) -> Result<Workspace, OpenWorkspaceError> {
        self.open(name).or_else(|error| {
            if !error.is_of_writing() {
                return Err(error);
            }
            let looked = Db::open_to_look(&self.file(name)).ok();
            looked.and_then(|db| Workspace::new(name.clone(), db, self.quota).ok()).ok_or(error)
        })
    }

    /// Makes one of that name.
    pub fn create(&self, name: &WorkspaceName) -> Result<Workspace, OpenWorkspaceError> {
        if self.file(name).exists() {
            return Err(OpenWorkspaceError::Exists(name.to_string()));
        }
        self.open_or_create(name)
    }

    /// Opens the one of that name, making it if it is missing.
    pub fn open_or_create(&self, name: &WorkspaceName) -> Result<Workspace, OpenWorkspaceError> {
        let path = self.file(name);
        self.tenant.make(&self.dir).map_err(|cause| OpenWorkspaceError::of_disk(&path, cause))?;
        let db = Db::open(&path)?;
        Workspace::new(name.clone(), db, self.quota)
            .map_err(|error| OpenWorkspaceError::of_files(&path, error))
    }

    pub(super) fn file(&self, name: &WorkspaceName) -> PathBuf {
        self.dir.join(format!("{name}{SUFFIX}"))
    }

    pub(super) fn snapshot_file(&self, name: &WorkspaceName, snapshot: &WorkspaceName) -> PathBuf {
        self.dir.join(format!("{name}@{snapshot}{SUFFIX}"))
    }

    fn stems(&self) -> io::Result<Vec<String>> {
        let mut stems = Vec::new();
        let entries = match fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            // Its tenant has none yet.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(stems),
            Err(error) => return Err(error),
        };
        for entry in entries {
            let name = entry?.file_name();
            stems.extend(name.to_str().and_then(|it| it.strip_suffix(SUFFIX)).map(str::to_owned));
        }
        stems.sort();
        Ok(stems)
    }
}
