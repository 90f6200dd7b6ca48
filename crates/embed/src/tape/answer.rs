//! Answers as bytes: numbers, texts and results, each with its length before it.
//!
//! The reader believes nothing: what is missing, too much or unknown is no answer, and whoever asked is told that the tape
//! diverges.

use drydock_contract::{
    Denial, Timestamp, Unit,
    port::{DirEntry, FileError, FileKind, FileLimit, FileResult, Mode, Stat},
};
use drydock_gate::TapedCall;

/// Writes an answer.
#[derive(Default)]
pub(super) struct Writer(pub(super) Vec<u8>);

impl Writer {
    pub(super) fn byte(mut self, byte: u8) -> Self {
        self.0.push(byte);
        self
    }

    pub(super) fn number(mut self, number: u64) -> Self {
        self.0.extend_from_slice(&number.to_le_bytes());
        self
    }

    pub(super) fn text(self, text: &str) -> Self {
        self.bytes(text.as_bytes())
    }

    pub(super) fn bytes(self, bytes: &[u8]) -> Self {
        let mut all = self.number(bytes.len() as u64);
        all.0.extend_from_slice(bytes);
        all
    }

    pub(super) fn stat(self, stat: &Stat) -> Self {
        let Stat { inode, kind, mode, links, size, accessed, modified, changed } = stat;
        let numbers = [u64::from(mode.bits()), *links, *size, accessed.0, modified.0, changed.0];
        let begun = self.number(*inode).byte(kind_number(*kind));
        numbers.into_iter().fold(begun, Self::number)
    }

    pub(super) fn result<T>(self, result: &FileResult<T>, write: impl FnOnce(Self, &T) -> Self) -> Self {
        match result {
            Ok(value) => write(self.byte(0), value),
            Err(FileError::Quota(limit)) => {
                let at = FileLimit::ALL.iter().position(|it| it == limit).unwrap_or_default();
                self.byte(2).byte(u8::try_from(at).unwrap_or_default())
            }
            Err(error) => {
                let at = ERRORS.iter().position(|it| it == error).unwrap_or(ERRORS.len() - 1);
                self.byte(1).byte(u8::try_from(at).unwrap_or_default())
            }
        }
    }

    pub(super) fn entries(self, entries: &[DirEntry]) -> Self {
        let begun = self.number(entries.len() as u64);
        entries.iter().fold(begun, |all, it| all.text(&it.name).byte(kind_number(it.kind)).number(it.inode))
    }
}

/// What a tree can answer, by its number; limits have their own. The last stands for what is not listed.
const ERRORS: [FileError; 16] = [
    FileError::NotFound,
    FileError::Exists,
    FileError::NotADirectory,
    FileError::IsADirectory,
    FileError::NotEmpty,
    FileError::Denied,
    FileError::ReadOnly,
    FileError::NoSpace,
    FileError::TooBig,
    FileError::NameTooLong,
    FileError::Loop,
    FileError::Invalid,
    FileError::Unsupported,
    FileError::CrossDevice,
    FileError::Interrupted,
    FileError::Io,
];

const fn kind_number(kind: FileKind) -> u8 {
    match kind {
        FileKind::File => 0,
        FileKind::Directory => 1,
        FileKind::Symlink => 2,
    }
}

/// Reads an answer. Each of these is nothing where the bytes are not that.
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    pub(super) fn number(&mut self) -> Option<u64> {
        let (first, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*first))
    }

    pub(super) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    pub(super) fn text(&mut self) -> Option<String> {
        String::from_utf8(self.bytes()?.to_vec()).ok()
    }

    pub(super) fn kind(&mut self) -> Option<FileKind> {
        Some(match self.byte()? {
            0 => FileKind::File,
            1 => FileKind::Directory,
            2 => FileKind::Symlink,
            _ => return None,
        })
    }

    pub(super) fn stat(&mut self) -> Option<Stat> {
        let (inode, kind) = (self.number()?, self.kind()?);
        let mode = Mode::new(u32::try_from(self.number()?).ok()?);
        let (links, size) = (self.number()?, self.number()?);
        let mut moment = || self.number().map(Timestamp);
        let (accessed, modified, changed) = (moment()?, moment()?, moment()?);
        Some(Stat { inode, kind, mode, links, size, accessed, modified, changed })
    }

    pub(super) fn entries(&mut self) -> Option<Vec<DirEntry>> {
        let count = self.number()?;
        let mut all = Vec::new();
        for _ in 0..count {
            let name = self.text()?;
            all.push(DirEntry { name, kind: self.kind()?, inode: self.number()? });
        }
        Some(all)
    }

    pub(super) fn result<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<FileResult<T>> {
        Some(match self.byte()? {
            0 => Ok(read(self)?),
            1 => Err(*ERRORS.get(usize::from(self.byte()?))?),
            2 => Err(FileError::Quota(*FileLimit::ALL.get(usize::from(self.byte()?))?)),
            _ => return None,
        })
    }

    /// Nothing is left.
    pub(super) fn end(self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}

/// A verdict of the gate: nothing where the call was let through.
pub(super) fn verdict(denial: Option<&Denial>) -> Vec<u8> {
    let Some(denial) = denial else { return Vec::new() };
    let (why, numbers) = match denial {
        Denial::RateLimited { calls_max, window_s } => ("", [*calls_max, *window_s].map(u64::from)),
        Denial::TooManyProcesses { max } => ("", [u64::from(*max), 0]),
        Denial::BudgetExceeded { what, needed, left } => (*what, [*needed, *left]),
        Denial::NotGranted { why, .. } => (*why, [0, 0]),
        _ => ("", [0, 0]),
    };
    let [first, second] = numbers;
    Writer::default().text(denial.code()).text(why).number(first).number(second).0
}

/// The code of a verdict, and the denial itself where time or load said no: the others a gate finds again.
pub(super) fn read_verdict(bytes: &[u8], call: &TapedCall<'_>) -> Option<(String, Option<Denial>)> {
    let mut reader = Reader::new(bytes);
    let (code, why) = (reader.text()?, reader.text()?);
    let (first, second) = (reader.number()?, reader.number()?);
    let small = |it: u64| u32::try_from(it).ok();
    reader.end()?;
    let lapsed = [Denial::GRANT_REVOKED, Denial::GRANT_EXPIRED, Denial::GRANT_USED_UP, ""];
    let denial = match code.as_str() {
        "revoked" => Some(Denial::Revoked),
        "cancelled" => Some(Denial::Cancelled),
        "rate_limited" => Some(Denial::RateLimited { calls_max: small(first)?, window_s: small(second)? }),
        "too_many_processes" => Some(Denial::TooManyProcesses { max: small(first)? }),
        "budget_exceeded" => Unit::ALL
            .iter()
            .map(|it| it.as_str())
            .find(|it| *it == why)
            .map(|what| Denial::BudgetExceeded { what, needed: first, left: second }),
        "denied" => lapsed.into_iter().find(|it| *it == why).map(|why| Denial::NotGranted {
            cap: call.cap,
            subjects: call.subjects.clone(),
            why,
        }),
        _ => None,
    };
    Some((code, denial))
}

/// Reads bytes as every answer that a tape may hold, for the fuzzers and nobody else; true if they are one of a tree.
#[doc(hidden)]
pub fn foreign_answer(bytes: &[u8]) -> bool {
    let read = |read: fn(&mut Reader<'_>) -> Option<()>| {
        let mut reader = Reader::new(bytes);
        reader.result(read).is_some()
    };
    let stat = read(|it| it.stat().map(drop));
    let entries = read(|it| it.entries().map(drop));
    let mut reader = Reader::new(bytes);
    let verdict = reader.text().is_some() && reader.text().is_some();
    stat || entries || verdict
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_of_files_and_refusals_are_read_as_they_are_written() {
        let stat = Stat {
            inode: 7,
            kind: FileKind::Symlink,
            mode: Mode::new(0o751),
            links: 2,
            size: 9,
            accessed: Timestamp(1),
            modified: Timestamp(2),
            changed: Timestamp(3),
        };
        let errors = ERRORS.into_iter().chain(FileLimit::ALL.map(FileError::Quota));
        for result in std::iter::once(Ok(stat)).chain(errors.map(Err)) {
            let bytes = Writer::default().result(&result, |out, it| out.stat(it)).0;
            let mut reader = Reader::new(&bytes);
            assert_eq!(reader.result(Reader::stat), Some(result));
            assert_eq!(reader.end(), Some(()));
            for at in 0..bytes.len() {
                assert_eq!(Reader::new(&bytes[..at]).result(Reader::stat), None, "cut at {at}");
            }
        }
    }
}
