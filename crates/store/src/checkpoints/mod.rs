//! Sessions of a shell that go on later, in another process too: what the shell wrote of itself, under a name.
//!
//! A session is one principal's of one tenant. Its file carries a MAC under the key of this installation over whose it
//! is, what it is called and which version wrote it: another principal's, a renamed, cut or changed one is refused, each
//! with its own error. While a process has a session open nobody else can open it; the kernel ends that with the process.
//!
//! What the bytes mean is the shell's business; nothing here reads them.

mod error;
mod head;
mod held;
mod name;
#[cfg(test)]
mod tests;

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use drydock_contract::{Principal, Timestamp};

pub use error::CheckpointError;
use head::Owner;
use held::Held;
pub use name::{BadSessionName, SessionName};

use crate::{
    TenantHome,
    codecache::key,
    home::{Durability, sync_dir, write_atomic},
    sealed::Seal,
};

/// The largest file of a session.
pub const CHECKPOINT_FILE_BYTES_MAX: u64 = 256 << 20;
/// Most sessions of one principal.
pub const SESSIONS_MAX: usize = 256;

const EXTENSION: &str = "checkpoint";
/// What a listing shows of a long directory.
const CWD_BYTES_MAX: usize = 4096;
/// The lock of a tenant's sessions while their number is looked at and changed.
const COUNT_LOCK: &str = "sessions";

/// What the sessions of one principal may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckpointBounds {
    /// One file, with what stands before the state.
    pub file_bytes_max: u64,
    /// How many sessions there may be.
    pub sessions_max: usize,
}

impl Default for CheckpointBounds {
    fn default() -> Self {
        Self { file_bytes_max: CHECKPOINT_FILE_BYTES_MAX, sessions_max: SESSIONS_MAX }
    }
}

/// What is known of a session beside its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionFacts {
    /// When it began.
    pub created: Timestamp,
    /// When its state was last kept.
    pub used: Timestamp,
    /// Where it was then.
    pub cwd: String,
    /// How many lines it has run.
    pub lines: u64,
    /// How long its state is.
    pub state_bytes: u64,
}

/// A session as it was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// What the shell wrote of itself.
    pub state: Vec<u8>,
    /// What is known beside that.
    pub facts: SessionFacts,
}

/// A session in a listing, or why it cannot be used.
#[derive(Debug)]
pub struct ListedSession {
    /// What it is called.
    pub name: SessionName,
    /// What is known of it. The state itself was not looked at.
    pub facts: Result<SessionFacts, CheckpointError>,
}

/// The sessions of one principal.
#[derive(Debug, Clone)]
pub struct Checkpoints {
    tenant: TenantHome,
    dir: PathBuf,
    principal: Principal,
    seal: Seal,
    bounds: CheckpointBounds,
}

impl Checkpoints {
    /// Those of this principal of this tenant.
    pub fn of(tenant: &TenantHome, principal: Principal) -> Result<Self, CheckpointError> {
        Self::with_bounds(tenant, principal, CheckpointBounds::default())
    }

    /// As [`of`](Self::of), with bounds that may be tighter than the default.
    pub fn with_bounds(
        tenant: &TenantHome,
        principal: Principal,
        bounds: CheckpointBounds,
    ) -> Result<Self, CheckpointError> {
        // A principal may be any printable text, `../..` too, and so only its hash is part of a path.
        let whose = blake3::hash(principal.as_str().as_bytes()).to_hex();
        let dir = tenant.sessions().join(&whose[..32]);
        let key = key::load_or_make(tenant.home())
            .map_err(|error| CheckpointError::Disk { path: error.path, cause: error.cause })?;
        let bounds = CheckpointBounds {
            file_bytes_max: bounds.file_bytes_max.min(CHECKPOINT_FILE_BYTES_MAX),
            sessions_max: bounds.sessions_max.min(SESSIONS_MAX),
        };
        Ok(Self { tenant: tenant.clone(), dir, principal, seal: Seal::of(&head::KIND, &key), bounds })
    }

    /// Opens a session, kept before or new, for this process alone. Does not wait.
    pub fn open(&self, name: &SessionName) -> Result<OpenSession, CheckpointError> {
        self.tenant.make(&self.dir).map_err(disk(&self.dir))?;
        let path = self.dir.join(format!("{name}.lock"));
        let held = Held::try_take(&path).map_err(disk(&path))?;
        let held = held.ok_or_else(|| CheckpointError::InUse { name: name.clone() })?;
        Ok(OpenSession { all: self.clone(), name: name.clone(), created: None, held })
    }

    /// All sessions by name, those included that cannot be used.
    pub fn list(&self) -> Result<Vec<ListedSession>, CheckpointError> {
        let mut all = Vec::new();
        for name in self.names()? {
            match head::facts(&self.file(&name), &self.owner(&name), &self.seal, self.bounds.file_bytes_max) {
                Ok(Some(facts)) => all.push(ListedSession { name, facts: Ok(facts) }),
                Err(error) => all.push(ListedSession { name, facts: Err(error) }),
                // Forgotten meanwhile.
                Ok(None) => {}
            }
        }
        all.sort_unstable_by(|one, two| one.name.cmp(&two.name));
        Ok(all)
    }

    /// A new session that begins where another was last kept. That one may be in use.
    pub fn fork(
        &self,
        from: &SessionName,
        to: &SessionName,
        now: Timestamp,
    ) -> Result<SessionFacts, CheckpointError> {
        let mut new = self.open(to)?;
        if self.file(to).exists() {
            return Err(CheckpointError::Exists { name: to.clone() });
        }
        let Some(Checkpoint { state, facts }) = self.read(from)? else {
            return Err(CheckpointError::NotThere { name: from.clone() });
        };
        new.put(&[&state], &facts.cwd, facts.lines, now)
    }

    /// Forgets a session. False if there was none.
    pub fn forget(&self, name: &SessionName) -> Result<bool, CheckpointError> {
        self.open(name)?.forget()
    }

    fn read(&self, name: &SessionName) -> Result<Option<Checkpoint>, CheckpointError> {
        head::read(&self.file(name), &self.owner(name), &self.seal, self.bounds.file_bytes_max)
    }

    fn names(&self) -> Result<Vec<SessionName>, CheckpointError> {
        let entries = match fs::read_dir(&self.dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.map_err(disk(&self.dir))?,
        };
        let mut names = Vec::new();
        for entry in entries {
            let file = entry.map_err(disk(&self.dir))?.file_name();
            let name = file.to_str().and_then(|it| it.strip_suffix(EXTENSION)?.strip_suffix('.'));
            names.extend(name.and_then(|it| it.parse::<SessionName>().ok()));
        }
        Ok(names)
    }

    /// A name cannot be anything but a file's: see [`SessionName`].
    fn file(&self, name: &SessionName) -> PathBuf {
        self.dir.join(format!("{name}.{EXTENSION}"))
    }

    fn owner<'a>(&'a self, name: &'a SessionName) -> Owner<'a> {
        Owner { tenant: self.tenant.tenant(), principal: &self.principal, name }
    }
}

/// A session that this process has, until it is dropped.
#[derive(Debug)]
pub struct OpenSession {
    all: Checkpoints,
    name: SessionName,
    /// When it began, once that is known.
    created: Option<Timestamp>,
    held: Held,
}

impl OpenSession {
    /// What it is called.
    pub fn name(&self) -> &SessionName {
        &self.name
    }

    /// What was kept; none if it is new.
    pub fn get(&mut self) -> Result<Option<Checkpoint>, CheckpointError> {
        let found = self.all.read(&self.name)?;
        self.created = found.as_ref().map(|it| it.facts.created);
        Ok(found)
    }

    /// Keeps a state, in one step: whoever reads sees the old one or this one, whatever is killed meanwhile. `state` may
    /// come in pieces; `lines` is how many lines the session has run in all.
    pub fn put(
        &mut self,
        state: &[&[u8]],
        cwd: &str,
        lines: u64,
        now: Timestamp,
    ) -> Result<SessionFacts, CheckpointError> {
        let path = self.all.file(&self.name);
        let owner = self.all.owner(&self.name);
        let bytes_max = self.all.bounds.file_bytes_max;
        let state_bytes = state.iter().map(|it| it.len() as u64).sum();
        // What cannot be read is written over: whoever puts a state has decided to go on without the old one.
        let created = match self.created {
            Some(at) => Some(at),
            None => head::facts(&path, &owner, &self.all.seal, bytes_max).ok().flatten().map(|it| it.created),
        };
        let cwd = cwd[..cwd.floor_char_boundary(CWD_BYTES_MAX)].to_owned();
        let facts = SessionFacts { created: created.unwrap_or(now), used: now, cwd, lines, state_bytes };
        let head = head::front(&facts, &owner, &self.all.seal, state);
        let bytes = head.len() as u64 + state_bytes;
        if bytes > bytes_max {
            return Err(CheckpointError::TooLarge { name: self.name.clone(), bytes, bytes_max });
        }
        let parts: Vec<&[u8]> = std::iter::once(head.as_slice()).chain(state.iter().copied()).collect();
        // Only what adds one has to be alone while they are counted.
        let _counting = match path.exists() {
            true => None,
            false => Some(self.room_for_one(&path)?),
        };
        write_atomic(&path, &parts, Durability::Power).map_err(disk(&path))?;
        self.created = Some(facts.created);
        Ok(facts)
    }

    /// Forgets it. False if nothing was kept.
    pub fn forget(self) -> Result<bool, CheckpointError> {
        let path = self.all.file(&self.name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            other => {
                other.and_then(|()| sync_dir(&self.all.dir)).map_err(disk(&path))?;
                Ok(true)
            }
        }
    }

    fn room_for_one(&self, path: &Path) -> Result<crate::home::Lock, CheckpointError> {
        let lock = self.all.tenant.lock(COUNT_LOCK).map_err(disk(path))?;
        let sessions_max = self.all.bounds.sessions_max;
        if self.all.names()?.len() >= sessions_max {
            return Err(CheckpointError::TooMany { sessions_max });
        }
        Ok(lock)
    }
}

impl Drop for OpenSession {
    fn drop(&mut self) {
        // A session of which nothing was kept leaves nothing behind.
        if !self.all.file(&self.name).exists() {
            self.held.remove();
        }
    }
}

fn disk(path: &Path) -> impl Fn(io::Error) -> CheckpointError {
    let path = path.to_owned();
    move |cause| CheckpointError::Disk { path: path.clone(), cause }
}
