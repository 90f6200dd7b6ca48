//! The records of an archive: the directory at its end, and the header before each member.
//!
//! Read with nothing taken for granted: every length is checked against what is there.

use calendar::Civil;
use std::io::{self, Read, Seek, SeekFrom, Write};

const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
const LOCAL_BYTES: u64 = 30;
const CENTRAL_BYTES: usize = 46;
const END_BYTES: usize = 22;
/// A directory larger than this is no directory anybody meant.
const DIRECTORY_BYTES_MAX: u64 = 64 << 20;

/// How a member is kept.
pub const STORED: u16 = 0;
/// See [`STORED`].
pub const DEFLATED: u16 = 8;
const UTF8: u16 = 1 << 11;
const MADE_BY_UNIX: u16 = 3 << 8 | 20;
const LINK: u32 = 0o120_000;
const FOLDER: u32 = 0o040_000;
const FILE: u32 = 0o100_000;

/// What the directory says of a member.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Member {
    pub name: String,
    pub method: u16,
    pub flags: u16,
    /// As MS-DOS keeps it: the date above, the time below.
    pub time: u32,
    pub sum: u32,
    pub packed: u64,
    pub size: u64,
    /// Kind and permissions, if a Unix wrote it.
    pub mode: Option<u32>,
    /// Where its own header begins.
    pub at: u64,
}

impl Member {
    /// Whether it is a folder.
    pub fn is_folder(&self) -> bool {
        self.name.ends_with('/')
    }

    /// Whether it is a symbolic link.
    pub fn is_link(&self) -> bool {
        self.mode.is_some_and(|it| it & 0o170_000 == LINK)
    }

    /// Whether it cannot be read without a password.
    pub fn is_locked(&self) -> bool {
        self.flags & 1 != 0
    }

    /// Kind and permissions of a new member.
    pub fn mode_of(is_folder: bool, is_link: bool, mode: u32) -> u32 {
        mode & 0o7777
            | if is_folder {
                FOLDER
            } else if is_link {
                LINK
            } else {
                FILE
            }
    }

    /// Its header and name, as they stand before its content.
    pub fn local(&self) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        out.extend(LOCAL.to_le_bytes());
        out.extend(20u16.to_le_bytes());
        self.common(&mut out)?;
        out.extend(0u16.to_le_bytes());
        out.extend(self.name.as_bytes());
        Ok(out)
    }

    /// Its entry in the directory.
    pub fn central(&self) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        out.extend(CENTRAL.to_le_bytes());
        out.extend(MADE_BY_UNIX.to_le_bytes());
        out.extend(20u16.to_le_bytes());
        self.common(&mut out)?;
        // Neither extra field nor comment, one disk, no internal attributes.
        out.extend([0; 8]);
        let folder = if self.is_folder() { 0x10 } else { 0 };
        out.extend((self.mode.unwrap_or(FILE | 0o644) << 16 | folder).to_le_bytes());
        out.extend(narrow(self.at)?.to_le_bytes());
        out.extend(self.name.as_bytes());
        Ok(out)
    }

    fn common(&self, out: &mut Vec<u8>) -> io::Result<()> {
        let flags = if self.name.is_ascii() { 0 } else { UTF8 };
        out.extend(flags.to_le_bytes());
        out.extend(self.method.to_le_bytes());
        out.extend(self.time.to_le_bytes());
        out.extend(self.sum.to_le_bytes());
        out.extend(narrow(self.packed)?.to_le_bytes());
        out.extend(narrow(self.size)?.to_le_bytes());
        let length = u16::try_from(self.name.len()).map_err(|_| io::Error::other("name is too long"))?;
        out.extend(length.to_le_bytes());
        Ok(())
    }
}

fn narrow(size: u64) -> io::Result<u32> {
    match u32::try_from(size) {
        Ok(size) if size != u32::MAX => Ok(size),
        _ => Err(io::Error::other("more than 4 GiB, which this zip does not write")),
    }
}

/// What ends an archive of so many members.
pub fn end(count: usize, start: u64, bytes: u64) -> io::Result<Vec<u8>> {
    let count = u16::try_from(count).map_err(|_| io::Error::other("more than 65,535 members"))?;
    let mut out = Vec::new();
    out.extend(END.to_le_bytes());
    out.extend([0; 4]);
    out.extend(count.to_le_bytes());
    out.extend(count.to_le_bytes());
    out.extend(narrow(bytes)?.to_le_bytes());
    out.extend(narrow(start)?.to_le_bytes());
    out.extend([0; 2]);
    Ok(out)
}

/// All members, in the order of the directory.
pub fn members(archive: &mut (impl Read + Seek)) -> io::Result<Vec<Member>> {
    let bad = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    let length = archive.seek(SeekFrom::End(0))?;
    // The record that ends an archive is followed by a comment of at most 65,535 bytes.
    let tail_bytes = length.min(END_BYTES as u64 + 65_535);
    let mut tail = Vec::new();
    archive.seek(SeekFrom::Start(length - tail_bytes))?;
    archive.take(tail_bytes).read_to_end(&mut tail)?;
    let starts = (0..=tail.len().saturating_sub(END_BYTES)).rev();
    let at = starts.into_iter().find(|at| word(&tail, *at) == Some(END)).ok_or_else(|| {
        bad("End-of-central-directory signature not found. Either this file is not a zipfile, or it is cut off")
    })?;
    let count = half(&tail, at + 10).ok_or_else(|| bad("cut off"))?;
    let bytes = u64::from(word(&tail, at + 12).ok_or_else(|| bad("cut off"))?);
    let start = u64::from(word(&tail, at + 16).ok_or_else(|| bad("cut off"))?);
    if count == u16::MAX || start == u64::from(u32::MAX) {
        return Err(bad("a zip64 archive, which this unzip does not read"));
    }
    let end = length - tail_bytes + at as u64;
    if bytes > DIRECTORY_BYTES_MAX || start.checked_add(bytes).is_none_or(|it| it > end) {
        return Err(bad("the directory is not where the archive says"));
    }
    // What stands before an archive, such as a program that unpacks it, moves all of it.
    let moved = end - bytes - start;
    archive.seek(SeekFrom::Start(start + moved))?;
    let mut directory = Vec::new();
    archive.take(bytes).read_to_end(&mut directory)?;
    let mut members = Vec::new();
    let mut at = 0;
    for _ in 0..count {
        let (mut member, next) = entry(&directory, at).ok_or_else(|| bad("the directory is damaged"))?;
        member.at += moved;
        members.push(member);
        at = next;
    }
    apart(&members, start + moved).map_err(bad)?;
    Ok(members)
}

fn entry(bytes: &[u8], at: usize) -> Option<(Member, usize)> {
    if word(bytes, at)? != CENTRAL {
        return None;
    }
    let lengths = [half(bytes, at + 28)?, half(bytes, at + 30)?, half(bytes, at + 32)?].map(usize::from);
    let name = bytes.get(at + CENTRAL_BYTES..at + CENTRAL_BYTES + lengths[0])?;
    let by_unix = half(bytes, at + 4)? >> 8 == 3;
    let mode = word(bytes, at + 38)? >> 16;
    let member = Member {
        name: String::from_utf8_lossy(name).replace('\\', "/"),
        flags: half(bytes, at + 8)?,
        method: half(bytes, at + 10)?,
        time: word(bytes, at + 12)?,
        sum: word(bytes, at + 16)?,
        packed: u64::from(word(bytes, at + 20)?),
        size: u64::from(word(bytes, at + 24)?),
        mode: (by_unix && mode != 0).then_some(mode),
        at: u64::from(word(bytes, at + 42)?),
    };
    Some((member, at + CENTRAL_BYTES + lengths.iter().sum::<usize>()))
}

/// Members that share bytes are how a small archive becomes a huge one.
fn apart(members: &[Member], directory: u64) -> Result<(), &'static str> {
    let mut places: Vec<(u64, u64)> =
        members.iter().map(|it| (it.at, it.at + LOCAL_BYTES + it.name.len() as u64 + it.packed)).collect();
    places.sort_unstable();
    let ends = places.iter().skip(1).map(|it| it.0).chain([directory]);
    match places.iter().zip(ends).all(|(place, next)| place.1 <= next) {
        true => Ok(()),
        false => Err("members overlap (possible zip bomb)"),
    }
}

/// Where the content of a member begins.
pub fn content_start(archive: &mut (impl Read + Seek), member: &Member) -> io::Result<u64> {
    let mut header = [0; LOCAL_BYTES as usize];
    archive.seek(SeekFrom::Start(member.at))?;
    archive.read_exact(&mut header)?;
    match (word(&header, 0), half(&header, 26), half(&header, 28)) {
        (Some(LOCAL), Some(name), Some(extra)) => {
            Ok(member.at + LOCAL_BYTES + u64::from(name) + u64::from(extra))
        }
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "bad zipfile offset")),
    }
}

/// Copies a member as it is, and says where it went.
pub fn copy_raw(
    archive: &mut (impl Read + Seek),
    member: &Member,
    out: &mut impl Write,
    at: u64,
) -> io::Result<Member> {
    let start = content_start(archive, member)?;
    let copy = Member { at, ..member.clone() };
    out.write_all(&copy.local()?)?;
    archive.seek(SeekFrom::Start(start))?;
    let copied = io::copy(&mut archive.take(member.packed), out)?;
    if copied != member.packed {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(copy)
}

/// Seconds since 1970 as MS-DOS keeps a time.
pub fn dos_time(seconds: i64) -> u32 {
    let civil = Civil::at(seconds);
    let year = (civil.year - 1980).clamp(0, 127) as u32;
    let date = year << 9 | civil.month << 5 | civil.day;
    date << 16 | civil.hour << 11 | civil.minute << 5 | (civil.second / 2)
}

/// The date and time of a member: year, month, day, hour, minute, second.
pub fn parts(time: u32) -> [i64; 6] {
    let field = |shift: u32, bits: u32| i64::from(time >> shift & ((1 << bits) - 1));
    [1980 + field(25, 7), field(21, 4), field(16, 5), field(11, 5), field(5, 6), field(0, 5) * 2]
}

/// The same in seconds since 1970.
pub fn seconds(time: u32) -> i64 {
    let [year, month, day, hour, minute, second] = parts(time);
    calendar::days_of(year, month.max(1), day.max(1)) * calendar::DAY_SECONDS
        + hour * 3_600
        + minute * 60
        + second
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}
