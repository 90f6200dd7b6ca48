//! A session on a tape: whatever enters it from outside is recorded once, at the seams of docs/specs/tape.md, and comes
//! from the tape when the run is gone through again (decision 0098).
//!
//! Whoever runs something asks a [`Deck`] for the parts of its world: [`Live`] opens them, a [`Recorder`] opens them and
//! listens, a [`Player`] has nothing but the tape. So a replay cannot reach the world by mistake: there is no way from
//! the player's type to it.

mod answer;
mod diff;
mod divergence;
mod files;
mod known;
mod played_files;
mod player;
mod recorder;
mod replay;
mod sink;
mod stream;
mod tools;
mod tree;
mod turn;

use std::{io, sync::Arc};

use drydock_contract::{Source, port::Files};
use drydock_gate::Tape;

pub use answer::foreign_answer;
pub use diff::{Difference, diff};
pub use divergence::{Asked, Divergence};
#[doc(hidden)]
pub use drydock_caps::net::is_piece as is_net_piece;
pub use player::{Player, Replayed};
pub use recorder::{RecordSettings, Recorder};
pub use replay::{BeginReplayError, ReplayRecords};
pub use sink::Through;

use crate::{OpenTreeError, Setup};

/// Where the parts of a session's world come from.
pub trait Deck: Send + Sync {
    /// Fixes what the session starts with: its time, its randomness, who is told of its calls, its embedder's commands.
    fn prepare(&self, setup: &mut Setup);

    /// A tree that others have, too; `open` opens it.
    fn files(
        &self,
        name: &str,
        open: &mut dyn FnMut() -> Result<Arc<dyn Files>, OpenTreeError>,
    ) -> Result<Arc<dyn Files>, OpenTreeError>;

    /// A stream from outside; `open` opens it.
    fn stream(&self, name: &str, open: &mut dyn FnMut() -> io::Result<Source>) -> io::Result<Source>;

    /// The tape, if there is one.
    fn tape(&self) -> Option<Arc<dyn Tape>>;
}

/// The world as it is, and nobody listens.
#[derive(Debug, Clone, Copy, Default)]
pub struct Live;

impl Deck for Live {
    fn prepare(&self, _: &mut Setup) {}

    fn files(
        &self,
        _: &str,
        open: &mut dyn FnMut() -> Result<Arc<dyn Files>, OpenTreeError>,
    ) -> Result<Arc<dyn Files>, OpenTreeError> {
        open()
    }

    fn stream(&self, _: &str, open: &mut dyn FnMut() -> io::Result<Source>) -> io::Result<Source> {
        open()
    }

    fn tape(&self) -> Option<Arc<dyn Tape>> {
        None
    }
}
