//! What stands before the state of a session: whose it is, what is known of it, and the hash of the state
//! ([`sealed`](crate::sealed)). Once its MAC was found to be right, it says by itself if it is somebody else's, or was
//! renamed.

use std::path::Path;

use drydock_contract::{Principal, Tenant, Timestamp};
use serde::{Deserialize, Serialize};

use super::{Checkpoint, CheckpointError, SessionFacts, SessionName};
use crate::sealed::{self, Broken, Kind, Opened, Seal};

pub(super) const KIND: Kind =
    Kind { magic: b"drydsess", version: 1, key_use: "drydock 2026 sessions of shells" };

/// Whose a session is.
pub(super) struct Owner<'a> {
    pub(super) tenant: &'a Tenant,
    pub(super) principal: &'a Principal,
    pub(super) name: &'a SessionName,
}

#[derive(Serialize, Deserialize)]
struct Head {
    tenant: String,
    principal: String,
    name: String,
    created: u64,
    used: u64,
    cwd: String,
    lines: u64,
    state_bytes: u64,
    state_hash: [u8; 32],
}

impl sealed::Head for Head {
    fn body_bytes(&self) -> u64 {
        self.state_bytes
    }

    fn body_hash(&self) -> [u8; 32] {
        self.state_hash
    }
}

/// Everything that stands before the state.
pub(super) fn front(facts: &SessionFacts, owner: &Owner<'_>, seal: &Seal, state: &[&[u8]]) -> Vec<u8> {
    let mut hasher = blake3::Hasher::new();
    for piece in state {
        hasher.update(piece);
    }
    seal.front(&Head {
        tenant: owner.tenant.as_str().to_owned(),
        principal: owner.principal.as_str().to_owned(),
        name: owner.name.as_str().to_owned(),
        created: facts.created.0,
        used: facts.used.0,
        cwd: facts.cwd.clone(),
        lines: facts.lines,
        state_bytes: facts.state_bytes,
        state_hash: *hasher.finalize().as_bytes(),
    })
}

/// What is known of the session in this file; none if there is no file.
pub(super) fn facts(
    path: &Path,
    owner: &Owner<'_>,
    seal: &Seal,
    bytes_max: u64,
) -> Result<Option<SessionFacts>, CheckpointError> {
    Ok(open(path, owner, seal, bytes_max)?.map(|opened| facts_of(&opened.head)))
}

/// The session in this file, state and all; none if there is no file.
pub(super) fn read(
    path: &Path,
    owner: &Owner<'_>,
    seal: &Seal,
    bytes_max: u64,
) -> Result<Option<Checkpoint>, CheckpointError> {
    let Some(opened) = open(path, owner, seal, bytes_max)? else { return Ok(None) };
    let (state, head) = opened.body().map_err(|broken| error_of(path, owner.name, bytes_max, broken))?;
    Ok(Some(Checkpoint { state, facts: facts_of(&head) }))
}

/// Opens a file and reads up to its state, which is next.
fn open(
    path: &Path,
    owner: &Owner<'_>,
    seal: &Seal,
    bytes_max: u64,
) -> Result<Option<Opened<Head>>, CheckpointError> {
    let name = || owner.name.clone();
    let error = |broken| error_of(path, owner.name, bytes_max, broken);
    let opened: Opened<Head> = match seal.open(path, bytes_max) {
        Err(Broken::NotThere) => return Ok(None),
        opened => opened.map_err(error)?,
    };
    let head = &opened.head;
    if head.tenant != owner.tenant.as_str() || head.principal != owner.principal.as_str() {
        return Err(CheckpointError::NotYours { name: name() });
    }
    if head.name != owner.name.as_str() {
        return Err(CheckpointError::Renamed { name: name(), was: head.name.clone() });
    }
    opened.check_length().map_err(error)?;
    Ok(Some(opened))
}

fn error_of(path: &Path, name: &SessionName, bytes_max: u64, broken: Broken) -> CheckpointError {
    let name = name.clone();
    match broken {
        Broken::NotThere => CheckpointError::NotThere { name },
        Broken::TooLarge { bytes } => CheckpointError::TooLarge { name, bytes, bytes_max },
        Broken::Disk(cause) => CheckpointError::Disk { path: path.to_owned(), cause },
        Broken::Foreign => CheckpointError::Foreign { name },
        Broken::Version(found) => CheckpointError::Version { name, found },
        Broken::Cut => CheckpointError::Cut { name },
        Broken::Changed => CheckpointError::Changed { name },
    }
}

fn facts_of(head: &Head) -> SessionFacts {
    SessionFacts {
        created: Timestamp(head.created),
        used: Timestamp(head.used),
        cwd: head.cwd.clone(),
        lines: head.lines,
        state_bytes: head.state_bytes,
    }
}
