//! Which files are searched: the folders below an operand, and the globs that choose among them.
//!
//! Names are sorted, so that the same tree gives the same output everywhere.

use crate::cli::Options;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use place::reason;
use std::path::{Path, PathBuf};

/// The globs of the command line.
pub(crate) struct Names {
    /// `None` where nothing was said: even an empty set costs a short run something.
    include: Option<GlobSet>,
    exclude: Option<GlobSet>,
    exclude_dir: Option<GlobSet>,
}

impl Names {
    /// Prepares the globs.
    pub(crate) fn new(options: &Options) -> Result<Self, String> {
        Ok(Self {
            include: set(&options.include)?,
            exclude: set(&options.exclude)?,
            exclude_dir: set(&options.exclude_dir)?,
        })
    }

    /// Whether a file of that path is searched.
    pub(crate) fn wants_file(&self, path: &str) -> bool {
        let hit = |globs: &GlobSet| globs.is_match(base_name(path)) || globs.is_match(path);
        self.include.as_ref().is_none_or(hit) && !self.exclude.as_ref().is_some_and(hit)
    }

    /// Whether a folder of that path is entered.
    pub(crate) fn wants_folder(&self, path: &str) -> bool {
        let plain = path.trim_end_matches('/');
        let hit = |globs: &GlobSet| globs.is_match(base_name(plain)) || globs.is_match(plain);
        !self.exclude_dir.as_ref().is_some_and(hit)
    }
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn set(globs: &[String]) -> Result<Option<GlobSet>, String> {
    if globs.is_empty() {
        return Ok(None);
    }
    let mut builder = GlobSetBuilder::new();
    for glob in globs {
        let glob = GlobBuilder::new(glob).literal_separator(false).build();
        builder.add(glob.map_err(|error| error.to_string())?);
    }
    builder.build().map(Some).map_err(|error| error.to_string())
}

/// A path to open and the name to show for it.
pub(crate) type Found = (String, String);

/// All files below `path` that are wanted, and what went wrong on the way.
pub(crate) fn files_below(path: &str, shown: &str, names: &Names, follow: bool) -> (Vec<Found>, Vec<Found>) {
    let mut found = (Vec::new(), Vec::new());
    let mut above = if follow { std::fs::canonicalize(path).into_iter().collect() } else { Vec::new() };
    descend(path, shown, names, follow, &mut above, &mut found);
    found
}

/// More links inside each other than this are a circle that could not be told from its names.
const LINKS_MAX: usize = 256;

fn descend(
    path: &str,
    shown: &str,
    names: &Names,
    follow: bool,
    above: &mut Vec<PathBuf>,
    found: &mut (Vec<Found>, Vec<Found>),
) {
    let mut entries = match std::fs::read_dir(Path::new(path)) {
        Ok(entries) => entries.filter_map(Result::ok).collect::<Vec<_>>(),
        Err(error) => return found.1.push((path.to_owned(), reason(&error))),
    };
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        let inner = join(path, &name);
        let shown = if shown.is_empty() { name } else { join(shown, &name) };
        let Ok(mut kind) = entry.file_type() else { continue };
        let linked = kind.is_symlink();
        if linked {
            if !follow {
                continue;
            }
            match std::fs::metadata(&inner) {
                Ok(target) => kind = target.file_type(),
                Err(error) => {
                    found.1.push((shown, reason(&error)));
                    continue;
                }
            }
        }
        if kind.is_dir() {
            if !names.wants_folder(&shown) {
                continue;
            }
            if !follow {
                descend(&inner, &shown, names, follow, above, found);
                continue;
            }
            // Where names cannot be resolved, the path stands for itself and the count ends a circle.
            let real = std::fs::canonicalize(&inner).unwrap_or_else(|_| PathBuf::from(&inner));
            if (linked && above.contains(&real)) || above.len() > LINKS_MAX {
                found.1.push((shown, "warning: recursive directory loop".to_owned()));
                continue;
            }
            above.push(real);
            descend(&inner, &shown, names, follow, above, found);
            above.pop();
        } else if kind.is_file() && names.wants_file(&shown) {
            found.0.push((inner, shown));
        }
    }
}

fn join(folder: &str, name: &str) -> String {
    if folder.ends_with('/') { format!("{folder}{name}") } else { format!("{folder}/{name}") }
}
