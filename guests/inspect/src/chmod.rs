//! `chmod`: there are no modes to change, so it says whether the request makes sense and the files are
//! there, and leaves everything as it is.

use crate::{complain, print, words};
use facts::{Follow, Kind};
use std::path::Path;

const HELP: &str = "Usage: chmod [OPTION]... MODE[,MODE]... FILE...
  or:  chmod [OPTION]... --reference=RFILE FILE...

  -R, --recursive  -v, --verbose  -c, --changes  -f, --silent, --quiet

Files have no modes here, so nothing is changed: chmod checks MODE and that each FILE exists. What a
script marks as executable can be run by giving it to the shell.
";

/// Checks the request and returns the exit status.
pub(crate) fn run(args: &[String]) -> i32 {
    let (mut quiet, mut recursive, mut mode) = (false, false, None);
    let mut files = Vec::new();
    let mut only_operands = false;
    for arg in args {
        match arg.as_str() {
            "--help" => return print(HELP.as_bytes()),
            "--" if !only_operands => only_operands = true,
            "--recursive" => recursive = true,
            "--silent" | "--quiet" => quiet = true,
            "--verbose" | "--changes" | "--no-preserve-root" | "--preserve-root" => {}
            text if text.starts_with("--reference=") => mode = Some("0".to_owned()),
            // `-x` is a mode, `-R` an option.
            text if !only_operands
                && text.len() > 1
                && text.starts_with('-')
                && text[1..].chars().all(|it| "Rvcf".contains(it)) =>
            {
                recursive |= text.contains('R');
                quiet |= text.contains('f');
            }
            text if mode.is_none() => mode = Some(text.to_owned()),
            text => files.push(text.to_owned()),
        }
    }
    let Some(mode) = mode else {
        return complain("chmod", "missing operand\nTry 'chmod --help' for more information.");
    };
    if files.is_empty() {
        return complain(
            "chmod",
            &format!("missing operand after '{mode}'\nTry 'chmod --help' for more information."),
        );
    }
    if !is_mode(&mode) {
        return complain(
            "chmod",
            &format!("invalid mode: '{mode}'\nTry 'chmod --help' for more information."),
        );
    }
    let mut status = 0;
    for file in &files {
        status |= i32::from(!check(file, quiet, recursive));
    }
    status
}

fn check(file: &str, quiet: bool, recursive: bool) -> bool {
    let path = Path::new(file);
    match facts::of(path, Follow::Yes) {
        Ok(facts) if recursive && facts.kind == Kind::Directory => true,
        Ok(_) => true,
        Err(error) => {
            let dangling = facts::of(path, Follow::No).is_ok();
            if !quiet {
                match dangling {
                    true => complain("chmod", &format!("cannot operate on dangling symlink '{file}'")),
                    false => complain("chmod", &format!("cannot access '{file}': {}", words(&error))),
                };
            }
            false
        }
    }
}

/// `755`, `u+x`, `go-w,a=rX`.
fn is_mode(text: &str) -> bool {
    if !text.is_empty() && text.bytes().all(|it| (b'0'..b'8').contains(&it)) {
        return text.trim_start_matches('0').len() <= 4;
    }
    text.split(',').all(|clause| {
        let rest = clause.trim_start_matches(|it| "ugoa".contains(it));
        let parts: Vec<&str> = rest.split(['+', '-', '=']).collect();
        rest.starts_with(['+', '-', '='])
            && parts[1..].iter().all(|it| it.chars().all(|it| "rwxXstugo01234567".contains(it)))
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn modes_make_sense_or_not() {
        for mode in ["755", "0644", "+x", "u+x", "go-w,a=rX", "u=rwx,g=", "a+rwxst", "-x", "g=u"] {
            assert!(super::is_mode(mode), "{mode}");
        }
        for mode in ["", "999", "x", "u", "77777", "u+z", "755,"] {
            assert!(!super::is_mode(mode), "{mode}");
        }
    }
}
