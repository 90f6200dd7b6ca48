//! The rules of an execution, once for everybody who applies them: a host session, a runner's endpoint and the
//! executor that is both in one process.
//!
//! Decides and counts, nothing else. Whose limits hold is said by whoever asks; messages, futures and wakers
//! are theirs too.

mod calls;
mod program;
#[cfg(test)]
mod tests;
mod value;

pub(crate) use calls::{Admitted, CallLimits, CallRules};
pub(crate) use program::{namespaces_are_names, program_fits, returned_fits};
pub(crate) use value::fits;
