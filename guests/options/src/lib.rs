//! Command lines as GNU programs read them: `-abc`, `-n5`, `--name=value`, unambiguous beginnings of
//! long names, `--`, and options after operands unless the first operand ends them.
//!
//! What a program takes is a table of short texts, `"n,number="`: names with commas between them, and
//! `=` if a value follows or `?` if one may be attached. The first name is the one the program sees.

/// Whether options may follow operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// They may.
    Anywhere,
    /// The first operand ends them: what follows belongs to another command.
    First,
}

/// One piece of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// An option, by the first of its names, and its value.
    Flag(&'static str, Option<String>),
    /// Anything else.
    Operand(String),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    Value,
    Maybe,
}

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
pub fn parse(args: &[String], table: &[&'static str], order: Order) -> Result<Vec<Item>, String> {
    let known: Vec<Known> = table.iter().map(|text| Known::new(text)).collect();
    let mut items = Vec::new();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        if arg == "--" {
            break;
        } else if let Some(long) = arg.strip_prefix("--") {
            items.push(long_option(long, &known, &mut rest)?);
        } else if arg.len() > 1 && arg.starts_with('-') {
            short_options(&arg[1..], &known, &mut rest, &mut items)?;
        } else {
            items.push(Item::Operand(arg.clone()));
            if order == Order::First {
                break;
            }
        }
    }
    items.extend(rest.map(|arg| Item::Operand(arg.clone())));
    Ok(items)
}

fn long_option<'a>(
    text: &str,
    known: &[Known],
    rest: &mut impl Iterator<Item = &'a String>,
) -> Result<Item, String> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (text, None),
    };
    let exact = known.iter().find(|it| it.names().any(|it| it.len() > 1 && it == name));
    let found = match exact {
        Some(found) => *found,
        None => beginning(name, known)?,
    };
    match (found.takes, value) {
        (Takes::Nothing, Some(_)) => Err(format!("option '--{name}' doesn't allow an argument")),
        (Takes::Value, None) => match rest.next() {
            Some(value) => Ok(Item::Flag(found.id(), Some(value.clone()))),
            None => Err(format!("option '--{name}' requires an argument")),
        },
        (_, value) => Ok(Item::Flag(found.id(), value)),
    }
}

fn beginning(name: &str, known: &[Known]) -> Result<Known, String> {
    let mut fits = known.iter().filter(|it| it.names().any(|it| it.len() > 1 && it.starts_with(name)));
    match (fits.next(), fits.next()) {
        (Some(only), None) => Ok(*only),
        (Some(_), Some(_)) => Err(format!("option '--{name}' is ambiguous")),
        _ => Err(format!("unrecognized option '--{name}'")),
    }
}

fn short_options<'a>(
    cluster: &str,
    known: &[Known],
    rest: &mut impl Iterator<Item = &'a String>,
    items: &mut Vec<Item>,
) -> Result<(), String> {
    for (at, letter) in cluster.char_indices() {
        let mut buffer = [0; 4];
        let name: &str = letter.encode_utf8(&mut buffer);
        let found = known.iter().find(|it| it.names().any(|it| it == name));
        let found = found.ok_or_else(|| format!("invalid option -- '{letter}'"))?;
        let attached = &cluster[at + letter.len_utf8()..];
        let value = match found.takes {
            Takes::Nothing => {
                items.push(Item::Flag(found.id(), None));
                continue;
            }
            _ if !attached.is_empty() => Some(attached.to_owned()),
            Takes::Maybe => None,
            Takes::Value => match rest.next() {
                Some(value) => Some(value.clone()),
                None => return Err(format!("option requires an argument -- '{letter}'")),
            },
        };
        items.push(Item::Flag(found.id(), value));
        break;
    }
    Ok(())
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

    const TABLE: &[&str] = &["n,number=", "v,verbose", "color?", "c", "size=", "silent", "u?"];

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
        ];
        for (line, want) in cases {
            assert_eq!(read(line, Order::Anywhere), want, "{line}");
        }
        assert_eq!(read("-v ls -n", Order::First), "[v] ls -n");
    }
}
