//! Fakes and contract suites for tests. A dev-dependency only; nothing here is part of Drydock.
#![allow(missing_docs)]

mod fakes;
pub mod files_contract;
pub mod guests;
mod rooms;
mod shell_applets;
mod shell_commands;

pub use fakes::{FixedClock, MemoryJournal, principal};
pub use rooms::{EchoRunner, Seen, TinyRegistry, block_on};
pub use shell_commands::{FAKE_COMMANDS, FakeDoor};
