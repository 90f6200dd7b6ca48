//! One piece of work on a tenant's file. It may be done twice where the first transaction failed, so it keeps nothing but
//! what it made.

use std::sync::Arc;

use drydock_contract::port::LedgerError;
use rusqlite::Connection;

use super::answer::Slot;

/// What is to be done.
pub(crate) trait Work: Send + 'static {
    /// What comes of it. Where there is no file, and it makes none, this is nothing.
    type Made: Default + Send;
    /// Whether the file is made for it.
    const MAKES: bool;

    /// Does it without writing; nothing if that is not enough.
    fn look(&mut self, conn: &Connection) -> rusqlite::Result<Option<Self::Made>> {
        let _ = conn;
        Ok(None)
    }

    /// Does it within a transaction, and says whether there is anything to keep. What fails is rolled back with all others.
    fn act(&mut self, conn: &Connection) -> rusqlite::Result<(Self::Made, bool)>;

    /// Whether what it writes is to survive the machine. Without that it survives the process; whatever is written with
    /// it or after it and is to survive more takes it along.
    fn survives_the_machine(&self) -> bool {
        true
    }

    /// It is on disk.
    fn kept(&self, made: &Self::Made) {
        let _ = made;
    }
}

/// Work of any kind.
pub(super) trait Job: Send {
    fn is_wanted(&self) -> bool;
    fn makes(&self) -> bool;
    /// Whether that was all.
    fn look(&mut self, conn: &Connection) -> rusqlite::Result<bool>;
    /// Whether it is done with a sync of the disk, where a look was not enough.
    fn is_synced(&self) -> bool;
    /// Whether there is anything to keep; nothing is done where a look was enough.
    fn act(&mut self, conn: &Connection) -> rusqlite::Result<bool>;
    fn end(self: Box<Self>, ended: Result<(), LedgerError>);
}

pub(super) struct Task<W: Work> {
    work: W,
    made: Option<W::Made>,
    slot: Arc<Slot<W::Made>>,
}

impl<W: Work> Task<W> {
    pub(super) fn new(work: W, slot: Arc<Slot<W::Made>>) -> Self {
        Self { work, made: None, slot }
    }
}

impl<W: Work> Job for Task<W> {
    fn is_wanted(&self) -> bool {
        self.slot.is_wanted()
    }

    fn makes(&self) -> bool {
        W::MAKES
    }

    fn look(&mut self, conn: &Connection) -> rusqlite::Result<bool> {
        self.made = self.work.look(conn)?;
        Ok(self.made.is_some())
    }

    fn is_synced(&self) -> bool {
        self.made.is_none() && self.work.survives_the_machine()
    }

    fn act(&mut self, conn: &Connection) -> rusqlite::Result<bool> {
        if self.made.is_some() {
            return Ok(false);
        }
        let (made, changed) = self.work.act(conn)?;
        self.made = Some(made);
        Ok(changed)
    }

    fn end(mut self: Box<Self>, ended: Result<(), LedgerError>) {
        let told = ended.map(|()| self.made.take().unwrap_or_default());
        if let Ok(made) = &told {
            self.work.kept(made);
        }
        self.slot.tell(told);
    }
}

impl<W: Work> Drop for Task<W> {
    fn drop(&mut self) {
        self.slot.abandon();
    }
}
