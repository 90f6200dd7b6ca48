//! `sort -c`: whether the input is in order, and which line is the first that is not.

use super::compare;
use super::key::{Key, Order};
use std::cmp::Ordering;
use std::fs::File;
use std::io::{self, BufRead, BufReader};

/// What decides the order.
#[derive(Debug, Default)]
pub struct Options {
    quiet: bool,
    unique: bool,
    stable: bool,
    zero: bool,
    separator: Option<u8>,
    order: Order,
    keys: Vec<Key>,
    file: Option<String>,
}

/// `None` if nothing is to be checked; an error is a command line that says it wrongly.
pub fn parse(words: &[String]) -> Option<Result<Options, String>> {
    let (mut options, mut checks) = (Options::default(), false);
    let mut words = words.iter();
    let mut files = Vec::new();
    while let Some(word) = words.next() {
        let mut value = |attached: &str| {
            if attached.is_empty() { words.next().cloned() } else { Some(attached.to_owned()) }
        };
        let taken = match word.as_str() {
            "--" => {
                files.extend(words.by_ref().cloned());
                Ok(())
            }
            "-" => {
                files.push(word.clone());
                Ok(())
            }
            long if long.starts_with("--") => {
                let (name, attached) = long[2..].split_once('=').unwrap_or((&long[2..], ""));
                match name {
                    "check" => {
                        checks = true;
                        options.quiet |= matches!(attached, "quiet" | "silent");
                    }
                    "key" => match value(attached).map(|key| Key::parse(&key)) {
                        Some(Ok(key)) => options.keys.push(key),
                        // Their parser says what is wrong with it.
                        _ => return None,
                    },
                    "field-separator" => options.separator = value(attached).and_then(|it| it.bytes().next()),
                    "output" | "buffer-size" | "temporary-directory" | "parallel" | "batch-size" => {
                        drop(value(attached))
                    }
                    _ => {
                        let letter =
                            LONG.iter().find(|(long, _)| *long == name).map(|(_, letter)| *letter)?;
                        options.letter(letter);
                    }
                }
                Ok(())
            }
            short if short.starts_with('-') => {
                let mut done = Ok(());
                for (at, letter) in short.char_indices().skip(1) {
                    let rest = &short[at + letter.len_utf8()..];
                    match letter {
                        'c' | 'C' => {
                            checks = true;
                            options.quiet |= letter == 'C';
                        }
                        'k' => {
                            match value(rest).map(|key| Key::parse(&key)) {
                                Some(Ok(key)) => options.keys.push(key),
                                Some(Err(problem)) => done = Err(problem),
                                None => return None,
                            }
                            break;
                        }
                        't' => {
                            options.separator = match value(rest).as_deref() {
                                Some("\\t") => Some(b'\t'),
                                Some("\\0") => Some(0),
                                other => other.and_then(|it| it.bytes().next()),
                            };
                            break;
                        }
                        'o' | 'S' | 'T' => {
                            drop(value(rest));
                            break;
                        }
                        other if options.letter(other) => {}
                        _ => return None,
                    }
                }
                done
            }
            file => {
                files.push(file.to_owned());
                Ok(())
            }
        };
        if let Err(problem) = taken {
            return checks.then_some(Err(problem));
        }
    }
    if !checks {
        return None;
    }
    if files.len() > 1 {
        return Some(Err(format!("extra operand '{}' not allowed with -c", files[1])));
    }
    options.file = files.pop();
    Some(Ok(options))
}

const LONG: [(&str, char); 14] = [
    ("ignore-leading-blanks", 'b'),
    ("dictionary-order", 'd'),
    ("ignore-case", 'f'),
    ("general-numeric-sort", 'g'),
    ("human-numeric-sort", 'h'),
    ("ignore-nonprinting", 'i'),
    ("month-sort", 'M'),
    ("numeric-sort", 'n'),
    ("reverse", 'r'),
    ("version-sort", 'V'),
    ("stable", 's'),
    ("unique", 'u'),
    ("zero-terminated", 'z'),
    ("debug", 'x'),
];

impl Options {
    fn letter(&mut self, letter: char) -> bool {
        match letter {
            's' => self.stable = true,
            'u' => self.unique = true,
            'z' => self.zero = true,
            'x' => {}
            other => return self.order.letter(other),
        }
        true
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        if self.keys.is_empty() {
            let found = compare::by(&self.order, left, right);
            return found.then_with(|| self.last_resort(left, right));
        }
        let mut found = Ordering::Equal;
        for key in &self.keys {
            let order = key.order.as_ref().unwrap_or(&self.order);
            let part = |line| key.of(line, self.separator, order.blanks);
            found = found.then_with(|| compare::by(order, part(left), part(right)));
        }
        found.then_with(|| self.last_resort(left, right))
    }

    /// Equal keys leave it to all bytes, unless equal is equal.
    fn last_resort(&self, left: &[u8], right: &[u8]) -> Ordering {
        if self.stable || self.unique {
            return Ordering::Equal;
        }
        if self.order.reverse { right.cmp(left) } else { left.cmp(right) }
    }
}

/// Reads the input; the exit status.
pub fn run(options: &Options) -> i32 {
    let name = options.file.as_deref().unwrap_or("-");
    let source: Box<dyn BufRead> = match name {
        "-" => Box::new(io::stdin().lock()),
        file => match File::open(file) {
            Ok(file) => Box::new(BufReader::new(file)),
            Err(error) => {
                eprintln!("sort: cannot read: {name}: {}", uucore::error::strip_errno(&error));
                return 2;
            }
        },
    };
    match first_disorder(options, source) {
        Ok(None) => 0,
        Ok(Some((line, text))) => {
            if !options.quiet {
                eprintln!("sort: {name}:{line}: disorder: {}", String::from_utf8_lossy(&text));
            }
            1
        }
        Err(error) => {
            eprintln!("sort: read failed: {name}: {}", uucore::error::strip_errno(&error));
            2
        }
    }
}

fn first_disorder(options: &Options, mut source: impl BufRead) -> io::Result<Option<(usize, Vec<u8>)>> {
    let end = if options.zero { 0 } else { b'\n' };
    let (mut before, mut line, mut number) = (None::<Vec<u8>>, Vec::new(), 0);
    while source.read_until(end, &mut line)? > 0 {
        number += 1;
        if line.last() == Some(&end) {
            line.pop();
        }
        if let Some(before) = &before {
            let order = options.compare(before, &line);
            if order.is_gt() || (options.unique && order.is_eq()) {
                return Ok(Some((number, line)));
            }
        }
        before = Some(std::mem::take(&mut line));
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(args: &str, text: &str) -> Option<usize> {
        let words: Vec<String> = args.split_whitespace().map(str::to_owned).collect();
        let options = parse(&words)?.ok()?;
        first_disorder(&options, text.as_bytes()).ok()?.map(|(line, _)| line)
    }

    #[test]
    fn the_first_line_out_of_order_is_found() {
        let cases = [
            ("-c", "a\nb\nb\n", None),
            ("-c", "b\na\n", Some(2)),
            ("-cu", "a\na\n", Some(2)),
            ("-cn", "2\n10\n9\n", Some(3)),
            ("-c", "2\n10\n", Some(2)),
            ("-cr", "c\nb\na\n", None),
            ("-ck2n", "x 1\na 2\nb 10\n", None),
            ("-c -t, -k2,2", "a,z\nb,y\n", Some(2)),
            ("-cf", "a\nB\nc\n", None),
            ("-ch", "900\n1K\n2M\n", None),
            ("-cV", "v1.2\nv1.10\n", None),
            ("-cM", "jan\nFEB\nmar\n", None),
            ("-cg", "1e1\n2e0\n", Some(2)),
            ("-cn", "-2\n-1\n0.5\n0.25\n", Some(4)),
        ];
        for (args, text, want) in cases {
            assert_eq!(line(args, text), want, "{args} {text:?}");
        }
    }

    #[test]
    fn only_checks_are_taken_over() {
        for (args, want) in [
            ("-c", true),
            ("-nC", true),
            ("--check=quiet", true),
            ("-k2", false),
            ("-tc", false),
            ("c", false),
        ] {
            let words: Vec<String> = args.split_whitespace().map(str::to_owned).collect();
            assert_eq!(parse(&words).is_some(), want, "{args}");
        }
    }
}
