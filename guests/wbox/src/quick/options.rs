//! The arguments, for readers that give up as soon as there is more than they know.

/// Goes through the options and collects the operands.
pub struct Options<'a> {
    rest: std::slice::Iter<'a, &'a [u8]>,
    /// What is left of a cluster of letters.
    letters: &'a [u8],
    pub operands: Vec<&'a [u8]>,
}

impl<'a> Options<'a> {
    pub fn new(args: &'a [&'a [u8]]) -> Self {
        Self { rest: args.iter(), letters: b"", operands: Vec::new() }
    }

    /// The next letter; `Some(None)` at the end, `None` for what is beyond a simple reader: long
    /// options.
    pub fn next(&mut self) -> Option<Option<u8>> {
        if let Some((letter, letters)) = self.letters.split_first() {
            self.letters = letters;
            return Some(Some(*letter));
        }
        for arg in self.rest.by_ref() {
            match arg {
                [b'-', b'-'] => {
                    let rest: Vec<&[u8]> = self.rest.by_ref().copied().collect();
                    self.operands.extend(rest);
                    break;
                }
                [b'-', b'-', ..] => return None,
                [b'-', letter, letters @ ..] => {
                    self.letters = letters;
                    return Some(Some(*letter));
                }
                _ => self.operands.push(arg),
            }
        }
        Some(None)
    }

    /// The value of the letter just read: the rest of its argument, or the next one.
    pub fn value(&mut self) -> Option<&'a [u8]> {
        let attached = std::mem::take(&mut self.letters);
        if attached.is_empty() { self.rest.next().copied() } else { Some(attached) }
    }

    /// Digits that begin with the letter just read, as in `-20`.
    pub fn digits(&mut self, first: u8) -> Option<usize> {
        let rest = std::mem::take(&mut self.letters);
        if !rest.iter().all(u8::is_ascii_digit) {
            return None;
        }
        number(&[&[first], rest].concat())
    }

    /// The only operand; standard input if there is none.
    pub fn one_input(&self) -> Option<&'a [u8]> {
        match self.operands.as_slice() {
            [] => Some(b"-"),
            [one] => Some(one),
            _ => None,
        }
    }

    /// All operands; standard input if there are none.
    pub fn inputs(self) -> Vec<&'a [u8]> {
        if self.operands.is_empty() { vec![b"-"] } else { self.operands }
    }
}

/// A number of digits only, and not too many of them.
pub fn number(text: &[u8]) -> Option<usize> {
    if text.is_empty() || text.len() > 9 || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(text.iter().fold(0, |sum, digit| sum * 10 + usize::from(digit - b'0')))
}
