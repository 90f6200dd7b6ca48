//! Executors: program in, result out. Where the guest runs is the executor's business; whoever uses one
//! cannot tell, and one suite holds for all.

mod in_process;
mod options;
mod pool;
mod remote;
#[cfg(test)]
mod tests;

pub use in_process::InProcess;
pub use options::{ExecuteOptions, ExecuteRequest};
pub use pool::{Pool, PoolSettings};
pub use remote::{Launch, Remote};

use drydock_contract::BoxFuture;

use crate::ExecuteResult;

/// Runs programs.
pub trait Executor: Send + Sync {
    /// Runs one to its end. Dropping the future ends it as well.
    fn execute(&self, request: ExecuteRequest) -> BoxFuture<'_, ExecuteResult>;
}
