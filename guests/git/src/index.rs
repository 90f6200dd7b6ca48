//! The index: what the next commit would hold, and what the work tree looked like when that was noted.
//!
//! Versions 2, 3 and 4 are read and 2 or 3 written. Extensions that only save time are dropped when it is
//! written; one that changes the meaning of what is there is refused.

use bstr::{BString, ByteSlice as _};
use facts::{Facts, Time};

use crate::Oid;
use crate::fail::{Done, Fail, fatal};
use crate::object::{Files, Item};
use crate::repo::Repo;

/// The file's own version of what the system said about a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    pub changed: (u32, u32),
    pub modified: (u32, u32),
    pub device: u32,
    pub inode: u32,
    pub owner: u32,
    pub group: u32,
    pub size: u32,
}

impl Seen {
    /// What is noted of a file.
    pub fn of(facts: &Facts) -> Self {
        let time = |it: Time| (it.seconds as u32, it.nanos);
        Self {
            changed: time(facts.changed),
            modified: time(facts.modified),
            device: facts.device as u32,
            inode: facts.inode as u32,
            owner: facts.owner,
            group: facts.group,
            size: facts.size as u32,
        }
    }
}

/// One path at one stage: 0, or 1 to 3 for the sides of a conflict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub path: BString,
    pub stage: u8,
    pub mode: u32,
    pub id: Oid,
    pub seen: Seen,
    pub assume_valid: bool,
    pub skip_worktree: bool,
    pub intent_to_add: bool,
}

impl Entry {
    /// An entry whose file has not been looked at.
    pub fn new(path: impl Into<BString>, stage: u8, item: Item) -> Self {
        Self {
            path: path.into(),
            stage,
            mode: item.mode,
            id: item.id,
            seen: Seen::default(),
            assume_valid: false,
            skip_worktree: false,
            intent_to_add: false,
        }
    }

    pub fn item(&self) -> Item {
        Item { mode: self.mode, id: self.id }
    }

    fn key(&self) -> (&[u8], u8) {
        (&self.path, self.stage)
    }
}

/// The whole index, sorted by path and stage.
#[derive(Debug, Clone, Default)]
pub struct Index {
    pub entries: Vec<Entry>,
    /// When the file was written; what changed in the same moment cannot be told by its time.
    pub written: (u32, u32),
}

impl Index {
    /// The repository's index; an empty one if there is none.
    pub fn load(repo: &Repo) -> Done<Self> {
        let path = repo.git_dir.join("index");
        let Ok(bytes) = std::fs::read(&path) else { return Ok(Self::default()) };
        let mut index = parse(&bytes)
            .map_err(|why| Fail { status: 128, text: format!("{why}\nfatal: index file corrupt") })?;
        if let Ok(facts) = facts::of(&path, facts::Follow::Yes) {
            index.written = Seen::of(&facts).modified;
        }
        Ok(index)
    }

    /// Writes it.
    pub fn save(&self, repo: &Repo) -> Done {
        crate::file::replace(&repo.git_dir.join("index"), &self.encode()?)
    }

    /// The entry of a path that is in no conflict.
    pub fn get(&self, path: &[u8]) -> Option<&Entry> {
        self.find(path, 0).ok().map(|at| &self.entries[at])
    }

    fn find(&self, path: &[u8], stage: u8) -> Result<usize, usize> {
        self.entries.binary_search_by(|it| it.key().cmp(&(path, stage)))
    }

    /// Puts an entry in the place of all there is under its path, and of files where it needs directories.
    pub fn put(&mut self, entry: Entry) {
        let range = self.range(&entry.path);
        self.entries.drain(range);
        let mut folder = entry.path.clone();
        folder.push(b'/');
        let below = self.below(&folder);
        self.entries.drain(below);
        for at in entry.path.find_iter(b"/").collect::<Vec<_>>() {
            let range = self.range(&entry.path[..at]);
            self.entries.drain(range);
        }
        let at = self.find(&entry.path, entry.stage).unwrap_or_else(|at| at);
        self.entries.insert(at, entry);
    }

    /// Adds one side of a conflict.
    pub fn put_stage(&mut self, entry: Entry) {
        match self.find(&entry.path, entry.stage) {
            Ok(at) => self.entries[at] = entry,
            Err(at) => self.entries.insert(at, entry),
        }
    }

    /// Takes away all there is under a path.
    pub fn remove(&mut self, path: &[u8]) -> bool {
        let range = self.range(path);
        !self.entries.drain(range).as_slice().is_empty()
    }

    fn range(&self, path: &[u8]) -> std::ops::Range<usize> {
        let start = self.entries.partition_point(|it| it.path.as_slice() < path);
        let count = self.entries[start..].iter().take_while(|it| it.path == path).count();
        start..start + count
    }

    /// The entries of a directory, whose name ends with a slash.
    pub fn below(&self, folder: &[u8]) -> std::ops::Range<usize> {
        let start = self.entries.partition_point(|it| it.path.as_slice() < folder);
        let count = self.entries[start..].iter().take_while(|it| it.path.starts_with(folder)).count();
        start..start + count
    }

    /// Files without those in conflict, and without those that are only meant to be added.
    pub fn files(&self) -> Files {
        let plain = self.entries.iter().filter(|it| it.stage == 0 && !it.intent_to_add);
        plain.map(|it| (it.path.clone(), it.item())).collect()
    }

    /// Paths in conflict, and which of the stages 1 to 3 each has, as bits.
    pub fn conflicts(&self) -> std::collections::BTreeMap<BString, u8> {
        let mut all = std::collections::BTreeMap::new();
        for entry in self.entries.iter().filter(|it| it.stage > 0) {
            *all.entry(entry.path.clone()).or_insert(0) |= 1 << (entry.stage - 1);
        }
        all
    }

    /// One side of a conflict.
    pub fn stage(&self, path: &[u8], stage: u8) -> Option<&Entry> {
        self.find(path, stage).ok().map(|at| &self.entries[at])
    }

    /// The index that holds just these files, keeping what is known of those that are the same.
    pub fn of_files(files: &Files, known: &Self) -> Self {
        let entries = files.iter().map(|(path, item)| match known.get(path) {
            Some(old) if old.item() == *item => Entry { intent_to_add: false, ..old.clone() },
            _ => Entry::new(path.clone(), 0, *item),
        });
        Self { entries: entries.collect(), written: known.written }
    }

    fn encode(&self) -> Done<Vec<u8>> {
        let extended = self.entries.iter().any(|it| it.skip_worktree || it.intent_to_add);
        let mut all = b"DIRC".to_vec();
        all.extend_from_slice(&(if extended { 3u32 } else { 2 }).to_be_bytes());
        all.extend_from_slice(&(self.entries.len() as u32).to_be_bytes());
        for entry in &self.entries {
            let start = all.len();
            let seen = &entry.seen;
            let words = [
                seen.changed.0,
                seen.changed.1,
                seen.modified.0,
                seen.modified.1,
                seen.device,
                seen.inode,
                entry.mode,
                seen.owner,
                seen.group,
                seen.size,
            ];
            words.iter().for_each(|it| all.extend_from_slice(&it.to_be_bytes()));
            all.extend_from_slice(entry.id.as_slice());
            let more = u16::from(entry.skip_worktree) << 14 | u16::from(entry.intent_to_add) << 13;
            let length = entry.path.len().min(0xfff) as u16;
            let flags = length
                | u16::from(entry.stage) << 12
                | u16::from(more != 0) << 14
                | u16::from(entry.assume_valid) << 15;
            all.extend_from_slice(&flags.to_be_bytes());
            if more != 0 {
                all.extend_from_slice(&more.to_be_bytes());
            }
            all.extend_from_slice(&entry.path);
            let padding = 8 - (all.len() - start) % 8;
            all.resize(all.len() + padding, 0);
        }
        let sum = checksum(&all)?;
        all.extend_from_slice(sum.as_slice());
        Ok(all)
    }
}

fn checksum(bytes: &[u8]) -> Done<Oid> {
    let mut hasher = gix_hash::hasher(gix_hash::Kind::Sha1);
    hasher.update(bytes);
    hasher.try_finalize().map_err(|cause| fatal(format!("{cause}")))
}

/// Reads the bytes of an index, or says what is wrong with them.
pub fn parse(bytes: &[u8]) -> Result<Index, String> {
    let body_len = bytes.len().checked_sub(20).ok_or("error: index file smaller than expected")?;
    let body = &bytes[..body_len];
    let sum = &bytes[body_len..];
    // A sum of zeros says that none was made.
    let right = checksum(body).is_ok_and(|it| it.as_slice() == sum) || sum.iter().all(|it| *it == 0);
    if !right {
        return Err("error: bad index file sha1 signature".to_owned());
    }
    let mut cursor = Cursor { bytes: body, at: 0 };
    if cursor.take(4)? != b"DIRC" {
        return Err("error: bad signature 0x00000000".to_owned());
    }
    let version = cursor.word()?;
    if !(2..=4).contains(&version) {
        return Err(format!("error: bad index version {version}"));
    }
    let count = cursor.word()?;
    let mut entries: Vec<Entry> = Vec::new();
    for _ in 0..count {
        let last = entries.last().map(|it| it.path.clone()).unwrap_or_default();
        let entry = cursor.entry(version, &last)?;
        if entries.last().is_some_and(|it| it.key() >= entry.key()) {
            return Err("error: unordered stage entries in index".to_owned());
        }
        entries.push(entry);
    }
    while cursor.at < body.len() {
        let name = cursor.take(4)?.to_vec();
        let size = cursor.word()? as usize;
        cursor.take(size)?;
        if !name[0].is_ascii_uppercase() {
            let name = name.to_str_lossy().into_owned();
            return Err(format!("error: index uses {name} extension, which we do not understand"));
        }
    }
    Ok(Index { entries, written: (0, 0) })
}

struct Cursor<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Cursor<'b> {
    fn take(&mut self, count: usize) -> Result<&'b [u8], String> {
        let end = self.at.checked_add(count).filter(|it| *it <= self.bytes.len());
        let end = end.ok_or("error: index file is cut short")?;
        let part = &self.bytes[self.at..end];
        self.at = end;
        Ok(part)
    }

    fn word(&mut self) -> Result<u32, String> {
        let four: [u8; 4] = self.take(4)?.try_into().map_err(|_| "error: index file is cut short")?;
        Ok(u32::from_be_bytes(four))
    }

    fn half(&mut self) -> Result<u16, String> {
        let two: [u8; 2] = self.take(2)?.try_into().map_err(|_| "error: index file is cut short")?;
        Ok(u16::from_be_bytes(two))
    }

    fn entry(&mut self, version: u32, last: &BString) -> Result<Entry, String> {
        let start = self.at;
        let mut words = [0; 10];
        for word in &mut words {
            *word = self.word()?;
        }
        let id = Oid::try_from(self.take(20)?).map_err(|_| "error: bad hash in index")?;
        let flags = self.half()?;
        let more = if flags & 0x4000 != 0 && version >= 3 { self.half()? } else { 0 };
        let path = match version {
            4 => self.shortened(last)?,
            _ => {
                let rest = &self.bytes[self.at..];
                let end = rest.find_byte(0).ok_or("error: index file is cut short")?;
                let path = BString::from(self.take(end)?);
                self.take(8 - (self.at - start) % 8)?;
                path
            }
        };
        Ok(Entry {
            path,
            stage: (flags >> 12 & 3) as u8,
            mode: words[6],
            id,
            seen: Seen {
                changed: (words[0], words[1]),
                modified: (words[2], words[3]),
                device: words[4],
                inode: words[5],
                owner: words[7],
                group: words[8],
                size: words[9],
            },
            assume_valid: flags & 0x8000 != 0,
            skip_worktree: more & 0x4000 != 0,
            intent_to_add: more & 0x2000 != 0,
        })
    }

    /// A path of version 4: how many bytes of the last one are dropped, and what follows.
    fn shortened(&mut self, last: &BString) -> Result<BString, String> {
        let mut byte = self.take(1)?[0];
        let mut drop = usize::from(byte & 0x7f);
        while byte & 0x80 != 0 {
            byte = self.take(1)?[0];
            let next = drop.checked_add(1).and_then(|it| it.checked_mul(128));
            drop = next.ok_or("error: bad path in index")? | usize::from(byte & 0x7f);
        }
        let kept = last.len().checked_sub(drop).ok_or("error: bad path in index")?;
        let mut path = BString::from(&last[..kept]);
        let end = self.bytes[self.at..].find_byte(0).ok_or("error: index file is cut short")?;
        path.extend_from_slice(self.take(end)?);
        self.take(1)?;
        Ok(path)
    }
}
