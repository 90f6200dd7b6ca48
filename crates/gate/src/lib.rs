//! The waist: every power is used through [`Gate::dispatch`], and nowhere else.
//!
//! A call climbs the ladder rung by rung; the first rung that says no ends it, and the audit record
//! is written inside, so a denial without a record cannot be coded. What climbs to the top gets a
//! [`Permit`], which only this crate can make, and without which no [`Capability`] acts.
//!
//! The gate counts and compares. It never looks inside a request, opens nothing and runs nothing.

mod account;
mod act;
mod audit;
mod capability;
mod denials;
mod digest;
mod dispatch;
mod giving;
mod grant;
mod grant_table;
mod held;
mod host_work;
mod inside;
mod ladder;
mod lease;
mod lender;
mod permit;
pub mod process;
mod profile;
mod program;
mod race;
mod rate;
mod reserved;
mod revocation;
mod session;
mod span;
mod spec;
mod tape;
mod uses;
mod waits;

pub use act::AttemptLog;
pub use audit::{AuditCounts, Recording};
pub use capability::{Capability, Refused};
pub use denials::DenialLog;
pub use dispatch::{Gate, GateSettings};
pub use grant::{Grant, GrantSet, NotAdmitted};
pub use held::HeldGrants;
pub use host_work::HostWork;
pub use inside::{Inside, InsideCommand};
pub use ladder::{DEPTH_MAX, RUNGS};
pub use lease::Lease;
pub use permit::Permit;
pub use profile::{BUILTIN_MEMORY_BYTES_MAX, LINE_MEMORY_BYTES_MAX, Profile, REACHING};
pub use program::{ProgramEnd, ProgramStart, StartedProgram};
pub use revocation::UnrevokeError;
pub use session::{DefaultLimits, Session, SessionSpec};
pub use spec::{Audited, CapSpec, Class, Import, Operation};
pub use tape::{Cut, Tape, TapedCall};
