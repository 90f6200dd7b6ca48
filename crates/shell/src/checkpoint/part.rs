//! A part of the state that is written only if it changed.
//!
//! Whether it did is told by addresses. The lists of the state are shared until written to, and a part remembers weakly
//! which ones it wrote. Writing to a list that somebody remembers weakly moves it elsewhere, which costs one small
//! allocation and copies nothing; and while it is remembered, no other list gets its address. So the same address is
//! the same content, and no list needs a counter.

use std::sync::{Arc, Weak};

use super::wire::Writer;
use crate::state::Env;

/// A list that was written, remembered.
pub(super) struct Same<T: ?Sized>(Weak<T>);

impl<T: ?Sized> Same<T> {
    pub(super) fn of(list: &Arc<T>) -> Self {
        Self(Arc::downgrade(list))
    }

    /// Whether it is this one, unchanged.
    pub(super) fn is(&self, list: &Arc<T>) -> bool {
        std::ptr::addr_eq(self.0.as_ptr(), Arc::as_ptr(list))
    }
}

/// What a part of the state is made of.
pub(super) trait Section {
    /// What tells one state of it from the next.
    type Key;
    fn key(env: &Env) -> Self::Key;
    fn is_same(key: &Self::Key, env: &Env) -> bool;
    fn write(env: &Env, to: &mut Writer);
}

/// Bytes of a checkpoint, with their length in front.
#[derive(Clone)]
pub(super) struct Piece {
    pub(super) bytes: Arc<[u8]>,
    /// What reading them may take: see [`Writer`].
    pub(super) weight: usize,
}

impl Default for Piece {
    fn default() -> Self {
        Self { bytes: Arc::from([]), weight: 0 }
    }
}

/// A part does not fit into what is left of a checkpoint.
pub(super) struct Full;

impl Piece {
    /// Writes it again, and keeps the old bytes where the new ones are the same. Of one that takes more than `left`
    /// nothing is kept; of any other, what is left then comes back.
    pub(super) fn rewrite(
        &mut self,
        buffer: &mut Vec<u8>,
        left: usize,
        write: impl FnOnce(&mut Writer),
    ) -> Result<usize, Full> {
        let mut to = Writer::into_buffer(std::mem::take(buffer), left);
        write(&mut to);
        let (bytes, weight) = to.finish();
        let Some(weight) = weight else {
            *self = Self::default();
            return Err(Full);
        };
        if *bytes != *self.bytes {
            *self = Self { bytes: Arc::from(bytes.as_slice()), weight };
        }
        *buffer = bytes;
        left.checked_sub(weight).ok_or(Full)
    }
}

/// A part, and what it was when it was last written.
pub(super) struct Part<S: Section> {
    key: Option<S::Key>,
    pub(super) piece: Piece,
}

impl<S: Section> Default for Part<S> {
    fn default() -> Self {
        Self { key: None, piece: Piece::default() }
    }
}

impl<S: Section> Part<S> {
    /// Whether it is what was written.
    pub(super) fn is_written(&self, env: &Env) -> bool {
        self.key.as_ref().is_some_and(|key| S::is_same(key, env))
    }

    /// Writes it if it changed; what is left of a checkpoint behind it comes back.
    pub(super) fn refresh(&mut self, env: &Env, left: usize) -> Result<usize, Full> {
        if self.is_written(env) {
            return left.checked_sub(self.piece.weight).ok_or(Full);
        }
        self.write_again(env, left)
    }

    /// Few lines come here, so it stays out of the way of the others.
    #[cold]
    #[inline(never)]
    fn write_again(&mut self, env: &Env, left: usize) -> Result<usize, Full> {
        self.key = None;
        let mut buffer = Vec::new();
        let left = self.piece.rewrite(&mut buffer, left, |to| S::write(env, to))?;
        self.key = Some(S::key(env));
        Ok(left)
    }
}
