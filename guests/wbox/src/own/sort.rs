//! `sort`, as coreutils has it, but for `-c`: that one reads ahead in a thread, and there are none here.

use std::ffi::OsString;
use std::io::Write as _;

/// Letters that take a value; what follows them is not a letter.
const TAKING: &str = "koStT";

/// The applet.
pub fn uumain(args: impl Iterator<Item = OsString>) -> i32 {
    let args: Vec<OsString> = args.collect();
    if args.iter().skip(1).take_while(|arg| *arg != "--").any(|arg| checks(&arg.to_string_lossy())) {
        let _ = writeln!(
            std::io::stderr(),
            "sort: checking (-c, -C) is not supported here; compare with the sorted output"
        );
        return 2;
    }
    uu_sort::uumain(args.into_iter())
}

fn checks(arg: &str) -> bool {
    if arg == "--check" || arg.starts_with("--check=") {
        return true;
    }
    let Some(letters) = arg.strip_prefix('-').filter(|it| !it.starts_with('-')) else { return false };
    letters.chars().take_while(|letter| !TAKING.contains(*letter)).any(|letter| matches!(letter, 'c' | 'C'))
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_checks_are_refused() {
        for (arg, want) in [
            ("-c", true),
            ("-nC", true),
            ("--check=quiet", true),
            ("-k2", false),
            ("-tc", false),
            ("--c", false),
            ("c", false),
        ] {
            assert_eq!(super::checks(arg), want, "{arg}");
        }
    }
}
