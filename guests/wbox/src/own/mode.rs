//! Modes as `chmod`, `mkdir -m` and `install -m` spell them: `755`, `u+x`, `go-w,a=rX`.

/// What a mode is applied to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Target {
    File,
    Directory,
}

/// The bits after the change that `text` asks for. A clause without `ugoa` leaves alone what `mask` names.
pub fn changed(text: &str, before: u32, target: Target, mask: u32) -> Result<u32, String> {
    let invalid = || format!("invalid mode: '{text}'");
    if !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit()) {
        let bits = u32::from_str_radix(text, 8).ok().filter(|bits| *bits <= 0o7777).ok_or_else(invalid)?;
        // Short numbers leave a directory's special bits alone, as GNU's do.
        let kept = if target == Target::Directory && text.len() < 5 { before & 0o6000 } else { 0 };
        return Ok(bits | kept);
    }
    let mut mode = before;
    for clause in text.split(',') {
        let who_end = clause.find(|it| !"ugoa".contains(it)).ok_or_else(invalid)?;
        let (who, mut actions) = clause.split_at(who_end);
        while let Some(act) = actions.chars().next() {
            if !matches!(act, '+' | '-' | '=') {
                return Err(invalid());
            }
            let end = actions[1..].find(['+', '-', '=']).map_or(actions.len(), |at| at + 1);
            let what = bits(&actions[1..end], mode, target).ok_or_else(invalid)?;
            actions = &actions[end..];
            let reach = reach(who, mask);
            let what = what & reach;
            mode = match act {
                '+' => mode | what,
                '-' => mode & !what,
                // Without the special bits of a directory, unless they are named.
                _ => {
                    let cleared = if target == Target::Directory { reach & 0o1777 } else { reach };
                    mode & !cleared | what
                }
            };
        }
    }
    Ok(mode)
}

/// The bits that a clause for `who` can change.
fn reach(who: &str, mask: u32) -> u32 {
    if who.is_empty() {
        return 0o7777 & !mask;
    }
    who.chars().fold(0, |sum, it| {
        sum | match it {
            'u' => 0o4700,
            'g' => 0o2070,
            'o' => 0o1007,
            _ => 0o7777,
        }
    })
}

/// The bits that letters name, for everybody.
fn bits(letters: &str, before: u32, target: Target) -> Option<u32> {
    let copied = |shift: u32| (before >> shift & 7) * 0o111;
    match letters {
        "u" => return Some(copied(6)),
        "g" => return Some(copied(3)),
        "o" => return Some(copied(0)),
        _ => {}
    }
    if !letters.is_empty() && letters.bytes().all(|it| (b'0'..b'8').contains(&it)) {
        return u32::from_str_radix(letters, 8).ok().filter(|bits| *bits <= 0o7777);
    }
    letters.chars().try_fold(0, |sum, it| {
        Some(
            sum | match it {
                'r' => 0o444,
                'w' => 0o222,
                'x' => 0o111,
                'X' if target == Target::Directory || before & 0o111 != 0 => 0o111,
                'X' => 0,
                's' => 0o6000,
                't' => 0o1000,
                _ => return None,
            },
        )
    })
}

#[cfg(test)]
mod tests {
    use super::{Target, changed};

    #[test]
    fn modes_change_as_gnu_changes_them() {
        let cases = [
            ("755", 0o644, 0o755),
            ("0644", 0o777, 0o644),
            ("4755", 0o644, 0o4755),
            ("+x", 0o644, 0o755),
            ("u+x", 0o644, 0o744),
            ("go-w,a=rX", 0o666, 0o444),
            ("a=rX", 0o700, 0o555),
            ("u=rwx,g=", 0o644, 0o704),
            ("a+rwxst", 0o000, 0o7777),
            ("-x", 0o755, 0o644),
            ("g=u", 0o640, 0o660),
            ("o+g-w", 0o760, 0o764),
            ("+w", 0o444, 0o644),
            ("u+r+w-x", 0o100, 0o600),
        ];
        for (text, before, want) in cases {
            assert_eq!(changed(text, before, Target::File, 0o022), Ok(want), "{text}");
        }
        assert_eq!(changed("a+X", 0o644, Target::Directory, 0o022), Ok(0o755));
        assert_eq!(changed("755", 0o2700, Target::Directory, 0o022), Ok(0o2755));
        for bad in ["", "999", "x", "u", "77777", "u+z", "755,", "+x,"] {
            assert!(changed(bad, 0o644, Target::File, 0o022).is_err(), "{bad}");
        }
    }
}
