//! Where a shell is among the files, and what it takes from the bits of those it makes.

use std::sync::Arc;

#[derive(Debug, Clone)]
pub(crate) struct Dirs {
    /// The working directory.
    pub(crate) cwd: Arc<str>,
    /// What `pushd` left, the top last.
    pub(crate) stack: Arc<Vec<String>>,
    /// What `umask` says.
    pub(crate) umask: u32,
}

impl Default for Dirs {
    fn default() -> Self {
        Self { cwd: Arc::default(), stack: Arc::default(), umask: 0o022 }
    }
}

impl Dirs {
    /// Changes the stack of `pushd`.
    pub(crate) fn stack_mut(&mut self) -> &mut Vec<String> {
        Arc::make_mut(&mut self.stack)
    }
}
