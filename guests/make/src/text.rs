//! Words and patterns with `%`.

/// The stem of a word that fits a pattern with one `%`.
pub fn stem<'w>(pattern: &str, word: &'w str) -> Option<&'w str> {
    match split(pattern) {
        None => (unescaped(pattern) == word).then_some(""),
        Some((head, tail)) => {
            let rest = word.strip_prefix(head.as_str())?.strip_suffix(tail.as_str())?;
            Some(rest)
        }
    }
}

/// The parts before and after the first `%` that no backslash takes the meaning of.
pub fn split(pattern: &str) -> Option<(String, String)> {
    let bytes = pattern.as_bytes();
    let at = (0..bytes.len()).find(|at| bytes[*at] == b'%' && (*at == 0 || bytes[at - 1] != b'\\'))?;
    Some((unescaped(&pattern[..at]), pattern[at + 1..].to_owned()))
}

fn unescaped(text: &str) -> String {
    text.replace("\\%", "%")
}

/// A pattern with the stem in the place of `%`.
pub fn filled(pattern: &str, stem: &str) -> String {
    match split(pattern) {
        Some((head, tail)) => format!("{head}{stem}{tail}"),
        None => unescaped(pattern),
    }
}

/// `$(patsubst from,to,words)`.
pub fn patsubst(from: &str, to: &str, words: &str) -> String {
    let one = |word: &str| match stem(from, word) {
        Some(found) if split(from).is_some() => match split(to) {
            Some((head, tail)) => format!("{head}{found}{tail}"),
            None => to.to_owned(),
        },
        Some(_) => to.to_owned(),
        None => word.to_owned(),
    };
    words.split_whitespace().map(one).collect::<Vec<_>>().join(" ")
}

/// What stands before the last slash, with it; `./` if there is none.
pub fn dir(path: &str) -> &str {
    path.rfind('/').map_or("./", |at| &path[..=at])
}

/// What stands after the last slash.
pub fn notdir(path: &str) -> &str {
    path.rfind('/').map_or(path, |at| &path[at + 1..])
}

/// Where the suffix begins.
pub fn suffix_at(path: &str) -> Option<usize> {
    let name = path.len() - notdir(path).len();
    path[name..].rfind('.').map(|at| name + at)
}

/// The place of the first of some bytes outside of `$(…)` and `${…}`.
pub fn find_outside(text: &str, wanted: &[u8]) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut open) = (0, Vec::new());
    while at < bytes.len() {
        match bytes[at] {
            b'$' if matches!(bytes.get(at + 1), Some(b'(' | b'{')) => {
                open.push(if bytes[at + 1] == b'(' { b')' } else { b'}' });
                at += 2;
                continue;
            }
            b'$' => {
                at += 2;
                continue;
            }
            b'(' if open.last() == Some(&b')') => open.push(b')'),
            b'{' if open.last() == Some(&b'}') => open.push(b'}'),
            byte if open.last() == Some(&byte) => drop(open.pop()),
            byte if open.is_empty() && wanted.contains(&byte) => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}

/// Whether a text has only characters that a shell takes as they are. What came from outside of a makefile
/// and has others is no part of the makefile's own program; a newline begins a further command of a recipe.
pub fn is_plain(text: &str) -> bool {
    text.chars().all(|it| it.is_alphanumeric() || " \t_-./:=+,@%^~".contains(it))
}
