//! Fakes and contract suites for tests. A dev-dependency only; nothing here is part of Drydock.
#![allow(missing_docs)]
#![expect(clippy::expect_used, reason = "a dev-dependency: what a test got wrong ends the test")]

mod agents;
pub mod agents_contract;
mod fakes;
pub mod files_contract;
mod files_facts;
pub mod guests;
pub mod key_values_contract;
mod ledger;
#[cfg(feature = "loopback")]
pub mod loopback;
pub mod prober;
pub mod queues_contract;
mod rooms;
mod shell_applets;
mod shell_commands;
pub mod shell_prober;

pub use agents::MemoryAgents;
pub use fakes::{FixedClock, MemoryJournal, principal};
pub use ledger::MemoryLedger;
pub use rooms::{EchoRunner, Seen, TinyRegistry, block_on};
pub use shell_commands::{FAKE_COMMANDS, FakeDoor};
