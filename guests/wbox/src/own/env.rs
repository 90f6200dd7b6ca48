//! `env [-i] [-0] [-u NAME]... [NAME=VALUE]...`: prints the environment.
//!
//! An applet cannot start another command, so `env … COMMAND` says so and ends with 126; the command of
//! that name, which can, is the guest `run`'s.

use super::arguments;
use crate::stream::Out;
use options::{Item, Order};

const HELP: &str = "Usage: env [-i] [-0] [-u NAME]... [NAME=VALUE]...\nPrints the environment.\n";
const TABLE: &[&str] = &["i,ignore-environment", "0,null", "u,unset=", "help", "version"];
/// The applet itself is misused.
const TROUBLE: i32 = 125;
const NOT_RUN: i32 = 126;

/// In the order in which they are printed.
type Variables = Vec<(Vec<u8>, Vec<u8>)>;

/// The applet.
pub fn main(args: &[&[u8]]) -> i32 {
    if args.iter().any(|it| matches!(*it, b"--help" | b"--version"))
        && let Err(status) = arguments::read("env", HELP, args, TABLE, TROUBLE)
    {
        return status;
    }
    let bytes = |text: std::ffi::OsString| text.into_encoded_bytes();
    let started = std::env::vars_os().map(|(name, value)| (bytes(name), bytes(value)));
    let mut out = Out::new("env");
    match list(args, started.collect()) {
        Ok(text) => {
            out.put(&text);
            out.end(0)
        }
        Err((status, problem)) => {
            out.complain(&problem);
            status
        }
    }
}

/// What is printed, or an exit status with its reason.
fn list(args: &[&[u8]], mut all: Variables) -> Result<Vec<u8>, (i32, String)> {
    let mut end = b'\n';
    let misused = |problem| (TROUBLE, problem);
    for item in options::split(args.iter().copied(), TABLE, Order::Anywhere).map_err(misused)? {
        match item {
            Item::Flag("i", _) | Item::Operand(b"-") => all.clear(),
            Item::Flag("0", _) => end = 0,
            Item::Flag(_, name) => all.retain(|(known, _)| Some(known.as_slice()) != name),
            Item::Operand(word) => {
                let Some(at) = word.iter().position(|it| *it == b'=') else {
                    let word = String::from_utf8_lossy(word);
                    return Err((NOT_RUN, format!("'{word}': a command cannot start another one here")));
                };
                all.retain(|(known, _)| *known != word[..at]);
                all.push((word[..at].to_vec(), word[at + 1..].to_vec()));
            }
        }
    }
    let line = |(name, value): &(Vec<u8>, Vec<u8>)| [name.as_slice(), b"=", value, &[end]].concat();
    Ok(all.iter().flat_map(line).collect())
}

#[test]
fn the_environment_is_printed_and_never_run() {
    let start = || [("B", "2"), ("A", "1")].map(|(name, value)| (name.into(), value.into())).to_vec();
    let cases = [
        ("", Ok("B=2\nA=1\n")),
        ("C=3", Ok("B=2\nA=1\nC=3\n")),
        ("B=4", Ok("A=1\nB=4\n")),
        ("-u A", Ok("B=2\n")),
        ("-i X=y -0", Ok("X=y\0")),
        ("sh", Err(126)),
        ("-q", Err(125)),
    ];
    for (line, want) in cases {
        let words: Vec<&[u8]> = line.split_whitespace().map(str::as_bytes).collect();
        let got = list(&words, start()).map_err(|(status, _)| status);
        assert_eq!(got, want.map(|it: &str| it.as_bytes().to_vec()), "{line:?}");
    }
}
