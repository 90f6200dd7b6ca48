//! `fd_readdir`: a listing is taken at cookie 0 and walked from there, so that names made or
//! removed meanwhile neither repeat nor hide others.

use drydock_contract::text;
use wasmtime::{Caller, Linker};

use super::{
    SPACE,
    layout::{filetype_of, rights},
    slowly,
};
use crate::{
    guest::Guest,
    memory::Memory,
    wasi::{Errno, Listing},
};

const HEAD_BYTES: usize = 24;

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.func_wrap_async(
        SPACE,
        "fd_readdir",
        |caller: Caller<'_, Guest>, (fd, buffer, cap, cookie, out): (u32, u32, u32, u64, u32)| {
            slowly(caller, move |memory, guest| readdir(memory, guest, fd, (buffer, cap), cookie, out))
        },
    )?;
    Ok(())
}

fn readdir(
    memory: &mut Memory<'_>,
    guest: &mut Guest,
    fd: u32,
    (buffer, cap): (u32, u32),
    cookie: u64,
    out: u32,
) -> Result<(), Errno> {
    let directory = guest.descriptors.directory(fd, rights::FD_READDIR)?;
    if cookie == 0 || directory.listing.is_none() {
        let path = directory.path.clone();
        let listing = Listing::look(guest, &path)?;
        // The old one goes first, so that reading a folder again costs nothing more.
        guest.descriptors.directory(fd, rights::FD_READDIR)?.listing = None;
        let listing = Listing::new(listing, &guest.meter)?;
        guest.descriptors.directory(fd, rights::FD_READDIR)?.listing = Some(listing);
    }
    let listing = guest.descriptors.directory(fd, rights::FD_READDIR)?.listing.as_ref();
    let listing = listing.map_or(&[][..], Listing::entries);
    let place = memory.bytes_mut(buffer, cap)?;
    let mut used = 0;
    let start = usize::try_from(cookie).unwrap_or(usize::MAX);
    for (index, entry) in listing.iter().enumerate().skip(start) {
        let mut head = [0; HEAD_BYTES];
        head[..8].copy_from_slice(&(index as u64 + 1).to_le_bytes());
        head[8..16].copy_from_slice(&entry.inode.to_le_bytes());
        // The guest sees the bytes of the name, whatever they are.
        let name = text::to_bytes(&entry.name);
        head[16..20].copy_from_slice(&(name.len() as u32).to_le_bytes());
        head[20] = filetype_of(entry.kind);
        // The last entry is cut where the buffer ends: a full buffer tells the guest to come again.
        for part in [&head[..], &*name] {
            let count = part.len().min(place.len() - used);
            place[used..used + count].copy_from_slice(&part[..count]);
            used += count;
        }
        if used == place.len() {
            break;
        }
    }
    memory.put_u32(out, used as u32)
}
