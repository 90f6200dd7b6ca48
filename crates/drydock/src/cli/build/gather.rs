//! Copies sources and the headers beside them from the host into a project. The compiler then sees these files and no
//! others of the host, so what it can include is what was copied.

use std::{
    fs,
    io::Read as _,
    path::{Component, Path, PathBuf},
};

use anyhow::{Context as _, bail};
use bytes::Bytes;
use drydock_catalog::Project;

use super::words::Words;

/// Of all files together.
const BYTES_MAX: u64 = 64 << 20;
const FILES_MAX: usize = 10_000;
/// Directories below the ones that are named.
const DEPTH_MAX: u32 = 6;

/// What sources include, by the ends of their names. What they cannot include must not count: a build is known by its
/// files.
const OF_C: [&str; 13] =
    ["c", "cc", "cpp", "cxx", "def", "h", "hh", "hpp", "hxx", "inc", "inl", "ipp", "tcc"];
const OF_SCRIPTS: [&str; 6] = ["js", "json", "jsx", "mjs", "ts", "tsx"];

/// The project that the words describe.
pub(super) fn project(words: &Words) -> anyhow::Result<Project> {
    let real = |path: &PathBuf| {
        fs::canonicalize(path).with_context(|| format!("could not open `{}`", path.display()))
    };
    let sources = words.sources.iter().map(real).collect::<Result<Vec<_>, _>>()?;
    let include = words.include.iter().map(real).collect::<Result<Vec<_>, _>>()?;
    let folders: Vec<&Path> =
        sources.iter().filter_map(|it| it.parent()).chain(include.iter().map(PathBuf::as_path)).collect();
    let base = common(&folders).context("the sources lie in no directory")?;
    let included: &[&str] = if words.script { &OF_SCRIPTS } else { &OF_C };
    let mut gathered = Gathered { base, included, files: Vec::new(), bytes: 0 };
    for source in &sources {
        gathered.file(source)?;
    }
    for folder in &folders {
        gathered.folder(folder, 0)?;
    }
    let below = |path: &PathBuf| gathered.below(path);
    let mut cflags = words.compile.clone();
    cflags.extend(include.iter().map(|it| match below(it).as_str() {
        "" => "-I.".to_owned(),
        inside => format!("-I{inside}"),
    }));
    let sources = sources.iter().map(below).collect();
    let mut files = gathered.files;
    files.sort();
    files.dedup_by(|a, b| a.0 == b.0);
    Ok(Project { files, sources, cflags, ldflags: words.link.clone(), cxx: words.cxx })
}

/// The directory that all of them lie in.
fn common(folders: &[&Path]) -> Option<PathBuf> {
    let mut base = folders.first()?.to_path_buf();
    for folder in folders {
        while !folder.starts_with(&base) {
            base.pop();
        }
    }
    Some(base)
}

struct Gathered {
    base: PathBuf,
    included: &'static [&'static str],
    files: Vec<(String, Bytes)>,
    bytes: u64,
}

impl Gathered {
    fn below(&self, path: &Path) -> String {
        let parts = path.strip_prefix(&self.base).unwrap_or(path).components();
        let names = parts.filter_map(|it| match it {
            Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
            _ => None,
        });
        names.collect::<Vec<_>>().join("/")
    }

    fn file(&mut self, path: &Path) -> anyhow::Result<()> {
        let shown = path.display();
        // Looked at before it is opened: opening a pipe would wait for a writer.
        let found = fs::metadata(path).with_context(|| format!("could not open `{shown}`"))?;
        if !found.is_file() {
            bail!("`{shown}` is not a regular file");
        }
        let mut bytes = Vec::new();
        let left = BYTES_MAX - self.bytes;
        let opened = fs::File::open(path).with_context(|| format!("could not open `{shown}`"))?;
        opened.take(left + 1).read_to_end(&mut bytes).with_context(|| format!("could not read `{shown}`"))?;
        if bytes.len() as u64 > left || self.files.len() >= FILES_MAX {
            bail!("the sources and their headers have more than {} files or 64 MiB", FILES_MAX);
        }
        self.bytes += bytes.len() as u64;
        self.files.push((self.below(path), bytes.into()));
        Ok(())
    }

    /// Takes what sources could include. Links are not followed: they could lead anywhere.
    fn folder(&mut self, folder: &Path, depth: u32) -> anyhow::Result<()> {
        let entries =
            fs::read_dir(folder).with_context(|| format!("could not list `{}`", folder.display()))?;
        for entry in entries.flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let hidden =
                name.to_string_lossy().starts_with('.') || name == "target" || name == "node_modules";
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() && !hidden && depth < DEPTH_MAX {
                // What cannot be listed cannot be included either.
                if let Err(error) = self.folder(&path, depth + 1)
                    && self.files.len() >= FILES_MAX
                {
                    return Err(error);
                }
            } else if kind.is_file() && self.includes(&path) && !self.has(&path) {
                self.file(&path)?;
            }
        }
        Ok(())
    }

    fn includes(&self, path: &Path) -> bool {
        let ending = path.extension().map(|it| it.to_string_lossy().to_ascii_lowercase());
        ending.is_some_and(|it| self.included.contains(&it.as_str()))
    }

    fn has(&self, path: &Path) -> bool {
        let below = self.below(path);
        self.files.iter().any(|it| it.0 == below)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_come_along_and_links_and_other_files_do_not() {
        let root = tempfile::tempdir().unwrap();
        let put = |path: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        };
        for path in [
            "src/main.c",
            "src/own.h",
            "src/deep/er.h",
            "inc/a.h",
            "src/secret.key",
            "src/.git/x.h",
            "src/data.json",
        ] {
            put(path);
        }
        std::os::unix::fs::symlink("/etc/passwd", root.path().join("src/passwd.h")).unwrap();
        let words = Words {
            sources: vec![root.path().join("src/main.c")],
            include: vec![root.path().join("inc")],
            ..Words::default()
        };
        let project = project(&words).unwrap();
        let names: Vec<&str> = project.files.iter().map(|it| it.0.as_str()).collect();
        assert_eq!(names, ["inc/a.h", "src/deep/er.h", "src/main.c", "src/own.h"]);
        assert_eq!((project.sources, project.cflags), (vec!["src/main.c".into()], vec!["-Iinc".into()]));
        let absent = Words { sources: vec![root.path().join("no.c")], ..Words::default() };
        assert!(super::project(&absent).is_err());
    }
}
