//! A script's console as the log of a handler: lines with a level, as many and as long as those of any other.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};

use drydock_codemode::{protocol::RuntimeOptions, runner::Console};
use drydock_contract::{GuestLog, LogLevel};
use drydock_engine::{HANDLER_LINE_BYTES_MAX, HANDLER_LINES_MAX, handler_line};

/// The line that says that the text was read and runs.
const BEGUN: &str = "\u{2}";
/// What a line of an error begins with. A script may write it too: then it says that its line is one.
const ERROR: &str = "\u{1}";

/// The limits of one run. Of its console as much is kept as a handler may log, the line that it begins with, and one more,
/// by which is known that something was dropped.
pub(super) fn options(wall_max: Duration, memory_bytes_max: u64) -> RuntimeOptions {
    let lines = f64::from(HANDLER_LINES_MAX) + 2.0;
    RuntimeOptions {
        timeout_ms: wall_max.as_secs_f64() * 1e3,
        memory_limit_bytes: memory_bytes_max as f64,
        max_log_lines: lines,
        max_log_chars: lines * HANDLER_LINE_BYTES_MAX as f64,
    }
}

/// What was heard of one run.
pub(super) struct Heard {
    log: Arc<dyn GuestLog>,
    has_begun: AtomicBool,
    lines: AtomicU32,
}

impl Heard {
    pub(super) fn new(log: Arc<dyn GuestLog>) -> Self {
        Self { log, has_begun: AtomicBool::new(false), lines: AtomicU32::new(0) }
    }

    /// Whether any statement of the script ran.
    pub(super) fn has_begun(&self) -> bool {
        self.has_begun.load(Ordering::Relaxed)
    }

    pub(super) fn console(self: &Arc<Self>) -> Console {
        let heard = Arc::clone(self);
        Console::new(move |line| heard.line(line))
    }

    /// Nothing more comes; says so where something was lost that was not said to be.
    pub(super) fn end(&self, is_cut: bool) {
        if is_cut && self.lines.load(Ordering::Relaxed) <= HANDLER_LINES_MAX {
            self.log.line(LogLevel::Error, "[the log is full: the rest is dropped]");
        }
    }

    fn line(&self, line: &str) {
        if line == BEGUN && !self.has_begun.swap(true, Ordering::Relaxed) {
            return;
        }
        let before = self.lines.fetch_add(1, Ordering::Relaxed);
        if before >= HANDLER_LINES_MAX {
            if before == HANDLER_LINES_MAX {
                let text = format!("[more than {HANDLER_LINES_MAX} lines: the rest is dropped]");
                self.log.line(LogLevel::Error, &text);
            }
            return;
        }
        let (level, text) = match line.strip_prefix(ERROR) {
            Some(text) => (LogLevel::Error, text.strip_prefix(' ').unwrap_or(text)),
            None => (LogLevel::Info, line),
        };
        self.log.line(level, &handler_line(text.as_bytes()));
    }
}

#[cfg(test)]
mod tests {
    use parking_lot::Mutex;

    use super::*;

    #[derive(Default)]
    struct Kept(Mutex<Vec<(LogLevel, String)>>);

    impl GuestLog for Kept {
        fn line(&self, level: LogLevel, text: &str) {
            self.0.lock().push((level, text.to_owned()));
        }
    }

    #[test]
    fn lines_have_levels_and_are_as_many_and_as_long_as_those_of_a_module() {
        let kept = Arc::new(Kept::default());
        let heard = Heard::new(Arc::clone(&kept) as _);
        assert!(!heard.has_begun());
        for line in [BEGUN, "plain", "\u{1} bad", "\u{1}", BEGUN] {
            heard.line(line);
        }
        assert!(heard.has_begun());
        let told: Vec<_> = kept.0.lock().drain(..).map(|(level, text)| format!("{level:?} {text}")).collect();
        assert_eq!(told, ["Info plain", "Error bad", "Error ", "Info \u{2}"]);
        heard.line(&"x".repeat(HANDLER_LINE_BYTES_MAX + 1));
        for _ in 0..HANDLER_LINES_MAX {
            heard.line("more");
        }
        heard.end(true);
        let lines = kept.0.lock();
        assert!(lines[0].1.ends_with("x […]"));
        assert_eq!(lines.len() + 4, HANDLER_LINES_MAX as usize + 1);
        assert!(lines.last().unwrap().1.starts_with("[more than 200 lines"));
    }
}
