//! `fd_read` and `fd_write`: the two calls that may wait.

use std::ops::Range;

use wasmtime::{Caller, Linker};

use super::{
    SPACE, door, finish,
    layout::rights,
    transfer::{iovecs, read_file, write_file},
    web,
};
use crate::{
    guest::{Guest, breathe},
    memory,
    wait::wait_for,
    wasi::{self, Descriptor, Errno, Failure, Output},
};

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    type Args = (u32, u32, u32, u32);
    linker.func_wrap_async(
        SPACE,
        "fd_read",
        |mut caller: Caller<'_, Guest>, (fd, list, count, out): Args| {
            Box::new(async move {
                let result = fd_read(&mut caller, fd, list, count, out).await;
                finish(&mut caller, result)
            })
        },
    )?;
    linker.func_wrap_async(
        SPACE,
        "fd_write",
        |mut caller: Caller<'_, Guest>, (fd, list, count, out): Args| {
            Box::new(async move {
                let result = fd_write(&mut caller, fd, list, count, out).await;
                finish(&mut caller, result)
            })
        },
    )?;
    Ok(())
}

async fn fd_read(
    caller: &mut Caller<'_, Guest>,
    fd: u32,
    list: u32,
    count: u32,
    out: u32,
) -> Result<(), Failure> {
    breathe(caller).await?;
    let vectors = iovecs(caller, list, count)?;
    let total = match caller.data_mut().descriptors.get(fd)? {
        Descriptor::File(_) => read_file(caller, fd, &vectors, None).await?,
        Descriptor::Door(_) => door::read(caller, fd, &vectors).await?,
        Descriptor::Web(_) => web::read(caller, fd, &vectors).await?,
        Descriptor::Directory(_) => return Err(Errno::Isdir.into()),
        Descriptor::Stdout | Descriptor::Stderr => return Err(Errno::Badf.into()),
        Descriptor::Numbered(..) => {
            caller.data_mut().descriptors.with(fd, rights::FD_READ)?;
            match vectors.filled().next().cloned() {
                Some(vector) => read_numbered(caller, fd, vector).await? as u32,
                None => 0,
            }
        }
        Descriptor::Stdin => {
            caller.data_mut().descriptors.with(fd, rights::FD_READ)?;
            wasi::ask_for_input(caller.data_mut())?;
            let first = vectors.filled().next().cloned();
            match first {
                Some(vector) => read_stdin(caller, vector).await? as u32,
                None => 0,
            }
        }
    };
    let (mut memory, _) = memory::split(caller)?;
    Ok(memory.put_u32(out, total)?)
}

/// Reads once, into the first vector: what is there now, not what may come.
async fn read_stdin(caller: &mut Caller<'_, Guest>, vector: Range<usize>) -> Result<usize, Failure> {
    wait_for(caller, |caller, cx| {
        let (memory, guest) = memory::split(caller)?;
        let buffer = memory.0.get_mut(vector.clone()).ok_or(Errno::Fault)?;
        wasi::poll_read_stdin(cx, guest, buffer)
    })
    .await
}

/// Reads once from what was opened by its number, into the first vector.
async fn read_numbered(
    caller: &mut Caller<'_, Guest>,
    fd: u32,
    vector: Range<usize>,
) -> Result<usize, Failure> {
    wait_for(caller, |caller, cx| {
        let (memory, guest) = memory::split(caller)?;
        let buffer = memory.0.get_mut(vector.clone()).ok_or(Errno::Fault)?;
        wasi::poll_read_numbered(cx, guest.descriptors.numbered(fd)?, buffer)
    })
    .await
}

async fn fd_write(
    caller: &mut Caller<'_, Guest>,
    fd: u32,
    list: u32,
    count: u32,
    out: u32,
) -> Result<(), Failure> {
    breathe(caller).await?;
    let vectors = iovecs(caller, list, count)?;
    let output = match caller.data_mut().descriptors.get(fd)? {
        Descriptor::Stdin => return Err(Errno::Badf.into()),
        Descriptor::Directory(_) => return Err(Errno::Isdir.into()),
        Descriptor::File(_) => {
            let written = write_file(caller, fd, &vectors, None).await?;
            let (mut memory, _) = memory::split(caller)?;
            return Ok(memory.put_u32(out, written)?);
        }
        Descriptor::Door(_) => {
            let written = door::write(caller, fd, &vectors).await?;
            let (mut memory, _) = memory::split(caller)?;
            return Ok(memory.put_u32(out, written)?);
        }
        Descriptor::Web(_) => {
            let written = web::write(caller, fd, &vectors).await?;
            let (mut memory, _) = memory::split(caller)?;
            return Ok(memory.put_u32(out, written)?);
        }
        Descriptor::Numbered(..) => None,
        Descriptor::Stdout => Some(Output::Stdout),
        Descriptor::Stderr => Some(Output::Stderr),
    };
    caller.data_mut().descriptors.with(fd, rights::FD_WRITE)?;
    let mut total = 0;
    for mut rest in vectors.pieces() {
        while !rest.is_empty() {
            // A sink that takes everything at once would otherwise keep the thread, and the run beyond its time.
            if total > 0 {
                breathe(caller).await?;
            }
            let wrote = wait_for(caller, |caller, cx| {
                let (memory, guest) = memory::split(caller)?;
                let bytes = memory.0.get(rest.clone()).ok_or(Errno::Fault)?;
                match output {
                    Some(output) => output.poll_write(cx, guest, bytes),
                    None => {
                        let (stream, count) = (guest.descriptors.numbered(fd)?, &mut guest.counts.numbered);
                        wasi::poll_write_numbered(cx, stream, count, guest.limits.stdout_bytes_max, bytes)
                    }
                }
            });
            let wrote = wrote.await.map_err(wasi::unless_read)?;
            rest.start += wrote;
            total += wrote;
        }
    }
    let (mut memory, _) = memory::split(caller)?;
    Ok(memory.put_u32(out, total as u32)?)
}
