//! The argument of `-perm`: `644`, `-u+x`, `/222`.

use super::expr::Bits;

/// Reads it.
pub(super) fn parse(text: &str) -> Result<Bits, String> {
    let (kind, mode): (fn(u32) -> Bits, &str) = match text.as_bytes().first() {
        Some(b'-') => (Bits::All, &text[1..]),
        Some(b'/') => (Bits::Any, &text[1..]),
        _ => (Bits::Exactly, text),
    };
    let bits = match mode.bytes().all(|it| it.is_ascii_digit()) && !mode.is_empty() {
        true => u32::from_str_radix(mode, 8).ok().filter(|it| *it <= 0o7777),
        false => symbolic(mode),
    };
    bits.map(kind).ok_or_else(|| format!("invalid mode '{text}'"))
}

/// `u+x,go=r`, starting from nothing.
fn symbolic(text: &str) -> Option<u32> {
    let mut mode = 0;
    for clause in text.split(',') {
        let at = clause.find(['+', '=', '-'])?;
        let (who, what) = clause.split_at(at);
        let mut mask = 0;
        for letter in who.chars() {
            mask |= match letter {
                'u' => 0o4700,
                'g' => 0o2070,
                'o' => 0o1007,
                'a' => 0o7777,
                _ => return None,
            };
        }
        if who.is_empty() {
            mask = 0o7777;
        }
        let mut bits = 0;
        for letter in what[1..].chars() {
            bits |= match letter {
                'r' => 0o444,
                'w' => 0o222,
                'x' | 'X' => 0o111,
                's' => 0o6000,
                't' => 0o1000,
                _ => return None,
            };
        }
        match what.as_bytes()[0] {
            b'+' => mode |= bits & mask,
            b'=' => mode = mode & !mask | bits & mask,
            _ => mode &= !(bits & mask),
        }
    }
    Some(mode)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_read() {
        let cases = [
            ("644", Some(Bits::Exactly(0o644))),
            ("-u+x", Some(Bits::All(0o100))),
            ("/a+x", Some(Bits::Any(0o111))),
            ("-u=rwx,go=rx", Some(Bits::All(0o755))),
            ("-111", Some(Bits::All(0o111))),
            ("999", None),
            ("", None),
            ("z+x", None),
        ];
        for (text, want) in cases {
            assert_eq!(parse(text).ok(), want, "{text}");
        }
    }
}
