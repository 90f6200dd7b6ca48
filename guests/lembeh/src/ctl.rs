//! `_ctl`: which capabilities there are, what they are, and the hub.

use crate::{
    abi,
    stream::Stream,
    wire::{Reader, Writer},
};

const HEADER_BYTES: usize = 20;

/// Names every capability.
pub const CAPS_LIST: u16 = 1;
/// Says what one is.
pub const CAPS_DESCRIBE: u16 = 2;
/// Opens one.
pub const CAPS_OPEN: u16 = 3;

/// Why an operation has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused<'a> {
    /// The host said so, by this trace.
    Trace(&'a str),
    /// -1: the request cannot be answered, or its answer does not fit.
    Nothing,
    /// The answer is none.
    Malformed,
}

/// Asks with a whole frame, and gives the response's bytes.
pub fn ask<'a>(request: &[u8], response: &'a mut [u8]) -> Option<&'a [u8]> {
    let (len, cap) = (abi::length(request.len()), abi::length(response.len()));
    // SAFETY: the host reads the request and writes at most `cap` bytes of the response.
    let count = unsafe { abi::_ctl(request.as_ptr(), len, response.as_mut_ptr(), cap) };
    response.get(..usize::try_from(count).ok()?)
}

/// One operation with its payload: what it answers.
pub fn operation<'a>(op: u16, payload: &[u8], room: &'a mut [u8]) -> Result<&'a [u8], Refused<'a>> {
    let mut frame = [0; 512];
    let mut writer = Writer::new(&mut frame);
    writer.raw(b"ZCL1").h2(1).h2(op).h4(1).h4(0).h4(0).bytes(payload);
    let used = writer.done().ok_or(Refused::Malformed)?;
    let response = ask(&frame[..used], room).ok_or(Refused::Nothing)?;
    body(op, response)
}

/// What a response says.
pub fn body(op: u16, response: &[u8]) -> Result<&[u8], Refused<'_>> {
    read(op, response).ok_or(Refused::Malformed)?
}

fn read(op: u16, response: &[u8]) -> Option<Result<&[u8], Refused<'_>>> {
    let mut reader = Reader(response);
    let is_head = reader.raw(4)? == b"ZCL1" && reader.h2()? == 1 && reader.h2()? == op;
    let (_rid, flags) = (reader.h4()?, reader.h4()?);
    let payload = reader.bytes()?;
    reader.end()?;
    if !is_head || flags != 0 || response.len() < HEADER_BYTES + 4 {
        return None;
    }
    let mut reader = Reader(payload);
    match reader.h4()? {
        1 => Some(Ok(reader.0)),
        0 => {
            let trace = reader.text()?;
            let (_msg, _cause) = (reader.text()?, reader.bytes()?);
            reader.end()?;
            Some(Err(Refused::Trace(trace)))
        }
        _ => None,
    }
}

/// Opens the async hub.
pub fn open_hub() -> Option<Stream> {
    let (mut payload, mut room) = ([0; 64], [0; 128]);
    let mut writer = Writer::new(&mut payload);
    // An empty session id and no flags.
    writer.bytes(b"async").bytes(b"default").h4(1).h4(8).h4(0).h4(0);
    let used = writer.done()?;
    let opened = operation(CAPS_OPEN, &payload[..used], &mut room).ok()?;
    let mut reader = Reader(opened);
    let (handle, hflags) = (reader.h4()?, reader.h4()?);
    reader.bytes()?;
    reader.end()?;
    let handle = i32::try_from(handle).ok().filter(|it| *it >= 3)?;
    // Readable and writable.
    (hflags & 3 == 3).then_some(Stream(handle))
}
