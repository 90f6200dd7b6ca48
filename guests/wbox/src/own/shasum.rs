//! `shasum [-a BITS]`: the name macOS and Perl have for the `sha*sum` family.

pub use uu_sha256sum::uu_app;

use std::ffi::OsString;
use std::io::Write as _;

/// The applet: finds the algorithm, and hands over to the one that has it.
pub fn uumain(args: impl Iterator<Item = OsString>) -> i32 {
    let args: Vec<String> = args.map(|it| it.to_string_lossy().into_owned()).collect();
    let (bits, rest) = match split(args.get(1..).unwrap_or_default()) {
        Ok(found) => found,
        Err(problem) => {
            let _ = writeln!(std::io::stderr(), "shasum: {problem}");
            return 1;
        }
    };
    let pass =
        std::iter::once("shasum".to_owned()).chain(rest).map(OsString::from).collect::<Vec<_>>().into_iter();
    match bits {
        1 => uu_sha1sum::uumain(pass),
        224 => uu_sha224sum::uumain(pass),
        384 => uu_sha384sum::uumain(pass),
        512 => uu_sha512sum::uumain(pass),
        _ => uu_sha256sum::uumain(pass),
    }
}

/// The algorithm, and the arguments without it. `-p` and `-U` change nothing here.
fn split(args: &[String]) -> Result<(u32, Vec<String>), String> {
    let (mut bits, mut rest) = ("1".to_owned(), Vec::new());
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "-a" | "--algorithm" => bits = args.next().ok_or("option a requires an argument")?.clone(),
            "-p" | "-U" | "--portable" | "--UNIVERSAL" => {}
            "-s" => rest.push("--status".to_owned()),
            "--" => {
                rest.push(arg.clone());
                rest.extend(args.by_ref().cloned());
            }
            joined if joined.starts_with("-a") => bits = joined[2..].to_owned(),
            long if long.starts_with("--algorithm=") => bits = long["--algorithm=".len()..].to_owned(),
            _ => rest.push(arg.clone()),
        }
    }
    match bits.parse() {
        Ok(known @ (1 | 224 | 256 | 384 | 512)) => Ok((known, rest)),
        _ => Err(format!("unrecognized algorithm '{bits}'")),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_algorithm_is_taken_out() {
        let split =
            |line: &str| super::split(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(split("-a 256 f"), Ok((256, vec!["f".to_owned()])));
        assert_eq!(split("-a512 -c f"), Ok((512, vec!["-c".to_owned(), "f".to_owned()])));
        assert_eq!(split("f"), Ok((1, vec!["f".to_owned()])));
        assert!(split("-a 7").is_err());
    }
}
