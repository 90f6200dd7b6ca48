//! Shells that commands of the line start: each is a task beside the line's own, in the same memory.

use crate::door::HostDoor;
use crate::ends::{Reader, Writer};
use crate::host;
use drydock_abi::shell::{InsideEnd, InsideStart, NONE, NumberedStream, READS};
use drydock_contract::port::{FileRules, Mode};
use drydock_contract::{BoxFuture, Outcome};
use drydock_shell::door::{LineEnds, NumberedEnd};
use drydock_shell::{NestedCommand, NestedShells};
use std::sync::Arc;
use std::task::{Context, Poll};

/// Those that go on.
pub(crate) struct Shells {
    shells: NestedShells,
    running: Vec<(u32, BoxFuture<'static, Outcome>)>,
}

impl Shells {
    pub(crate) fn new(shells: NestedShells) -> Self {
        Self { shells, running: Vec::new() }
    }

    pub(crate) fn begin(&mut self, start: InsideStart) {
        let InsideStart {
            id,
            name,
            args,
            env,
            umask,
            file_bytes_max,
            recipe_of,
            seed,
            is_timed,
            streams,
            numbered,
        } = start;
        let writer = |handle| Arc::new(Writer { handle, columns: None, is_flushed: true });
        let ends = LineEnds {
            stdin: Arc::new(Reader(streams[0])),
            stdout: writer(streams[1]),
            stderr: writer(streams[2]),
        };
        let numbered = numbered.into_iter().map(|NumberedStream { number, handle, end }| {
            let end = match end {
                _ if handle == NONE => NumberedEnd::Nothing,
                READS => NumberedEnd::Reads(Arc::new(Reader(handle))),
                _ => NumberedEnd::Writes(writer(handle)),
            };
            (number, end)
        });
        let numbered = numbered.collect();
        let commands = Arc::new(HostDoor { level: id, is_timed });
        let (env, file_rules) =
            (env.into(), FileRules { umask: Mode::new(umask), bytes_max: file_bytes_max });
        let command =
            NestedCommand { name, args, env, file_rules, recipe_of, ends, numbered, commands, seed };
        self.running.push((id, self.shells.run(command)));
    }

    /// Polls them all, and tells the host of those that ended.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) {
        self.running.retain_mut(|(id, running)| match running.as_mut().poll(cx) {
            Poll::Pending => true,
            Poll::Ready(outcome) => {
                let end = match outcome {
                    Outcome::Exited(status) => InsideEnd::Exited(status),
                    Outcome::TimedOut => InsideEnd::TimedOut,
                    _ => InsideEnd::Cancelled,
                };
                let (kind, status) = end.numbers();
                host::ended(*id, kind, status);
                false
            }
        });
    }
}
