//! A path beneath its own root: everything Drydock keeps on disk, and the files it keeps in memory.
//!
//! [`Home`] is the one data directory. In it lie artifacts named by their hash ([`ArtifactStore`]), compiled code under
//! a MAC of this installation ([`CodeCache`]), directories that commands are started with ([`TreeStore`]) and what is
//! revoked ([`SqliteLedger`]), secrets sealed under a key of the installation ([`Vault`]), and who may ask over HTTP ([`Tokens`]); and, for each tenant apart ([`TenantHome`]), the names that stand for artifacts
//! ([`CommandRegistry`]), the audit journal ([`FileJournal`]), workspaces ([`Workspaces`]), memory of programs
//! ([`Contexts`]), what extensions logged ([`GuestLogs`]), processes with their output ([`ProcessSpools`]), shells that go on later ([`Checkpoints`]), counters and cells, values by key ([`SqliteKeyValues`]), messages ([`SqliteQueues`])
//! and runs of agents ([`SqliteAgents`]).
//!
//! The trees a guest sees: in memory ([`MemoryFiles`]), a volume of a workspace ([`SqliteFiles`]), a
//! directory of the host ([`HostDir`]), copy-on-write over any of them ([`Overlay`]), several
//! under one root ([`Mounts`]), and one that remembers what a line wrote ([`LineFiles`]). What any of them says is found by [`FullText`]. Every writer may be killed at any moment, and two processes may
//! share one home.
//!
//! This room decides nothing: it knows no grant, runs no guest, opens no socket and reads neither
//! the environment nor the current directory.

mod agents;
mod artifact;
mod audit;
mod checkpoints;
mod codecache;
mod commits;
mod contexts;
mod files;
mod full_text;
mod guestlog;
mod home;
mod host;
mod key_values;
mod ledger;
mod line_files;
mod mounts;
mod overlay;
mod processes;
mod queues;
mod registry;
mod sealed;
mod sqlite;
mod tapes;
mod tokens;
mod tree;
mod treestore;
mod vault;
mod workspace;

pub use agents::{
    AGENT_RUNS_MAX, AGENTS_BYTES_MAX, AGENTS_FILE_BYTES_MAX, ISSUES_MAX, REVIEWS_MAX, REVIEWS_PENDING_MAX,
    SqliteAgents,
};
pub use artifact::{ArtifactStore, PutArtifactError, StoredArtifact};
pub use audit::{
    AUDIT_FILES_MAX, AuditCounts, AuditReader, FileJournal, Filter, PRINCIPAL_RECORDS_MAX, ReadAttempt,
    ReadAuditError, ReadDecision, ReadRecord, SEGMENT_BYTES_MAX, SEGMENTS_MAX, count_audit, read_audit,
};
pub use checkpoints::{
    BadSessionName, CHECKPOINT_FILE_BYTES_MAX, Checkpoint, CheckpointBounds, CheckpointError, Checkpoints,
    ListedSession, OpenSession, SESSIONS_MAX, SessionFacts, SessionName,
};
pub use codecache::{
    CODE_BYTES_MAX, CacheKey, CodeCache, CodeFile, CompileTurn, OpenCodeCacheError, Shipped, ShippedCode,
    shipped_hash,
};
pub use contexts::Contexts;
pub use files::{DEPTH_MAX, FILES_MAX, MemoryFiles};
pub use full_text::{
    FOUND_MAX, FoundFile, FullText, FullTextError, FullTextFound, FullTextLimits, LeftOut as LeftOutOfSearch,
    QUERY_BYTES_MAX, QUERY_TERMS_MAX, Searching,
};
pub use guestlog::GuestLogs;
pub use home::{Home, OpenHomeError, TenantHome};
pub use host::{Access, HostDir, Links};
pub use key_values::{KEY_BYTES_MAX, KEY_VALUES_FILE_BYTES_MAX, KEYS_MAX, SqliteKeyValues};
pub use ledger::{LEDGER_KEY_BYTES_MAX, LEDGER_VALUE_BYTES_MAX, LEDGERS_MAX, Revoked, SqliteLedger};
pub use line_files::LineFiles;
pub use mounts::{MountError, MountPoint, Mounts};
pub use overlay::{Change, ChangeKind, Overlay};
pub use processes::{
    BadProcessId, ProcessId, ProcessOutput, ProcessRecord, ProcessSpoolError, ProcessSpools, ProcessStage,
    SPOOL_CHUNK_BYTES_MAX, Spool, SpoolBounds, SpoolChunk,
};
pub use queues::{
    DEAD, QUEUES_FILE_BYTES_MAX, SqliteQueues, TENANT_MESSAGES_MAX, TOPIC_BYTES_MAX, TOPIC_MESSAGES_MAX,
};
pub use registry::{
    BadBuiltin, BadOptions, Builtin, COMMANDS_MAX, CommandRegistry, Listed, Origin, Part, RegisterError,
    Registration, Registries, Repaired, Verdict,
};

pub use sqlite::{FILE_BYTES_MAX, OpenWorkspaceError, Quota, SqliteFiles, StreamError, VOLUME_BYTES_MAX};
pub use tapes::{
    BadFrame, BadTapeId, FRAME_BYTES_MAX, FRAME_NAME_BYTES_MAX, Frame, Frames, ListedTape, Seam,
    TAPE_BYTES_MAX, TAPES_BYTES_MAX, TAPES_MAX, Tape, TapeBody, TapeError, TapeFacts, TapeId, TapeLabel,
    TapeWriter, Tapes, asked,
};
pub use tokens::{Ceiling, CeilingLimits, NewToken, TOKENS_MAX, Token, Tokens, TokensError};
pub use treestore::{NewTree, PutTreeError, TREE_BYTES_MAX, TREE_FILES_MAX, TreeBounds, TreeStore};
pub use vault::{
    KEPT_BYTES_MAX, KEPT_BYTES_MIN, KeptSecret, SECRET_PREFIX, SECRETS_MAX, Vault, VaultError, VaultKeyError,
};
pub use workspace::{
    Answer, COMPARE_MAX, CommitError, Committed, Conflict, ConflictKind, Directory, DirectoryError, Entry,
    FileDiff, IfChanged, LeftOut, Mounted, Mounting, QueryError, QueryLimits, SqlValue, Volume, VolumeFacts,
    Workspace, WorkspaceFacts, WorkspaceName, Workspaces, file_diff, text_diff,
};

/// The parsers of foreign bytes, for the fuzzers and nobody else.
#[doc(hidden)]
pub mod foreign {
    /// Reads a registry file; true if it is one.
    pub fn registry_file(bytes: &[u8]) -> bool {
        crate::registry::is_document(bytes)
    }

    /// Reads the compressed frames of a tape; true if all of them are frames.
    pub fn tape(bytes: &[u8]) -> bool {
        crate::tapes::count(bytes).is_ok()
    }

    /// Reads frames that are not compressed; true if all of them are frames.
    pub fn tape_frames(mut bytes: &[u8]) -> bool {
        loop {
            match crate::Frame::read(&mut bytes) {
                Ok(Some(_)) => {}
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    }

    /// Makes of a text what full text search is asked; true if that is understood, or was refused before.
    pub fn search_query(text: &str) -> bool {
        crate::full_text::is_understood(text)
    }

    /// Reads a line of the journal; true if it is a record.
    pub fn audit_line(bytes: &[u8]) -> bool {
        crate::audit::is_record(bytes)
    }
}
