//! Processes that outlive whoever started them: for each a folder below its tenant's, with a record of how far it is and a
//! file for each of its outputs, which can be read again from any byte.
//!
//! Whoever runs a process holds the lock in its folder, and the kernel frees that lock when its holder dies. So a record
//! that says `running` beside a lock that is free is one whose server died, whoever looks first writes that down, and no
//! start of a server has to look for such records.

mod record;
mod spool;
#[cfg(test)]
mod tests;

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use drydock_contract::Timestamp;

pub use record::{BadProcessId, ProcessId, ProcessRecord, ProcessStage};
pub use spool::{ProcessOutput, Spool, SpoolChunk};

use crate::{
    TenantHome,
    home::{Durability, Lock, open_regular, read_capped, write_atomic},
};

/// The largest record that is read.
const RECORD_BYTES_MAX: u64 = 64 << 10;
/// The longest answer to one read.
pub const SPOOL_CHUNK_BYTES_MAX: u64 = 256 << 10;

/// How much of a tenant's processes is kept.
#[derive(Debug, Clone, Copy)]
pub struct SpoolBounds {
    /// Processes that have ended; the oldest go first.
    pub ended_max: usize,
    /// How long after its end a process is kept.
    pub age_max: Duration,
    /// Bytes of output of all of them, those that run among them.
    pub bytes_max: u64,
}

impl Default for SpoolBounds {
    fn default() -> Self {
        Self { ended_max: 256, age_max: Duration::from_secs(7 * 24 * 60 * 60), bytes_max: 1 << 30 }
    }
}

/// A process cannot be kept, or read again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProcessSpoolError {
    /// Those that run have as much output as may be kept.
    #[error(
        "the output of this tenant's processes takes {used} bytes, and {max} is the most; --process-spool raises it"
    )]
    Full {
        /// How much there is.
        used: u64,
        /// How much there may be.
        max: u64,
    },
    /// It still runs.
    #[error("process {0} still runs; kill it first")]
    Running(ProcessId),
    /// Nothing was written there yet.
    #[error("the cursor is {from}, and there are {len} bytes")]
    Beyond {
        /// What was asked for.
        from: u64,
        /// How much there is.
        len: u64,
    },
    /// The disk.
    #[error("the output of processes in `{path}` cannot be kept or read")]
    Disk {
        /// Where.
        path: PathBuf,
        /// What the disk said.
        #[source]
        cause: io::Error,
    },
}

impl ProcessSpoolError {
    /// The stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Full { .. } => "no_space",
            Self::Running(_) => "still_running",
            Self::Beyond { .. } => "bad_cursor",
            Self::Disk { .. } => "spool_failed",
        }
    }
}

/// The processes of one tenant, as they are kept.
#[derive(Debug, Clone)]
pub struct ProcessSpools {
    tenant: TenantHome,
}

impl ProcessSpools {
    /// Those of this tenant.
    pub fn of(tenant: &TenantHome) -> Self {
        Self { tenant: tenant.clone() }
    }

    /// A place for one more process, which is starting. What is too old or too much is forgotten first.
    pub fn create(
        &self,
        command: &str,
        principal: &str,
        now: Timestamp,
        bounds: &SpoolBounds,
    ) -> Result<Spool, ProcessSpoolError> {
        let used = self.prune(now, bounds)?;
        if used >= bounds.bytes_max {
            return Err(ProcessSpoolError::Full { used, max: bounds.bytes_max });
        }
        let failed = |cause| self.broken(cause);
        let id = ProcessId::new().map_err(failed)?;
        let folder = self.folder(&id);
        self.tenant.make(&folder).map_err(failed)?;
        // Held before there is a record: whoever finds the record finds the lock taken.
        let lock = Lock::try_take(&folder.join(LOCK)).map_err(failed)?;
        let lock = lock.ok_or_else(|| failed(io::ErrorKind::AlreadyExists.into()))?;
        let record = ProcessRecord::starting(id, command, principal, now);
        Spool::open(folder, record, lock, used).map_err(failed)
    }

    /// All that are kept, those that were started last first.
    pub fn list(&self) -> Result<Vec<ProcessRecord>, ProcessSpoolError> {
        let entries = match fs::read_dir(self.root()) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(self.broken(error)),
        };
        let mut all = Vec::new();
        for entry in entries {
            let name = entry.map_err(|error| self.broken(error))?.file_name();
            let Some(id) = name.to_str().and_then(|it| it.parse::<ProcessId>().ok()) else { continue };
            all.extend(self.find(&id)?);
        }
        all.sort_by(|a, b| (b.started_ms, &b.id).cmp(&(a.started_ms, &a.id)));
        Ok(all)
    }

    /// One by its id, if this tenant has it.
    pub fn find(&self, id: &ProcessId) -> Result<Option<ProcessRecord>, ProcessSpoolError> {
        let folder = self.folder(id);
        let Some(mut record) = self.read_record(&folder)? else { return Ok(None) };
        if !record.stage.is_over() {
            let lock = Lock::try_take(&folder.join(LOCK));
            match lock {
                Ok(None) => {}
                // Its holder died, or has just written how it ended: that is looked at again, now that nobody else can write.
                Ok(Some(_lock)) => record = self.settle(&folder)?.unwrap_or(record),
                // Removed in between.
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(self.broken(error)),
            }
        }
        let [stdout, stderr] = spool::lengths(&folder);
        (record.stdout_bytes, record.stderr_bytes) = (stdout, stderr);
        Ok(Some(record))
    }

    /// Some bytes of an output from a cursor on; nothing if this tenant has no such process.
    pub fn read(
        &self,
        id: &ProcessId,
        output: ProcessOutput,
        from: u64,
        bytes_max: u64,
    ) -> Result<Option<SpoolChunk>, ProcessSpoolError> {
        // Asked before the bytes: what ends in between is read whole next time.
        let Some(record) = self.find(id)? else { return Ok(None) };
        let path = self.folder(id).join(output.name());
        let (bytes, len) = spool::read(&path, from, bytes_max.min(SPOOL_CHUNK_BYTES_MAX))
            .map_err(|cause| self.broken(cause))?;
        if from > len {
            return Err(ProcessSpoolError::Beyond { from, len });
        }
        let next = from + bytes.len() as u64;
        let is_end = record.stage.is_over() && next >= len;
        Ok(Some(SpoolChunk { bytes, next, is_end }))
    }

    /// Forgets a process that has ended, and its output. False if this tenant has none of that id.
    pub fn remove(&self, id: &ProcessId) -> Result<bool, ProcessSpoolError> {
        match self.find(id)? {
            None => Ok(false),
            Some(record) if !record.stage.is_over() => Err(ProcessSpoolError::Running(id.clone())),
            Some(_) => self.forget(&self.folder(id)).map(|()| true),
        }
    }

    /// Forgets what is too old or too much, and tells how many bytes there are.
    fn prune(&self, now: Timestamp, bounds: &SpoolBounds) -> Result<u64, ProcessSpoolError> {
        let all = self.list()?;
        let oldest_ms =
            now.as_millis().saturating_sub(u64::try_from(bounds.age_max.as_millis()).unwrap_or(u64::MAX));
        let mut used: u64 = all.iter().map(ProcessRecord::output_bytes).sum();
        let ended: Vec<&ProcessRecord> = all.iter().filter(|it| it.stage.is_over()).collect();
        for (at, record) in ended.iter().enumerate().rev() {
            let is_old = record.ended_ms.is_some_and(|it| it < oldest_ms);
            // One more is about to be kept.
            if is_old || at + 1 >= bounds.ended_max || used >= bounds.bytes_max {
                self.forget(&self.folder(&record.id))?;
                used = used.saturating_sub(record.output_bytes());
            }
        }
        Ok(used)
    }

    fn forget(&self, folder: &Path) -> Result<(), ProcessSpoolError> {
        // Without its record there is no process, whatever is left when this is interrupted.
        for name in [RECORD, "stdout", "stderr", LOCK] {
            match fs::remove_file(folder.join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(self.broken(error)),
                _ => {}
            }
        }
        let _ = fs::remove_dir_all(folder);
        Ok(())
    }

    /// What the record says now; if it says that the process goes on, it does not, and that is written down.
    fn settle(&self, folder: &Path) -> Result<Option<ProcessRecord>, ProcessSpoolError> {
        let Some(mut record) = self.read_record(folder)? else { return Ok(None) };
        if !record.stage.is_over() {
            let message = "the server that ran it ended, or was killed, before it did";
            record.fail("server_ended", message);
            write_record(folder, &record).map_err(|cause| self.broken(cause))?;
        }
        Ok(Some(record))
    }

    fn read_record(&self, folder: &Path) -> Result<Option<ProcessRecord>, ProcessSpoolError> {
        let read = open_regular(&folder.join(RECORD), RECORD_BYTES_MAX)
            .and_then(|(file, len)| read_capped(&file, len, RECORD_BYTES_MAX));
        match read {
            // What makes no sense is nobody's process: it is not told, and another id is made.
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.broken(error)),
        }
    }

    fn root(&self) -> PathBuf {
        self.tenant.root().join("processes")
    }

    fn folder(&self, id: &ProcessId) -> PathBuf {
        self.root().join(id.as_str())
    }

    fn broken(&self, cause: io::Error) -> ProcessSpoolError {
        ProcessSpoolError::Disk { path: self.root(), cause }
    }
}

const RECORD: &str = "record.json";
const LOCK: &str = "lock";

fn write_record(folder: &Path, record: &ProcessRecord) -> io::Result<()> {
    // Texts and numbers: there is nothing in it that JSON cannot say.
    let bytes = serde_json::to_vec(record).unwrap_or_default();
    write_atomic(&folder.join(RECORD), &[&bytes], Durability::Process)
}
