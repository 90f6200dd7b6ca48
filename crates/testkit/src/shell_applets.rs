//! The fake commands that turn bytes into bytes.

use drydock_contract::port::{FileKind, Follow, Mode, OpenHow};

use crate::shell_commands::Io;

/// A command and its options.
pub(crate) enum Applet {
    Sort { numeric: bool, reverse: bool, unique: bool },
    Tail(usize),
    Wc(Vec<char>),
    Tr { delete: bool, squeeze: bool, from: Vec<u8>, to: Vec<u8> },
    Seq(i64, i64, i64),
    Grep { pattern: Vec<u8>, count: bool, invert: bool, quiet: bool, whole: bool, fold: bool },
    Uniq { count: bool },
    Rev,
    Upper,
    Cut { delimiter: u8, fields: Vec<usize> },
    Words(Vec<u8>),
}

impl Applet {
    /// The applet and the files it reads.
    pub(crate) fn of(name: &str, args: &[String]) -> Option<(Self, Vec<String>)> {
        let mut flags = String::new();
        let mut operands: Vec<String> = Vec::new();
        let mut values: Vec<(char, String)> = Vec::new();
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            let Some(letters) = arg.strip_prefix('-').filter(|it| !it.is_empty()) else {
                operands.push(arg.clone());
                continue;
            };
            if name == "seq" {
                operands.push(arg.clone());
                continue;
            }
            let takes = match name {
                "tail" => "n",
                "cut" => "df",
                "grep" => "e",
                _ => "",
            };
            let first = letters.chars().next()?;
            if takes.contains(first) {
                let inline = &letters[1..];
                let value = if inline.is_empty() { rest.next()?.clone() } else { inline.to_owned() };
                values.push((first, value));
            } else {
                flags.push_str(letters);
            }
        }
        let has = |letter: char| flags.contains(letter);
        let value = |letter: char| values.iter().find(|it| it.0 == letter).map(|it| it.1.clone());
        Some(match name {
            "sort" => (Self::Sort { numeric: has('n'), reverse: has('r'), unique: has('u') }, operands),
            "tail" => {
                let count = value('n').or_else(|| (!flags.is_empty()).then(|| flags.clone()));
                (Self::Tail(count.and_then(|it| it.parse().ok()).unwrap_or(10)), operands)
            }
            "wc" => (Self::Wc(flags.chars().collect()), operands),
            "tr" => {
                let from = set(operands.first()?);
                let to = operands.get(1).map(|it| set(it)).unwrap_or_default();
                (Self::Tr { delete: has('d'), squeeze: has('s'), from, to }, Vec::new())
            }
            "seq" => {
                let numbers: Vec<i64> = operands.iter().filter_map(|it| it.parse().ok()).collect();
                let seq = match numbers.as_slice() {
                    [last] => Self::Seq(1, 1, *last),
                    [first, last] => Self::Seq(*first, 1, *last),
                    [first, step, last] if *step != 0 => Self::Seq(*first, *step, *last),
                    _ => return None,
                };
                (seq, Vec::new())
            }
            "grep" => {
                let pattern = match value('e') {
                    Some(pattern) => pattern,
                    None if operands.is_empty() => return None,
                    None => operands.remove(0),
                };
                let grep = Self::Grep {
                    pattern: pattern.into_bytes(),
                    count: has('c'),
                    invert: has('v'),
                    quiet: has('q'),
                    whole: has('x'),
                    fold: has('i'),
                };
                (grep, operands)
            }
            "uniq" => (Self::Uniq { count: has('c') }, operands),
            "rev" => (Self::Rev, operands),
            "upper" => (Self::Upper, operands),
            "cut" => {
                let delimiter = value('d').map_or(b'\t', |it| it.bytes().next().unwrap_or(b'\t'));
                let fields = value('f')?.split(',').filter_map(|it| it.parse().ok()).collect();
                (Self::Cut { delimiter, fields }, operands)
            }
            "basename" => {
                let path = operands.first()?.trim_end_matches('/');
                let name = path.rsplit('/').next().unwrap_or(path);
                let name = operands.get(1).and_then(|it| name.strip_suffix(it.as_str())).unwrap_or(name);
                (Self::Words(format!("{name}\n").into_bytes()), Vec::new())
            }
            "dirname" => {
                let path = operands.first()?.trim_end_matches('/');
                let dir = match path.rsplit_once('/') {
                    Some(("", _)) => "/",
                    Some((dir, _)) => dir,
                    None => ".",
                };
                (Self::Words(format!("{dir}\n").into_bytes()), Vec::new())
            }
            _ => return None,
        })
    }

    pub(crate) fn reads(&self) -> bool {
        !matches!(self, Self::Seq(..) | Self::Words(_))
    }

    pub(crate) fn run(self, input: &[u8]) -> (Vec<u8>, i32) {
        let text = || input.strip_suffix(b"\n").unwrap_or(input);
        let lines = || if input.is_empty() { Vec::new() } else { text().split(|it| *it == b'\n').collect() };
        let unlines = |rows: Vec<Vec<u8>>| {
            let mut out = Vec::new();
            for row in rows {
                out.extend_from_slice(&row);
                out.push(b'\n');
            }
            out
        };
        match self {
            Self::Words(bytes) => (bytes, 0),
            Self::Upper => (input.to_ascii_uppercase(), 0),
            Self::Sort { numeric, reverse, unique } => {
                let mut rows: Vec<&[u8]> = lines();
                let number = |row: &[u8]| {
                    let text = String::from_utf8_lossy(row);
                    let text = text.trim_start();
                    let end = text
                        .char_indices()
                        .find(|(at, it)| !(it.is_ascii_digit() || (*at == 0 && *it == '-')));
                    text[..end.map_or(text.len(), |it| it.0)].parse::<i64>().unwrap_or(0)
                };
                rows.sort_by(|left, right| {
                    let order = if numeric { number(left).cmp(&number(right)) } else { left.cmp(right) };
                    let order = if reverse { order.reverse() } else { order };
                    if unique {
                        return order;
                    }
                    order.then_with(|| if reverse { right.cmp(left) } else { left.cmp(right) })
                });
                if unique {
                    rows.dedup_by(
                        |left, right| if numeric { number(left) == number(right) } else { left == right },
                    );
                }
                (unlines(rows.into_iter().map(<[u8]>::to_vec).collect()), 0)
            }
            Self::Tail(count) => {
                let rows: Vec<&[u8]> = input.split_inclusive(|it| *it == b'\n').collect();
                (rows[rows.len().saturating_sub(count)..].concat(), 0)
            }
            Self::Wc(flags) => {
                let newlines = input.iter().filter(|it| **it == b'\n').count();
                let words = input.split(u8::is_ascii_whitespace).filter(|it| !it.is_empty()).count();
                let out = match flags.as_slice() {
                    ['l'] => format!("{newlines}\n"),
                    ['w'] => format!("{words}\n"),
                    ['c'] => format!("{}\n", input.len()),
                    _ => format!("{newlines:7} {words:7} {:7}\n", input.len()),
                };
                (out.into_bytes(), 0)
            }
            Self::Tr { delete, squeeze, from, to } => (tr(input, delete, squeeze, &from, &to), 0),
            Self::Seq(first, step, last) => {
                let mut out = Vec::new();
                let mut at = first;
                while (step > 0 && at <= last) || (step < 0 && at >= last) {
                    out.extend_from_slice(format!("{at}\n").as_bytes());
                    at += step;
                }
                (out, 0)
            }
            Self::Grep { pattern, count, invert, quiet, whole, fold } => {
                let folded = |it: &[u8]| if fold { it.to_ascii_lowercase() } else { it.to_vec() };
                let wanted = folded(&pattern);
                let hit = |row: &&[u8]| {
                    let row = folded(row);
                    let found = if whole {
                        row == wanted
                    } else {
                        wanted.is_empty() || row.windows(wanted.len()).any(|it| it == wanted)
                    };
                    found != invert
                };
                let rows: Vec<Vec<u8>> = lines().into_iter().filter(hit).map(<[u8]>::to_vec).collect();
                let status = i32::from(rows.is_empty());
                let out = match (quiet, count) {
                    (true, _) => Vec::new(),
                    (_, true) => format!("{}\n", rows.len()).into_bytes(),
                    _ => unlines(rows),
                };
                (out, status)
            }
            Self::Uniq { count } => {
                let mut rows: Vec<(usize, &[u8])> = Vec::new();
                for row in lines() {
                    match rows.last_mut() {
                        Some((times, last)) if *last == row => *times += 1,
                        _ => rows.push((1, row)),
                    }
                }
                let show = |(times, row): (usize, &[u8])| {
                    let head = if count { format!("{times:7} ") } else { String::new() };
                    [head.as_bytes(), row].concat()
                };
                (unlines(rows.into_iter().map(show).collect()), 0)
            }
            Self::Rev => {
                let reversed =
                    |row: &[u8]| String::from_utf8_lossy(row).chars().rev().collect::<String>().into_bytes();
                (unlines(lines().into_iter().map(reversed).collect()), 0)
            }
            Self::Cut { delimiter, fields } => {
                let cut = |row: &[u8]| {
                    let parts: Vec<&[u8]> = row.split(|it| *it == delimiter).collect();
                    if parts.len() == 1 {
                        return row.to_vec();
                    }
                    let picked: Vec<&[u8]> =
                        fields.iter().filter_map(|it| parts.get(it - 1).copied()).collect();
                    picked.join(&delimiter)
                };
                (unlines(lines().into_iter().map(cut).collect()), 0)
            }
        }
    }
}

fn tr(input: &[u8], delete: bool, squeeze: bool, from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(input.len());
    for byte in input.iter().copied() {
        let at = from.iter().position(|it| *it == byte);
        let mapped = match at {
            Some(_) if delete => continue,
            Some(at) if !to.is_empty() => to.get(at).or(to.last()).copied().unwrap_or(byte),
            _ => byte,
        };
        if squeeze && at.is_some() && out.last() == Some(&mapped) {
            continue;
        }
        out.push(mapped);
    }
    out
}

/// `a-z`, `[:upper:]`, `\n`.
fn set(text: &str) -> Vec<u8> {
    let classes: [(&str, std::ops::RangeInclusive<u8>); 3] =
        [("[:upper:]", b'A'..=b'Z'), ("[:lower:]", b'a'..=b'z'), ("[:digit:]", b'0'..=b'9')];
    let mut all = Vec::new();
    let mut rest = text;
    'reading: while let Some(first) = rest.bytes().next() {
        for (name, range) in classes.clone() {
            if let Some(after) = rest.strip_prefix(name) {
                all.extend(range);
                rest = after;
                continue 'reading;
            }
        }
        if let Some(after) = rest.strip_prefix("[:space:]") {
            all.extend_from_slice(b"\t\n\x0b\x0c\r ");
            rest = after;
            continue;
        }
        let bytes = rest.as_bytes();
        if first == b'\\' && bytes.len() > 1 {
            all.push(match bytes[1] {
                b'n' => b'\n',
                b't' => b'\t',
                other => other,
            });
            rest = &rest[2..];
        } else if bytes.len() > 2 && bytes[1] == b'-' {
            all.extend(first..=bytes[2]);
            rest = &rest[3..];
        } else {
            all.push(first);
            rest = &rest[1..];
        }
    }
    all
}

/// `mkdir`, `rm`, `touch`, `ls`, `chmod +x`, `mv A B`, `ln [-s] A B`: output, messages, status.
pub(crate) fn files(io: &Io, name: &str, args: &[String]) -> (Vec<u8>, String, i32) {
    let now = Default::default();
    let (mut out, mut errors, mut status) = (Vec::new(), String::new(), 0);
    let flags: String = args.iter().filter(|it| it.starts_with('-')).cloned().collect();
    let mut names: Vec<&str> = args.iter().filter(|it| !it.starts_with('-')).map(String::as_str).collect();
    if name == "ls" && names.is_empty() {
        names.push(".");
    }
    if let ("mv" | "ln", [from, to]) = (name, names[..].as_ref()) {
        let (Some(a), Some(b)) = (io.path(from), io.path(to)) else { return (out, errors, 1) };
        let done = match name {
            "mv" => io.files.rename(&a, &b, now),
            _ if flags.contains('s') => io.files.symlink(from, &b, now),
            _ => io.files.link(&a, Follow::No, &b, now),
        };
        return (out, errors, i32::from(done.is_err()));
    }
    if name == "chmod" && !names.is_empty() {
        names.remove(0);
    }
    for operand in names {
        let Some(path) = io.path(operand) else { continue };
        let result = match name {
            "mkdir" if flags.contains('p') => {
                let mut partial = String::new();
                for part in path.names() {
                    partial = format!("{partial}/{part}");
                    if let Some(path) = io.path(&partial) {
                        let _ = io.files.create_dir(&path, Mode::DIRECTORY, now);
                    }
                }
                Ok(())
            }
            "mkdir" => io.files.create_dir(&path, Mode::DIRECTORY, now),
            "touch" => {
                let how = OpenHow { write: true, create: true, ..OpenHow::default() };
                io.files.open(&path, how, now).map(drop)
            }
            "chmod" => io.files.set_mode(&path, Follow::Yes, Mode::new(0o755), now),
            "rm" => match io.files.unlink(&path, now) {
                Err(_) if flags.contains('f') => Ok(()),
                other => other,
            },
            _ => match io.files.stat(&path, Follow::Yes) {
                Ok(stat) if stat.kind == FileKind::Directory => io.files.read_dir(&path).map(|entries| {
                    for entry in entries.iter().filter(|it| !it.name.starts_with('.')) {
                        out.extend_from_slice(format!("{}\n", entry.name).as_bytes());
                    }
                }),
                Ok(_) => {
                    out.extend_from_slice(format!("{operand}\n").as_bytes());
                    Ok(())
                }
                Err(error) => Err(error),
            },
        };
        if let Err(error) = result {
            errors.push_str(&format!("{name}: {operand}: {error}\n"));
            status = if name == "ls" { 2 } else { 1 };
        }
    }
    (out, errors, status)
}
