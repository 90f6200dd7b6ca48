//! Bytes between an open file and the guest's memory: a piece at a time, and the clock is looked at in
//! between, because one call can name the same memory a thousand times (decision 0015).

use std::{ops::Range, sync::Arc};

use wasmtime::{Caller, Linker};

use super::{SPACE, finish, layout::rights};
use crate::{
    guest::{Guest, breathe},
    memory::{self, range},
    wasi::{self, CALL_BYTES_MAX, Errno, Failure, PIECE_BYTES},
};

/// What a guest may name in one call; libc's own limit is the same.
const IOVECS_MAX: u32 = 1024;

type Args = (u32, u32, u32, u64, u32);

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.func_wrap_async(
        SPACE,
        "fd_pread",
        |mut caller: Caller<'_, Guest>, (fd, list, count, at, out): Args| {
            Box::new(async move {
                let result = pread(&mut caller, fd, (list, count), at, out).await;
                finish(&mut caller, result)
            })
        },
    )?;
    linker.func_wrap_async(
        SPACE,
        "fd_pwrite",
        |mut caller: Caller<'_, Guest>, (fd, list, count, at, out): Args| {
            Box::new(async move {
                let result = pwrite(&mut caller, fd, (list, count), at, out).await;
                finish(&mut caller, result)
            })
        },
    )?;
    Ok(())
}

async fn pread(
    caller: &mut Caller<'_, Guest>,
    fd: u32,
    (list, count): (u32, u32),
    at: u64,
    out: u32,
) -> Result<(), Failure> {
    breathe(caller).await?;
    caller.data_mut().descriptors.file(fd, rights::FD_READ)?;
    let vectors = iovecs(caller, list, count)?;
    let total = read_file(caller, fd, &vectors, Some(at)).await?;
    Ok(memory::split(caller)?.0.put_u32(out, total)?)
}

async fn pwrite(
    caller: &mut Caller<'_, Guest>,
    fd: u32,
    (list, count): (u32, u32),
    at: u64,
    out: u32,
) -> Result<(), Failure> {
    breathe(caller).await?;
    caller.data_mut().descriptors.file(fd, rights::FD_WRITE)?;
    let vectors = iovecs(caller, list, count)?;
    let total = write_file(caller, fd, &vectors, Some(at)).await?;
    Ok(memory::split(caller)?.0.put_u32(out, total)?)
}

/// Reads at `at`, or at the position and moves it.
pub(super) async fn read_file(
    caller: &mut Caller<'_, Guest>,
    fd: u32,
    vectors: &Iovecs,
    at: Option<u64>,
) -> Result<u32, Failure> {
    let mut total = 0;
    for piece in vectors.pieces() {
        if total > 0 {
            breathe(caller).await?;
        }
        let (memory, guest) = memory::split(caller)?;
        let file = guest.descriptors.file(fd, rights::FD_READ)?;
        let buffer = memory.0.get_mut(piece).ok_or(Errno::Fault)?;
        let got = match file.read(at.map(|at| at.saturating_add(total as u64)), buffer) {
            Ok(got) => got,
            // What went before it was read; the guest will meet the error at its next try.
            Err(_) if total > 0 => break,
            Err(errno) => return Err(errno.into()),
        };
        total += got;
        if got < buffer.len() {
            break;
        }
    }
    Ok(total as u32)
}

/// Writes at `at`, or at the position and moves it, or at the end.
pub(super) async fn write_file(
    caller: &mut Caller<'_, Guest>,
    fd: u32,
    vectors: &Iovecs,
    at: Option<u64>,
) -> Result<u32, Failure> {
    let now = wasi::now(caller.data_mut());
    let mut total = 0;
    for piece in vectors.pieces() {
        if total > 0 {
            breathe(caller).await?;
        }
        let (memory, guest) = memory::split(caller)?;
        let file = guest.descriptors.file(fd, rights::FD_WRITE)?;
        let bytes = memory.0.get(piece).ok_or(Errno::Fault)?;
        let wrote = file.write(at.map(|at| at.saturating_add(total as u64)), bytes, now);
        match wrote {
            Ok(()) => total += bytes.len(),
            Err(_) if total > 0 => break,
            Err(errno) => return Err(errno.into()),
        }
    }
    let file = caller.data_mut().descriptors.file(fd, rights::FD_WRITE)?;
    if file.synced {
        let file = Arc::clone(&file.file);
        wasi::sync(file).await?;
    }
    Ok(total as u32)
}

/// Checked ranges of guest memory: a few in place, as programs use them.
pub(super) struct Iovecs {
    few: [Range<usize>; 4],
    many: Vec<Range<usize>>,
    count: usize,
}

impl Iovecs {
    pub(super) fn filled(&self) -> impl Iterator<Item = &Range<usize>> {
        let all = if self.many.is_empty() { &self.few[..self.count] } else { &self.many[..] };
        all.iter().filter(|range| !range.is_empty())
    }

    /// The ranges in pieces, up to what one call moves.
    pub(super) fn pieces(&self) -> impl Iterator<Item = Range<usize>> {
        let cut = |it: &Range<usize>| {
            let end = it.end;
            it.clone().step_by(PIECE_BYTES).map(move |start| start..end.min(start + PIECE_BYTES))
        };
        self.filled().flat_map(cut).scan(0, |before, piece: Range<usize>| {
            let room = CALL_BYTES_MAX - *before;
            let piece = piece.start..piece.end.min(piece.start + room);
            *before += piece.len();
            (!piece.is_empty()).then_some(piece)
        })
    }
}

/// The guest's list, every range of it checked.
pub(super) fn iovecs(caller: &mut Caller<'_, Guest>, list: u32, count: u32) -> Result<Iovecs, Errno> {
    if count > IOVECS_MAX {
        return Err(Errno::Inval);
    }
    let (memory, _) = memory::split(caller)?;
    let mut all = Iovecs { few: [const { 0..0 }; 4], many: Vec::new(), count: count as usize };
    for index in 0..count {
        let (at, length) = memory.iovec(list, index)?;
        let place = range(at, u64::from(length))?;
        if place.end > memory.0.len() {
            return Err(Errno::Fault);
        }
        match all.few.get_mut(index as usize) {
            Some(slot) if count <= 4 => *slot = place,
            _ => all.many.push(place),
        }
    }
    Ok(all)
}

#[test]
fn one_call_moves_pieces_and_no_more_than_its_count_can_say() {
    let whole = 48 << 20;
    let all = Iovecs { few: [const { 0..0 }; 4], many: vec![0..whole; 1024], count: 1024 };
    assert!(all.pieces().all(|it| !it.is_empty() && it.len() <= PIECE_BYTES && it.end <= whole));
    assert_eq!(all.pieces().map(|it| it.len()).sum::<usize>(), CALL_BYTES_MAX);
    let few = Iovecs { few: [5..9, 0..0, 7..7, 1..3], many: Vec::new(), count: 4 };
    assert_eq!(few.pieces().collect::<Vec<_>>(), [5..9, 1..3]);
}
