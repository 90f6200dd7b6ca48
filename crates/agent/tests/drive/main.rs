//! Proofs of the loop, driven over the port in memory, with a door that answers from a script and a table.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of a test may panic")]

mod bounds;
mod calls;
mod interrupted;
mod review;
mod steps;
mod world;
