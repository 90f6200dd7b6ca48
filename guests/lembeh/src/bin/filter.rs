//! A guest that passes its input through a program: `tools/filter`, which its policy names. What the program writes to
//! stderr follows behind, and how it ended stands in the log.
#![cfg_attr(target_family = "wasm", no_std, no_main)]

#[cfg(target_family = "wasm")]
mod guest {
    use lembeh_guest::{Closed, Failed, Hub, Stream, WANT_STDERR, WANT_STDIN, WANT_STDOUT, say};

    lembeh_guest::guest!(run);

    static mut OUT: [u8; 4096] = [0; 4096];
    static mut EVENTS: [u8; 4096] = [0; 4096];
    static mut PIECE: [u8; 16 << 10] = [0; 16 << 10];

    fn run(request: Stream, response: Stream) {
        // SAFETY: this is the only thread, and each is borrowed once.
        let (out, events, piece) =
            unsafe { (&mut *&raw mut OUT, &mut *&raw mut EVENTS, &mut *&raw mut PIECE) };
        let Some(mut hub) = Hub::open(out, events) else { return say("filter", "no hub") };
        let wants = WANT_STDIN | WANT_STDOUT | WANT_STDERR;
        let process = match hub.start("tools/filter", wants, &["filter"], &[]) {
            Ok(process) => process,
            Err(Failed::Trace(trace)) => return say("filter", trace),
            Err(_) => return say("filter", "the hub is closed"),
        };
        let (Some(stdin), Some(stdout), Some(stderr)) = (process.stdin, process.stdout, process.stderr)
        else {
            return say("filter", "a stream is missing");
        };
        // One piece in, and when the program has taken all of it, all that it says: a program that holds nothing back
        // never fills both of its pipes.
        while let Ok(count @ 1..) = request.read(piece) {
            if stdin.write_all(piece.get(..count).unwrap_or(&[])).is_err() {
                break;
            }
        }
        stdin.end();
        let _ = copy(stdout, response, piece);
        let _ = copy(stderr, response, piece);
        let Some(joining) = hub.join(0, 1, 0) else { return };
        while let Ok(event) = hub.next() {
            if event == lembeh_guest::Event::Joined(joining) {
                break;
            }
        }
        match hub.status(process.exec_id) {
            Ok(status) if status.state == 1 && status.code == 0 => say("filter", "done"),
            Ok(_) => say("filter", "failed"),
            Err(_) => say("filter", "nobody knows"),
        }
        hub.end();
    }

    fn copy(from: Stream, to: Stream, piece: &mut [u8]) -> Result<(), Closed> {
        loop {
            match from.read(piece)? {
                0 => return Ok(()),
                count => to.write_all(piece.get(..count).ok_or(Closed)?)?,
            }
        }
    }
}

#[cfg(not(target_family = "wasm"))]
fn main() {}
