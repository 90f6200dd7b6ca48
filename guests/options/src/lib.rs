//! Command lines as GNU programs read them: `-abc`, `-n5`, `--name=value`, unambiguous beginnings of
//! long names, `--`, and options after operands unless the first operand ends them.
//!
//! What a program takes is a table of short texts, `"n,number="`: names with commas between them, and
//! `=` if a value follows or `?` if one may be attached. The first name is the one the program sees.
//! The entry `"#"` stands for digits: `-12` is that option with the value `12`.
//!
//! [`split`] works on bytes, because names of files are not always text; [`parse`] is for programs whose
//! arguments are. What a program does about `--help` and its statuses is its own business.

/// Whether options may follow operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// They may.
    Anywhere,
    /// The first operand ends them: what follows belongs to another command.
    First,
    /// They may, and what looks like a negative number is an operand.
    Numbers,
}

/// One piece of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item<V = String> {
    /// An option, by the first of its names, and its value.
    Flag(&'static str, Option<V>),
    /// Anything else.
    Operand(V),
}

impl<V> Item<V> {
    fn map<W>(self, change: impl FnOnce(V) -> W) -> Item<W> {
        match self {
            Self::Flag(id, value) => Item::Flag(id, value.map(change)),
            Self::Operand(value) => Item::Operand(change(value)),
        }
    }
}

/// The entry of a table that stands for any digits.
const DIGITS: &str = "#";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    Value,
    Maybe,
}

/// An entry of the table: its names, still with commas between them, and what it takes.
#[derive(Clone, Copy)]
struct Known {
    names: &'static str,
    takes: Takes,
}

impl Known {
    fn new(text: &'static str) -> Self {
        if let Some(names) = text.strip_suffix('=') {
            return Self { names, takes: Takes::Value };
        }
        match text.strip_suffix('?') {
            Some(names) if !names.is_empty() => Self { names, takes: Takes::Maybe },
            _ => Self { names: text, takes: Takes::Nothing },
        }
    }

    fn names(self) -> impl Iterator<Item = &'static str> {
        self.names.split(',')
    }

    fn id(self) -> &'static str {
        self.names().next().unwrap_or(self.names)
    }
}

/// Splits the arguments, or says what is wrong with them as GNU does.
pub fn split<'a>(
    args: impl IntoIterator<Item = &'a [u8]>,
    table: &[&'static str],
    order: Order,
) -> Result<Vec<Item<&'a [u8]>>, String> {
    let mut items = Vec::new();
    let mut rest = args.into_iter();
    while let Some(arg) = rest.next() {
        match arg {
            b"--" => break,
            number if order == Order::Numbers && is_negative(number) => items.push(Item::Operand(number)),
            [b'-', b'-', long @ ..] => items.push(long_option(long, table, &mut rest)?),
            [b'-', cluster @ ..] if !cluster.is_empty() => {
                short_options(cluster, table, &mut rest, &mut items)?;
            }
            operand => {
                items.push(Item::Operand(operand));
                if order == Order::First {
                    break;
                }
            }
        }
    }
    items.extend(rest.map(Item::Operand));
    Ok(items)
}

/// The same as [`split`] for arguments that are text.
pub fn parse(args: &[String], table: &[&'static str], order: Order) -> Result<Vec<Item>, String> {
    let items = split(args.iter().map(String::as_bytes), table, order)?;
    // Options end between two characters, so that no part of a text is anything else.
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(items.into_iter().map(|item| item.map(text)).collect())
}

fn is_negative(arg: &[u8]) -> bool {
    matches!(arg, [b'-', b'0'..=b'9' | b'.', ..] | [b'-', b'i', b'n', b'f', ..])
}

fn long_option<'a>(
    text: &'a [u8],
    table: &[&'static str],
    rest: &mut impl Iterator<Item = &'a [u8]>,
) -> Result<Item<&'a [u8]>, String> {
    let (name, value) = match text.iter().position(|byte| *byte == b'=') {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let (found, full) = by_name(name, text, table)?;
    match (found.takes, value) {
        (Takes::Nothing, Some(_)) => Err(format!("option '--{full}' doesn't allow an argument")),
        (Takes::Value, None) => match rest.next() {
            Some(value) => Ok(Item::Flag(found.id(), Some(value))),
            None => Err(format!("option '--{full}' requires an argument")),
        },
        (_, value) => Ok(Item::Flag(found.id(), value)),
    }
}

/// The entry with that long name, or the only one with a name that begins so, and the whole name.
fn by_name(name: &[u8], text: &[u8], table: &[&'static str]) -> Result<(Known, &'static str), String> {
    let mut fit: Option<(Known, &'static str)> = None;
    let mut ambiguous = false;
    for known in table.iter().map(|text| Known::new(text)) {
        for long in known.names().filter(|it| it.len() > 1 && it.as_bytes().starts_with(name)) {
            if long.len() == name.len() {
                return Ok((known, long));
            }
            // Two names of one option are the same thing, however it is begun.
            ambiguous |= fit.is_some_and(|(it, _)| it.names != known.names);
            fit = fit.or(Some((known, long)));
        }
    }
    match fit {
        Some(_) if ambiguous => Err(format!("option '--{}' is ambiguous", String::from_utf8_lossy(name))),
        Some(fit) => Ok(fit),
        None => Err(format!("unrecognized option '--{}'", String::from_utf8_lossy(text))),
    }
}

fn short_options<'a>(
    mut cluster: &'a [u8],
    table: &[&'static str],
    rest: &mut impl Iterator<Item = &'a [u8]>,
    items: &mut Vec<Item<&'a [u8]>>,
) -> Result<(), String> {
    while let Some((letter, attached)) = cluster.split_first() {
        let found = table.iter().map(|text| Known::new(text));
        let found = found.into_iter().find(|it| it.names().any(|it| it.as_bytes() == [*letter]));
        let digits = cluster.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let Some(found) = found else {
            if digits == 0 || !table.contains(&DIGITS) {
                return Err(format!("invalid option -- '{}'", first(cluster)));
            }
            items.push(Item::Flag(DIGITS, Some(&cluster[..digits])));
            cluster = &cluster[digits..];
            continue;
        };
        let value = match found.takes {
            Takes::Nothing => {
                items.push(Item::Flag(found.id(), None));
                cluster = attached;
                continue;
            }
            _ if !attached.is_empty() => Some(attached),
            Takes::Maybe => None,
            Takes::Value => match rest.next() {
                Some(value) => Some(value),
                None => return Err(format!("option requires an argument -- '{}'", char::from(*letter))),
            },
        };
        items.push(Item::Flag(found.id(), value));
        break;
    }
    Ok(())
}

/// The first character of some bytes, to be shown.
fn first(bytes: &[u8]) -> char {
    let beginning = &bytes[..bytes.len().min(4)];
    String::from_utf8_lossy(beginning).chars().next().unwrap_or_default()
}

/// The program's arguments without its name, as text.
pub fn arguments() -> Vec<String> {
    std::env::args_os().skip(1).map(|it| it.to_string_lossy().into_owned()).collect()
}

/// The name the program was called by, without its folder.
pub fn called() -> String {
    let name = std::env::args_os().next().unwrap_or_default().to_string_lossy().into_owned();
    name.rsplit('/').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[&str] = &["n,number=", "v,verbose", "color,colour?", "c", "size=", "silent", "u?", "#"];

    fn read(line: &str, order: Order) -> String {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        match parse(&args, TABLE, order) {
            Err(problem) => problem,
            Ok(items) => {
                let shown = items.iter().map(|item| match item {
                    Item::Flag(id, None) => format!("[{id}]"),
                    Item::Flag(id, Some(value)) => format!("[{id}={value}]"),
                    Item::Operand(text) => text.clone(),
                });
                shown.collect::<Vec<_>>().join(" ")
            }
        }
    }

    #[test]
    fn options_are_read_as_gnu_reads_them() {
        let cases = [
            ("a -n 5 b", "a [n=5] b"),
            ("-vn5 -c", "[v] [n=5] [c]"),
            ("--number=5 --num 6", "[n=5] [n=6]"),
            ("--color --color=x", "[color] [color=x]"),
            ("-u3 -u 3", "[u=3] [u] 3"),
            ("-v -- -n", "[v] -n"),
            ("- x", "- x"),
            ("--si", "option '--si' is ambiguous"),
            ("--verbose=1", "option '--verbose' doesn't allow an argument"),
            ("-n", "option requires an argument -- 'n'"),
            ("--number", "option '--number' requires an argument"),
            ("-q", "invalid option -- 'q'"),
            ("--quiet", "unrecognized option '--quiet'"),
            ("--quiet=3", "unrecognized option '--quiet=3'"),
            ("--verb=1", "option '--verbose' doesn't allow an argument"),
            ("--num", "option '--number' requires an argument"),
            ("--colo", "[color]"),
            ("-v12c -3", "[v] [#=12] [c] [#=3]"),
            ("-é", "invalid option -- 'é'"),
            ("-né", "[n=é]"),
            ("-", "-"),
        ];
        for (line, want) in cases {
            assert_eq!(read(line, Order::Anywhere), want, "{line}");
        }
        assert_eq!(read("-v ls -n", Order::First), "[v] ls -n");
        assert_eq!(read("-v -1 -.5 -n -3 -inf", Order::Numbers), "[v] -1 -.5 [n=-3] -inf");
    }

    #[test]
    fn bytes_that_are_no_text_pass_unchanged() {
        let args: [&[u8]; 3] = [b"-n\xff", b"\xfe", b"-\xff"];
        let items = split(args[..2].iter().copied(), TABLE, Order::Anywhere);
        assert_eq!(items, Ok(vec![Item::Flag("n", Some(&b"\xff"[..])), Item::Operand(b"\xfe")]));
        let wrong = split(args[2..].iter().copied(), TABLE, Order::Anywhere);
        assert_eq!(wrong, Err("invalid option -- '\u{fffd}'".to_owned()));
    }
}
