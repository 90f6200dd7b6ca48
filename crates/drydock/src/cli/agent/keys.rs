//! Lines that a person types at a question. What was typed before it stood there is nobody's answer to it.

use std::{
    io::{self, IsTerminal as _},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    termios::{QueueSelector, tcflush},
};
use tokio::sync::mpsc;

/// The longest line that a terminal hands on.
const LINE_BYTES_MAX: usize = 4096;

/// Whoever sits at the terminal.
pub(super) struct Keys {
    turn: Arc<Mutex<Turn>>,
    lines: mpsc::UnboundedReceiver<Option<String>>,
}

/// Whose the next line is. The thread that reads holds it from before it reads until the line is handed on, so no line is
/// on its way while a question begins.
#[derive(Default)]
struct Turn {
    /// A question stands there and has no line yet.
    is_asked: bool,
    /// Something was typed while none did.
    was_early: bool,
}

impl Keys {
    /// Nobody, unless somebody sits there.
    pub(super) fn of_terminal() -> Option<Self> {
        if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
            return None;
        }
        let (to, lines) = mpsc::unbounded_channel();
        let turn = Arc::<Mutex<Turn>>::default();
        let readers = Arc::clone(&turn);
        // A line that is being typed cannot be taken back, so its thread goes with the process.
        std::thread::spawn(move || while read(&readers, &to).is_some() {});
        Some(Self { turn, lines })
    }

    /// A question is about to be shown: what was typed so far is thrown away. True if there was something.
    pub(super) fn begin(&mut self) -> bool {
        let mut turn = held(&self.turn);
        let mut was_early = std::mem::take(&mut turn.was_early);
        while self.lines.try_recv().is_ok() {
            was_early = true;
        }
        was_early |= rustix::io::ioctl_fionread(io::stdin()).is_ok_and(|bytes| bytes > 0);
        // A line that is not over, too. Where that fails there is no terminal any more.
        let _ = tcflush(io::stdin(), QueueSelector::IFlush);
        turn.is_asked = true;
        was_early
    }

    /// The line that was typed after the question; nothing for somebody who went away.
    pub(super) async fn line(&mut self) -> Option<String> {
        self.lines.recv().await.flatten()
    }
}

/// Nobody panics while holding it; were it so, it says still what it said.
fn held(turn: &Mutex<Turn>) -> MutexGuard<'_, Turn> {
    turn.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads one line and gives it to the question that stands there, or to nobody. Nothing once no more will come.
fn read(turn: &Mutex<Turn>, to: &mpsc::UnboundedSender<Option<String>>) -> Option<()> {
    let stdin = io::stdin();
    let ready = |wait: Option<&Timespec>| {
        let mut polled = [PollFd::new(&stdin, PollFlags::IN)];
        poll(&mut polled, wait).map(|_| polled[0].revents())
    };
    match ready(None) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(_) => return None,
    }
    let mut turn = held(turn);
    // It may have been thrown away since; a terminal has whole lines, so what is there is read without waiting.
    let now = ready(Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).unwrap_or(PollFlags::empty());
    if now.is_empty() {
        return Some(());
    }
    let mut bytes = [0; LINE_BYTES_MAX];
    let got = match rustix::io::read(&stdin, &mut bytes) {
        Ok(got) => got,
        Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => return Some(()),
        Err(_) => return None,
    };
    if got == 0 && now.contains(PollFlags::HUP) {
        return None;
    }
    if !std::mem::take(&mut turn.is_asked) {
        turn.was_early = true;
        return Some(());
    }
    // Ctrl-D at the beginning of a line is no line.
    let line = (got > 0).then(|| String::from_utf8_lossy(&bytes[..got]).into_owned());
    to.send(line).ok()
}
