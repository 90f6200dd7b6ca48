//! Which columns a selection names: `name`, `2`, `-1`, `a:c`, `:c`, `name[1]`, `"odd,name"`,
//! `prefix*`, `*`, with commas between them, and `!` before it all for the others.
//!
//! xan counts columns from 0; qsv counts from 1 and writes ranges of numbers `1-3` as well.

use csv::ByteRecord;

/// What the first column is called by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    Zero,
    One,
}

impl Base {
    pub fn first(self) -> usize {
        match self {
            Self::Zero => 0,
            Self::One => 1,
        }
    }
}

/// One end of a range, or a column by itself.
#[derive(Debug)]
enum End {
    Absent,
    /// In quotes: nothing but a name.
    Name(String),
    /// A name, a number, or a pattern.
    Text(String),
}

/// The places of the selected columns, in the order they were named.
pub(crate) fn columns(text: &str, names: &ByteRecord, base: Base) -> Result<Vec<usize>, String> {
    let (text, others) = match text.strip_prefix('!') {
        Some(rest) => (rest, true),
        None => (text, false),
    };
    let mut found = Vec::new();
    for (from, to) in parts(text)? {
        let to = match (&from, to) {
            (End::Absent, None) => return Err("a selection is empty".to_owned()),
            (End::Text(text), None) => {
                if let Some(places) = many(text, names, base)? {
                    found.extend(places);
                } else {
                    found.push(one(text, names, base)?);
                }
                continue;
            }
            (End::Name(name), None) => {
                found.push(named(name, 0, names)?);
                continue;
            }
            (_, Some(to)) => to,
        };
        let last = names.len().checked_sub(1).ok_or("there are no columns")?;
        let (from, to) = (end(from, 0, names, base)?, end(to, last, names, base)?);
        if from <= to { found.extend(from..=to) } else { found.extend((to..=from).rev()) }
    }
    if others {
        return Ok((0..names.len()).filter(|it| !found.contains(it)).collect());
    }
    Ok(found)
}

fn parts(text: &str) -> Result<Vec<(End, Option<End>)>, String> {
    let (mut parts, mut rest) = (Vec::new(), text);
    loop {
        let from;
        (from, rest) = an_end(rest)?;
        let mut to = None;
        if let Some(after) = rest.strip_prefix(':') {
            let upper;
            (upper, rest) = an_end(after)?;
            to = Some(upper);
        }
        parts.push((from, to));
        match rest.strip_prefix(',') {
            Some(after) => rest = after,
            None if rest.is_empty() => return Ok(parts),
            None => return Err(format!("'{rest}' is out of place in a selection")),
        }
    }
}

fn an_end(text: &str) -> Result<(End, &str), String> {
    if let Some(quoted) = text.strip_prefix('"') {
        let (mut name, mut rest) = (String::new(), quoted);
        loop {
            let (head, tail) = rest.split_once('"').ok_or("a quote in a selection is not closed")?;
            name.push_str(head);
            match tail.strip_prefix('"') {
                Some(more) => {
                    name.push('"');
                    rest = more;
                }
                None => return Ok((End::Name(name), tail)),
            }
        }
    }
    let stop = text.find([',', ':']).unwrap_or(text.len());
    let (head, rest) = text.split_at(stop);
    Ok((if head.is_empty() { End::Absent } else { End::Text(head.to_owned()) }, rest))
}

fn end(end: End, absent: usize, names: &ByteRecord, base: Base) -> Result<usize, String> {
    match end {
        End::Absent => Ok(absent),
        End::Name(name) => named(&name, 0, names),
        End::Text(text) => one(&text, names, base),
    }
}

/// What stands for several columns; nothing if the text is no such pattern.
fn many(text: &str, names: &ByteRecord, base: Base) -> Result<Option<Vec<usize>>, String> {
    if text == "*" {
        return Ok(Some((0..names.len()).collect()));
    }
    if let (Base::One, Some((from, to))) = (base, text.split_once('-'))
        && let (Ok(from), Ok(to)) = (from.parse::<u32>(), to.parse::<u32>())
    {
        let from = numbered(i64::from(from), names, base)?;
        let to = numbered(i64::from(to), names, base)?;
        return Ok(Some(if from <= to { (from..=to).collect() } else { (to..=from).rev().collect() }));
    }
    let exact = names.iter().any(|it| it == text.as_bytes());
    let Some((head, tail)) = text.split_once('*').filter(|_| !exact) else { return Ok(None) };
    let long = head.len() + tail.len();
    let fits =
        |it: &[u8]| it.len() >= long && it.starts_with(head.as_bytes()) && it.ends_with(tail.as_bytes());
    let places: Vec<usize> = (0..names.len()).filter(|at| names.get(*at).is_some_and(fits)).collect();
    if places.is_empty() { Err(format!("no column is called '{text}'")) } else { Ok(Some(places)) }
}

fn one(text: &str, names: &ByteRecord, base: Base) -> Result<usize, String> {
    if let Ok(number) = text.parse::<i64>() {
        return numbered(number, names, base);
    }
    let nth = text.strip_suffix(']').and_then(|it| it.rsplit_once('['));
    if let Some((name, nth)) = nth.and_then(|(name, nth)| Some((name, nth.parse::<usize>().ok()?))) {
        return named(name, nth, names);
    }
    named(text, 0, names)
}

fn numbered(number: i64, names: &ByteRecord, base: Base) -> Result<usize, String> {
    let place = match number {
        ..0 => (names.len() as i64).checked_add(number),
        _ => number.checked_sub(base.first() as i64),
    };
    let place = place.and_then(|it| usize::try_from(it).ok()).filter(|it| *it < names.len());
    place.ok_or_else(|| format!("there is no column {number}: the table has {}", names.len()))
}

fn named(name: &str, nth: usize, names: &ByteRecord) -> Result<usize, String> {
    let mut fits = (0..names.len()).filter(|at| names.get(*at) == Some(name.as_bytes()));
    fits.nth(nth).ok_or_else(|| format!("no column is called '{name}'"))
}
