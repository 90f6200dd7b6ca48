//! An instance that lives between calls: what it is opened with, what one call may take, and how it fails.
//!
//! Data only. What an instance *is*, besides its module, is its kind: which exports it has, what it may import, and how
//! bytes reach it.

use std::{sync::Arc, time::Duration};

use crate::{
    Artifact, Budget, CapSet, Dispatch, Fault, Meter, Outcome, Preparing, Switch, Tenant,
    port::{CompileLimits, LaneChoice},
};

/// Everything an instance starts with. What is not in here does not exist for it.
pub struct LiveSpec {
    /// The verified module.
    pub artifact: Artifact,
    /// What the module is used as.
    pub kind: LiveKind,
    /// Its memory, tables included, for all of its life.
    pub memory_bytes_max: u64,
    /// Memory that it shares with others, or none for no bound but its own.
    pub memory: Option<Arc<Meter>>,
    /// What making it may take: its start function is guest code.
    pub opening: CallLimits,
    /// Where it runs; without a choice, where instructions are counted and what its module needs is on.
    pub lane: Option<LaneChoice>,
    /// What compiling it may take, where that is not the usual.
    pub compile: Option<CompileLimits>,
    /// Powers whose imports it may name, where its kind has such.
    pub caps: CapSet,
    /// Its only way to the world.
    pub door: Arc<dyn Dispatch>,
    /// Any of these, tripped, ends a call in flight, and the instance with it.
    pub switches: [Arc<Switch>; 2],
    /// What is waited for code to be compiled: nobody's time.
    pub preparing: Option<Arc<Preparing>>,
    /// How many runs lie between the host and this one.
    pub depth: u32,
    /// Whose it is: tenants take turns where somebody has to wait.
    pub tenant: Tenant,
    /// Told what the guest logs.
    pub log: Arc<dyn GuestLog>,
}

/// What a module is used as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LiveKind {
    /// An HTTP extension (seed 001): `memory`, `alloc`, `handler`, perhaps `dealloc`. Input is the request's JSON, the
    /// reply what the handler points at.
    Handler,
    /// A kernel (seed 002): bytes in and bytes out of a fixed arena.
    Kernel(Kernel),
}

/// How a kernel is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kernel {
    /// The function: `(in_len: i32) -> out_len: i32`.
    pub entry: String,
    /// Where its input is put.
    pub in_offset: u32,
    /// Where its output is read.
    pub out_offset: u32,
}

impl Default for Kernel {
    fn default() -> Self {
        Self { entry: "process".into(), in_offset: 1_024, out_offset: 65_536 }
    }
}

impl Kernel {
    /// Most bytes of input: what lies before the output, if the output comes after it; otherwise all there is.
    pub fn input_bytes_max(&self) -> u64 {
        let end = if self.out_offset > self.in_offset { self.out_offset } else { u32::MAX };
        u64::from(end) - u64::from(self.in_offset)
    }
}

/// What one call may take.
#[derive(Debug, Clone)]
pub struct CallLimits {
    /// Wall clock, waiting included.
    pub wall_max: Duration,
    /// Instructions, roughly; nothing where they are not counted.
    pub fuel_max: u64,
    /// Bytes of the reply.
    pub reply_bytes_max: u64,
    /// What it shares with other runs, and draws from ahead of what it burns.
    pub budget: Option<Arc<Budget>>,
}

/// What a call gave and cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveReply {
    /// The guest's bytes.
    pub bytes: Vec<u8>,
    /// Fuel it burnt.
    pub fuel: u64,
    /// The most memory the instance ever held.
    pub memory_bytes: u64,
    /// Wall time.
    pub duration: Duration,
}

/// Where a guest's log lines go.
pub trait GuestLog: Send + Sync {
    /// One line, cut to its limit already. It may contain anything that is text.
    fn line(&self, level: LogLevel, text: &str);
}

/// A log that keeps nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoLog;

impl GuestLog for NoLog {
    fn line(&self, _: LogLevel, _: &str) {}
}

/// How a guest meant a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// To be known.
    Info,
    /// Something went wrong.
    Error,
}

/// There is no instance, or a call of it has no reply.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LiveError {
    /// The module cannot be used as that, or we failed.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// The memory that the module begins with is more than it may have.
    #[error("the module begins with {bytes} bytes of memory, and the limit is {max}")]
    InitialMemory {
        /// What it declares.
        bytes: u64,
        /// What it may have.
        max: u64,
    },
    /// The guest was ended, and the instance is dead; or it was not begun, because it waited for a slot until its time
    /// was up, and the instance lives on.
    #[error("{}", ending(.0))]
    Ended(Outcome),
    /// The guest did not keep to what its kind promises, and the instance is dead.
    #[error("{reason}")]
    Contract {
        /// A stable code.
        code: &'static str,
        /// Which promise, and what was found instead.
        reason: String,
    },
    /// The guest answered with a code of its own that means failure. The instance lives on.
    #[error("{function} answered {code}")]
    Failed {
        /// Which function.
        function: String,
        /// What it answered.
        code: i32,
    },
    /// Input or reply is larger than it may be. The instance lives on.
    #[error("{what} of {bytes} bytes exceeds the limit of {max}")]
    TooLarge {
        /// Which of them.
        what: &'static str,
        /// Its size.
        bytes: u64,
        /// The limit.
        max: u64,
    },
    /// Another call is in flight.
    #[error("the instance is busy with another call")]
    Busy,
    /// An earlier call killed it, or somebody closed it.
    #[error("the instance is dead: {0}")]
    Dead(Arc<str>),
}

/// How a call was ended, in words.
fn ending(outcome: &Outcome) -> String {
    match outcome {
        Outcome::TimedOut => "the call took longer than it may".into(),
        Outcome::OutOfFuel => "the call burnt more fuel than it may".into(),
        Outcome::OutOfMemory => "the call took more memory than it may".into(),
        Outcome::Cancelled => "the call was cancelled".into(),
        other => other.to_string(),
    }
}

impl LiveError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Fault(fault) => fault.code(),
            Self::InitialMemory { .. } => "initial_memory",
            Self::Ended(outcome) => outcome.code(),
            Self::Contract { code, .. } => code,
            Self::Failed { .. } => "execute_failed",
            Self::TooLarge { .. } => "too_large",
            Self::Busy => "busy",
            Self::Dead(_) => "dead",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernels_input_ends_where_its_output_begins() {
        assert_eq!(Kernel::default().input_bytes_max(), 64_512);
        let behind = Kernel { in_offset: 65_536, out_offset: 1_024, ..Kernel::default() };
        assert_eq!(behind.input_bytes_max(), u64::from(u32::MAX) - 65_536);
        let same = Kernel { in_offset: 9, out_offset: 9, ..Kernel::default() };
        assert_eq!(same.input_bytes_max(), u64::from(u32::MAX) - 9);
    }
}
