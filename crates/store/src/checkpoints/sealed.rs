//! The file of a session: magic, version, length of the head, MAC; the head; the state.
//!
//! The head says whose the session is and what is known of it, and has the hash of the state. The MAC is over all before
//! the state, so a listing reads no state, and is as good as if it did. Nothing of the head is believed before its MAC
//! was found to be right; then it says by itself if it is somebody else's, or was renamed.

use std::{
    fmt,
    fs::File,
    io::{self, Read as _},
    path::Path,
};

use drydock_contract::{Principal, Tenant, Timestamp};
use serde::{Deserialize, Serialize};

use super::{Checkpoint, CheckpointError, SessionFacts, SessionName};
use crate::{
    codecache::key::MacKey,
    home::{open_regular, read_capped},
};

const MAGIC: &[u8; 8] = b"drydsess";
pub(super) const VERSION: u32 = 1;
/// Magic, version, length of the head.
const FRONT_BYTES: usize = 8 + 4 + 4;
const MAC_BYTES: usize = 32;
/// Names, numbers and a directory, each with a bound of its own.
const HEAD_BYTES_MAX: usize = 64 << 10;
/// What the key of this installation is turned into for these files.
const KEY_USE: &str = "drydock 2026 sessions of shells";

/// Never printed.
#[derive(Clone)]
pub(super) struct Key([u8; 32]);

impl Key {
    pub(super) fn of(installation: &MacKey) -> Self {
        Self(installation.for_use(KEY_USE))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

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

/// Everything that stands before the state.
pub(super) fn head(facts: &SessionFacts, owner: &Owner<'_>, key: &Key, state: &[&[u8]]) -> Vec<u8> {
    let mut hasher = blake3::Hasher::new();
    for piece in state {
        hasher.update(piece);
    }
    let head = Head {
        tenant: owner.tenant.as_str().to_owned(),
        principal: owner.principal.as_str().to_owned(),
        name: owner.name.as_str().to_owned(),
        created: facts.created.0,
        used: facts.used.0,
        cwd: facts.cwd.clone(),
        lines: facts.lines,
        state_bytes: facts.state_bytes,
        state_hash: *hasher.finalize().as_bytes(),
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

/// What is known of the session in this file; none if there is no file.
pub(super) fn facts(
    path: &Path,
    owner: &Owner<'_>,
    key: &Key,
    bytes_max: u64,
) -> Result<Option<SessionFacts>, CheckpointError> {
    Ok(open(path, owner, key, bytes_max)?.map(|opened| opened.1))
}

/// The session in this file, state and all; none if there is no file.
pub(super) fn read(
    path: &Path,
    owner: &Owner<'_>,
    key: &Key,
    bytes_max: u64,
) -> Result<Option<Checkpoint>, CheckpointError> {
    let Some((file, facts, hash)) = open(path, owner, key, bytes_max)? else { return Ok(None) };
    // The length is the file's own, which `open` compared with what the head says.
    let state = read_capped(&file, facts.state_bytes, facts.state_bytes);
    let state = state.map_err(|cause| CheckpointError::Disk { path: path.to_owned(), cause })?;
    // `blake3::Hash` compares in constant time.
    if blake3::hash(&state) != hash {
        return Err(CheckpointError::Changed { name: owner.name.clone() });
    }
    Ok(Some(Checkpoint { state, facts }))
}

type Opened = (File, SessionFacts, blake3::Hash);

/// Opens a file and reads up to its state, which is next.
fn open(
    path: &Path,
    owner: &Owner<'_>,
    key: &Key,
    bytes_max: u64,
) -> Result<Option<Opened>, CheckpointError> {
    let name = || owner.name.clone();
    let (mut file, length) = match open_regular(path, bytes_max) {
        Ok(opened) => opened,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            let bytes = path.metadata().map_or(bytes_max.saturating_add(1), |it| it.len());
            return Err(CheckpointError::TooLarge { name: name(), bytes, bytes_max });
        }
        Err(cause) => return Err(CheckpointError::Disk { path: path.to_owned(), cause }),
    };
    let mut take = |bytes: &mut [u8]| {
        file.read_exact(bytes).map_err(|cause| match cause.kind() {
            io::ErrorKind::UnexpectedEof => CheckpointError::Cut { name: name() },
            _ => CheckpointError::Disk { path: path.to_owned(), cause },
        })
    };
    let (mut front, mut claimed) = ([0; FRONT_BYTES], [0; MAC_BYTES]);
    take(&mut front)?;
    let (magic, numbers) = front.split_at(8);
    if magic != MAGIC {
        return Err(CheckpointError::Foreign { name: name() });
    }
    let number =
        |at: usize| u32::from_le_bytes([numbers[at], numbers[at + 1], numbers[at + 2], numbers[at + 3]]);
    let (found, head_bytes) = (number(0), number(4) as usize);
    if found != VERSION {
        return Err(CheckpointError::Version { name: name(), found });
    }
    if head_bytes > HEAD_BYTES_MAX {
        return Err(CheckpointError::Changed { name: name() });
    }
    take(&mut claimed)?;
    let mut head = vec![0; head_bytes];
    take(&mut head)?;
    if mac(key, &front, &head) != blake3::Hash::from_bytes(claimed) {
        return Err(CheckpointError::Changed { name: name() });
    }
    let head: Head = serde_json::from_slice(&head).map_err(|_| CheckpointError::Changed { name: name() })?;
    if head.tenant != owner.tenant.as_str() || head.principal != owner.principal.as_str() {
        return Err(CheckpointError::NotYours { name: name() });
    }
    if head.name != owner.name.as_str() {
        return Err(CheckpointError::Renamed { name: name(), was: head.name });
    }
    let whole = ((FRONT_BYTES + MAC_BYTES + head_bytes) as u64).saturating_add(head.state_bytes);
    if length != whole {
        let is_cut = length < whole;
        let name = name();
        return Err(if is_cut { CheckpointError::Cut { name } } else { CheckpointError::Changed { name } });
    }
    let facts = SessionFacts {
        created: Timestamp(head.created),
        used: Timestamp(head.used),
        cwd: head.cwd,
        lines: head.lines,
        state_bytes: head.state_bytes,
    };
    Ok(Some((file, facts, blake3::Hash::from_bytes(head.state_hash))))
}
