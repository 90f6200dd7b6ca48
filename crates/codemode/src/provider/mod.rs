//! Tools that a Rust program offers: namespaces of asynchronous closures, with names that are safe in
//! JavaScript, schemas that are checked on both sides of the call, and declarations for whoever writes
//! the program.

mod check;
mod context;
mod name;
mod reserved;
mod schema;
mod set;
#[cfg(test)]
mod tests;
mod tool;
mod turn;

pub use context::{Abandoned, ToolContext};
pub(crate) use name::is_identifier;
pub use name::{BadNamespace, check_namespace, safe_names};
pub(crate) use set::unknown_tool;
pub use set::{BadProvider, Provider, ProviderLimits, Providers};
pub use tool::{Answering, Tool, ToolError};
pub(crate) use turn::{Turn, Turns};
