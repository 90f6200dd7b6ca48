//! The segments that are open for appending: a bounded number, whoever writes.
//!
//! One descriptor for each tenant that wrote lately, two where one of its principals is busy. The one that was used
//! longest ago is closed for the next. What a sync has to reach may therefore be closed already; then, and where there
//! are many, the whole file system is asked at once.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use drydock_contract::{Tenant, port::JournalError};

use super::segment::{self, Row};
use crate::{Home, TenantHome, home::sync_dir};

/// Segments open at once, in one process.
pub const OPEN_MAX: usize = 64;
/// Up to so many files and directories are synced one by one.
const SYNCED_ALONE_MAX: usize = 16;

#[derive(Debug)]
pub(super) struct Held {
    home: Home,
    bytes_max: u64,
    /// The one used last comes first.
    segments: Vec<Segment>,
    /// The file system of the journal, once there are several segments. Opened before anything is closed unsynced, so
    /// that it is told of every write that failed since.
    disk: Option<File>,
    /// Something was closed before it was synced.
    lost_sight: bool,
}

/// One open segment.
#[derive(Debug)]
pub(super) struct Segment {
    tenant: Tenant,
    row: Row,
    dir: PathBuf,
    pub(super) number: u64,
    pub(super) path: PathBuf,
    pub(super) file: File,
    /// The last byte in the file may be the middle of a line.
    pub(super) torn: bool,
    pub(super) dirty: bool,
    /// Its name, and perhaps those of the directories above, are not synced.
    new: bool,
}

impl Held {
    pub(super) fn of(home: &Home, bytes_max: u64) -> Self {
        Self { home: home.clone(), bytes_max, segments: Vec::new(), disk: None, lost_sight: false }
    }

    /// The newest segment of a tenant that has room, opened if it is not.
    pub(super) fn newest(&mut self, tenant: &Tenant, row: Row) -> Result<&mut Segment, JournalError> {
        let at = match self.segments.iter().position(|it| it.row == row && it.tenant == *tenant) {
            Some(at) => at,
            None => self.admit(tenant, row)?,
        };
        self.segments[..=at].rotate_right(1);
        let (bytes_max, home) = (self.bytes_max, &self.home);
        let segment = &mut self.segments[0];
        let facts = segment.file.metadata().map_err(|cause| failed(&segment.path, cause))?;
        // Another process may have filled the segment, or even pruned it while we were idle.
        if facts.len() >= bytes_max || facts.nlink() == 0 {
            segment.move_on(home, bytes_max)?;
        }
        Ok(segment)
    }

    /// Opens one more, and closes one if there are too many. Answers where it is.
    fn admit(&mut self, tenant: &Tenant, row: Row) -> Result<usize, JournalError> {
        if self.disk.is_none() && !self.segments.is_empty() {
            let tenants = self.home.tenants();
            self.disk = Some(File::open(&tenants).map_err(|cause| failed(&tenants, cause))?);
        }
        let segment = Segment::open(&self.home.tenant(tenant), row, self.bytes_max)?;
        if self.segments.len() >= OPEN_MAX
            && let Some(closed) = self.segments.pop()
        {
            self.lost_sight |= closed.dirty || closed.new;
        }
        self.segments.push(segment);
        Ok(self.segments.len() - 1)
    }

    /// Makes everything that was written survive the machine.
    pub(super) fn sync(&mut self) -> Result<(), JournalError> {
        let work: usize =
            self.segments.iter().map(|it| usize::from(it.dirty) + 3 * usize::from(it.new)).sum();
        if let Some(disk) = &self.disk
            && (self.lost_sight || work > SYNCED_ALONE_MAX)
        {
            rustix::fs::syncfs(disk).map_err(|errno| failed(&self.home.tenants(), errno.into()))?;
            self.lost_sight = false;
            self.segments.iter_mut().for_each(|it| (it.dirty, it.new) = (false, false));
            return Ok(());
        }
        // One tenant's folder that cannot be synced keeps nobody else's from it.
        let mut failed: Option<JournalError> = None;
        for segment in &mut self.segments {
            let Err(error) = segment.sync(&self.home) else { continue };
            failed.get_or_insert(error).tenants.push(segment.tenant.clone());
        }
        failed.map_or(Ok(()), Err)
    }

    #[cfg(test)]
    pub(super) fn open(&self) -> usize {
        self.segments.len()
    }
}

impl Segment {
    fn open(tenant: &TenantHome, row: Row, bytes_max: u64) -> Result<Self, JournalError> {
        let dir = tenant.audit();
        tenant.make(&dir).map_err(|cause| failed(&dir, cause))?;
        let numbers = segment::numbers(&dir, row).map_err(|cause| failed(&dir, cause))?;
        let newest = numbers.last().copied().unwrap_or(1);
        let full =
            std::fs::metadata(segment::path_of(&dir, row, newest)).is_ok_and(|it| it.len() >= bytes_max);
        let number = newest.saturating_add(u64::from(full));
        let path = segment::path_of(&dir, row, number);
        // Not `create_new`: another process that moves on at the same time shares the segment.
        let file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(&path);
        // A segment with something in it had its name synced by whoever synced that.
        let looked = |file: File| Ok((ends_torn(&file)?, file.metadata()?.len() == 0, file));
        let (torn, new, file) = file.and_then(looked).map_err(|cause| failed(&path, cause))?;
        let tenant = tenant.tenant().clone();
        Ok(Self { tenant, row, dir, number, path, file, torn, dirty: false, new })
    }

    fn move_on(&mut self, home: &Home, bytes_max: u64) -> Result<(), JournalError> {
        // A later sync sees only the new file, so the old one is settled now.
        self.sync(home)?;
        *self = Self::open(&home.tenant(&self.tenant), self.row, bytes_max)?;
        segment::prune(&self.dir, self.row).map_err(|cause| failed(&self.path, cause))
    }

    fn sync(&mut self, home: &Home) -> Result<(), JournalError> {
        if self.dirty {
            self.file.sync_data().map_err(|cause| failed(&self.path, cause))?;
        }
        if self.new {
            let above = [self.dir.clone(), home.tenant(&self.tenant).root().to_owned(), home.tenants()];
            for dir in above {
                match sync_dir(&dir) {
                    // Somebody removed a tenant's folder while it was in use: nothing is left to be synced.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    done => done.map_err(|cause| failed(&dir, cause))?,
                }
            }
        }
        (self.dirty, self.new) = (false, false);
        Ok(())
    }
}

fn ends_torn(file: &File) -> io::Result<bool> {
    let Some(last) = file.metadata()?.len().checked_sub(1) else { return Ok(false) };
    let mut byte = [0];
    let read = file.read_at(&mut byte, last)?;
    Ok(read == 1 && byte != *b"\n")
}

pub(super) fn failed(path: &Path, cause: io::Error) -> JournalError {
    JournalError { path: path.to_owned(), kept: 0, tenants: Vec::new(), cause }
}
