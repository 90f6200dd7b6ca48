//! The text of `--help`.

/// Printed by `jq --help`.
pub const HELP: &str = "\
Usage: jq [OPTION]... FILTER [FILE]...
   or: jq [OPTION]... --args FILTER [TEXT]...
   or: jq [OPTION]... --jsonargs FILTER [JSON]...

Applies FILTER to each JSON value of the files, or of standard input.

Input:
  -n, --null-input         run once, with null, and read nothing unasked
  -R, --raw-input          each line is a string
  -s, --slurp              all values at once, as one array
      --stream             paths and leaves instead of whole values
      --stream-errors      as --stream, with errors as events
      --seq                RFC 7464 record separators, in and out

Output:
  -r, --raw-output         strings without quotes
  -j, --join-output        as -r, without line ends
      --raw-output0        as -r, with NUL for line ends
  -a, --ascii-output       other characters as \\u escapes
  -c, --compact-output     one line a value
  -C, --color-output       with colours
  -M, --monochrome-output  without
  -S, --sort-keys          objects in the order of their keys
      --tab                indent with tabs
      --indent N           indent with N spaces, 0 to 7
  -e, --exit-status        1 if the last output is false or null, 4 if there is none

Program:
  -f, --from-file          FILTER names a file with the program
  -L, --library-path DIR   look for modules there
      --arg NAME TEXT      $NAME is a string
      --argjson NAME JSON  $NAME is a value
      --slurpfile NAME F   $NAME is an array of the values in file F
      --rawfile NAME F     $NAME is the content of file F
      --args, --jsonargs   further operands are $ARGS.positional

  -h, --help               this text
  -V, --version            the version

Exit status: 0, or 1 and 4 as with -e, 2 for a wrong option, file or input,
3 for a wrong program, 5 when the program failed.
";
