//! How much of a log is kept: so many lines, then so many UTF-16 units, the line that crosses clipped.
//!
//! Separators do not count and empty lines cost nothing. Half a surrogate pair becomes U+FFFD.

use crate::protocol::RuntimeOptions;

/// A log that never holds more than will be kept.
#[derive(Debug, Clone)]
pub struct LogBuffer {
    lines: Vec<String>,
    lines_left: usize,
    units_left: usize,
    cut: bool,
}

impl LogBuffer {
    /// A log under these limits.
    pub fn new(options: &RuntimeOptions) -> Self {
        Self {
            lines: Vec::new(),
            lines_left: options.log_lines_max(),
            units_left: options.log_units_max(),
            cut: false,
        }
    }

    /// Whether nothing more will be kept.
    pub fn is_full(&self) -> bool {
        self.lines_left == 0 || self.units_left == 0
    }

    /// Whether something was not kept.
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// Adds a line, or as much of it as fits; what was kept of it.
    pub fn push(&mut self, line: impl Into<String>) -> Option<&str> {
        if self.is_full() {
            self.cut = true;
            return None;
        }
        let mut line = line.into();
        let bytes = line.len();
        self.units_left -= clip(&mut line, self.units_left);
        // Half a pair that was cut off became three bytes in the place of four.
        self.cut |= line.len() < bytes;
        self.lines_left -= 1;
        self.lines.push(line);
        self.lines.last().map(String::as_str)
    }

    /// The lines.
    pub fn into_lines(self) -> Vec<String> {
        self.lines
    }
}

/// The part of a log that is kept.
pub fn truncate_logs(lines: Vec<String>, options: &RuntimeOptions) -> LogBuffer {
    let mut log = LogBuffer::new(options);
    for line in lines {
        log.push(line);
    }
    log
}

/// Cuts a line to so many units and answers how many are left of it.
fn clip(line: &mut String, units_max: usize) -> usize {
    // A line has no more units than bytes, and most are far from the limit.
    if line.len() <= units_max {
        return line.encode_utf16().count();
    }
    let mut units = 0;
    for (at, sign) in line.char_indices() {
        if units + sign.len_utf16() > units_max {
            let split = units < units_max;
            line.truncate(at);
            if split {
                line.push('\u{fffd}');
            }
            return units_max;
        }
        units += sign.len_utf16();
    }
    units
}
