//! The file itself: ids, hashes, tenants and ceilings. A file that is not whole is refused whole.

use std::{collections::BTreeMap, fs, io, os::unix::fs::MetadataExt as _, path::Path, sync::Arc};

use drydock_contract::{Digest, Tenant, Timestamp};
use serde::{Deserialize, Serialize};

use crate::home::{open_regular, read_capped};

/// Tokens of one home.
pub const TOKENS_MAX: usize = 10_000;
const FILE_BYTES_MAX: u64 = 16 << 20;
const VERSION: u32 = 1;

/// One token, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// What it is called; part of its text.
    pub id: String,
    /// For whom it asks.
    pub tenant: Tenant,
    /// Of its secret.
    pub hash: Digest,
    /// When it was made.
    pub created: Timestamp,
    /// When it ends, if it does.
    pub expires: Option<Timestamp>,
    /// The most that it may ask for.
    pub ceiling: Ceiling,
}

/// The most that a token may ask for. What is not said is not bounded here; what every caller is bounded by holds besides.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ceiling {
    /// What it may use, by name; none for all that callers over HTTP may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub powers: Option<Vec<String>>,
    /// The hosts that installations may name, as `--allow-host` has them; none for none at all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// Limits.
    #[serde(default)]
    pub limits: CeilingLimits,
}

/// The largest limits that a token may ask for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CeilingLimits {
    /// Wall clock of one request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Memory of one guest in MiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_mb: Option<u64>,
    /// Requests in flight at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight: Option<u32>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Document {
    pub(super) tokens: BTreeMap<String, Arc<Token>>,
}

/// By which a file is known that was not written since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

impl Stamp {
    pub(super) fn of(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().map(|it| Self::from(&it))
    }

    fn from(facts: &fs::Metadata) -> Self {
        Self { inode: facts.ino(), size: facts.len(), changed: (facts.ctime(), facts.ctime_nsec()) }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    tokens: BTreeMap<String, Row>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    tenant: String,
    sha256: String,
    created_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_ms: Option<u64>,
    #[serde(default)]
    ceiling: Ceiling,
}

/// Reads the file; no file is no tokens.
pub(super) fn read(path: &Path) -> (Option<Stamp>, Result<Document, String>) {
    let (file, len) = match open_regular(path, FILE_BYTES_MAX) {
        Ok(open) => open,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return (None, Ok(Document::default())),
        Err(error) => return (None, Err(error.to_string())),
    };
    let stamp = file.metadata().ok().map(|it| Stamp::from(&it));
    let bytes = read_capped(&file, len, FILE_BYTES_MAX).map_err(|error| error.to_string());
    (stamp, bytes.and_then(|it| Document::parse(&it)))
}

impl Document {
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let file: File = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if file.version != VERSION {
            return Err(format!("its layout is version {}, and only {VERSION} is known here", file.version));
        }
        let mut tokens = BTreeMap::new();
        for (id, row) in file.tokens {
            let tenant =
                row.tenant.parse().map_err(|error: drydock_contract::BadTenant| error.to_string())?;
            let hash = row.sha256.parse().map_err(|error: drydock_contract::NotADigest| error.to_string())?;
            let moment = |ms: u64| Timestamp(ms.saturating_mul(1_000_000));
            let (created, expires) = (moment(row.created_ms), row.expires_ms.map(moment));
            let token = Token { id: id.clone(), tenant, hash, created, expires, ceiling: row.ceiling };
            tokens.insert(id, Arc::new(token));
        }
        Ok(Self { tokens })
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let row = |it: &Token| Row {
            tenant: it.tenant.to_string(),
            sha256: it.hash.to_string(),
            created_ms: it.created.as_millis(),
            expires_ms: it.expires.map(Timestamp::as_millis),
            ceiling: it.ceiling.clone(),
        };
        let tokens = self.tokens.iter().map(|(id, it)| (id.clone(), row(it))).collect();
        // Texts and numbers: there is nothing in it that JSON cannot say.
        serde_json::to_vec_pretty(&File { version: VERSION, tokens }).unwrap_or_default()
    }
}
