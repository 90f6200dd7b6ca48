//! What a power is, as data: the linker, the profiles, the docs and the audit read the same thing.

use drydock_contract::Cap;

/// One power: its name, its operations and the imports that reach it.
#[derive(Debug)]
pub struct CapSpec {
    /// Which power.
    pub cap: Cap,
    /// What can be asked of it.
    pub operations: &'static [Operation],
    /// The guest imports that lead to it.
    pub imports: &'static [Import],
}

/// One thing that can be asked.
#[derive(Debug)]
pub struct Operation {
    /// The wire name, `noun.verb`.
    pub name: &'static str,
    /// What it is counted with.
    pub class: Class,
    /// The largest request that is even looked at.
    pub request_bytes_max: u64,
    /// How many of its class may be in flight for one principal, where that is limited.
    pub in_flight_max: Option<u32>,
    /// Which decisions leave a record.
    pub audited: Audited,
    /// One sentence for the reference.
    pub summary: &'static str,
}

/// Operations that are counted together: runs in flight bound no look-ups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// Something runs: a command, a program, a handler, an instance.
    Run,
    /// A tool of the host works.
    Tool,
    /// Something is looked up.
    Look,
    /// A host out there is asked.
    Fetch,
    /// A process lives, or ended and was not awaited. What it runs is counted as a run of its own.
    Process,
    /// A listener, or a connection that came by one. What its requests run is counted as runs.
    Connection,
}

impl Class {
    /// How many there are.
    pub const COUNT: usize = 6;

    pub(crate) const fn index(self) -> usize {
        self as usize
    }
}

/// Which decisions leave a durable record. Denials always do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audited {
    /// Denials only.
    Denials,
    /// Denials, and the beginning and the end of each call that was let through.
    Everything,
}

/// One import of a core module. Not linked, and so not callable, unless the power is granted.
#[derive(Debug)]
pub struct Import {
    /// The import's module.
    pub module: &'static str,
    /// The import's name.
    pub name: &'static str,
    /// Its type, for the reference.
    pub signature: &'static str,
}
