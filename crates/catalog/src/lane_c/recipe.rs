//! A row's recipe over the files of its package, as a project.

use bytes::Bytes;

use super::{BuildError, Project};
use crate::{
    row::Recipe,
    table::own_files,
    unpack::{Content, Member},
};

/// Where the package's files are, and where ours are.
const PACKAGE: &str = "package";
const OURS: &str = "ours";

pub(super) fn project(row: &str, recipe: &Recipe, members: Vec<Member>) -> Result<Project, BuildError> {
    let any = |globs: &[String], path: &str| globs.iter().any(|it| matches(it, path));
    let mut sources = Vec::new();
    let mut files: Vec<(String, Bytes)> = Vec::new();
    for Member { path, content } in members {
        // A link could lead anywhere; no recipe needs one.
        let Content::File(bytes, _) = content else { continue };
        if any(&recipe.sources, &path) && !any(&recipe.exclude, &path) {
            sources.push(format!("{PACKAGE}/{path}"));
        }
        files.push((format!("{PACKAGE}/{path}"), bytes));
    }
    for (name, text) in own_files(row) {
        files.push((format!("{OURS}/{name}"), Bytes::from_static(text.as_bytes())));
    }
    sources.sort();
    sources.extend(recipe.extra.iter().map(|it| format!("{OURS}/{it}")));
    if sources.is_empty() {
        return Err(BuildError::EmptySource);
    }
    let mut cflags = recipe.cflags.clone();
    let folders = recipe.include.iter().map(|it| match it.as_str() {
        "." => PACKAGE.to_owned(),
        inside => format!("{PACKAGE}/{inside}"),
    });
    cflags.extend(folders.map(|it| format!("-I{it}")));
    cflags.push(format!("-I{OURS}"));
    // What a compiler says of somebody else's sources helps nobody who installs them.
    cflags.push("-w".into());
    let cxx = sources.iter().any(|it| it.ends_with(".cc") || it.ends_with(".cpp"));
    Ok(Project { files, sources, cflags, ldflags: recipe.ldflags.clone(), cxx })
}

/// `*` stands for anything but a slash, as often as it occurs.
fn matches(glob: &str, path: &str) -> bool {
    match glob.split_once('*') {
        None => glob == path,
        Some((head, tail)) => path.strip_prefix(head).is_some_and(|rest| {
            let reach = rest.find('/').unwrap_or(rest.len());
            (0..=reach).filter(|at| rest.is_char_boundary(*at)).any(|at| matches(tail, &rest[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stays_within_one_directory() {
        let cases = [
            ("*.c", "lapi.c", true),
            ("*.c", "src/lapi.c", false),
            ("src/*.c", "src/a.c", true),
            ("src/*.c", "src/deep/a.c", false),
            ("*/*.c", "src/a.c", true),
            ("l*i*.c", "lapi.c", true),
            ("l*i*.c", "lapi.h", false),
            ("lapi.c", "lapi.c", true),
            ("*", "é", true),
        ];
        for (glob, path, want) in cases {
            assert_eq!(matches(glob, path), want, "{glob} {path}");
        }
    }

    #[test]
    fn a_recipe_takes_what_it_names_and_leaves_links_alone() {
        let file = |path: &str| Member { path: path.into(), content: Content::File(Bytes::new(), false) };
        let link = Member { path: "evil.c".into(), content: Content::Link("/etc/passwd".into()) };
        let recipe = Recipe {
            sources: vec!["*.c".into()],
            exclude: vec!["onelua.c".into()],
            include: vec![".".into(), "inc".into()],
            cflags: vec!["-O2".into()],
            ldflags: Vec::new(),
            extra: vec!["main.c".into()],
        };
        let members = vec![file("b.c"), file("a.c"), file("onelua.c"), file("a.h"), link];
        let project = project("no-such-row", &recipe, members).unwrap();
        assert_eq!(project.sources, ["package/a.c", "package/b.c", "ours/main.c"]);
        assert_eq!(project.cflags, ["-O2", "-Ipackage", "-Ipackage/inc", "-Iours", "-w"]);
        assert_eq!(project.files.len(), 4);
    }
}
