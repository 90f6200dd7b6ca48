//! What an installation is doing, told to whoever wants to draw it.

use std::sync::Arc;

/// One step, as far as it got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// A client fetches.
    Fetching {
        /// Bytes that are there.
        bytes: u64,
        /// The size of the archive, if the row knows it.
        of: Option<u64>,
    },
    /// The archive is hashed.
    Verifying {
        /// Its size.
        bytes: u64,
    },
    /// A guest takes it apart.
    Unpacking {
        /// Its size.
        bytes: u64,
    },
    /// Sources are built in the sandbox.
    Building {
        /// Files that are done.
        files: u32,
        /// Files there are.
        of: u32,
    },
    /// The module is compiled for this machine.
    Compiling {
        /// Its size.
        bytes: u64,
    },
    /// The program initialises, and is kept as it is then.
    Snapshotting,
    /// The row is installed, or was given up.
    Done,
}

type Listener = Arc<dyn Fn(&str, Progress) + Send + Sync>;

/// Who is told. The default tells nobody.
#[derive(Clone, Default)]
pub struct Watcher(Option<Listener>, String);

impl Watcher {
    /// Tells `listener` the name of the row and how far it is.
    pub fn new(listener: impl Fn(&str, Progress) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(listener)), String::new())
    }

    /// The same about one row.
    pub(crate) fn about(&self, row: &str) -> Self {
        Self(self.0.clone(), row.to_owned())
    }

    /// Tells it.
    pub fn tell(&self, progress: Progress) {
        if let Some(listener) = &self.0 {
            listener(&self.1, progress);
        }
    }
}
