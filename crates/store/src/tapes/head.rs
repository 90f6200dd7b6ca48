//! What stands before the frames of a tape: whose it is, what was recorded, and the hash of the frames
//! ([`sealed`](crate::sealed)). A tape that was cut, changed or renamed is refused.

use std::path::Path;

use drydock_contract::{Tenant, Timestamp};
use serde::{Deserialize, Serialize};

use super::{TapeError, TapeFacts, TapeId};
use crate::sealed::{self, Broken, Kind, Opened, Seal};

/// Of version 1 the end did not say how many verdicts there are.
pub(super) const KIND: Kind = Kind { magic: b"drydtape", version: 2, key_use: "drydock 2026 tapes" };

#[derive(Serialize, Deserialize)]
struct Head {
    tenant: String,
    id: String,
    principal: String,
    kind: String,
    title: String,
    created: u64,
    frames: u64,
    raw_bytes: u64,
    bytes: u64,
    hash: [u8; 32],
}

impl sealed::Head for Head {
    fn body_bytes(&self) -> u64 {
        self.bytes
    }

    fn body_hash(&self) -> [u8; 32] {
        self.hash
    }
}

/// Everything that stands before the frames.
pub(super) fn front(facts: &TapeFacts, tenant: &Tenant, seal: &Seal, body: &[u8]) -> Vec<u8> {
    seal.front(&Head {
        tenant: tenant.as_str().to_owned(),
        id: facts.id.to_string(),
        principal: facts.principal.clone(),
        kind: facts.kind.clone(),
        title: facts.title.clone(),
        created: facts.created.0,
        frames: facts.frames,
        raw_bytes: facts.raw_bytes,
        bytes: facts.bytes,
        hash: *blake3::hash(body).as_bytes(),
    })
}

/// What is known of the tape in this file.
pub(super) fn facts(path: &Path, id: &TapeId, tenant: &Tenant, seal: &Seal) -> Result<TapeFacts, TapeError> {
    Ok(facts_of(&open(path, id, tenant, seal)?.head, id))
}

/// The compressed frames of the tape in this file, and what is known of it.
pub(super) fn read(
    path: &Path,
    id: &TapeId,
    tenant: &Tenant,
    seal: &Seal,
) -> Result<(Vec<u8>, TapeFacts), TapeError> {
    let (body, head) = open(path, id, tenant, seal)?.body().map_err(|broken| error_of(path, id, broken))?;
    Ok((body, facts_of(&head, id)))
}

fn open(path: &Path, id: &TapeId, tenant: &Tenant, seal: &Seal) -> Result<Opened<Head>, TapeError> {
    let error = |broken| error_of(path, id, broken);
    let opened: Opened<Head> = seal.open(path, u64::MAX).map_err(error)?;
    if opened.head.tenant != tenant.as_str() || opened.head.id != id.as_str() {
        return Err(error(Broken::Changed));
    }
    opened.check_length().map_err(error)?;
    Ok(opened)
}

fn error_of(path: &Path, id: &TapeId, broken: Broken) -> TapeError {
    let id = id.clone();
    match broken {
        Broken::NotThere => TapeError::NotThere { id },
        Broken::Disk(cause) => TapeError::Disk { path: path.to_owned(), cause },
        Broken::Foreign => TapeError::Foreign { id },
        Broken::Version(found) => TapeError::Version { id, found },
        Broken::Cut => TapeError::Cut { id },
        Broken::Changed | Broken::TooLarge { .. } => TapeError::Changed { id },
    }
}

fn facts_of(head: &Head, id: &TapeId) -> TapeFacts {
    TapeFacts {
        id: id.clone(),
        principal: head.principal.clone(),
        kind: head.kind.clone(),
        title: head.title.clone(),
        created: Timestamp(head.created),
        frames: head.frames,
        raw_bytes: head.raw_bytes,
        bytes: head.bytes,
    }
}
