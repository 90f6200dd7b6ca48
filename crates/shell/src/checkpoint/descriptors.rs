//! Descriptors above the three standard ones: files by path and position, texts of here-documents by what is left of
//! them. Streams and pipes belong to a process, and a file without a name to whoever has it open: those are lost, and
//! named.

use std::sync::Arc;

use bytes::Bytes;
use drydock_contract::{
    SharedSource,
    port::{Follow, Mode, OpenHow},
};
use serde::{Deserialize, Serialize};

use super::{
    BadCheckpoint, Lost, damaged,
    wire::{Reader, Writer},
};
use crate::{
    exec::FD_MAX,
    fd::{Fd, FileEnd},
    state::Env,
};

const OF: &str = "the descriptors";

/// The first that is not standard.
const FIRST: u32 = 3;

#[derive(Serialize, Deserialize)]
struct DescriptorRow<'a> {
    number: u32,
    /// Whether a `{name}>` opened it.
    named: bool,
    #[serde(borrow)]
    what: Open<'a>,
}

#[derive(Serialize, Deserialize)]
enum Open<'a> {
    Null,
    File {
        path: &'a str,
        position: u64,
        append: bool,
        readable: bool,
        writable: bool,
    },
    Text(&'a [u8]),
    /// The same, position and all, as one with a smaller number.
    SameAs(u32),
    Lost(&'a str),
}

/// Whether there is any above the standard ones.
pub(super) fn has_any(env: &Env) -> bool {
    env.fds.iter().any(|it| it.0 >= FIRST)
}

pub(super) fn write(env: &Env, to: &mut Writer) {
    let mut before: Vec<(u32, &Fd)> = Vec::new();
    to.count(env.fds.iter().filter(|it| it.0 >= FIRST).count());
    for (number, fd) in env.fds.iter().filter(|it| it.0 >= FIRST) {
        let named = env.fds.is_named(number);
        let mut put = |what| to.put(&DescriptorRow { number, named, what });
        if let Some((first, _)) = before.iter().find(|it| is_shared(it.1, fd)) {
            put(Open::SameAs(*first));
            continue;
        }
        before.push((number, fd));
        match fd {
            Fd::Null => put(Open::Null),
            Fd::File(file) => put(write_file(env, file)),
            Fd::Input(input) => match input.left() {
                Some(left) => put(Open::Text(&left)),
                None => put(Open::Lost("its text is at its end")),
            },
            Fd::Capture(_) => put(Open::Lost("its output was that of a line")),
            Fd::PipeIn(_) | Fd::PipeOut(_) | Fd::PipeBoth(_) => {
                put(Open::Lost("it was a pipe, or a stream of a line"))
            }
        }
    }
}

fn is_shared(one: &Fd, two: &Fd) -> bool {
    match (one, two) {
        (Fd::File(one), Fd::File(two)) => Arc::ptr_eq(one, two),
        (Fd::Input(one), Fd::Input(two)) => one.is_same(two),
        _ => false,
    }
}

fn write_file<'e>(env: &Env, end: &'e FileEnd) -> Open<'e> {
    let found = env.shared.files.stat(&end.path, Follow::Yes);
    let (Ok(found), Ok(open)) = (found, end.file.stat()) else {
        return Open::Lost("its file was deleted");
    };
    if found.inode != open.inode {
        return Open::Lost("its file has another name now, or none");
    }
    Open::File {
        path: end.path.as_str(),
        position: end.file.position(),
        append: end.is_appended,
        readable: end.readable,
        writable: end.writable,
    }
}

pub(super) fn read(mut from: Reader<'_, '_>, env: &mut Env, lost: &mut Lost) -> Result<(), BadCheckpoint> {
    let (mut next, mut opened) = (FIRST, Vec::new());
    for _ in 0..from.take::<u32>(OF)? {
        let DescriptorRow { number, named, what } = from.take(OF)?;
        if !(next..=FD_MAX).contains(&number) {
            return Err(damaged(format!("there is no descriptor {number}, or it is out of order")));
        }
        next = number + 1;
        opened.push((number, named, what));
    }
    // Nothing is opened before all is read.
    from.end(OF)?;
    for (number, named, what) in opened {
        let fd = match what {
            Open::Null => Ok(Fd::Null),
            Open::Text(left) => Ok(Fd::Input(SharedSource::new(Bytes::copy_from_slice(left).into()))),
            Open::SameAs(first) if (FIRST..number).contains(&first) => {
                env.fd(first).ok_or_else(|| format!("it was the same as {first}"))
            }
            Open::SameAs(_) => return Err(damaged("a descriptor is the same as one that is not there")),
            Open::Lost(why) => Err(why.to_owned()),
            Open::File { path, position, append, readable, writable } => {
                let how = OpenHow {
                    read: readable,
                    write: writable,
                    create: false,
                    exclusive: false,
                    truncate: false,
                    nofollow: false,
                    mode: Mode::new(0),
                };
                reopen(env, path, how, append, position)
            }
        };
        match fd {
            Ok(fd) => {
                env.fds.insert(number, fd);
                if named {
                    env.fds.name(number);
                }
            }
            Err(why) => lost.0.push(format!("descriptor {number} is closed: {why}")),
        }
    }
    Ok(())
}

/// Opens a file as it was, if it lies where this shell may look.
fn reopen(env: &Env, path: &str, how: OpenHow, append: bool, position: u64) -> Result<Fd, String> {
    let named = |why: String| format!("`/{path}`: {why}");
    let path = env.tree_path(&format!("/{path}")).map_err(named)?;
    let opened = env.shared.files.open(&path, how, append);
    let file = opened.map_err(|error| named(error.to_string()))?;
    file.seek(position);
    Ok(Fd::File(Arc::new(FileEnd {
        file,
        path,
        is_appended: append,
        readable: how.read,
        writable: how.write,
        bytes_max: env.rlimits.file_bytes_max(),
    })))
}
