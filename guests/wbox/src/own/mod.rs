//! The applets that coreutils lacks, or that only make sense differently in a sandbox.

pub mod dd;
pub mod env;
pub mod lines;
pub mod rev;
pub mod sort;
pub mod tac;
