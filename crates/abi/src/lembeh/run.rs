//! `lembeh.run`: one guest, from its first instruction to its last. Asked by hosts only, so it travels as a value and has
//! no encoding; the reply is a run's report.

use drydock_contract::{Digest, Limits, SharedLembeh};

/// The operation.
pub const RUN: &str = "lembeh.run";

/// A guest that is to be run.
pub struct RunGuest {
    /// The module.
    pub module: Digest,
    /// What stands behind its imports.
    pub host: SharedLembeh,
    /// What the guest itself may take. The session's limits are those of what it starts.
    pub limits: Limits,
}
