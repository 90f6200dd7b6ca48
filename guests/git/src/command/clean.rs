//! `git clean`: takes away what nobody keeps.

use super::args::Args;
use crate::fail::{Done, fatal};
use crate::index::Index;
use crate::out;
use crate::pathspec::Paths;
use crate::quote::{Non, path as quoted};
use crate::repo::Repo;
use crate::work::walk::{Show, untracked};

pub fn run(repo: &Repo, args: &[String]) -> Done<i32> {
    let args = Args::parse(
        args,
        &[&["n,dry-run", "f,force", "d", "x", "X", "q,quiet", "e,exclude=", "i,interactive"]],
    )?;
    if args.has("i") || args.has("e") {
        return Err(fatal("clean -i and -e are not here"));
    }
    let free = repo.config.truth("clean.requireforce") == Some(false);
    if !args.has("n") && !args.has("f") && !free {
        return Err(fatal("clean.requireForce is true and -f not given: refusing to clean"));
    }
    let paths = Paths::new(repo, &args.all_words())?;
    let index = Index::load(repo)?;
    let wanted = args.has("x") || args.has("X");
    let found = untracked(repo, &index, Show::Folders, wanted, &paths)?;
    let mut all = if args.has("X") { Vec::new() } else { found.untracked };
    if wanted {
        all.extend(found.ignored);
    }
    all.sort();
    for path in all {
        let folder = path.ends_with(b"/");
        if folder && !args.has("d") {
            continue;
        }
        if !path.starts_with(&repo.prefix[..]) {
            continue;
        }
        let place = repo.path(&path)?;
        let name = quoted(&repo.relative(&path), Non::Escaped);
        if place.join(".git").exists() {
            if args.has("n") && !args.has("q") {
                out::line(format!("Would skip repository {name}"));
            }
            continue;
        }
        if args.has("n") {
            out::line(format!("Would remove {name}"));
            continue;
        }
        if !args.has("q") {
            out::line(format!("Removing {name}"));
        }
        let gone = if folder { std::fs::remove_dir_all(&place) } else { std::fs::remove_file(&place) };
        gone.map_err(|cause| fatal(format!("failed to remove {name}: {}", place::reason(&cause))))?;
    }
    Ok(0)
}
