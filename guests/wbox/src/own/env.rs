//! `env [-i] [-0] [-u NAME]... [NAME=VALUE]...`: prints the environment.
//!
//! A command here cannot start another, so `env … COMMAND` says so and ends with 126.

use std::ffi::OsString;
use std::io::Write as _;

const HELP: &str = "Usage: env [-i] [-0] [-u NAME]... [NAME=VALUE]...\nPrints the environment.\n";

/// The applet.
pub fn uumain(args: impl Iterator<Item = OsString>) -> i32 {
    let args = args.skip(1).map(|it| it.to_string_lossy().into_owned());
    let started = std::env::vars_os()
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()));
    match list(args, started.collect()) {
        Ok(text) => i32::from(std::io::stdout().write_all(text.as_bytes()).is_err()),
        Err((status, problem)) => {
            let _ = writeln!(std::io::stderr(), "env: {problem}");
            status
        }
    }
}

/// In the order in which they are printed.
type Variables = Vec<(String, String)>;

/// What is printed, or an exit status with its reason.
fn list(mut args: impl Iterator<Item = String>, mut all: Variables) -> Result<String, (i32, String)> {
    let mut end = '\n';
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--help" => return Ok(HELP.to_owned()),
            "-" | "-i" | "--ignore-environment" => all.clear(),
            "-0" | "--null" => end = '\0',
            "-u" | "--unset" => {
                let name = args.next().ok_or((125, "option requires an argument -- 'u'".to_owned()))?;
                all.retain(|(known, _)| *known != name);
            }
            "--" => {}
            name if name.starts_with("--unset=") => {
                all.retain(|(known, _)| *known != name["--unset=".len()..])
            }
            other => match other.split_once('=') {
                Some((name, value)) if !other.starts_with('-') => {
                    all.retain(|(known, _)| known != name);
                    all.push((name.to_owned(), value.to_owned()));
                }
                _ if other.starts_with('-') => return Err((125, format!("unrecognized option '{other}'"))),
                _ => return Err((126, format!("'{other}': a command cannot start another one here"))),
            },
        }
    }
    Ok(all.iter().map(|(name, value)| format!("{name}={value}{end}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_is_printed_and_never_run() {
        let start = || vec![("B".to_owned(), "2".to_owned()), ("A".to_owned(), "1".to_owned())];
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
            let got = list(line.split_whitespace().map(str::to_owned), start());
            assert_eq!(got.map_err(|(status, _)| status), want.map(str::to_owned), "{line:?}");
        }
    }
}
