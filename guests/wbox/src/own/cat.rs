//! `cat` with its rarer options: coreutils' own, after a look at its inputs.
//!
//! What is published cannot tell under WASI that an input is the output, and would copy for ever.
//! So that input is refused here, as GNU does it, and the others are copied.

use crate::quick::IS_OUTPUT;
use facts::output::Output;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write as _;
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd as _;

/// The applet.
pub fn uumain(args: impl Iterator<Item = OsString>) -> i32 {
    let args: Vec<OsString> = args.collect();
    let Some(output) = Output::file() else { return uu_cat::uumain(args.into_iter()) };
    let (kept, refused) = sorted_out(args, |name| is_output(output, name));
    for name in &refused {
        let _ = writeln!(std::io::stderr(), "cat: {}: {IS_OUTPUT}", name.to_string_lossy());
    }
    match kept {
        Some(args) => uu_cat::uumain(args.into_iter()).max(i32::from(!refused.is_empty())),
        None => 1,
    }
}

fn is_output(output: Output, name: &OsStr) -> bool {
    let left = if name == "-" {
        // SAFETY: standard input is open for the whole run and is not closed here.
        output.left_in(&ManuallyDrop::new(unsafe { File::from_raw_fd(0) }))
    } else {
        // What cannot be opened is coreutils' to complain about.
        File::open(name).ok().and_then(|file| output.left_in(&file))
    };
    left.is_some_and(|left| left > 0)
}

/// The arguments without the refused operands, and those; no arguments if there is nothing to copy.
/// None of cat's options takes a value, so whatever is no option is an operand.
fn sorted_out(
    args: Vec<OsString>,
    refuse: impl Fn(&OsStr) -> bool,
) -> (Option<Vec<OsString>>, Vec<OsString>) {
    let (mut kept, mut refused, mut operands, mut only_operands) = (Vec::new(), Vec::new(), 0, false);
    for (at, arg) in args.into_iter().enumerate() {
        let option = arg != "-" && arg.as_encoded_bytes().starts_with(b"-");
        if at == 0 || (option && !only_operands) {
            only_operands |= arg == "--";
            kept.push(arg);
            continue;
        }
        operands += 1;
        if refuse(&arg) {
            refused.push(arg);
        } else {
            kept.push(arg);
        }
    }
    if operands == 0 && refuse(OsStr::new("-")) {
        return (None, vec!["-".into()]);
    }
    let nothing = operands > 0 && refused.len() == operands;
    ((!nothing).then_some(kept), refused)
}

#[cfg(test)]
mod tests {
    use super::sorted_out;
    use std::ffi::OsString;

    #[test]
    fn operands_that_are_the_output_are_left_out_and_options_stay() {
        let cases = [
            ("cat -n a b", "a", Some("cat -n b"), "a"),
            ("cat -n a", "a", None, "a"),
            ("cat -n", "-", None, "-"),
            ("cat -n -", "-", None, "-"),
            ("cat -n", "a", Some("cat -n"), ""),
            ("cat -- -n a", "-n", Some("cat -- a"), "-n"),
            ("cat --number a b", "b", Some("cat --number a"), "b"),
        ];
        for (line, output, kept, refused) in cases {
            let words = |it: &str| it.split_whitespace().map(OsString::from).collect::<Vec<_>>();
            let got = sorted_out(words(line), |it| it == output);
            assert_eq!(got, (kept.map(words), words(refused)), "{line}");
        }
    }
}
