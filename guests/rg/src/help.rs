//! What `rg --help` says.

pub(crate) const TEXT: &str =
    "ripgrep recursively searches the current directory for lines matching a regex pattern.

USAGE:
  rg [OPTIONS] PATTERN [PATH ...]
  rg [OPTIONS] -e PATTERN ... [PATH ...]
  rg [OPTIONS] --files [PATH ...]

PATTERN:   -e PATTERN  -f FILE  -F fixed strings  -i ignore case  -S smart case  -s case sensitive
           -w words  -x whole lines  -v invert  -U multiline  --multiline-dotall  --crlf
OUTPUT:    -n line numbers  -N none  -H file names  -I none  -c count  --count-matches  -l files
           --files-without-match  -o only matching  -r REPLACEMENT  -A/-B/-C NUM context  -m NUM
           --column  -b byte offsets  --vimgrep  --heading  --json  -q quiet  --passthru  --trim
           -M NUM longest line  -0 NUL after names  --stats  --context-separator  -p pretty
FILES:     --files  -g GLOB  --iglob GLOB  -t TYPE  -T TYPE  --type-add SPEC  --type-list  -. hidden
           --no-ignore  -u (-uu, -uuu)  -d NUM depth  --max-filesize NUM  -a as text  --sort path
";
