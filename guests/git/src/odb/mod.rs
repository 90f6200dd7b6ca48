//! Objects by their hash: one file each, or together in packs.

pub mod loose;
pub mod pack;

use std::cell::{OnceCell, RefCell};
use std::path::PathBuf;

use gix_object::Kind;

use crate::Oid;
use crate::fail::{Done, Fail, fatal};
use pack::Pack;

/// A larger object is refused before it is made room for.
pub const OBJECT_BYTES_MAX: usize = 1 << 30;

/// The shortest that an object is shown with.
const SHORT_MIN: usize = 7;

/// All objects of a repository.
pub struct Odb {
    folder: PathBuf,
    packs: OnceCell<Vec<Pack>>,
    /// Objects that exist only for this command, such as what lies in the work tree.
    extra: RefCell<std::collections::HashMap<Oid, (Kind, Vec<u8>)>>,
}

impl Odb {
    /// The objects in a folder.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, packs: OnceCell::new(), extra: RefCell::default() }
    }

    fn packs(&self) -> &[Pack] {
        self.packs.get_or_init(|| pack::all(&self.folder.join("pack")))
    }

    /// An object's kind and bytes.
    pub fn read(&self, id: Oid) -> Done<(Kind, Vec<u8>)> {
        self.find(id)?.ok_or_else(|| missing(id))
    }

    /// The same, if it is there.
    pub fn find(&self, id: Oid) -> Done<Option<(Kind, Vec<u8>)>> {
        if let Some((kind, bytes)) = self.extra.borrow().get(&id) {
            return Ok(Some((*kind, bytes.clone())));
        }
        if let Some(found) = loose::read(&self.folder, id)? {
            return Ok(Some(found));
        }
        for pack in self.packs() {
            if let Some(found) = pack.read(id)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Whether there is such an object.
    pub fn has(&self, id: Oid) -> bool {
        self.extra.borrow().contains_key(&id)
            || loose::path(&self.folder, id).is_file()
            || self.packs().iter().any(|it| it.has(id))
    }

    /// An object of one kind.
    pub fn read_as(&self, id: Oid, wanted: Kind) -> Done<Vec<u8>> {
        match self.read(id)? {
            (kind, bytes) if kind == wanted => Ok(bytes),
            (kind, _) => Err(fatal(format!("object {id} is a {kind}, not a {wanted}"))),
        }
    }

    /// A blob's bytes; nothing for the hash of nothing.
    pub fn blob(&self, id: Oid) -> Done<Vec<u8>> {
        self.read_as(id, Kind::Blob)
    }

    /// Keeps an object.
    pub fn write(&self, kind: Kind, bytes: &[u8]) -> Done<Oid> {
        let id = hash(kind, bytes)?;
        if loose::path(&self.folder, id).is_file() || self.packs().iter().any(|it| it.has(id)) {
            return Ok(id);
        }
        loose::write(&self.folder, id, kind, bytes)?;
        Ok(id)
    }

    /// Keeps an object for this command only.
    pub fn lend(&self, kind: Kind, bytes: Vec<u8>) -> Done<Oid> {
        let id = hash(kind, &bytes)?;
        self.extra.borrow_mut().insert(id, (kind, bytes));
        Ok(id)
    }

    /// Whether an object exists for this command only.
    pub fn is_lent(&self, id: Oid) -> bool {
        self.extra.borrow().contains_key(&id)
    }

    /// The objects whose hash begins with these digits.
    pub fn beginning(&self, digits: &str) -> Vec<Oid> {
        let mut all = loose::beginning(&self.folder, digits);
        self.packs().iter().for_each(|it| it.beginning(digits, &mut all));
        all.sort();
        all.dedup();
        all
    }

    /// The fewest digits that name an object, at least seven.
    pub fn short(&self, id: Oid) -> String {
        self.short_from(id, self.short_len())
    }

    /// How many digits are enough for most objects: more where packs hold many.
    pub fn short_len(&self) -> usize {
        let packed: u32 = self.packs().iter().map(Pack::count).sum();
        let bits = 32 - packed.leading_zeros() as usize;
        SHORT_MIN.max((bits + 1).div_ceil(2))
    }

    /// The fewest digits that name an object, at least as many as given.
    pub fn short_from(&self, id: Oid, least: usize) -> String {
        let whole = id.to_string();
        let others = self.beginning(&whole[..least.clamp(4, whole.len())]);
        let common = |other: &Oid| {
            let other = other.to_string();
            whole.bytes().zip(other.bytes()).take_while(|(left, right)| left == right).count()
        };
        let longest = others.iter().filter(|it| **it != id).map(common).max();
        let digits = longest.map_or(least, |it| least.max(it + 1)).min(whole.len());
        whole[..digits].to_owned()
    }
}

/// The hash an object has.
pub fn hash(kind: Kind, bytes: &[u8]) -> Done<Oid> {
    gix_object::compute_hash(gix_hash::Kind::Sha1, kind, bytes).map_err(|cause| fatal(format!("{cause}")))
}

fn missing(id: Oid) -> Fail {
    fatal(format!("unable to read {id}"))
}
