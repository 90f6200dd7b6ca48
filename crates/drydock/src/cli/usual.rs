//! The usual command lines, read without the flags of every other subcommand: making those takes longer than the line
//! that most processes are started for (decision 0082).
//!
//! What is not read here, a mistake or a question for help, is read by the whole parser, which says what there is to say.

use std::ffi::OsString;

use clap::{Args, Command as Flags};

use super::{Command, sh::Sh};

/// The command of a line that names one of the four and has nothing wrong.
pub(crate) fn read(words: &[OsString]) -> Option<Command> {
    if let Some(line) = line_alone(words) {
        return Some(Command::Sh(Sh::of_line(line.clone())));
    }
    match words.get(1)?.to_str()? {
        "run" => read_as(words).map(Command::Run),
        "sh" => read_as(words).map(Command::Sh),
        "js" => read_as(words).map(Command::Js),
        "py" => read_as(words).map(Command::Py),
        _ => None,
    }
}

/// The line of `sh -c LINE` with no flag beside it: making the flags takes half as long as `true` does. What begins with a
/// dash may be a flag.
fn line_alone(words: &[OsString]) -> Option<&OsString> {
    let [_, subcommand, flag, line] = words else { return None };
    let is_text = line.as_encoded_bytes().first().is_some_and(|it| *it != b'-');
    (subcommand == "sh" && flag == "-c" && is_text).then_some(line)
}

fn read_as<T: Args>(words: &[OsString]) -> Option<T> {
    let flags = T::augment_args(Flags::new("drydock"));
    let matches = flags.try_get_matches_from(words.get(1..)?).ok()?;
    T::from_arg_matches(&matches).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use clap::Parser as _;

    use super::*;
    use crate::cli::Arguments;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn a_usual_line_is_read_as_the_whole_parser_reads_it() {
        for line in [
            "drydock sh -c ls",
            "drydock sh -c ls one",
            "drydock sh --timeout 2s --eval -c :",
            "drydock sh script.sh --flag of the script",
            "drydock run jq -r .name",
            "drydock run --timeout 2s --memory 32MiB sort -k3",
            "drydock js -e 1",
            "drydock js program.ts",
            "drydock py -c print(1)",
        ] {
            let whole = Arguments::try_parse_from(words(line)).unwrap().command;
            assert_eq!(format!("{:?}", read(&words(line)).unwrap()), format!("{whole:?}"), "{line}");
        }
    }

    #[test]
    fn mistakes_help_and_other_subcommands_are_left_to_the_whole_parser() {
        for line in [
            "drydock",
            "drydock js --tiemout 2s",
            "drydock sh --help",
            "drydock sh -h",
            "drydock sh -c -x",
            "drydock sh -c --help",
            "drydock sh -c",
            "drydock run --timeout never sort",
            "drydock profiles",
            "drydock --version",
            "drydock help sh",
        ] {
            assert!(read(&words(line)).is_none(), "{line}");
        }
    }
}
