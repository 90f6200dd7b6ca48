//! Names of members: patterns over them, and where they may be put.

/// Whether `name` matches the shell pattern; a star passes slashes, as in GNU tar.
pub fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut sign, mut star) = (0, 0, None);
    while sign < name.len() {
        match step(&pattern, at, name[sign]) {
            Some(next) => (at, sign) = (next, sign + 1),
            None if pattern.get(at) == Some(&'*') => {
                star = Some((at, sign));
                at += 1;
            }
            // Go back to the last star, and let it take one more.
            None => match star {
                Some((start, taken)) => {
                    star = Some((start, taken + 1));
                    (at, sign) = (start + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern[at.min(pattern.len())..].iter().all(|it| *it == '*')
}

/// Where the pattern goes on if what stands at `at` takes `sign`.
fn step(pattern: &[char], at: usize, sign: char) -> Option<usize> {
    match pattern.get(at)? {
        '*' => None,
        '?' => Some(at + 1),
        '\\' if at + 1 < pattern.len() => (pattern[at + 1] == sign).then_some(at + 2),
        '[' => {
            let negated = matches!(pattern.get(at + 1), Some('!' | '^'));
            let first = at + 1 + usize::from(negated);
            let end = (first + 1..pattern.len()).find(|it| pattern[*it] == ']')?;
            let mut found = false;
            let mut from = first;
            while from < end {
                let range = from + 2 < end && pattern[from + 1] == '-';
                let to = if range { from + 2 } else { from };
                found |= (pattern[from]..=pattern[to]).contains(&sign);
                from = to + 1;
            }
            (found != negated).then_some(end + 1)
        }
        plain => (*plain == sign).then_some(at + 1),
    }
}

/// Whether `name` is `chosen` or lies below it; with `wild`, by pattern.
pub fn selects(chosen: &str, name: &str, wild: bool) -> bool {
    let (chosen, name) = (chosen.trim_end_matches('/'), name.trim_end_matches('/'));
    let below = name.strip_prefix(chosen).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    below || (wild && ancestors(name).any(|part| matches(chosen, part)))
}

/// Whether `pattern` excludes `name`: it matches from any slash on, a folder with all that is in it.
pub fn excludes(pattern: &str, name: &str) -> bool {
    let pattern = pattern.trim_end_matches('/');
    let starts = std::iter::once(0).chain(name.match_indices('/').map(|(at, _)| at + 1));
    starts
        .into_iter()
        .any(|start| ancestors(name[start..].trim_end_matches('/')).any(|it| matches(pattern, it)))
}

/// The name, and every folder it is in.
fn ancestors(name: &str) -> impl Iterator<Item = &str> {
    std::iter::once(name).chain(name.match_indices('/').map(move |(at, _)| &name[..at]))
}

/// A member's name made harmless: without leading slashes and `.`; `None` if it has a `..`.
pub fn harmless(name: &str) -> Option<String> {
    if name.split('/').any(|part| part == "..") {
        return None;
    }
    let parts: Vec<&str> = name.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    Some(parts.join("/"))
}

/// Without its first `count` parts; `None` if nothing is left.
pub fn strip(name: &str, count: usize) -> Option<String> {
    let folder = name.ends_with('/');
    let parts: Vec<&str> = name.split('/').filter(|part| !part.is_empty()).skip(count).collect();
    if parts.is_empty() {
        return None;
    }
    Some(parts.join("/") + if folder { "/" } else { "" })
}
