//! This process's stdin, stdout and stderr as the streams of a run.
//!
//! Reads and writes happen on threads of tokio's, so that a deadline and Ctrl-C work while a pipe is stuck. A
//! regular file is never stuck, and saves the threads; so does a pipe that has room for what is written.

use std::{
    fs::File,
    io::{self, IoSlice, Read as _, Write as _},
    os::fd::{AsFd as _, BorrowedFd},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use drydock_embed::contract::{ByteSink, ByteSource, Sink, Source};
use rustix::{
    event::{PollFd, PollFlags, Timespec},
    io::{Errno, ReadWriteFlags},
};
use tokio::task::JoinHandle;

/// Our stdin.
pub(crate) fn stdin() -> io::Result<Source> {
    let file = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    Ok(Source::Stream(match file.metadata()?.is_file() {
        true => Box::new(OnDisk(file)),
        false => Box::new(Patient::new(file)),
    }))
}

/// The terminal as a command's stdin. It is read only when there is something to read, so a line that
/// was cancelled does not swallow the next one.
pub(crate) fn typed() -> io::Result<Source> {
    let file = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    Ok(Source::Stream(Box::new(Typed { file: Arc::new(file), waiting: None })))
}

/// Our stdout.
pub(crate) fn stdout() -> io::Result<Sink> {
    outgoing(io::stdout().as_fd())
}

/// How wide our stdout is, if it is a terminal.
pub(crate) fn stdout_columns() -> Option<u16> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some(if size.ws_col == 0 { COLUMNS_USUAL } else { size.ws_col })
}

/// Our stderr.
pub(crate) fn stderr() -> io::Result<Sink> {
    outgoing(io::stderr().as_fd())
}

/// A descriptor of ours as a file: the standard library's own handles hold a line back until it is
/// whole, and a command's half a line may be a prompt.
fn outgoing(descriptor: BorrowedFd<'_>) -> io::Result<Sink> {
    let file = File::from(descriptor.try_clone_to_owned()?);
    Ok(Sink::Stream(match file.metadata()?.is_file() {
        true => Box::new(OnDisk(file)),
        false => Box::new(Patient::new(file)),
    }))
}

/// A regular file.
struct OnDisk(File);

impl ByteSource for OnDisk {
    fn poll_read(&mut self, _: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(self.0.read(buffer))
    }
}

impl ByteSink for OnDisk {
    fn poll_write(&mut self, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(self.0.write(bytes))
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// A terminal. Threads wait for it and never read from it, and none waits long.
struct Typed {
    file: Arc<File>,
    waiting: Option<JoinHandle<io::Result<bool>>>,
}

const TYPED_WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

impl ByteSource for Typed {
    fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        loop {
            let file = Arc::clone(&self.file);
            let waiting = self.waiting.get_or_insert_with(|| {
                tokio::task::spawn_blocking(move || {
                    let ready =
                        rustix::event::poll(&mut [PollFd::new(&*file, PollFlags::IN)], Some(&TYPED_WAIT))?;
                    Ok(ready > 0)
                })
            });
            let ready = ready!(Pin::new(waiting).poll(cx)).map_err(io::Error::other)?;
            self.waiting = None;
            if ready? {
                return Poll::Ready((&*self.file).read(buffer));
            }
        }
    }
}

/// A descriptor that may keep whoever uses it waiting. Each read or write happens on a thread of
/// tokio's and is awaited: what a command wrote has arrived, or the command is told that it has not.
struct Patient {
    state: State,
    /// How wide it is, if it is a terminal.
    columns: Option<u16>,
}

enum State {
    Idle(File, Vec<u8>),
    Busy(JoinHandle<(File, Vec<u8>, io::Result<usize>)>),
    Lost,
}

/// How wide a terminal is that does not say.
const COLUMNS_USUAL: u16 = 80;

/// What the kernel takes for "where the descriptor is".
const CURRENT_POSITION: u64 = u64::MAX;

/// Most bytes moved at a time.
const PIECE_BYTES: usize = 64 << 10;

impl Patient {
    fn new(file: File) -> Self {
        // A terminal that does not know its width is taken for the usual one.
        let size = rustix::termios::tcgetwinsize(&file).ok();
        let columns = size.map(|it| if it.ws_col == 0 { COLUMNS_USUAL } else { it.ws_col });
        Self { state: State::Idle(file, Vec::new()), columns }
    }

    /// Starts `work` if nothing is going on, and polls for its end.
    fn poll(
        &mut self,
        cx: &mut Context<'_>,
        prepare: impl FnOnce(&mut Vec<u8>),
        work: impl FnOnce(&mut File, &mut Vec<u8>) -> io::Result<usize> + Send + 'static,
    ) -> Poll<io::Result<usize>> {
        if let State::Idle(..) = self.state
            && let State::Idle(mut file, mut buffer) = std::mem::replace(&mut self.state, State::Lost)
        {
            prepare(&mut buffer);
            self.state = State::Busy(tokio::task::spawn_blocking(move || {
                let result = work(&mut file, &mut buffer);
                (file, buffer, result)
            }));
        }
        let State::Busy(going_on) = &mut self.state else {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        };
        let (file, buffer, result) = ready!(Pin::new(going_on).poll(cx)).map_err(io::Error::other)?;
        self.state = State::Idle(file, buffer);
        Poll::Ready(result)
    }
}

impl ByteSource for Patient {
    fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let room = buffer.len().min(PIECE_BYTES);
        let got = ready!(self.poll(
            cx,
            |piece| piece.resize(room, 0),
            |file, piece| { once_ready(file, PollFlags::IN, |file| file.read(piece)) }
        ))?;
        let State::Idle(_, piece) = &self.state else { return Poll::Ready(Ok(0)) };
        // A read that was begun for a larger buffer cannot end in a smaller one: the guest waits.
        let got = got.min(buffer.len());
        buffer[..got].copy_from_slice(&piece[..got]);
        Poll::Ready(Ok(got))
    }
}

impl ByteSink for Patient {
    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let piece = &bytes[..bytes.len().min(PIECE_BYTES)];
        if let State::Idle(file, _) = &self.state
            && let Some(written) = at_once(file, piece)
        {
            return Poll::Ready(written);
        }
        let fill = |buffer: &mut Vec<u8>| {
            buffer.clear();
            buffer.extend_from_slice(piece);
        };
        self.poll(cx, fill, |file, piece| once_ready(file, PollFlags::OUT, |file| file.write(piece)))
    }

    fn columns(&self) -> Option<u16> {
        self.columns
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Writes what there is room for now: a pipe that is read takes a line's few words without a thread. Nothing if there is
/// no room, or if the descriptor cannot promise not to wait.
fn at_once(file: &File, bytes: &[u8]) -> Option<io::Result<usize>> {
    match rustix::io::pwritev2(file, &[IoSlice::new(bytes)], CURRENT_POSITION, ReadWriteFlags::NOWAIT) {
        Ok(count) => Some(Ok(count)),
        Err(Errno::PIPE) => Some(Err(io::ErrorKind::BrokenPipe.into())),
        Err(_) => None,
    }
}

/// Tries until the descriptor is ready. Some parents leave theirs non-blocking.
fn once_ready(
    file: &mut File,
    wanted: PollFlags,
    mut act: impl FnMut(&mut File) -> io::Result<usize>,
) -> io::Result<usize> {
    loop {
        match act(file) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                rustix::event::poll(&mut [PollFd::new(file, wanted)], None)?;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}
