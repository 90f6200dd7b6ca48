//! Reading and writing `/dev/http` by its descriptor.

use std::task::Poll;

use wasmtime::Caller;

use super::{layout::rights, transfer::Iovecs};
use crate::{
    guest::{Guest, breathe},
    host::http::{self, Answer},
    memory,
    wait::{beside, wait_for},
    wasi::{Errno, Failure, WebStep},
};

/// Takes bytes of a request. A second one, or a byte too many, is refused.
pub(super) async fn write(caller: &mut Caller<'_, Guest>, fd: u32, vectors: &Iovecs) -> Result<u32, Failure> {
    caller.data_mut().descriptors.web(fd, rights::FD_WRITE)?;
    let mut total = 0;
    for mut rest in vectors.pieces() {
        while !rest.is_empty() {
            let (memory, guest) = memory::split(caller)?;
            let bytes = memory.0.get(rest.clone()).ok_or(Errno::Fault)?;
            let (count, step) = guest.descriptors.web(fd, rights::FD_WRITE)?.take(bytes);
            rest.start += count;
            total += count;
            on_step(caller, fd, step).await?;
            breathe(caller).await?;
        }
    }
    Ok(total as u32)
}

async fn on_step(caller: &mut Caller<'_, Guest>, fd: u32, step: WebStep) -> Result<(), Failure> {
    match step {
        WebStep::More => {}
        WebStep::Begins(bytes) => {
            if !caller.data().answers.has_room() {
                return Err(Errno::Mfile.into());
            }
            let held = http::hold_request(caller.data(), bytes)?;
            caller.data_mut().descriptors.web(fd, 0)?.held = Some(held);
        }
        WebStep::Oversized(bytes) => {
            http::refuse_oversized(caller, bytes).await;
            return Err(Errno::Fbig.into());
        }
        WebStep::Whole(request) => {
            let held = caller.data_mut().descriptors.web(fd, 0)?.held.take().ok_or(Errno::Io)?;
            let answer = Answer::to(caller.data_mut(), request, held);
            caller.data_mut().descriptors.web(fd, 0)?.answer = Some(answer);
        }
        WebStep::Surplus => return Err(Errno::Inval.into()),
    }
    Ok(())
}

/// Reads of the answer, after waiting for some of it. Before the request is whole there is none.
pub(super) async fn read(caller: &mut Caller<'_, Guest>, fd: u32, vectors: &Iovecs) -> Result<u32, Failure> {
    let is_asked = caller.data_mut().descriptors.web(fd, rights::FD_READ)?.answer.is_some();
    if !is_asked {
        return Err(Errno::Inval.into());
    }
    wait_for(caller, |caller, cx| {
        beside(caller, |caller| {
            let web = caller.data_mut().descriptors.web(fd, 0).ok();
            match web.and_then(|it| it.answer.as_mut()) {
                Some(answer) => answer.poll(cx),
                None => Poll::Ready(()),
            }
        })
    })
    .await;
    let mut total = 0;
    for piece in vectors.pieces() {
        let (memory, guest) = memory::split(caller)?;
        let answer = guest.descriptors.web(fd, 0)?.answer.as_mut().ok_or(Errno::Inval)?;
        total += answer.read(memory.0.get_mut(piece).ok_or(Errno::Fault)?);
    }
    Ok(total as u32)
}
