//! yq: documents of many formats, one language.
//!
//! A document becomes a value, the program runs over it, and the results are written in the format
//! that was asked for. Comments and styles of YAML are not part of a value: they are not printed, and a
//! file that is edited in place keeps them where it is not changed.

mod evaluate;
pub mod format;
mod in_place;
mod options;
mod source;
mod spelling;
#[cfg(test)]
mod tests;

use jq::stdio;
use options::Stop;

const HELP: &str = "\
Usage: yq [eval|eval-all] [OPTION...] [EXPRESSION] [FILE...]
  -p, --input-format   yaml json toml xml csv tsv props (default: by the file's name, or yaml)
  -o, --output-format  yaml json toml xml csv tsv props (default: yaml)
  -i, --inplace        write the result back into the file
  -n, --null-input     do not read input       -s, --slurp     all documents as one array
  -r, --unwrapScalar   strings without quotes  -j, --tojson    same as -o json
  -P, --prettyPrint    block style             -I, --indent N  0 is compact JSON
  -N, --no-doc         no --- between results  -e, --exit-status
  --arg NAME TEXT, --argjson NAME JSON, --from-file FILE, --expression EXPRESSION
";

/// Runs as `name` with `args`; the exit status.
pub fn run(name: &str, args: &[String]) -> i32 {
    let options = match options::parse(name, args) {
        Ok(options) => options,
        Err(Stop::Help) => {
            stdio::print(HELP.as_bytes());
            return 0;
        }
        Err(Stop::Version) => {
            stdio::print(concat!("yq (drydock) version v4-", env!("CARGO_PKG_VERSION"), "\n").as_bytes());
            return 0;
        }
        Err(Stop::Wrong(problem)) => {
            stdio::complain(&format!("Error: {problem}"));
            return 1;
        }
    };
    match evaluate::run(&options) {
        Ok(status) => status,
        Err(problem) => {
            stdio::complain(&format!("Error: {problem}"));
            1
        }
    }
}
