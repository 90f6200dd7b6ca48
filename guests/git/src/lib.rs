//! git for a workspace: repositories, their index and work tree, and the commands over them.
//!
//! There is no network and no other program, so nothing is cloned or pushed, no hook, filter or editor
//! runs, and what a repository says about them is left alone.
#![allow(missing_docs, reason = "nobody links against a guest but its own tests")]

pub mod command;
pub mod date;
pub mod diff;
pub mod fail;
pub mod file;
pub mod history;
pub mod index;
pub mod merge;
pub mod object;
pub mod odb;
pub mod out;
pub mod pathspec;
pub mod person;
pub mod quote;
pub mod repo;
pub mod work;

/// The hash of an object.
pub type Oid = gix_hash::ObjectId;

/// The hash of nothing.
pub fn null() -> Oid {
    Oid::null(gix_hash::Kind::Sha1)
}
