//! The waist: every power is used through [`Gate::dispatch`], and nowhere else.
//!
//! A call climbs the ladder rung by rung; the first rung that says no ends it, and the audit record
//! is written inside, so a denial without a record cannot be coded. What climbs to the top gets a
//! [`Permit`], which only this crate can make, and without which no [`Capability`] acts.
//!
//! The gate counts and compares. It never looks inside a request, opens nothing and runs nothing.

mod audit;
mod capability;
mod dispatch;
mod grant;
mod inside;
mod ladder;
mod permit;
mod profile;
mod purse;
mod rate;
mod session;
mod spec;
mod standing;

pub use audit::{AuditCounts, Recording};
pub use capability::{Capability, Refused};
pub use dispatch::{Gate, GateSettings};
pub use grant::{Constraint, Grant, GrantSet, NotAdmitted};
pub use inside::{Inside, InsideCommand};
pub use ladder::{DEPTH_MAX, RUNGS};
pub use permit::Permit;
pub use profile::{BUILTIN_MEMORY_BYTES_MAX, LINE_MEMORY_BYTES_MAX, Profile};
pub use purse::Purse;
pub use session::{DefaultLimits, Session, SessionSpec};
pub use spec::{Audited, CapSpec, Import, Operation};
