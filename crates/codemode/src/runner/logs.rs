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
}

impl LogBuffer {
    /// A log under these limits.
    pub fn new(options: &RuntimeOptions) -> Self {
        Self { lines: Vec::new(), lines_left: options.log_lines_max(), units_left: options.log_units_max() }
    }

    /// Whether nothing more will be kept.
    pub fn is_full(&self) -> bool {
        self.lines_left == 0 || self.units_left == 0
    }

    /// Adds a line, or as much of it as fits.
    pub fn push(&mut self, line: impl Into<String>) {
        if self.is_full() {
            return;
        }
        let mut line = line.into();
        self.units_left -= clip(&mut line, self.units_left);
        self.lines_left -= 1;
        self.lines.push(line);
    }

    /// The lines.
    pub fn into_lines(self) -> Vec<String> {
        self.lines
    }
}

/// The part of a log that is kept.
pub fn truncate_logs(lines: Vec<String>, options: &RuntimeOptions) -> Vec<String> {
    let mut log = LogBuffer::new(options);
    lines.into_iter().for_each(|line| log.push(line));
    log.into_lines()
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
