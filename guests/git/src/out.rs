//! Standard output, buffered, and lines on standard error. A reader that went away ends the program, as
//! SIGPIPE would.

use std::cell::RefCell;
use std::io::{BufWriter, Stdout, Write as _};

thread_local! {
    static OUT: RefCell<BufWriter<Stdout>> = RefCell::new(BufWriter::with_capacity(1 << 15, std::io::stdout()));
}

const BROKEN_PIPE: i32 = 141;

/// Prints bytes.
pub fn put(bytes: impl AsRef<[u8]>) {
    let failed = OUT.with_borrow_mut(|out| out.write_all(bytes.as_ref()).is_err());
    if failed {
        std::process::exit(BROKEN_PIPE);
    }
}

/// Prints bytes and a newline.
pub fn line(bytes: impl AsRef<[u8]>) {
    put(bytes);
    put(b"\n");
}

/// Hands over what is buffered.
pub fn flush() {
    let _ = OUT.with_borrow_mut(|out| out.flush());
}

/// A line on standard error, after what standard output has so far.
pub fn note(text: impl std::fmt::Display) {
    flush();
    let _ = writeln!(std::io::stderr(), "{text}");
}
