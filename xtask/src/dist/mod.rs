//! `cargo xtask dist [archive] [wheel] [npm] [--profile P] [--try]`: what is given to others, in `target/dist`.
//!
//! Every kind of package holds the same two things: a binary, and code of the built-in commands that was compiled
//! ahead of time and that the binary knows by its hashes (decision 0033). The binary is therefore built twice: the
//! first one compiles the code, the second has the hashes in it. A release is static; other profiles are for tests
//! of the packages and are linked as cargo does it.

mod archive;
mod built;
mod npm;
mod quickstart;
mod wheel;

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::bail;

pub(crate) use built::{Built, Linking, build};

/// What can be made. All of them are made of the archive's tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Archive,
    Wheel,
    Npm,
}

const KINDS: &[(&str, Kind)] = &[("archive", Kind::Archive), ("wheel", Kind::Wheel), ("npm", Kind::Npm)];

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    kinds: Vec<Kind>,
    profile: String,
    /// Install the wheel and the npm package, and run the quickstarts of README.
    tried: bool,
}

pub(crate) fn run(root: &Path, args: &[String]) -> anyhow::Result<()> {
    let wanted = parse(args)?;
    if wanted.tried {
        quickstart::needs()?;
    }
    let built = build(root, &wanted.profile)?;
    let out = root.join("target/dist");
    let tree = archive::lay_out(root, &built)?;
    let (mut wheel, mut npm) = (None, None);
    for kind in wanted.kinds {
        let made: PathBuf = match kind {
            Kind::Archive => archive::pack(&tree)?,
            Kind::Wheel => wheel.insert(wheel::wheel(root, &tree, built.linking, &out)?).clone(),
            Kind::Npm => npm.insert(npm::npm(root, &tree, &out)?).clone(),
        };
        println!("{}", made.display());
    }
    if wanted.tried {
        let (Some(wheel), Some(npm)) = (wheel, npm) else {
            bail!("--try wants the wheel and the npm package")
        };
        quickstart::run(root, &wheel, &npm)?;
        built::is_left_as_it_was(root, &wanted.profile)?;
    }
    Ok(())
}

/// Every file below a folder, in order.
fn files_below(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        match path.is_dir() {
            true => files.extend(files_below(&path)?),
            false => files.push(path),
        }
    }
    files.sort();
    Ok(files)
}

/// The kinds that are wanted, all if none is named, and how.
fn parse(args: &[String]) -> anyhow::Result<Wanted> {
    let (mut kinds, mut profile, mut tried) = (Vec::new(), "release".to_owned(), false);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match (arg.as_str(), KINDS.iter().find(|(name, _)| name == arg)) {
            (_, Some((_, kind))) => kinds.push(*kind),
            ("--profile", _) => match args.next() {
                Some(name) => profile.clone_from(name),
                None => bail!("--profile wants the name of a cargo profile, such as release or dev"),
            },
            ("--try", _) => tried = true,
            (other, _) => bail!("`{other}` is no kind of package; there are archive, wheel and npm"),
        }
    }
    if kinds.is_empty() {
        kinds = KINDS.iter().map(|(_, kind)| *kind).collect();
    }
    Ok(Wanted { kinds, profile, tried })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_and_the_profile_are_read_and_mistakes_are_named() {
        let of = |args: &[&str]| parse(&args.iter().map(ToString::to_string).collect::<Vec<_>>());
        let all = of(&[]).unwrap();
        assert_eq!((all.kinds.len(), all.profile.as_str(), all.tried), (3, "release", false));
        let some = of(&["archive", "--profile", "dev", "--try"]).unwrap();
        assert_eq!(some, Wanted { kinds: vec![Kind::Archive], profile: "dev".into(), tried: true });
        assert!(of(&["--profile"]).unwrap_err().to_string().contains("cargo profile"));
        assert!(of(&["floppy"]).unwrap_err().to_string().contains("floppy"));
    }
}
