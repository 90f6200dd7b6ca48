//! A line on the terminal while a big module is compiled for the first time. In a pipe, nothing.

use std::{
    io::{IsTerminal as _, Write as _},
    sync::Mutex,
    thread,
    time::{Duration, Instant},
};

use drydock_embed::engine::CompileEvent;

use crate::show;

/// Shorter compilations are not worth a word.
const PATIENCE: Duration = Duration::from_millis(500);
const TICK: Duration = Duration::from_millis(200);

/// The line on the terminal. Whoever holds it may draw or wipe.
static LINE: Mutex<Line> = Mutex::new(Line { under_way: 0, begun: 0, shown: false });

struct Line {
    under_way: u32,
    begun: u32,
    shown: bool,
}

/// Watches compilations begin and end. At the end the line is gone before the command says a word.
pub(crate) fn on_compile(event: CompileEvent) {
    let Ok(mut line) = LINE.lock() else { return };
    match event {
        CompileEvent::Started { wasm_bytes, .. } => {
            line.under_way += 1;
            line.begun += 1;
            if std::io::stderr().is_terminal() {
                let _ = thread::Builder::new().spawn(move || show_until_done(wasm_bytes));
            }
        }
        CompileEvent::Finished { .. } => {
            line.under_way = line.under_way.saturating_sub(1);
            if line.under_way == 0 && line.shown {
                line.shown = false;
                let _ = std::io::stderr().write_all(b"\r\x1b[2K");
            }
        }
    }
}

/// How many modules were compiled so far.
pub(crate) fn compiled() -> u32 {
    LINE.lock().map_or(0, |line| line.begun)
}

fn show_until_done(wasm_bytes: u64) {
    let started = Instant::now();
    thread::sleep(PATIENCE);
    loop {
        {
            let Ok(mut line) = LINE.lock() else { return };
            if line.under_way == 0 {
                return;
            }
            let text = format!(
                "\r\x1b[2Kdrydock: compiling {} for this machine, once … {:.1} s",
                show::size(wasm_bytes),
                started.elapsed().as_secs_f64()
            );
            let _ = std::io::stderr().write_all(text.as_bytes());
            line.shown = true;
        }
        thread::sleep(TICK);
    }
}
