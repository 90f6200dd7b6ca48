//! Which files are searched.

use crate::settings::Settings;
use crate::{FOUND, NOT_FOUND, TROUBLE};
use ignore::overrides::OverrideBuilder;
use ignore::types::{Types, TypesBuilder};
use ignore::{DirEntry, Walk, WalkBuilder};
use std::io::{BufRead as _, Write as _};
use std::path::{Path, PathBuf};

/// Where a search starts.
pub(crate) struct Roots {
    pub paths: Vec<PathBuf>,
    /// Nobody named a path, so names are printed without the `./` in front.
    pub implied: bool,
}

impl Roots {
    /// The named paths. Without any, stdin if there is something in it, and else this directory.
    pub(crate) fn of(settings: &Settings) -> Self {
        if !settings.paths.is_empty() {
            return Self { paths: settings.paths.iter().map(PathBuf::from).collect(), implied: false };
        }
        let piped = !settings.list_files && std::io::stdin().lock().fill_buf().is_ok_and(|it| !it.is_empty());
        let path = if piped { "-" } else { "./" };
        Self { paths: vec![PathBuf::from(path)], implied: true }
    }

    /// Whether names have to be told: more than one file can be searched.
    pub(crate) fn are_many(&self) -> bool {
        self.paths.len() > 1 || self.paths.iter().any(|it| it.is_dir())
    }

    /// How a path is shown.
    pub(crate) fn shown<'p>(&self, path: &'p Path) -> &'p Path {
        match self.implied {
            true => path.strip_prefix("./").unwrap_or(path),
            false => path,
        }
    }
}

/// Lists the files that would be searched.
pub(crate) fn list(settings: &Settings, roots: &Roots) -> i32 {
    let mut status = NOT_FOUND;
    let mut failed = false;
    let mut out = Vec::new();
    let end = if settings.null { b'\0' } else { b'\n' };
    let walked = each(settings, roots, |found| {
        match found {
            Ok(file) => {
                status = FOUND;
                if settings.quiet {
                    return false;
                }
                out.extend_from_slice(roots.shown(file.path()).as_os_str().as_encoded_bytes());
                out.push(end);
            }
            Err(problem) => {
                failed = true;
                complain(settings, &problem);
            }
        }
        true
    });
    if let Err(problem) = walked {
        return crate::trouble(&problem);
    }
    let written = std::io::stdout().lock().write_all(&out);
    if failed || written.is_err() { TROUBLE } else { status }
}

pub(crate) fn complain(settings: &Settings, problem: &str) {
    if settings.messages {
        let _ = writeln!(std::io::stderr(), "rg: {problem}");
    }
}

/// A file to search.
pub(crate) struct Found {
    entry: DirEntry,
}

impl Found {
    pub(crate) fn path(&self) -> &Path {
        self.entry.path()
    }

    /// It was named on the command line.
    pub(crate) fn is_named(&self) -> bool {
        self.entry.depth() == 0
    }

    pub(crate) fn is_stdin(&self) -> bool {
        self.entry.is_stdin()
    }
}

/// Calls `visit` for each file, or for what is wrong with one, until it answers false.
pub(crate) fn each(
    settings: &Settings,
    roots: &Roots,
    mut visit: impl FnMut(Result<Found, String>) -> bool,
) -> Result<(), String> {
    for result in walk(settings, roots)? {
        let go_on = match result {
            Ok(entry) => {
                if let Some(error) = entry.error() {
                    complain(settings, &error.to_string());
                }
                let is_file = entry.is_stdin()
                    || entry.file_type().is_some_and(|it| it.is_file())
                    || is_named_file(&entry);
                !is_file || visit(Ok(Found { entry }))
            }
            Err(error) => visit(Err(words(&error))),
        };
        if !go_on {
            break;
        }
    }
    Ok(())
}

/// A named link stands for its target.
fn is_named_file(entry: &DirEntry) -> bool {
    entry.depth() == 0 && !entry.file_type().is_some_and(|it| it.is_dir()) && !entry.path().is_dir()
}

fn words(error: &ignore::Error) -> String {
    match error {
        ignore::Error::WithPath { path, err } => format!("{}: {}", path.display(), words(err)),
        ignore::Error::WithDepth { err, .. } => words(err),
        other => other.to_string(),
    }
}

fn walk(settings: &Settings, roots: &Roots) -> Result<Walk, String> {
    let [first, rest @ ..] = roots.paths.as_slice() else { return Err("no paths".to_owned()) };
    let mut builder = WalkBuilder::new(first);
    rest.iter().for_each(|path| {
        builder.add(path);
    });
    let here = std::env::current_dir().unwrap_or_default();
    let mut overrides = OverrideBuilder::new(&here);
    for (glob, fold) in &settings.globs {
        overrides.case_insensitive(*fold).map_err(|error| error.to_string())?;
        overrides.add(glob).map_err(|error| error.to_string())?;
    }
    let ignore = settings.ignore;
    for file in settings.ignore_files.iter().filter(|_| ignore.listed) {
        if let Some(error) = builder.add_ignore(file) {
            complain(settings, &error.to_string());
        }
    }
    builder
        .overrides(overrides.build().map_err(|error| error.to_string())?)
        .types(chosen(settings)?)
        .hidden(!settings.hidden)
        .max_depth(settings.depth_max)
        .max_filesize(settings.size_max)
        .parents(ignore.parents)
        .ignore(ignore.dot)
        .git_global(ignore.vcs && ignore.exclude)
        .git_ignore(ignore.vcs)
        .git_exclude(ignore.vcs && ignore.exclude)
        .require_git(ignore.only_in_repositories)
        .current_dir(&here);
    // Links are told apart by inodes, which the crates do not ask WASI for.
    if cfg!(unix) {
        builder.follow_links(settings.follow);
    }
    if ignore.dot {
        builder.add_custom_ignore_filename(".rgignore");
    }
    match settings.reverse_order {
        false => builder.sort_by_file_name(|a, b| a.cmp(b)),
        true => builder.sort_by_file_name(|a, b| b.cmp(a)),
    };
    Ok(builder.build())
}

fn definitions(settings: &Settings) -> Result<TypesBuilder, String> {
    let mut builder = TypesBuilder::new();
    builder.add_defaults();
    for name in &settings.types_cleared {
        builder.clear(name);
    }
    for definition in &settings.types_added {
        builder.add_def(definition).map_err(|error| error.to_string())?;
    }
    Ok(builder)
}

fn chosen(settings: &Settings) -> Result<Types, String> {
    if settings.types.is_empty() && settings.types_not.is_empty() {
        return Ok(Types::empty());
    }
    let mut builder = definitions(settings)?;
    for name in &settings.types {
        builder.select(name);
    }
    for name in &settings.types_not {
        builder.negate(name);
    }
    builder.build().map_err(|error| error.to_string())
}

/// All types of files, with their globs.
pub(crate) fn types(settings: &Settings) -> Result<String, String> {
    let all = definitions(settings)?.definitions();
    Ok(all.iter().map(|it| format!("{}: {}\n", it.name(), it.globs().join(", "))).collect())
}
