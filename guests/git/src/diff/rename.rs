//! Finds files that were moved: the same bytes elsewhere, or at least half of them.

use std::collections::HashMap;

use bstr::{BString, ByteSlice as _};

use super::{Change, is_binary};
use crate::fail::Done;
use crate::object::{FILE, LINK, PROGRAM};
use crate::repo::Repo;

/// Pairs that are compared at most; above that only whole files are looked for.
const PAIRS_MAX: usize = 1000 * 1000;

/// What git counts similarity in.
const SCORE_MAX: u64 = 60_000;

/// Pieces are lines, or this many bytes of a long one.
const PIECE_BYTES_MAX: usize = 64;

/// Joins what was taken away with what was added where one became the other. `least` is of 100.
pub fn find(repo: &Repo, changes: Vec<Change>, least: u32) -> Done<Vec<Change>> {
    let gone: Vec<usize> = positions(&changes, b'D');
    let came: Vec<usize> = positions(&changes, b'A');
    if gone.is_empty() || came.is_empty() {
        return Ok(changes);
    }
    let mut search = Search { repo, changes: &changes, gone, came, pairs: HashMap::new(), taken: Vec::new() };
    search.exact();
    if least < 100 {
        let least = u64::from(least) * SCORE_MAX / 100;
        search.same_names(least)?;
        search.similar(least)?;
    }
    let (pairs, taken) = (search.pairs, search.taken);
    let mut all = Vec::new();
    for (at, change) in changes.iter().enumerate() {
        match pairs.get(&at) {
            Some((from, score)) => {
                let old = changes[*from].old.clone();
                let score = (*score * 100 / SCORE_MAX) as u32;
                all.push(Change { letter: b'R', score, old, new: change.new.clone() });
            }
            None if taken.contains(&at) => {}
            None => all.push(change.clone()),
        }
    }
    Ok(all)
}

fn positions(changes: &[Change], letter: u8) -> Vec<usize> {
    let plain = |it: &Change| matches!(it.old.mode | it.new.mode, FILE | PROGRAM | LINK);
    let empty = crate::Oid::empty_blob(gix_hash::Kind::Sha1);
    let all = changes.iter().enumerate().filter(|(_, it)| it.letter == letter && plain(it));
    all.filter(|(_, it)| it.old.id != empty && it.new.id != empty).map(|it| it.0).collect()
}

struct Search<'a> {
    repo: &'a Repo,
    changes: &'a [Change],
    gone: Vec<usize>,
    came: Vec<usize>,
    /// From what came to what it was, and how much of it.
    pairs: HashMap<usize, (usize, u64)>,
    taken: Vec<usize>,
}

impl Search<'_> {
    fn join(&mut self, from: usize, to: usize, score: u64) {
        self.pairs.insert(to, (from, score));
        self.taken.push(from);
        self.gone.retain(|it| *it != from);
        self.came.retain(|it| *it != to);
    }

    fn exact(&mut self) {
        for to in self.came.clone() {
            let new = &self.changes[to].new;
            let same = |from: &&usize| {
                let old = &self.changes[**from].old;
                old.id == new.id && (old.mode == LINK) == (new.mode == LINK)
            };
            let base = base_of(&new.path);
            let fits: Vec<usize> = self.gone.iter().filter(same).copied().collect();
            let best = fits.iter().find(|it| base_of(&self.changes[**it].old.path) == base).or(fits.first());
            if let Some(from) = best.copied() {
                self.join(from, to, SCORE_MAX);
            }
        }
    }

    /// A file whose name is still the only one of its kind most likely just moved.
    fn same_names(&mut self, least: u64) -> Done {
        // git asks more of such a pair than of one it compared with all others.
        let least = least + (SCORE_MAX - least) / 2;
        for to in self.came.clone() {
            let name = base_of(&self.changes[to].new.path);
            let only = |list: &[usize], old: bool| {
                let path = |it: &usize| {
                    let change = &self.changes[*it];
                    if old { &change.old.path } else { &change.new.path }
                };
                let mut same = list.iter().filter(|it| base_of(path(it)) == name);
                same.next().copied().filter(|_| same.next().is_none())
            };
            if let (Some(from), Some(_)) = (only(&self.gone, true), only(&self.came, false))
                && let Some(score) = self.score(from, to, least)?
            {
                self.join(from, to, score);
            }
        }
        Ok(())
    }

    fn similar(&mut self, least: u64) -> Done {
        if self.gone.len().saturating_mul(self.came.len()) > PAIRS_MAX {
            return Ok(());
        }
        let mut found = Vec::new();
        for to in self.came.clone() {
            for from in self.gone.clone() {
                if let Some(score) = self.score(from, to, least)? {
                    let names = base_of(&self.changes[from].old.path) == base_of(&self.changes[to].new.path);
                    found.push((std::cmp::Reverse(score), !names, to, from));
                }
            }
        }
        found.sort();
        for (score, _, to, from) in found {
            if self.came.contains(&to) && self.gone.contains(&from) {
                self.join(from, to, score.0);
            }
        }
        Ok(())
    }

    /// How much of the larger file the other one has, if it is enough.
    fn score(&self, from: usize, to: usize, least: u64) -> Done<Option<u64>> {
        let (old, new) = (&self.changes[from].old, &self.changes[to].new);
        if old.mode == LINK || new.mode == LINK {
            return Ok(None);
        }
        let (before, after) = (old.bytes(self.repo)?, new.bytes(self.repo)?);
        let (larger, smaller) = (before.len().max(after.len()) as u64, before.len().min(after.len()) as u64);
        if larger == 0 || (larger - smaller) * SCORE_MAX > larger * (SCORE_MAX - least) {
            return Ok(None);
        }
        let counts = pieces(&before);
        let mut kept = 0;
        for (piece, bytes) in pieces(&after) {
            kept += counts.get(piece.as_slice()).map_or(0, |it| bytes.min(*it));
        }
        let score = kept * SCORE_MAX / larger;
        Ok((score >= least).then_some(score))
    }
}

/// How many bytes each line, or piece of one, takes altogether.
fn pieces(bytes: &[u8]) -> HashMap<Vec<u8>, u64> {
    let text = !is_binary(bytes);
    let mut counts = HashMap::new();
    let mut piece = Vec::new();
    for (at, byte) in bytes.iter().enumerate() {
        if text && *byte == b'\r' && bytes.get(at + 1) == Some(&b'\n') {
            continue;
        }
        piece.push(*byte);
        if piece.len() >= PIECE_BYTES_MAX || *byte == b'\n' {
            let piece = std::mem::take(&mut piece);
            *counts.entry(piece.clone()).or_insert(0) += piece.len() as u64;
        }
    }
    if !piece.is_empty() {
        *counts.entry(piece.clone()).or_insert(0) += piece.len() as u64;
    }
    counts
}

fn base_of(path: &BString) -> &[u8] {
    path.rfind_byte(b'/').map_or(path.as_slice(), |at| &path[at + 1..])
}
