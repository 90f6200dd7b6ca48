//! The applets that coreutils lacks, or that only make sense differently in a sandbox.

pub mod cat;
pub mod dd;
pub mod env;
pub mod install;
pub mod lines;
pub mod machine;
pub mod rev;
pub mod shasum;
pub mod sort;
pub mod tac;
pub mod who;
