//! Modes as `chmod` is given them: `755`, `u+x`, `go-w,a=rX`, `g=u`.

const SPECIAL: u32 = 0o6000;

/// A mode, or what is to be changed of one.
#[derive(Debug, PartialEq)]
pub(super) enum Mode {
    /// The bits; whether they name setuid and setgid of folders, too.
    Bits(u32, bool),
    Changes(Vec<Change>),
}

#[derive(Debug, PartialEq)]
pub(super) struct Change {
    /// `None` for everybody, as far as the umask lets.
    who: Option<u32>,
    sign: u8,
    what: What,
}

#[derive(Debug, PartialEq)]
enum What {
    /// The bits, and whether `X` is among the letters.
    Bits(u32, bool),
    /// Of the owner, the group or the others, by how far to shift.
    CopyOf(u32),
}

impl Mode {
    /// Reads it; `None` if it is no mode.
    pub(super) fn read(text: &str) -> Option<Self> {
        if !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit()) {
            let bits = u32::from_str_radix(text, 8).ok().filter(|it| *it <= 0o7777)?;
            return Some(Self::Bits(bits, text.len() > 4));
        }
        let mut changes = Vec::new();
        for clause in text.split(',') {
            let start = clause.find(['+', '-', '='])?;
            let (who, mut rest) = clause.split_at(start);
            let who = who
                .chars()
                .try_fold(None, |mask: Option<u32>, letter| Some(Some(mask.unwrap_or(0) | class(letter)?)))?;
            while let Some(sign) = rest.bytes().next() {
                let (letters, behind) =
                    rest.get(1..)?.split_at(rest.get(1..)?.find(['+', '-', '=']).unwrap_or(rest.len() - 1));
                changes.push(Change { who, sign, what: what(letters)? });
                rest = behind;
            }
        }
        Some(Self::Changes(changes))
    }

    /// What `mode` becomes.
    pub(super) fn applied(&self, mode: u32, is_folder: bool, umask: u32) -> u32 {
        match self {
            Self::Bits(bits, all) => match is_folder && !all {
                true => bits | mode & SPECIAL,
                false => *bits,
            },
            Self::Changes(changes) => {
                changes.iter().fold(mode, |mode, it| it.applied(mode, is_folder, umask))
            }
        }
    }
}

impl Change {
    fn applied(&self, mode: u32, is_folder: bool, umask: u32) -> u32 {
        let mask = self.who.unwrap_or(0o7777 & !umask);
        let bits = match self.what {
            What::Bits(bits, run) if run && (is_folder || mode & 0o111 != 0) => bits | 0o111,
            What::Bits(bits, _) => bits,
            What::CopyOf(shift) => (mode >> shift & 7) * 0o111,
        } & mask;
        match self.sign {
            b'+' => mode | bits,
            b'-' => mode & !bits,
            // Of a folder, setuid and setgid stay unless they are named.
            _ => {
                let kept = if is_folder { SPECIAL } else { 0 };
                mode & !(self.who.unwrap_or(0o7777) & !kept) | bits
            }
        }
    }
}

fn class(letter: char) -> Option<u32> {
    Some(match letter {
        'u' => 0o4700,
        'g' => 0o2070,
        'o' => 0o1007,
        'a' => 0o7777,
        _ => return None,
    })
}

fn what(letters: &str) -> Option<What> {
    match letters {
        "u" => return Some(What::CopyOf(6)),
        "g" => return Some(What::CopyOf(3)),
        "o" => return Some(What::CopyOf(0)),
        _ => {}
    }
    let (mut bits, mut run) = (0, false);
    for letter in letters.chars() {
        bits |= match letter {
            'r' => 0o444,
            'w' => 0o222,
            'x' => 0o111,
            's' => 0o6000,
            't' => 0o1000,
            'X' => {
                run = true;
                0
            }
            _ => return None,
        };
    }
    Some(What::Bits(bits, run))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_read_and_applied() {
        let cases = [
            ("755", 0o644, false, 0o755),
            ("0644", 0o7777, false, 0o644),
            ("755", 0o2700, true, 0o2755),
            ("00755", 0o2700, true, 0o755),
            ("+x", 0o644, false, 0o755),
            ("+w", 0o444, false, 0o644),
            ("a+w", 0o444, false, 0o666),
            ("u+x", 0o644, false, 0o744),
            ("go-w,a=rX", 0o622, false, 0o444),
            ("a=rX", 0o700, false, 0o555),
            ("a=rX", 0o600, true, 0o555),
            ("u=rwx,g=", 0o664, false, 0o704),
            ("g=u", 0o640, false, 0o660),
            ("u+s,o+t", 0o755, false, 0o5755),
            ("u=r-r+w", 0o777, false, 0o277),
            ("-x", 0o755, false, 0o644),
            ("a-rwx", 0o777, false, 0),
        ];
        for (text, before, is_folder, want) in cases {
            let got = Mode::read(text).map(|it| it.applied(before, is_folder, 0o022));
            assert_eq!(got.map(|it| format!("{it:o}")), Some(format!("{want:o}")), "{text} of {before:o}");
        }
        for text in ["", "999", "x", "u", "77777", "u+z", "755,", "u+x,", "é+x", "99999999999999999999"] {
            assert_eq!(Mode::read(text), None, "{text}");
        }
    }
}
