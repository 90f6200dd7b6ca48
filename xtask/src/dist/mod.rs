//! `cargo xtask dist [archive] [--profile P]`: what is given to others, in `target/dist`.
//!
//! Every kind of package holds the same two things: a binary, and code of the built-in commands that was compiled
//! ahead of time and that the binary knows by its hashes (decision 0033). The binary is therefore built twice: the
//! first one compiles the code, the second has the hashes in it. A release is static; other profiles are for tests
//! of the packages and are linked as cargo does it.

mod archive;
mod built;

use std::path::{Path, PathBuf};

use anyhow::bail;

pub(crate) use built::{Built, build};

/// What can be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Archive,
}

const KINDS: &[(&str, Kind)] = &[("archive", Kind::Archive)];

pub(crate) fn run(root: &Path, args: &[String]) -> anyhow::Result<()> {
    let (kinds, profile) = parse(args)?;
    let built = build(root, &profile)?;
    for kind in kinds {
        let made: PathBuf = match kind {
            Kind::Archive => archive::make(root, &built)?,
        };
        println!("{}", made.display());
    }
    Ok(())
}

/// The kinds that are wanted, all if none is named, and the profile.
fn parse(args: &[String]) -> anyhow::Result<(Vec<Kind>, String)> {
    let (mut kinds, mut profile) = (Vec::new(), "release".to_owned());
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match (arg.as_str(), KINDS.iter().find(|(name, _)| name == arg)) {
            (_, Some((_, kind))) => kinds.push(*kind),
            ("--profile", _) => match args.next() {
                Some(name) => profile.clone_from(name),
                None => bail!("--profile wants the name of a cargo profile, such as release or dev"),
            },
            (other, _) => bail!("`{other}` is no kind of package; there is: archive"),
        }
    }
    if kinds.is_empty() {
        kinds = KINDS.iter().map(|(_, kind)| *kind).collect();
    }
    Ok((kinds, profile))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_and_the_profile_are_read_and_mistakes_are_named() {
        let of = |args: &[&str]| parse(&args.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(of(&[]).unwrap(), (vec![Kind::Archive], "release".into()));
        assert_eq!(of(&["archive", "--profile", "dev"]).unwrap(), (vec![Kind::Archive], "dev".into()));
        assert!(of(&["--profile"]).unwrap_err().to_string().contains("cargo profile"));
        assert!(of(&["floppy"]).unwrap_err().to_string().contains("floppy"));
    }
}
