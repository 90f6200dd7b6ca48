//! A secret that a person types: asked for on stderr, and not shown while it is typed.

use std::io::{self, BufRead as _, Write as _};

use drydock_embed::contract::exit::CANCELLED;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use tokio::signal::unix::{SignalKind, signal};

/// A terminal that does not show what is typed, until this is dropped.
struct Unseen(Termios);

impl Unseen {
    fn begin() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let unseen = Self(before.clone());
        let mut modes = before;
        modes.local_modes.remove(LocalModes::ECHO);
        tcsetattr(io::stdin(), OptionalActions::Flush, &modes)?;
        Ok(unseen)
    }
}

impl Drop for Unseen {
    fn drop(&mut self) {
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
        let _ = writeln!(io::stderr());
    }
}

/// Reads one line of a terminal into `value`, of so many bytes at most.
pub(crate) fn line(what: &str, value: &mut Vec<u8>, bytes_max: u64) -> io::Result<()> {
    let unseen = Unseen::begin()?;
    // Ctrl-C would end this process and leave the terminal mute.
    let before = unseen.0.clone();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut interrupt = {
        let _inside = runtime.enter();
        signal(SignalKind::interrupt())?
    };
    std::thread::spawn(move || {
        runtime.block_on(interrupt.recv());
        drop(Unseen(before));
        std::process::exit(i32::from(CANCELLED));
    });
    write!(io::stderr(), "{what} (it is not shown; Enter ends it): ")?;
    io::Read::take(io::stdin().lock(), bytes_max).read_until(b'\n', value)?;
    Ok(())
}
