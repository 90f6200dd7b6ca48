//! Answers what the shell of a line asks, and hands it the shells that commands of the line start.

use std::{
    collections::VecDeque,
    future::poll_fn,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    task::{Context, Poll, Waker},
    time::Instant,
};

use drydock_commands::catalog;
use drydock_contract::{
    BoxFuture, Cap, Deadline, InsideShell, InsideTime, LineDesk, Outcome, Streams, Waited,
    port::{Clock, FileResult, Registry as _, Stat, TreePath},
    schedule, text,
};
use drydock_gate::{HeldGrants, Inside, InsideCommand};
use drydock_store::LineFiles;
use parking_lot::Mutex;
use tokio::sync::oneshot;

use crate::{Dock, HostCommands, line::Line, pip::PipDoor};

/// The desk of one shell.
pub(crate) struct Desk {
    pub(crate) dock: Dock,
    pub(crate) line: Arc<Line>,
    pub(crate) host_commands: HostCommands,
    pub(crate) may_install: bool,
    pub(crate) grants: HeldGrants,
    pub(crate) files: Arc<LineFiles>,
    pub(crate) inside: Arc<InsideQueue>,
}

impl Desk {
    /// Whoever may not run a command is not told either that there is one.
    fn admits(&self, name: &str) -> bool {
        self.grants.now().could_admit(Cap::Exec, name, self.dock.gate.now())
    }
}

impl LineDesk for Desk {
    fn has_command(&self, name: &str) -> bool {
        let is_there = || {
            self.dock.registry.lookup(name, None).is_some()
                || self.host_commands.has(name)
                || self.dock.provides(name, self.may_install)
        };
        self.admits(name) && is_there()
    }

    fn command_names(&self) -> Vec<String> {
        let all = self.dock.registry.names();
        all.iter().map(|it| it.as_str()).filter(|it| self.admits(it)).map(str::to_owned).collect()
    }

    fn not_found(&self, name: &str) -> String {
        self.dock.remedy(name).unwrap_or_else(|| {
            let all = self.dock.registry.names();
            catalog::not_found(name, all.iter().map(|it| it.as_str()).filter(|it| self.admits(it)))
        })
    }

    fn was_changed(&self, path: &TreePath, open: FileResult<Stat>) -> bool {
        self.files.was_changed(path, open)
    }

    fn is_over(&self) -> bool {
        self.line.is_over()
    }

    fn catches_interrupt(&self, catches: bool) {
        self.inside.1.is_caught.store(catches, Ordering::Relaxed);
    }

    fn take_interrupt(&self) -> bool {
        let pending = &self.inside.1.is_pending;
        pending.load(Ordering::Relaxed) && pending.swap(false, Ordering::Relaxed)
    }

    fn poll_inside(&self, cx: &mut Context<'_>) -> Poll<InsideShell> {
        self.inside.poll_next(cx)
    }
}

/// Most shells that wait to be taken. The guest takes all of them in each of its waits, and pays from then on.
const QUEUE_MAX: usize = 256;

/// Shells that commands of a line start, on their way to the line's own guest.
#[derive(Default)]
pub(crate) struct InsideQueue(Mutex<Queue>, Interrupt);

/// Ctrl-C on its way to a trap of the shell.
#[derive(Default)]
struct Interrupt {
    is_caught: AtomicBool,
    is_pending: AtomicBool,
    /// How many the line was told of.
    told: AtomicU32,
}

/// So many are for the trap of a line; the next one ends it, whatever it has a trap for.
const INTERRUPTS_MAX: u32 = 3;

#[derive(Default)]
struct Queue {
    shells: VecDeque<InsideShell>,
    waiting: Option<Waker>,
}

impl InsideQueue {
    fn push(&self, shell: InsideShell) {
        let mut queue = self.0.lock();
        if queue.shells.len() >= QUEUE_MAX {
            drop(queue);
            return (shell.end)(Outcome::Trapped("too many shells wait to begin".into()), shell.streams);
        }
        queue.shells.push_back(shell);
        if let Some(waker) = queue.waiting.take() {
            drop(queue);
            waker.wake();
        }
    }

    fn poll_next(&self, cx: &Context<'_>) -> Poll<InsideShell> {
        let mut queue = self.0.lock();
        match queue.shells.pop_front() {
            Some(shell) => Poll::Ready(shell),
            None => {
                if !queue.waiting.as_ref().is_some_and(|it| it.will_wake(cx.waker())) {
                    queue.waiting = Some(cx.waker().clone());
                }
                Poll::Pending
            }
        }
    }

    /// A line begins: nobody catches anything yet.
    pub(crate) fn begin_line(&self) {
        self.1.is_caught.store(false, Ordering::Relaxed);
        self.1.is_pending.store(false, Ordering::Relaxed);
        self.1.told.store(0, Ordering::Relaxed);
    }

    /// Somebody pressed Ctrl-C: whether that is for a trap of the shell, and does not end the line.
    pub(crate) fn interrupt(&self) -> bool {
        let is_caught = self.1.is_caught.load(Ordering::Relaxed)
            && self.1.told.fetch_add(1, Ordering::Relaxed) < INTERRUPTS_MAX;
        if is_caught {
            self.1.is_pending.store(true, Ordering::Relaxed);
            let waiting = self.0.lock().waiting.take();
            if let Some(waker) = waiting {
                waker.wake();
            }
        }
        is_caught
    }

    /// Nobody takes them any more: whoever started one is told that it was cancelled.
    pub(crate) fn clear(&self) {
        let shells = std::mem::take(&mut self.0.lock().shells);
        for shell in shells {
            (shell.end)(Outcome::Cancelled, shell.streams);
        }
    }
}

/// A line's shell as a command that its own commands may start, once the gate has let them.
pub(crate) struct ShellInside {
    pub(crate) queue: Arc<InsideQueue>,
    pub(crate) clock: Arc<dyn Clock>,
}

/// Names that mean the line's own shell.
pub(crate) const SHELL_NAMES: [&str; 3] = ["bash", "dash", "sh"];

impl Inside for ShellInside {
    fn offers(&self, name: &str) -> bool {
        SHELL_NAMES.contains(&name)
    }

    fn run(&self, command: InsideCommand) -> BoxFuture<'static, (Outcome, Streams)> {
        let InsideCommand {
            name,
            mut args,
            env,
            wall_max,
            file_rules,
            caller,
            streams,
            door,
            entropy,
            preparing,
        } = command;
        // That it is `make` itself, and not somebody who says so, the gate knows.
        let recipe_of = (caller.as_deref() == Some(MAKE)).then(|| take_claims(&mut args));
        let time = match (wall_max, self.clock.stepped()) {
            (None, _) => InsideTime::Lines,
            (Some(wall), Some(clock)) => InsideTime::Stepped(clock.stands_at().plus(wall)),
            (Some(wall), None) => {
                InsideTime::Until(Deadline::new(Instant::now(), wall, Waited::from_now(Some(preparing))))
            }
        };
        let (told, mut end) = oneshot::channel();
        self.queue.push(InsideShell {
            name,
            args,
            env,
            file_rules,
            recipe_of,
            seed: entropy.seed(),
            time,
            streams,
            door: Arc::new(PipDoor(door)),
            end: Box::new(move |outcome, streams| drop(told.send((outcome, streams)))),
        });
        Box::pin(poll_fn(move |cx| match Pin::new(&mut end).poll(cx) {
            Poll::Ready(ended) => Poll::Ready(ended.unwrap_or((Outcome::Cancelled, Streams::default()))),
            Poll::Pending => {
                schedule::waits_inside();
                Poll::Pending
            }
        }))
    }
}

/// The built-in command whose word about makefiles is taken.
const MAKE: &str = "make";
const CLAIM: &[u8] = b"--from-makefile";

/// The makefiles that a recipe says it comes from, which are no arguments of its shell.
fn take_claims(args: &mut Vec<Vec<u8>>) -> Vec<String> {
    let mut files = Vec::new();
    while args.first().is_some_and(|it| it == CLAIM) {
        let claim: Vec<_> = args.drain(..args.len().min(2)).collect();
        files.extend(claim.get(1).map(|it| text::from_bytes(it).into_owned()));
    }
    files
}

#[cfg(test)]
mod tests {
    use drydock_contract::{Call, CallError, Denial, Dispatch, Reply, port::FileRules};

    use super::*;

    struct Closed;

    impl Dispatch for Closed {
        fn dispatch<'a>(&'a self, _: Call<'a>) -> BoxFuture<'a, Result<Reply, CallError>> {
            Box::pin(async { Err(Denial::Revoked.into()) })
        }
    }

    #[test]
    fn no_more_shells_wait_to_begin_than_may() {
        let (queue, ended) = (InsideQueue::default(), Arc::new(Mutex::new(0)));
        for _ in 0..QUEUE_MAX + 9 {
            let ended = Arc::clone(&ended);
            queue.push(InsideShell {
                name: "sh".into(),
                args: Vec::new(),
                env: Arc::new([]),
                file_rules: FileRules::USUAL,
                recipe_of: None,
                seed: 0,
                time: InsideTime::Lines,
                streams: Streams::default(),
                door: Arc::new(Closed),
                end: Box::new(move |_, _| *ended.lock() += 1),
            });
        }
        assert_eq!((queue.0.lock().shells.len(), *ended.lock()), (QUEUE_MAX, 9));
        queue.clear();
        assert_eq!(*ended.lock(), QUEUE_MAX + 9);
    }

    #[test]
    fn claims_about_makefiles_are_taken_off_the_front() {
        let words = |line: &str| line.split(' ').map(|it| it.as_bytes().to_vec()).collect::<Vec<_>>();
        let mut args = words("--from-makefile a --from-makefile b -c x --from-makefile c");
        assert_eq!(take_claims(&mut args), ["a", "b"]);
        assert_eq!(args, words("-c x --from-makefile c"));
    }
}
