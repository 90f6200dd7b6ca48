//! Other commands, for `system`, `command | getline` and `print | command`: the text goes to the line's shell, as
//! `xargs sh -c` does. Nothing of it is read here.

use child::{Captured, Ended, Stdin};

/// The shell of the line that awk runs in.
const SHELL: &[u8] = b"sh";

/// What the command reads.
#[derive(Clone, Copy)]
pub(crate) enum Input<'a> {
    /// What awk would have read.
    Ours,
    Bytes(&'a [u8]),
}

/// Runs a text; its output goes where ours goes. Its status.
pub(crate) fn run(text: &[u8], input: Input<'_>) -> i32 {
    let (bytes, stdin) = match input {
        Input::Ours => (&b""[..], Stdin::Ours),
        Input::Bytes(bytes) => (bytes, Stdin::Empty),
    };
    let ended = child::run_with_input(SHELL, &arguments(text), bytes, stdin);
    tell(text, &ended);
    ended.status()
}

/// Runs a text; what it printed, and its status.
pub(crate) fn capture(text: &[u8]) -> (Vec<u8>, i32) {
    match child::capture(SHELL, &arguments(text), b"") {
        Captured::Output(printed, status) => (printed, status),
        Captured::Failed(ended) => {
            tell(text, &ended);
            (Vec::new(), ended.status())
        }
    }
}

fn arguments(text: &[u8]) -> [Vec<u8>; 2] {
    [b"-c".to_vec(), text.to_vec()]
}

/// What became of the shell where it did not say so itself.
fn tell(text: &[u8], ended: &Ended) {
    let why = match ended {
        Ended::Exited(_) => return,
        Ended::NotFound => "there is no shell here: only a line of a shell has one".to_owned(),
        Ended::Refused(code, _) => format!("refused: {code}"),
        Ended::Stopped(code, _) => format!("stopped: {code}"),
        Ended::TimedOut => "its time was up".to_owned(),
    };
    crate::complain(&format!("cannot run `{}': {why}", String::from_utf8_lossy(text)));
}
