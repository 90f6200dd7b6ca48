//! Keys: which part of a line is compared, and how.

/// How two keys are compared, and what of them counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    pub kind: Kind,
    pub blanks: bool,
    pub dictionary: bool,
    pub fold: bool,
    pub printing: bool,
    pub reverse: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    #[default]
    Text,
    Numeric,
    General,
    Human,
    Month,
    Version,
}

impl Order {
    /// Adds what one letter says; false if it says nothing.
    pub fn letter(&mut self, letter: char) -> bool {
        match letter {
            'b' => self.blanks = true,
            'd' => self.dictionary = true,
            'f' => self.fold = true,
            'i' => self.printing = true,
            'r' => self.reverse = true,
            'n' => self.kind = Kind::Numeric,
            'g' => self.kind = Kind::General,
            'h' => self.kind = Kind::Human,
            'M' => self.kind = Kind::Month,
            'V' => self.kind = Kind::Version,
            _ => return false,
        }
        true
    }
}

/// `-k F[.C][OPTS][,F[.C][OPTS]]`.
#[derive(Clone, Debug)]
pub struct Key {
    from: (usize, usize),
    to: Option<(usize, usize)>,
    end_blanks: bool,
    /// Absent where the key has no letters of its own.
    pub order: Option<Order>,
}

impl Key {
    pub fn parse(text: &str) -> Result<Self, String> {
        let (from, to) = text.split_once(',').map_or((text, None), |(from, to)| (from, Some(to)));
        let wrong = |part: &str| format!("invalid number at field start: invalid count at start of '{part}'");
        let mut order = Order::default();
        let mut any = false;
        let mut position = |part: &str, order: &mut Order| -> Result<(usize, usize), String> {
            let digits = part.find(|sign: char| !sign.is_ascii_digit() && sign != '.').unwrap_or(part.len());
            let (numbers, letters) = part.split_at(digits);
            let (field, sign) = numbers.split_once('.').unwrap_or((numbers, "0"));
            for letter in letters.chars() {
                any = true;
                if !order.letter(letter) {
                    return Err(format!(
                        "stray character in field spec: invalid field specification '{text}'"
                    ));
                }
            }
            Ok((field.parse().map_err(|_| wrong(part))?, sign.parse().map_err(|_| wrong(part))?))
        };
        let from = position(from, &mut order)?;
        let mut end = Order::default();
        let to = to.map(|to| position(to, &mut end)).transpose()?;
        if from.0 == 0 {
            return Err(format!("field number is zero: invalid field specification '{text}'"));
        }
        let end_blanks = end.blanks;
        let start_blanks = order.blanks;
        for letter in ['d', 'f', 'i', 'r'] {
            let set = match letter {
                'd' => end.dictionary,
                'f' => end.fold,
                'i' => end.printing,
                _ => end.reverse,
            };
            if set {
                order.letter(letter);
            }
        }
        if end.kind != Kind::Text {
            order.kind = end.kind;
        }
        order.blanks = start_blanks;
        Ok(Self { from, to, end_blanks, order: any.then_some(order) })
    }

    /// The part of `line` the key is about.
    pub fn of<'l>(&self, line: &'l [u8], separator: Option<u8>, blanks: bool) -> &'l [u8] {
        let fields = fields(line, separator);
        let at = |field: usize, sign: usize, blanks: bool| -> usize {
            let Some((start, end)) = field.checked_sub(1).and_then(|at| fields.get(at)).copied() else {
                return line.len();
            };
            let mut start = start;
            if blanks {
                start += line[start..end].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            }
            (start + sign).min(end)
        };
        let start = at(self.from.0, self.from.1.saturating_sub(1), blanks);
        let end = match self.to {
            None => line.len(),
            Some((field, 0)) => fields.get(field.saturating_sub(1)).map_or(line.len(), |(_, end)| *end),
            Some((field, sign)) => at(field, sign, self.end_blanks || blanks),
        };
        if start < end { &line[start..end] } else { b"" }
    }
}

/// Where each field begins and ends. Without a separator, a field begins with its blanks.
fn fields(line: &[u8], separator: Option<u8>) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut start = 0;
    match separator {
        Some(separator) => {
            for (at, _) in line.iter().enumerate().filter(|(_, byte)| **byte == separator) {
                found.push((start, at));
                start = at + 1;
            }
            found.push((start, line.len()));
        }
        None => {
            let blank = |byte: u8| matches!(byte, b' ' | b'\t');
            let mut at = 0;
            while at < line.len() {
                while at < line.len() && blank(line[at]) {
                    at += 1;
                }
                while at < line.len() && !blank(line[at]) {
                    at += 1;
                }
                found.push((start, at));
                start = at;
            }
        }
    }
    found
}
