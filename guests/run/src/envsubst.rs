//! `envsubst`: `$NAME` and `${NAME}` in standard input become what the environment says.
//!
//! Nothing else is a reference: `${NAME:-x}`, `$1` and `$(x)` stay as they are. With an operand, only
//! the names in it are replaced.

use options::{Item, Order};
use std::io::{BufRead as _, Write as _};

const HELP: &str = "Usage: envsubst [OPTION] [SHELL-FORMAT]
Substitute the values of environment variables in standard input.

  -v, --variables  output the variables occurring in SHELL-FORMAT
";
const TABLE: &[&str] = &["v,variables", "h,help", "V,version"];

/// Replaces, and returns the exit status.
pub(crate) fn run(args: &[String], env: &[Vec<u8>]) -> i32 {
    let items = match options::parse(args, TABLE, Order::Anywhere) {
        Ok(items) => items,
        Err(problem) => {
            crate::complain("envsubst", &format!("{problem}\nTry 'envsubst --help' for more information."));
            return 1;
        }
    };
    let (mut listing, mut format) = (false, None);
    for item in items {
        match item {
            Item::Flag("v", _) => listing = true,
            Item::Flag("h", _) => return crate::print(HELP),
            Item::Flag(..) => return crate::print("envsubst (Drydock)\n"),
            Item::Operand(text) if format.is_none() => format = Some(text),
            Item::Operand(_) => {
                crate::complain("envsubst", "too many arguments");
                return 1;
            }
        }
    }
    let only: Option<Vec<Vec<u8>>> =
        format.as_ref().map(|it| pieces(it.as_bytes()).filter_map(|it| it.1.map(<[u8]>::to_vec)).collect());
    if listing {
        let Some(names) = only else {
            crate::complain("envsubst", "missing arguments");
            return 1;
        };
        let lines: Vec<u8> = names.iter().flat_map(|it| [it, &b"\n"[..]].concat()).collect();
        return i32::from(std::io::stdout().write_all(&lines).is_err());
    }
    i32::from(stream(env, only.as_deref()).is_err())
}

/// Line by line: a reference does not go over the end of one.
fn stream(env: &[Vec<u8>], only: Option<&[Vec<u8>]>) -> std::io::Result<()> {
    let mut out = std::io::BufWriter::with_capacity(64 * 1024, std::io::stdout());
    let mut input = std::io::stdin().lock();
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        out.write_all(&replaced(&line, env, only))?;
        line.clear();
    }
    out.flush()
}

fn replaced(text: &[u8], env: &[Vec<u8>], only: Option<&[Vec<u8>]>) -> Vec<u8> {
    let mut out = Vec::new();
    for (spelled, name) in pieces(text) {
        match name {
            Some(name) if only.is_none_or(|it| it.iter().any(|known| known == name)) => {
                out.extend_from_slice(value(env, name));
            }
            _ => out.extend_from_slice(spelled),
        }
    }
    out
}

fn value<'a>(env: &'a [Vec<u8>], name: &[u8]) -> &'a [u8] {
    let found = env.iter().find_map(|it| it.strip_prefix(name)?.strip_prefix(b"="));
    found.unwrap_or_default()
}

/// The text in pieces: what stands there, and the name if it is a reference.
fn pieces(text: &[u8]) -> impl Iterator<Item = (&[u8], Option<&[u8]>)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = *rest.first()?;
        let (piece, name) = match (first, reference(rest)) {
            (_, Some((length, name))) => (rest.get(..length)?, Some(name)),
            _ => {
                let next = rest.iter().skip(1).position(|it| *it == b'$');
                (rest.get(..next.map_or(rest.len(), |it| it + 1))?, None)
            }
        };
        rest = rest.get(piece.len()..)?;
        Some((piece, name))
    })
}

/// How long the reference is that a text begins with, and what it names.
fn reference(text: &[u8]) -> Option<(usize, &[u8])> {
    let behind = text.strip_prefix(b"$")?;
    let (braced, behind) = match behind.strip_prefix(b"{") {
        Some(inside) => (true, inside),
        None => (false, behind),
    };
    let length = behind.iter().take_while(|it| it.is_ascii_alphanumeric() || **it == b'_').count();
    let name = behind.get(..length)?;
    let legal = name.first().is_some_and(|it| !it.is_ascii_digit());
    match (legal, braced, behind.get(length)) {
        (true, false, _) => Some((length + 1, name)),
        (true, true, Some(b'}')) => Some((length + 3, name)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn references_become_values_and_nothing_else_does() {
        let env = [b"A=1".to_vec(), b"AB=two\xff".to_vec()];
        let cases: [(&[u8], &[u8]); 6] = [
            (b"$A ${A} $AB$A-", b"1 1 two\xff1-"),
            (b"${A:-x} $1 $(A) $$A ${", b"${A:-x} $1 $(A) $1 ${"),
            (b"$NONE.", b"."),
            (b"\xff$A\n", b"\xff1\n"),
            (b"$", b"$"),
            (b"", b""),
        ];
        for (text, want) in cases {
            assert_eq!(replaced(text, &env, None), want, "{}", String::from_utf8_lossy(text));
        }
        assert_eq!(replaced(b"$A $AB", &env, Some(&[b"A".to_vec()])), b"1 $AB");
    }

    proptest! {
        #[test]
        fn without_names_nothing_changes(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            prop_assert_eq!(replaced(&bytes, &[], Some(&[])), bytes);
        }
    }
}
