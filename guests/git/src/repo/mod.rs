//! A repository and its work tree: where they are, and what everything else is reached through.
//!
//! A `.git` that is a file may only lead into the `.git` of a directory above it, which is where submodules
//! lie; any other place is refused, so that a directory somebody was given cannot name a repository elsewhere.

pub mod config;
pub mod reflog;
pub mod refs;

use std::path::{Component, Path, PathBuf};

use bstr::{BString, ByteSlice as _};

use crate::fail::{Done, Fail, fatal};
use crate::odb::Odb;
use config::Config;

/// An open repository.
pub struct Repo {
    pub git_dir: PathBuf,
    /// Where the work tree is; a bare repository has none.
    root: Option<PathBuf>,
    /// Where we are below the root: empty, or with a slash at its end.
    pub prefix: BString,
    pub config: Config,
    pub odb: Odb,
}

/// What was said before the command's name.
#[derive(Debug, Default, Clone)]
pub struct Where {
    pub git_dir: Option<String>,
    pub work_tree: Option<String>,
    pub settings: Vec<(String, String)>,
}

impl Repo {
    /// The repository around the current directory.
    pub fn discover(place: &Where) -> Done<Self> {
        let here = current_dir()?;
        let named = place.git_dir.clone().or_else(|| std::env::var("GIT_DIR").ok());
        if let Some(named) = named {
            let git_dir = here.join(&named);
            if !is_git_dir(&git_dir) {
                return Err(fatal(format!("not a git repository: '{named}'")));
            }
            let tree = place.work_tree.clone().or_else(|| std::env::var("GIT_WORK_TREE").ok());
            let root = tree.map_or_else(|| here.clone(), |it| here.join(it));
            return Self::open(git_dir, Some(root), &here, place);
        }
        for folder in here.ancestors() {
            let dot = folder.join(".git");
            if let Ok(about) = std::fs::symlink_metadata(&dot) {
                let git_dir = if about.is_file() { linked(&dot, folder)? } else { dot };
                if is_git_dir(&git_dir) {
                    return Self::open(git_dir, Some(folder.to_owned()), &here, place);
                }
            }
            if is_git_dir(folder) {
                let bare = !folder.ends_with(".git");
                let root = if bare { None } else { folder.parent().map(Path::to_owned) };
                return Self::open(folder.to_owned(), root.filter(|it| here.starts_with(it)), &here, place);
            }
        }
        Err(none_here())
    }

    fn open(git_dir: PathBuf, root: Option<PathBuf>, here: &Path, place: &Where) -> Done<Self> {
        let config = Config::load(&git_dir, &place.settings)?;
        check_format(&config)?;
        let mut prefix = BString::default();
        if let Some(below) = root.as_ref().and_then(|root| here.strip_prefix(root).ok()) {
            for part in below.components() {
                prefix.extend_from_slice(part.as_os_str().as_encoded_bytes());
                prefix.push(b'/');
            }
        }
        let root = root.filter(|_| !config.truth("core.bare").unwrap_or(false));
        Ok(Self { odb: Odb::new(git_dir.join("objects")), git_dir, root, prefix, config })
    }

    /// The work tree's root.
    pub fn root(&self) -> Done<&Path> {
        self.root.as_deref().ok_or_else(|| fatal("this operation must be run in a work tree"))
    }

    /// Whether there is no work tree.
    pub fn is_bare(&self) -> bool {
        self.root.is_none()
    }

    /// Where a path of the index lies in the work tree.
    pub fn path(&self, name: &[u8]) -> Done<PathBuf> {
        Ok(self.root()?.join(os(name)))
    }

    /// A path as seen from the current directory.
    pub fn relative(&self, name: &[u8]) -> BString {
        let (mut name, mut prefix) = (name, self.prefix.as_slice());
        while let Some(end) = prefix.find_byte(b'/') {
            if !name.starts_with(&prefix[..=end]) {
                break;
            }
            (name, prefix) = (&name[end + 1..], &prefix[end + 1..]);
        }
        let mut text = BString::from("../".repeat(prefix.iter().filter(|it| **it == b'/').count()));
        text.extend_from_slice(name);
        if text.is_empty() {
            text.extend_from_slice(b"./");
        }
        text
    }
}

/// The text of a missing repository.
pub fn none_here() -> Fail {
    fatal("not a git repository (or any of the parent directories): .git")
}

/// Where we are.
pub fn current_dir() -> Done<PathBuf> {
    std::env::current_dir()
        .map_err(|cause| fatal(format!("Unable to read current working directory: {cause}")))
}

/// Bytes as a name of the system.
pub fn os(name: &[u8]) -> PathBuf {
    #[cfg(unix)]
    use std::os::unix::ffi::OsStrExt as _;
    #[cfg(target_os = "wasi")]
    use std::os::wasi::ffi::OsStrExt as _;
    PathBuf::from(std::ffi::OsStr::from_bytes(name))
}

fn is_git_dir(folder: &Path) -> bool {
    folder.join("objects").is_dir()
        && folder.join("refs").is_dir()
        && folder.join("HEAD").symlink_metadata().is_ok()
}

fn linked(file: &Path, folder: &Path) -> Done<PathBuf> {
    let text =
        std::fs::read(file).map_err(|cause| fatal(format!("error reading {}: {cause}", file.display())))?;
    let Some(target) = text.strip_prefix(b"gitdir: ") else {
        return Err(fatal(format!("invalid gitfile format: {}", file.display())));
    };
    let target = clean(&folder.join(os(target.trim_end())));
    let inside = folder.ancestors().any(|it| target.starts_with(it.join(".git")));
    if !inside || target.join("commondir").exists() {
        let target = target.display();
        return Err(fatal(format!(
            "{}: '{target}' is outside of this tree and is not followed",
            file.display()
        )));
    }
    Ok(target)
}

/// Without `.` and `..`, by its letters alone.
pub fn clean(path: &Path) -> PathBuf {
    let mut whole = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                whole.pop();
            }
            other => whole.push(other),
        }
    }
    whole
}

fn check_format(config: &Config) -> Done {
    let version = config.get("core.repositoryformatversion").and_then(|it| it.parse().ok()).unwrap_or(0);
    if version > 1 {
        return Err(fatal(format!("Expected git repo version <= 1, found {version}")));
    }
    for (name, value) in config.list() {
        let Some(extension) = name.strip_prefix("extensions.") else { continue };
        let known = matches!(extension, "noop" | "preciousobjects" | "partialclone" | "worktreeconfig")
            || (extension == "objectformat" && value == "sha1")
            || (extension == "refstorage" && value == "files");
        if version == 1 && !known {
            return Err(fatal(format!("unknown repository extension found:\n\t{extension}")));
        }
    }
    Ok(())
}
