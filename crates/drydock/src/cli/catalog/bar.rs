//! How far an installation is, on one line of a terminal. In a pipe, nothing.

use std::{
    collections::BTreeMap,
    io::{IsTerminal as _, Write as _},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use drydock_catalog::{Progress, Watcher};

use crate::show;

/// Cells of a bar.
const CELLS: u64 = 24;

/// How long each row's module took from the compiler to the end, its snapshot included.
#[derive(Debug, Clone, Default)]
pub(super) struct CompileTimes(Arc<Mutex<BTreeMap<String, (Instant, Duration)>>>);

impl CompileTimes {
    fn note(&self, row: &str, progress: Progress) {
        let Ok(mut times) = self.0.lock() else { return };
        match (progress, times.get_mut(row)) {
            (Progress::Compiling { .. }, _) => {
                times.insert(row.to_owned(), (Instant::now(), Duration::ZERO));
            }
            (Progress::Done, Some((begun, took))) => *took = begun.elapsed(),
            _ => {}
        }
    }

    /// In milliseconds; nothing where nothing was compiled.
    pub(super) fn of(&self, row: &str) -> Option<u64> {
        let took = self.0.lock().ok()?.get(row)?.1;
        u64::try_from(took.as_millis()).ok()
    }
}

/// Draws what it is told, and notes the times.
pub(super) fn watcher(times: CompileTimes) -> Watcher {
    Watcher::new(move |row, progress| {
        times.note(row, progress);
        match line(row, progress) {
            Some(text) => say(&text),
            None => wipe(),
        }
    })
}

/// The line for one step; none where another part of the program draws its own.
fn line(row: &str, progress: Progress) -> Option<String> {
    let size = show::size;
    Some(match progress {
        Progress::Fetching { bytes, of: Some(of) } => {
            // A client holds the archive more than once on its way, so there may seem to be more than all of it.
            let bytes = bytes.min(of);
            format!("{row}: fetching {} {} of {}", bar(bytes, of), size(bytes), size(of))
        }
        Progress::Fetching { bytes, of: None } => format!("{row}: fetching {}", size(bytes)),
        Progress::Verifying { bytes } => format!("{row}: hashing {}", size(bytes)),
        Progress::Unpacking { bytes } => format!("{row}: unpacking {}", size(bytes)),
        Progress::Building { files, of } => {
            format!("{row}: building {} {files} of {of} files", bar(files.into(), of.into()))
        }
        Progress::Snapshotting => format!("{row}: initialising"),
        // The compiler's own line tells how long it takes.
        Progress::Compiling { .. } | Progress::Done => return None,
    })
}

fn bar(done: u64, of: u64) -> String {
    let full = done.saturating_mul(CELLS).checked_div(of).unwrap_or(0).min(CELLS);
    let cells = |cell: &str, count: u64| cell.repeat(usize::try_from(count).unwrap_or(0));
    format!("[{}{}]", cells("#", full), cells(" ", CELLS - full))
}

/// Draws a line over the one before.
pub(super) fn say(text: &str) {
    let mut stderr = std::io::stderr();
    if stderr.is_terminal() {
        let _ = write!(stderr, "\r\x1b[2K{}", show::plain(text));
    }
}

/// Takes the line away.
pub(super) fn wipe() {
    say("");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_compiled_has_a_time_and_the_others_have_none() {
        let times = CompileTimes::default();
        for progress in [Progress::Verifying { bytes: 1 }, Progress::Compiling { bytes: 1 }, Progress::Done] {
            times.note("lua", progress);
        }
        times.note("clang", Progress::Done);
        assert!(times.of("lua").is_some() && times.of("clang").is_none());
    }

    #[test]
    fn a_bar_is_never_longer_than_itself() {
        let shown = |bytes, of| line("python", Progress::Fetching { bytes, of }).unwrap_or_default();
        assert_eq!(shown(0, Some(10)), "python: fetching [                        ] 0 B of 10 B");
        assert_eq!(shown(5, Some(10)), "python: fetching [############            ] 5 B of 10 B");
        assert_eq!(shown(99, Some(10)), "python: fetching [########################] 10 B of 10 B");
        assert_eq!(shown(0, Some(0)), "python: fetching [                        ] 0 B of 0 B");
        assert_eq!(shown(5, None), "python: fetching 5 B");
    }
}
