//! Addresses: which lines a command is for.

use super::parse::Parser;
use super::types::{Address, End, Range};

impl Parser<'_> {
    /// The addresses before a command.
    pub(super) fn range(&mut self) -> Result<Option<Range>, String> {
        let Some(start) = self.address()? else { return Ok(None) };
        self.reader.skip_blanks();
        if !self.reader.eat(b',') {
            if matches!(start, Address::Zero) && self.reader.peek() != Some(b'r') {
                self.reader.next();
                return Err(self.error("invalid usage of line address 0"));
            }
            return Ok(Some(Range { start, end: None }));
        }
        self.reader.skip_blanks();
        let end = match self.reader.peek() {
            Some(b'+') => End::After(self.count()?),
            Some(b'~') => End::Multiple(self.count()?),
            _ => match self.address()? {
                Some(Address::Zero) => End::At(Address::Line(0)),
                Some(end) => End::At(end),
                None => {
                    self.reader.next();
                    return Err(self.error("unexpected `,'"));
                }
            },
        };
        if matches!(start, Address::Zero) && !matches!(end, End::At(Address::Matches(_))) {
            self.reader.next();
            return Err(self.error("invalid usage of line address 0"));
        }
        Ok(Some(Range { start, end: Some(end) }))
    }

    fn count(&mut self) -> Result<u64, String> {
        self.reader.next();
        self.reader.number().ok_or_else(|| self.error("expected number"))
    }

    fn address(&mut self) -> Result<Option<Address>, String> {
        let address = match self.reader.peek() {
            Some(b'0'..=b'9') => {
                let first = self.reader.number().unwrap_or(0);
                if !self.reader.eat(b'~') {
                    return Ok(Some(if first == 0 { Address::Zero } else { Address::Line(first) }));
                }
                match self.reader.number().unwrap_or(0) {
                    0 if first == 0 => Address::Zero,
                    0 => Address::Line(first),
                    step => Address::Every { first, step },
                }
            }
            Some(b'$') => {
                self.reader.next();
                Address::Last
            }
            Some(b'/') => {
                self.reader.next();
                Address::Matches(self.address_regex(b'/')?)
            }
            Some(b'\\') => {
                self.reader.next();
                let delimiter = self.reader.next().unwrap_or(b'\n');
                Address::Matches(self.address_regex(delimiter)?)
            }
            Some(b'+' | b'~') => {
                self.reader.skip(2);
                return Err(self.error("invalid usage of +N or ~N as first address"));
            }
            _ => return Ok(None),
        };
        Ok(Some(address))
    }

    fn address_regex(&mut self, delimiter: u8) -> Result<Option<std::rc::Rc<posix_regex::Regex>>, String> {
        let unterminated = "unterminated address regex";
        let pattern = self.until(delimiter, super::parse::Side::Pattern);
        let pattern = pattern.ok_or_else(|| self.error(unterminated))?;
        let (mut ignore_case, mut multi_line) = (false, false);
        loop {
            self.reader.skip_blanks();
            match self.reader.peek() {
                Some(b'I') => ignore_case = true,
                Some(b'M') => multi_line = true,
                _ => break,
            }
            self.reader.next();
        }
        self.regex(&pattern, ignore_case, multi_line)
    }
}
