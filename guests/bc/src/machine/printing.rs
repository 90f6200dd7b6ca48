//! What a program prints.

use super::Machine;
use crate::{number::Number, text};

impl Machine {
    pub(super) fn print_line(&mut self, value: &Number) {
        self.print_item(value);
        self.out.push(b'\n');
    }

    pub(super) fn print_item(&mut self, value: &Number) {
        self.out.extend_from_slice(text::print(value, self.output_base).as_bytes());
    }

    /// GNU's `print` knows these escapes; others are left out with their backslash.
    pub(super) fn print_escaped(&mut self, text: &str) {
        let mut signs = text.chars();
        let mut utf8 = [0; 4];
        while let Some(sign) = signs.next() {
            let sign = match sign {
                '\\' => match signs.next() {
                    Some('n') => '\n',
                    Some('t') => '\t',
                    Some('r') => '\r',
                    Some('a') => '\u{7}',
                    Some('b') => '\u{8}',
                    Some('f') => '\u{c}',
                    Some('q') => '"',
                    Some('\\') => '\\',
                    _ => continue,
                },
                plain => plain,
            };
            self.out.extend_from_slice(sign.encode_utf8(&mut utf8).as_bytes());
        }
    }
}
