//! The guest `ts`: TypeScript on stdin, JavaScript on stdout, with blanks where types were.
//!
//! What is more than types, and what is wrong, ends with status 1 and `line:column message` on stderr.

use std::io::{Read as _, Write as _};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut text = String::new();
    if std::io::stdin().read_to_string(&mut text).is_err() {
        eprintln!("the text is not UTF-8");
        return ExitCode::FAILURE;
    }
    match ts::strip(&text) {
        Ok(stripped) => match std::io::stdout().write_all(stripped.as_bytes()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        },
        Err(wrong) => {
            eprintln!("{}:{} {}", wrong.line, wrong.column, wrong.message);
            ExitCode::FAILURE
        }
    }
}
