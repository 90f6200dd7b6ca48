//! What a probed line has of the world: a door with a few commands behind it, and a desk that knows them.

use std::{
    collections::VecDeque,
    future::{pending, poll_fn},
    sync::atomic::{AtomicUsize, Ordering},
    task::{Context, Poll},
};

use drydock_abi::exec::decode_command;
use drydock_contract::{
    BoxFuture, Call, CallError, Denial, Dispatch, InsideShell, LineDesk, Reply, Streams,
    port::{FileResult, Stat, TreePath},
};
use parking_lot::Mutex;

/// `quick` ends at once, `never` not at all, `cat` when its input has; nothing else is there.
#[derive(Default)]
pub struct ProbedDoor {
    /// Commands that go on.
    open: AtomicUsize,
}

/// One of the commands that go on.
struct Opened<'a>(&'a AtomicUsize);

impl<'a> Opened<'a> {
    fn count(open: &'a AtomicUsize) -> Self {
        open.fetch_add(1, Ordering::Relaxed);
        Self(open)
    }
}

impl Drop for Opened<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl ProbedDoor {
    /// How many commands go on.
    pub fn open(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }
}

impl Dispatch for ProbedDoor {
    fn dispatch<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Reply, CallError>> {
        let opened = Opened::count(&self.open);
        Box::pin(async move {
            let _opened = opened;
            if call.unread_bytes > 0 {
                return Err(Denial::TooLarge { what: "request", bytes: call.unread_bytes, max: 0 }.into());
            }
            let command = decode_command(call.payload).map_err(|bad| Denial::Malformed(bad.to_string()))?;
            match command.request.name {
                "quick" => Ok(Reply::of_bytes(Vec::new(), call.streams)),
                "never" => {
                    let _kept = call.streams;
                    pending().await
                }
                "cat" => {
                    copied(call.streams).await;
                    Ok(Reply::default())
                }
                name => Err(Denial::UnknownCommand(name.into()).into()),
            }
        })
    }
}

async fn copied(mut streams: Streams) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = poll_fn(|cx| streams.stdin.poll_read(cx, &mut buffer)).await {
        let mut rest = &buffer[..count];
        while !rest.is_empty() {
            match poll_fn(|cx| streams.stdout.poll_write(cx, rest)).await {
                Ok(written @ 1..) => rest = &rest[written.min(rest.len())..],
                Ok(_) | Err(_) => return,
            }
        }
    }
}

/// Knows the commands of [`ProbedDoor`], and hands out the shells that it was made with.
#[derive(Default)]
pub struct ProbedDesk {
    inside: Mutex<VecDeque<InsideShell>>,
}

impl ProbedDesk {
    /// One that hands out these.
    pub fn with(inside: impl IntoIterator<Item = InsideShell>) -> Self {
        Self { inside: Mutex::new(inside.into_iter().collect()) }
    }
}

impl LineDesk for ProbedDesk {
    fn command_names(&self) -> Vec<String> {
        ["quick", "never", "cat"].map(str::to_owned).to_vec()
    }

    fn has_command(&self, name: &str) -> bool {
        ["quick", "never", "cat"].contains(&name)
    }

    fn not_found(&self, name: &str) -> String {
        format!("{name}: command not found")
    }

    fn was_changed(&self, _: &TreePath, _: FileResult<Stat>) -> bool {
        false
    }

    fn is_over(&self) -> bool {
        false
    }

    fn poll_inside(&self, _: &mut Context<'_>) -> Poll<InsideShell> {
        self.inside.lock().pop_front().map_or(Poll::Pending, Poll::Ready)
    }
}
