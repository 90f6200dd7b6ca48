//! The file of a tape: magic, version, length of the head, MAC; the head; the frames, compressed.
//!
//! The MAC is over all before the frames, under a key of this installation, and the head has their hash: a tape that was
//! cut, changed or renamed is refused, and a listing reads no frame.

use std::{
    fs::File,
    io::{self, Read as _},
    path::Path,
};

use drydock_contract::{Tenant, Timestamp};
use serde::{Deserialize, Serialize};

use super::{TapeError, TapeFacts, TapeId};
use crate::{
    codecache::key::MacKey,
    home::{open_regular, read_capped},
};

const MAGIC: &[u8; 8] = b"drydtape";
pub(super) const VERSION: u32 = 1;
const FRONT_BYTES: usize = 8 + 4 + 4;
const MAC_BYTES: usize = 32;
const HEAD_BYTES_MAX: usize = 64 << 10;
/// What the key of this installation is turned into for these files.
const KEY_USE: &str = "drydock 2026 tapes";

/// Never printed.
#[derive(Clone)]
pub(super) struct Key([u8; 32]);

impl Key {
    pub(super) fn of(installation: &MacKey) -> Self {
        Self(installation.for_use(KEY_USE))
    }
}

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

/// Everything that stands before the frames.
pub(super) fn head(facts: &TapeFacts, tenant: &Tenant, key: &Key, body: &[u8]) -> Vec<u8> {
    let head = Head {
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
    };
    #[expect(clippy::expect_used, reason = "a struct of texts and numbers is always JSON")]
    let head = serde_json::to_vec(&head).expect("texts and numbers are JSON");
    let mut all = Vec::with_capacity(FRONT_BYTES + MAC_BYTES + head.len());
    all.extend_from_slice(MAGIC);
    all.extend_from_slice(&VERSION.to_le_bytes());
    all.extend_from_slice(&u32::try_from(head.len()).unwrap_or(u32::MAX).to_le_bytes());
    let mac = mac(key, &all, &head);
    all.extend_from_slice(mac.as_bytes());
    all.extend_from_slice(&head);
    all
}

fn mac(key: &Key, front: &[u8], head: &[u8]) -> blake3::Hash {
    blake3::Hasher::new_keyed(&key.0).update(front).update(head).finalize()
}

/// What is known of the tape in this file.
pub(super) fn facts(path: &Path, id: &TapeId, tenant: &Tenant, key: &Key) -> Result<TapeFacts, TapeError> {
    Ok(open(path, id, tenant, key)?.1)
}

/// The compressed frames of the tape in this file, and what is known of it.
pub(super) fn read(
    path: &Path,
    id: &TapeId,
    tenant: &Tenant,
    key: &Key,
) -> Result<(Vec<u8>, TapeFacts), TapeError> {
    let (file, facts, hash) = open(path, id, tenant, key)?;
    let body = read_capped(&file, facts.bytes, facts.bytes);
    let body = body.map_err(|cause| TapeError::Disk { path: path.to_owned(), cause })?;
    // `blake3::Hash` compares in constant time.
    if blake3::hash(&body) != hash {
        return Err(TapeError::Changed { id: id.clone() });
    }
    Ok((body, facts))
}

fn open(
    path: &Path,
    id: &TapeId,
    tenant: &Tenant,
    key: &Key,
) -> Result<(File, TapeFacts, blake3::Hash), TapeError> {
    let id = || id.clone();
    let disk = |cause| TapeError::Disk { path: path.to_owned(), cause };
    let (mut file, length) = open_regular(path, u64::MAX).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => TapeError::NotThere { id: id() },
        _ => disk(error),
    })?;
    let mut take = |bytes: &mut [u8]| {
        file.read_exact(bytes).map_err(|cause| match cause.kind() {
            io::ErrorKind::UnexpectedEof => TapeError::Cut { id: id() },
            _ => disk(cause),
        })
    };
    let (mut front, mut claimed) = ([0; FRONT_BYTES], [0; MAC_BYTES]);
    take(&mut front)?;
    if &front[..8] != MAGIC {
        return Err(TapeError::Foreign { id: id() });
    }
    let number = |at: usize| u32::from_le_bytes([front[at], front[at + 1], front[at + 2], front[at + 3]]);
    let (found, head_bytes) = (number(8), number(12) as usize);
    if found != VERSION {
        return Err(TapeError::Version { id: id(), found });
    }
    if head_bytes > HEAD_BYTES_MAX {
        return Err(TapeError::Changed { id: id() });
    }
    take(&mut claimed)?;
    let mut head = vec![0; head_bytes];
    take(&mut head)?;
    if mac(key, &front, &head) != blake3::Hash::from_bytes(claimed) {
        return Err(TapeError::Changed { id: id() });
    }
    let head: Head = serde_json::from_slice(&head).map_err(|_| TapeError::Changed { id: id() })?;
    if head.tenant != tenant.as_str() || head.id != id().as_str() {
        return Err(TapeError::Changed { id: id() });
    }
    let whole = ((FRONT_BYTES + MAC_BYTES + head_bytes) as u64).saturating_add(head.bytes);
    if length < whole {
        return Err(TapeError::Cut { id: id() });
    }
    if length > whole {
        return Err(TapeError::Changed { id: id() });
    }
    let facts = TapeFacts {
        id: id(),
        principal: head.principal,
        kind: head.kind,
        title: head.title,
        created: Timestamp(head.created),
        frames: head.frames,
        raw_bytes: head.raw_bytes,
        bytes: head.bytes,
    };
    Ok((file, facts, blake3::Hash::from_bytes(head.hash)))
}
