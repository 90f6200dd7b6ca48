//! Whether anybody else has the workspace open: a lock file beside it, held shared by all who have.
//! The kernel frees it when its holder dies, so a killed process is not waited for.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};

pub(super) struct Presence {
    file: File,
    alone: bool,
    session: Option<i64>,
}

impl Presence {
    /// Comes in, alone if nobody is there. Whoever comes next waits until [`Presence::settle`].
    pub(super) fn announce(database: &Path) -> io::Result<Self> {
        // Private to its owner from the first moment: SQLite gives its side files the same mode.
        let open =
            |path: &Path| OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path);
        drop(open(database)?);
        let file = open(&database.with_extension("lock"))?;
        let alone = file.try_lock().is_ok();
        if !alone {
            file.lock_shared()?;
        }
        Ok(Self { file, alone, session: None })
    }

    pub(super) const fn is_alone(&self) -> bool {
        self.alone
    }

    /// Lets the others in.
    pub(super) fn settle(&mut self, session: i64) -> io::Result<()> {
        if self.alone {
            self.file.lock_shared()?;
        }
        self.session = Some(session);
        Ok(())
    }

    pub(super) const fn session(&self) -> Option<i64> {
        self.session
    }
}
