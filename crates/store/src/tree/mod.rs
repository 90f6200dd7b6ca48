//! What every backing of our own has in common: how a path is walked, and what POSIX answers once
//! it is known where the path ends. A backing says only what its directories hold ([`Branches`]).
//!
//! `..` at the root stays there, and a link's target starts either at the root of this tree or
//! beside the link: there is no way to say anything outside.

#[cfg(test)]
pub(crate) mod acts;
#[cfg(test)]
mod counted;
mod rule;
mod walk;

pub(crate) use rule::{
    Opening, can_move, for_link, for_new, for_open, for_rmdir, for_unlink, sayable, target,
};
pub(crate) use walk::{Branches, Last, Node, Spot, node, plain, trail, walk};
