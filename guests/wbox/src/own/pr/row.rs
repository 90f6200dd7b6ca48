//! One line of output: cells at their places, with blanks that are only written once something follows.

use super::settings::{Settings, Unprintable};

pub(super) struct Row<'s> {
    settings: &'s Settings,
    bytes: Vec<u8>,
    position: usize,
    blanks: usize,
}

impl<'s> Row<'s> {
    pub(super) fn new(settings: &'s Settings) -> Self {
        let mut row = Self { settings, bytes: Vec::new(), position: 0, blanks: settings.margin };
        row.write_blanks();
        row
    }

    pub(super) fn end(self) -> Vec<u8> {
        self.bytes
    }

    /// Goes to a column, if it is not past it.
    pub(super) fn go_to(&mut self, position: usize) {
        self.blanks = position.saturating_sub(self.position).max(self.blanks.min(position));
    }

    /// The separator between two columns; its own blanks are written at once.
    pub(super) fn separate(&mut self, separator: &[u8]) {
        for byte in separator {
            match byte {
                b' ' => self.blanks += 1,
                other => self.put(*other),
            }
        }
        self.write_blanks();
    }

    /// A number in so many digits, the lower ones if they are too few, and what stands behind it.
    pub(super) fn number(&mut self, number: i64, separator: u8, digits: usize) {
        let text = format!("{number:digits$}");
        text[text.len() - digits..].bytes().for_each(|byte| match byte {
            b' ' if self.settings.tabs_out.is_some() => self.blanks += 1,
            other => self.put(other),
        });
        match separator {
            b'\t' if self.settings.columns > 1 => self.blanks += 8 - digits % 8,
            b'\t' => {
                self.put(b'\t');
                self.position = (self.position - 1) / 8 * 8 + 8;
            }
            other => self.put(other),
        }
    }

    /// A text, with its tabs expanded from the beginning of its column, of which `width` is taken; cut
    /// where the column is `width_max` wide.
    pub(super) fn text(&mut self, text: &[u8], mut width: usize, width_max: usize) {
        for chunk in text.utf8_chunks() {
            for character in chunk.valid().chars() {
                if !self.character(character, &mut width, width_max) {
                    return;
                }
            }
            for byte in chunk.invalid() {
                if width >= width_max {
                    return;
                }
                width += 1;
                self.put(*byte);
            }
        }
    }

    fn character(&mut self, character: char, width: &mut usize, width_max: usize) -> bool {
        if let Some((tab, every)) = self.settings.expand
            && character == char::from(tab)
        {
            let step = (every - *width % every).min(width_max.saturating_sub(*width));
            *width += step;
            self.blanks += step;
            return *width < width_max;
        }
        let shown = match (self.settings.unprintable, u32::from(character)) {
            (Unprintable::Hat, code @ (0..32 | 127)) => format!("^{}", char::from(code as u8 ^ 64)),
            (Unprintable::Octal, code @ (0..32 | 127)) => format!("\\{code:03o}"),
            _ => {
                *width += 1;
                if *width > width_max {
                    return false;
                }
                match character {
                    ' ' if self.settings.tabs_out.is_some() => self.blanks += 1,
                    other => {
                        self.write_blanks();
                        self.bytes.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes());
                        self.position += 1;
                    }
                }
                return true;
            }
        };
        *width += shown.len();
        let fits = *width <= width_max;
        if fits {
            shown.bytes().for_each(|byte| self.put(byte));
        }
        fits
    }

    fn put(&mut self, byte: u8) {
        self.write_blanks();
        self.bytes.push(byte);
        self.position += 1;
    }

    /// Blanks as tabs where they lead to one, as GNU writes them.
    fn write_blanks(&mut self) {
        let goal = self.position + std::mem::take(&mut self.blanks);
        if let Some((tab, every)) = self.settings.tabs_out {
            while goal - self.position > 1 && (self.position / every + 1) * every <= goal {
                self.bytes.push(tab);
                self.position = (self.position / every + 1) * every;
            }
        }
        self.bytes.extend(std::iter::repeat_n(b' ', goal - self.position));
        self.position = goal;
    }
}
