//! Packs: gitoxide's reader over bytes that are read whole, because a guest cannot map files.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use gix_hash::Kind::Sha1;
use gix_object::Kind;
use gix_pack::data::decode::entry::ResolvedBase;
use gix_pack::{cache, data, index};

use super::OBJECT_BYTES_MAX;
use crate::Oid;
use crate::fail::{Done, Fail, fatal};

/// A pack: its index at once, its bytes when the first object is wanted.
pub(super) struct Pack {
    path: PathBuf,
    index: index::File<Vec<u8>>,
    data: OnceCell<Option<data::File<Vec<u8>>>>,
}

/// All packs in a folder. An index that cannot be read is passed over with a word, as git does.
pub(super) fn all(folder: &Path) -> Vec<Pack> {
    let mut packs = Vec::new();
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = names.map(|it| it.path()).collect();
    paths.retain(|it| it.extension().is_some_and(|it| it == "idx"));
    paths.sort();
    for path in paths {
        let index = std::fs::read(&path).map_err(|it| it.to_string()).and_then(|bytes| {
            check_index(&bytes)?;
            index::File::from_data(bytes, path.clone(), Sha1).map_err(|it| it.to_string())
        });
        match index {
            Ok(index) => packs.push(Pack { path, index, data: OnceCell::new() }),
            Err(cause) => crate::out::note(format!("error: {}: {cause}", path.display())),
        }
    }
    packs
}

/// The parts of an index that lookups trust: a table that rises, and room for what it counts.
pub fn check_index(bytes: &[u8]) -> Result<(), String> {
    let second = bytes.starts_with(b"\xfftOc");
    let table = if second { 8 } else { 0 };
    let word = |at: usize| {
        let four = bytes.get(at..at + 4).and_then(|it| <[u8; 4]>::try_from(it).ok());
        four.map(u32::from_be_bytes).ok_or_else(|| "the index is cut short".to_owned())
    };
    let mut last = 0;
    for at in 0..256 {
        let next = word(table + at * 4)?;
        if next < last {
            return Err("the index is not sorted".to_owned());
        }
        last = next;
    }
    let row = if second { 28 } else { 24 };
    let least = (last as usize).checked_mul(row).and_then(|it| it.checked_add(table + 1024 + 40));
    match least {
        Some(least) if bytes.len() >= least => Ok(()),
        _ => Err("the index is cut short".to_owned()),
    }
}

impl Pack {
    pub(super) fn count(&self) -> u32 {
        self.index.num_objects()
    }

    pub(super) fn has(&self, id: Oid) -> bool {
        self.index.lookup(id).is_some()
    }

    pub(super) fn beginning(&self, digits: &str, all: &mut Vec<Oid>) {
        let Ok(prefix) = gix_hash::Prefix::from_hex(digits) else { return };
        let mut range = 0..0;
        if self.index.lookup_prefix(prefix, Some(&mut range)).is_some() {
            all.extend(range.map(|at| self.index.oid_at_index(at).to_owned()));
        }
    }

    fn data(&self) -> Option<&data::File<Vec<u8>>> {
        let open = || {
            let path = self.path.with_extension("pack");
            let bytes = std::fs::read(&path).ok()?;
            let file = data::File::from_data(bytes, path, Sha1).ok()?;
            Some(file.with_alloc_limit_bytes(Some(OBJECT_BYTES_MAX)))
        };
        self.data.get_or_init(open).as_ref()
    }

    pub(super) fn read(&self, id: Oid) -> Done<Option<(Kind, Vec<u8>)>> {
        let Some(at) = self.index.lookup(id) else { return Ok(None) };
        let corrupt = |cause: String| -> Fail {
            fatal(format!("packed object {id} (stored in {}) is corrupt: {cause}", self.path.display()))
        };
        let data = self.data().ok_or_else(|| corrupt("the pack cannot be read".to_owned()))?;
        let entry = data.entry(self.index.pack_offset_at_index(at)).map_err(|it| corrupt(it.to_string()))?;
        let mut bytes = Vec::new();
        let inside = |base: &gix_hash::oid, _: &mut Vec<u8>| {
            let at = self.index.lookup(base).map(|it| self.index.pack_offset_at_index(it));
            at.map(|it| data.entry(it).map(ResolvedBase::InPack)).transpose()
        };
        let done = data
            .decode_entry(entry, &mut bytes, &mut gix_zlib::Inflate::default(), &inside, &mut cache::Never)
            .map_err(|it| corrupt(it.to_string()))?;
        if super::hash(done.kind, &bytes)? != id {
            return Err(corrupt("its hash is another one".to_owned()));
        }
        Ok(Some((done.kind, bytes)))
    }
}
