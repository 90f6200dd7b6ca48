//! Objects in files of their own: `objects/ab/cdef…`, a head and the bytes, deflated.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use gix_object::Kind;
use gix_zlib::{Decompress, FlushDecompress, Status};

use super::OBJECT_BYTES_MAX;
use crate::Oid;
use crate::fail::{Done, fatal};

/// `commit 18446744073709551615` and its end.
const HEAD_BYTES_MAX: usize = 32;

/// Where it lies.
pub(super) fn path(folder: &Path, id: Oid) -> PathBuf {
    let text = id.to_string();
    folder.join(&text[..2]).join(&text[2..])
}

/// Reads one, if it is there.
pub(super) fn read(folder: &Path, id: Oid) -> Done<Option<(Kind, Vec<u8>)>> {
    let Ok(packed) = std::fs::read(path(folder, id)) else { return Ok(None) };
    let corrupt =
        || fatal(format!("loose object {id} (stored in {}) is corrupt", path(folder, id).display()));
    let (kind, bytes) = inflate(&packed).ok_or_else(corrupt)?;
    if super::hash(kind, &bytes)? != id {
        return Err(corrupt());
    }
    Ok(Some((kind, bytes)))
}

/// The kind and the bytes that a file's bytes stand for; nothing if they stand for none.
pub fn inflate(packed: &[u8]) -> Option<(Kind, Vec<u8>)> {
    let mut state = Decompress::new();
    let mut head = [0; HEAD_BYTES_MAX];
    state.decompress(packed, &mut head, FlushDecompress::None).ok()?;
    let got = usize::try_from(state.total_out()).ok()?.min(HEAD_BYTES_MAX);
    let end = head[..got].iter().position(|it| *it == 0)?;
    let (kind, size) = parse_head(&head[..end])?;
    if size > OBJECT_BYTES_MAX {
        return None;
    }
    let mut bytes = head[end + 1..got].to_vec();
    // What the head claims is made room for only as far as the bytes bear it out: deflate makes at most
    // 1032 bytes of one.
    bytes.reserve(size.min(packed.len().saturating_mul(1032)).saturating_sub(bytes.len()));
    let mut buffer = [0; 1 << 14];
    while bytes.len() <= size {
        let (taken, made) = (state.total_in(), state.total_out());
        let rest = packed.get(usize::try_from(taken).ok()?..)?;
        let status = state.decompress(rest, &mut buffer, FlushDecompress::None).ok()?;
        let more = usize::try_from(state.total_out() - made).ok()?;
        bytes.extend_from_slice(buffer.get(..more)?);
        if status == Status::StreamEnd {
            break;
        }
        if more == 0 && state.total_in() == taken {
            return None;
        }
    }
    (bytes.len() == size).then_some((kind, bytes))
}

fn parse_head(head: &[u8]) -> Option<(Kind, usize)> {
    let text = std::str::from_utf8(head).ok()?;
    let (kind, size) = text.split_once(' ')?;
    let digits = !size.is_empty() && size.bytes().all(|it| it.is_ascii_digit());
    let kind = Kind::from_bytes(kind.as_bytes()).ok()?;
    Some((kind, size.parse().ok().filter(|_| digits)?))
}

/// Writes one.
pub(super) fn write(folder: &Path, id: Oid, kind: Kind, bytes: &[u8]) -> Done {
    let path = path(folder, id);
    let level = gix_zlib::Compression::new(1).unwrap_or_default();
    let mut packed = gix_zlib::stream::deflate::Write::new(Vec::with_capacity(bytes.len() / 2 + 64), level);
    let head = format!("{kind} {}\0", bytes.len());
    let written = packed.write_all(head.as_bytes()).and_then(|()| packed.write_all(bytes));
    written.and_then(|()| packed.flush()).map_err(|cause| fatal(format!("unable to deflate: {cause}")))?;
    let whole = packed.into_inner();
    crate::file::replace(&path, &whole)?;
    let _ = modes::set(&path, true, 0o444);
    Ok(())
}

/// Objects by the first digits of their hash.
pub(super) fn beginning(folder: &Path, digits: &str) -> Vec<Oid> {
    let Some(first) = digits.get(..2) else { return Vec::new() };
    let names = std::fs::read_dir(folder.join(first)).into_iter().flatten().flatten();
    let ids = names.filter_map(|entry| {
        let name = format!("{first}{}", entry.file_name().to_str()?);
        if name.starts_with(digits) { Oid::from_hex(name.as_bytes()).ok() } else { None }
    });
    ids.collect()
}
