//! The state of a shell as bytes: what a kept shell is between two of its lines, in another process too.
//!
//! A checkpoint says what the shell's language can say: variables, functions as they were typed, directories, options,
//! traps, open files by their paths. It holds no address, no handle and nothing of the process: door, clock, limits and
//! mode are those of whoever restores it. What cannot be carried over, a pipe for instance, is named as lost.
//!
//! Bytes of another version, cut, too long or of any other shape are an error and no shell. A shell is saved after every
//! line, so each part is written anew only if it changed; see [`part`].

mod descriptors;
mod ended;
mod functions;
mod moment;
mod names;
mod part;
mod place;
mod switches;
#[cfg(test)]
mod tests;
mod traps;
mod variables;
mod wire;

use std::{cell::Cell, sync::Arc};

use part::{Full, Part, Piece};
use wire::{HEADER_BYTES, Reader};

use crate::{Shell, ShellSpec, state::Env};

/// The version of the format, in front of every checkpoint. Any other is refused.
pub const CHECKPOINT_VERSION: u16 = 1;

/// The parts behind the header, in their order.
const PIECES: usize = 9;

/// The last of them holds what nearly every line changes.
const STATE_PIECES: usize = PIECES - 1;

/// A shell as it was saved: pieces that are one checkpoint when they stand one behind the other.
///
/// Cheap to clone, and pieces that did not change are shared with the one before.
#[derive(Debug, Clone)]
pub struct Saved {
    pieces: [Arc<[u8]>; PIECES],
}

impl Saved {
    /// The bytes, piece by piece, for whoever can write several at once.
    pub fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        std::iter::once(&wire::HEADER as &[u8]).chain(self.pieces.iter().map(|it| &**it))
    }

    /// All bytes.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut all = Vec::with_capacity(self.bytes());
        self.pieces().for_each(|piece| all.extend_from_slice(piece));
        all
    }

    /// How many there are.
    pub fn bytes(&self) -> usize {
        HEADER_BYTES + self.pieces.iter().map(|it| it.len()).sum::<usize>()
    }

    /// Whether nothing changed but what nearly every line changes: `$?`, `PIPESTATUS`, `$_`, and the numbers behind them.
    pub fn is_same_state(&self, before: &Self) -> bool {
        self.pieces.iter().zip(&before.pieces).take(STATE_PIECES).all(|(now, then)| Arc::ptr_eq(now, then))
    }

    /// Whether nothing at all changed since `before` was saved by the same shell: then there is nothing to write.
    pub fn is_same(&self, before: &Self) -> bool {
        self.pieces.iter().zip(&before.pieces).all(|(now, then)| Arc::ptr_eq(now, then))
    }
}

/// What a restored shell does not have of the one that was saved, a sentence each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lost(pub Vec<String>);

/// A shell has no state that could be saved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SaveError {
    /// The future of a line was dropped, and with it what the line had.
    #[error("a line of this shell was dropped halfway; go back to the checkpoint before it")]
    LineDropped,
    /// There is more than a checkpoint may hold.
    #[error(
        "the shell's state is not kept, because it takes more than the {bytes_max} bytes of a checkpoint; unset what is \
         large"
    )]
    TooLarge {
        /// What it may take.
        bytes_max: usize,
    },
}

/// The bytes are no checkpoint that this shell could go on from.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadCheckpoint {
    /// They begin like something else.
    #[error("these bytes are no checkpoint of a shell")]
    Foreign,
    /// Another version wrote them.
    #[error(
        "the checkpoint has version {found}, and this shell reads version {CHECKPOINT_VERSION}; start anew"
    )]
    Version {
        /// What it says.
        found: u16,
    },
    /// They end too early.
    #[error("the checkpoint is cut off after {bytes} bytes")]
    Cut {
        /// How many there are.
        bytes: usize,
    },
    /// Something follows.
    #[error("{bytes} bytes follow the end of the checkpoint")]
    Trailing {
        /// How many.
        bytes: usize,
    },
    /// There is more than this shell may hold.
    #[error("the checkpoint takes more than the {bytes_max} bytes that this shell may hold")]
    TooLarge {
        /// How many it may.
        bytes_max: usize,
    },
    /// They are not what a shell writes.
    #[error("the checkpoint is damaged: {what}")]
    Damaged {
        /// Where, and what is wrong there.
        what: String,
    },
}

/// A second shell with the same state could not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ForkError {
    /// The first one could not be saved.
    #[error(transparent)]
    Save(#[from] SaveError),
    /// The second one may hold less, or parses less.
    #[error(transparent)]
    Restore(#[from] BadCheckpoint),
}

fn damaged(what: impl Into<String>) -> BadCheckpoint {
    BadCheckpoint::Damaged { what: what.into() }
}

/// What a shell wrote when it was last saved.
#[derive(Default)]
pub(crate) struct Kept {
    variables: Part<variables::Variables>,
    functions: Part<functions::Functions>,
    names: Part<names::Names>,
    place: Part<place::Place>,
    switches: Part<switches::Switches>,
    traps: Part<traps::Traps>,
    ended: Part<ended::Ended>,
    descriptors: Piece,
    has_descriptors: bool,
    moment: Piece,
    /// To write into what is compared with the piece before.
    buffer: Vec<u8>,
}

impl Kept {
    /// What was written, in the order of a checkpoint.
    fn pieces(&self) -> [&Piece; PIECES] {
        [
            &self.variables.piece,
            &self.functions.piece,
            &self.names.piece,
            &self.place.piece,
            &self.switches.piece,
            &self.traps.piece,
            &self.ended.piece,
            &self.descriptors,
            &self.moment,
        ]
    }

    /// Whether all of the state was written before, but for the numbers behind `$?`. No for whoever has files open, or had
    /// when it was written: their positions move by themselves.
    fn is_written(&self, env: &Env) -> bool {
        self.variables.is_written(env)
            && self.functions.is_written(env)
            && self.names.is_written(env)
            && self.place.is_written(env)
            && self.switches.is_written(env)
            && self.traps.is_written(env)
            && self.ended.is_written(env)
            && !(self.has_descriptors || descriptors::has_any(env))
    }

    /// Writes what changed, one part into what the others leave it: what does not fit is never made.
    fn refresh(&mut self, env: &Env, bytes_max: usize) -> Result<(), Full> {
        let left = bytes_max.checked_sub(HEADER_BYTES).ok_or(Full)?;
        let left = self.variables.refresh(env, left)?;
        let left = self.functions.refresh(env, left)?;
        let left = self.names.refresh(env, left)?;
        let left = self.place.refresh(env, left)?;
        let left = self.switches.refresh(env, left)?;
        let left = self.traps.refresh(env, left)?;
        let left = self.ended.refresh(env, left)?;
        self.has_descriptors = descriptors::has_any(env);
        let left = self.descriptors.rewrite(&mut self.buffer, left, |to| descriptors::write(env, to))?;
        self.moment.rewrite(&mut self.buffer, left, |to| moment::write(env, to))?;
        Ok(())
    }
}

impl Shell {
    /// Whether [`Self::save`] would give the same state as `before` ([`Saved::is_same_state`]). It may say no of one that
    /// is the same, and is much cheaper than to save and compare.
    pub fn is_as_saved(&self, before: &Saved) -> bool {
        let kept = &self.kept;
        let mut pieces = kept.pieces().into_iter().zip(&before.pieces).take(STATE_PIECES);
        let is_last = pieces.all(|(now, then)| Arc::ptr_eq(&now.bytes, then));
        !self.is_running && is_last && kept.is_written(&self.env)
    }

    /// The state between two lines. What did not change since the last time is not written again.
    pub fn save(&mut self) -> Result<Saved, SaveError> {
        if self.is_running {
            return Err(SaveError::LineDropped);
        }
        let (shared, kept) = (&self.env.shared, &mut self.kept);
        let bytes_max = shared.limits.checkpoint_bytes_max(shared.line_memory_bytes_max);
        kept.refresh(&self.env, bytes_max).map_err(|Full| SaveError::TooLarge { bytes_max })?;
        Ok(Saved { pieces: kept.pieces().map(|it| Arc::clone(&it.bytes)) })
    }

    /// A shell that goes on where another was saved, and what it does not have of that one.
    ///
    /// Directory, variables, arguments, `$0` and the seed are the checkpoint's, whatever `spec` says; all else is of
    /// `spec`. Open files are opened again by their paths; nothing is created or cut.
    pub fn restore(spec: ShellSpec, bytes: &[u8]) -> Result<(Self, Lost), BadCheckpoint> {
        let bytes_max = spec.limits.checkpoint_bytes_max(spec.line_memory_bytes_max);
        let parts: [&[u8]; PIECES] = wire::split(bytes, bytes_max)?;
        let budget = Cell::new(bytes_max - HEADER_BYTES);
        let [variables, functions, names, place, switches, traps, ended, descriptors, moment] =
            parts.map(|part| Reader::new(part, &budget, bytes_max));
        // A shell of its own until all is read: what fails halfway was never anybody's.
        let mut shell = Self::new(spec);
        let env = &mut shell.env;
        variables::read(variables, env)?;
        functions::read(functions, env)?;
        names::read(names, env)?;
        place::read(place, env)?;
        switches::read(switches, env)?;
        env.options.switch_on(env.shared.mode.switches);
        traps::read(traps, env)?;
        ended::read(ended, env)?;
        moment::read(moment, env)?;
        // Last, because opening a file asks for roots, umask and directory.
        let mut lost = Lost::default();
        descriptors::read(descriptors, env, &mut lost)?;
        if !place::is_directory(env) {
            lost.0.push(format!("the working directory `{}` is not there any more", env.dirs.cwd));
        }
        Ok((shell, lost))
    }

    /// A second shell with the state of this one, in another room perhaps.
    pub fn fork(&mut self, spec: ShellSpec) -> Result<(Self, Lost), ForkError> {
        let saved = self.save()?;
        Ok(Self::restore(spec, &saved.to_vec())?)
    }
}
