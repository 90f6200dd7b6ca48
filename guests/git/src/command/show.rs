//! `git show`.

use gix_hash::Kind::Sha1;
use gix_object::{Kind, TagRef};

use super::args::Args;
use super::diff::{renames, take};
use super::log::{WALK, after, changes_of, pretty};
use crate::diff::options::{Options, TABLE};
use crate::fail::{Done, fatal};
use crate::history::pretty::Pretty;
use crate::object::TREE;
use crate::out;
use crate::pathspec::Paths;
use crate::person::Person;
use crate::repo::Repo;

pub fn run(repo: &Repo, args: &[String]) -> Done<i32> {
    let args = Args::parse(args, &[WALK, TABLE])?;
    let mut options = Options { renames: renames(repo), ..Options::default() };
    take(repo, &args, &mut options)?;
    if !options.any() {
        options.patch = true;
    }
    let mut words = args.words.clone();
    let mut paths = args.after.clone();
    if !args.dashes {
        while let Some(last) = words.last().cloned() {
            if repo.find_rev(&last)?.is_some() || words.is_empty() {
                break;
            }
            if !crate::repo::current_dir()?.join(&last).exists() {
                return Err(crate::history::rev::ambiguous(&last));
            }
            paths.insert(0, last);
            words.pop();
        }
    }
    if words.is_empty() {
        words.push("HEAD".to_owned());
        if repo.head_id()?.is_none() {
            let name = repo.branch()?.unwrap_or_default();
            return Err(fatal(format!("your current branch '{name}' does not have any commits yet")));
        }
    }
    let paths = Paths::new(repo, &paths)?;
    let pretty = pretty(repo, &args)?;
    let mut first = true;
    for word in words {
        object(&pretty, &options, &word, repo.rev(&word)?, &paths, &mut first)?;
    }
    Ok(0)
}

fn object(
    pretty: &Pretty<'_>,
    options: &Options,
    word: &str,
    id: crate::Oid,
    paths: &Paths,
    first: &mut bool,
) -> Done {
    let repo = pretty.repo;
    let (kind, bytes) = repo.odb.read(id)?;
    if !*first && (kind != Kind::Blob && !pretty.format.ends_lines()) {
        out::line("");
    }
    *first = false;
    match kind {
        Kind::Blob => out::put(bytes),
        Kind::Tree => {
            out::put(format!("tree {word}\n\n"));
            for (name, item) in repo.entries(id)? {
                let slash: &[u8] = if item.mode == TREE { b"/" } else { b"" };
                out::line([name.as_slice(), slash].concat());
            }
        }
        Kind::Tag => {
            let tag =
                TagRef::from_bytes(&bytes, Sha1).map_err(|_| fatal(format!("could not parse tag {id}")))?;
            out::line(format!("tag {}", tag.name));
            if let Some(who) = tag.tagger.and_then(|it| Person::parse(it)) {
                out::line(format!("Tagger: {} <{}>", who.name, who.email));
                out::line(format!("Date:   {}", crate::date::show(who.seconds, who.zone, &pretty.date)));
            }
            out::put("\n");
            out::put(tag.message);
            if !tag.message.ends_with(b"\n") {
                out::put("\n");
            }
            let target =
                crate::Oid::from_hex(tag.target).map_err(|_| fatal(format!("could not parse tag {id}")))?;
            object(pretty, options, word, target, paths, &mut false.clone())?;
        }
        Kind::Commit => {
            let commit = repo.commit(id)?;
            let text = pretty.show(&commit);
            out::put(&text);
            let own = matches!(pretty.format, crate::history::pretty::Format::Own(..));
            if (pretty.format.ends_lines() || own) && !text.is_empty() {
                out::put("\n");
            }
            if commit.parents.len() < 2 || options.is_short() {
                after(pretty, options, &changes_of(repo, &commit, options, paths)?)?;
            } else {
                out::line("");
            }
        }
    }
    Ok(())
}
