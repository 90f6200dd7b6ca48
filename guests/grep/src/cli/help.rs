//! The texts of `--help`, `--version` and of a wrong command line.

/// Follows every complaint about the command line.
pub(super) const USAGE: &str = "\
Usage: grep [OPTION]... PATTERNS [FILE]...
Try 'grep --help' for more information.";

/// Printed by `grep --version`.
pub(super) const VERSION: &str = concat!("grep (drydock) ", env!("CARGO_PKG_VERSION"), "\n");

/// Printed by `grep --help`.
pub(super) const HELP: &str = "\
Usage: grep [OPTION]... PATTERNS [FILE]...
Prints the lines of each FILE that match one of PATTERNS, one a line.

Patterns:
  -G, --basic-regexp        POSIX basic syntax (the default)
  -E, --extended-regexp     POSIX extended syntax
  -F, --fixed-strings       plain text
  -P, --perl-regexp         Rust's syntax: Perl's, without look-around
  -e, --regexp=PATTERNS     use these; may be repeated
  -f, --file=FILE           use those in FILE
  -i, --ignore-case         upper and lower case alike
  -w, --word-regexp         whole words only
  -x, --line-regexp         whole lines only
  -z, --null-data           lines end with NUL

Selection:
  -v, --invert-match        lines that do not match
  -m, --max-count=NUM       stop after NUM lines
  -a, --text                binary files are text
  -I                        binary files never match
      --binary-files=TYPE   binary, text or without-match
  -r, --recursive           all files below folders
  -R, --dereference-recursive  and follow links
  -d, --directories=ACTION  read, recurse or skip
      --include=GLOB        only files of such names
      --exclude=GLOB        not these
      --exclude-from=FILE   not those in FILE
      --exclude-dir=GLOB    not below such folders

Output:
  -n, --line-number         with the number of the line
  -b, --byte-offset         with the offset of the line
  -H, --with-filename       with the name of the file
  -h, --no-filename         without
      --label=NAME          NAME for standard input
  -o, --only-matching       only what matches
  -c, --count               how many lines
  -l, --files-with-matches  only names of files that match
  -L, --files-without-match only names of those that do not
  -q, --quiet               nothing
  -s, --no-messages         nothing about files that cannot be read
  -T, --initial-tab         align with tabs
  -Z, --null                NUL after a file's name
  -B, -A, -C NUM, -NUM      lines before, after, around
      --color[=WHEN]        mark matches: always, never or auto
      --line-buffered       each line is written at once

Exit status: 0 if a line was selected, 1 if none, 2 in trouble.
";
