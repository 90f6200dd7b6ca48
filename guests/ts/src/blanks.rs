//! Which bytes of a text become what. Line ends stay, whatever covers them.

/// A mark for each byte of a text: itself, or an ASCII sign in its place.
pub(crate) struct Blanks(Vec<u8>);

const KEEP: u8 = 0;
const BLANK: u8 = b' ';

impl Blanks {
    pub(crate) fn new(text: &str) -> Self {
        Self(vec![KEEP; text.len()])
    }

    /// Makes blanks of a range.
    pub(crate) fn erase(&mut self, start: usize, end: usize) {
        if let Some(marks) = self.0.get_mut(start..end) {
            marks.iter_mut().filter(|it| **it == KEEP).for_each(|it| *it = BLANK);
        }
    }

    /// Puts a sign in the place of the character there, which is erased otherwise.
    pub(crate) fn put(&mut self, at: usize, sign: u8) {
        if let Some(mark) = self.0.get_mut(at) {
            *mark = sign;
        }
    }

    /// The text with the marks applied, one sign for each character.
    pub(crate) fn apply(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        for (at, sign) in text.char_indices() {
            match self.0.get(at).copied().unwrap_or(KEEP) {
                KEEP => out.push(sign),
                _ if is_line_end(sign) => out.push(sign),
                BLANK if sign == '\t' => out.push(sign),
                mark => out.push(char::from(mark)),
            }
        }
        out
    }

    /// The same with as many blanks as a character has bytes.
    pub(crate) fn apply_bytes(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        for (at, sign) in text.char_indices() {
            match self.0.get(at).copied().unwrap_or(KEEP) {
                KEEP => out.push(sign),
                _ if is_line_end(sign) => out.push(sign),
                mark => out.extend(std::iter::repeat_n(char::from(mark), sign.len_utf8())),
            }
        }
        out
    }
}

fn is_line_end(sign: char) -> bool {
    matches!(sign, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}
