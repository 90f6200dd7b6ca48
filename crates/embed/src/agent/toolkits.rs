//! Toolkits of the host for an agent: found, judged, and made available to its sessions.
//!
//! Making one available compiles and registers its commands and keeps its files where a session can see them. It grants
//! nothing: what a toolkit asks for is a list, and a person who said yes to it says so in the session's grants.

use std::{path::PathBuf, sync::Arc};

use drydock_agent::toolkit::{
    CommandSource, Folder, FolderError, ResolveError, TOOLKITS_ROOT, Toolkit, ToolkitCommand, ToolkitError,
    ToolkitSet, Trust, grants_file,
};
use drydock_contract::{
    BadGrants, Digest, Fault, GrantFile,
    port::{EntryOptions, Files, LoadError, Registry as _},
};
use drydock_store::{MountError, Mounts, PutTreeError, RegisterError, Registration, TreeBounds};

use super::{ReadFolderError, read_folder};
use crate::Dock;

/// Where toolkits are looked for, and what is asked of them.
#[derive(Debug, Clone, Default)]
pub struct ToolkitPlaces {
    /// Directories with a folder for each toolkit, by its id. The first that has one wins.
    pub roots: Vec<PathBuf>,
    /// Folders of single toolkits. They come before the roots.
    pub folders: Vec<PathBuf>,
    /// What is asked of each.
    pub trust: Trust,
}

/// A toolkit cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadToolkitError {
    /// Its folder cannot be read.
    #[error(transparent)]
    Read(#[from] ReadFolderError),
    /// It is none, or nobody answers for it.
    #[error(transparent)]
    Toolkit(#[from] ToolkitError),
    /// It asks for what no grant could give.
    #[error("what it asks for cannot be granted: {0}")]
    Ask(BadGrants),
    /// A command of it cannot be registered.
    #[error(transparent)]
    Register(RegisterError),
    /// A name of its commands is somebody else's.
    #[error(
        "there is another command `{name}`; `drydock commands rm {name}` forgets it, if the toolkit is to have the name"
    )]
    NameTaken {
        /// The name.
        name: String,
    },
    /// A command of it is a source, and is built by a person.
    #[error(
        "the command `{name}` is the source `{path}`; build it with `drydock build`, put the module into the folder and write `wasm:FILE`"
    )]
    NotBuilt {
        /// Which.
        name: String,
        /// Its source.
        path: String,
    },
    /// A module of it cannot run.
    #[error("the module of the command `{name}` cannot run")]
    Module {
        /// Which.
        name: String,
        /// Why not.
        #[source]
        cause: Fault,
    },
    /// Its files could not be kept.
    #[error(transparent)]
    Files(#[from] PutTreeError),
    /// Its files could not be read again.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// Its files have no place in the session's.
    #[error(transparent)]
    Mount(#[from] MountError),
}

impl LoadToolkitError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Read(error) => error.code(),
            Self::Toolkit(error) => error.code(),
            Self::Ask(_) => "bad_capability",
            Self::Register(error) => error.code(),
            Self::NameTaken { .. } => "name_taken",
            Self::NotBuilt { .. } => "not_built",
            Self::Module { cause, .. } => cause.code(),
            Self::Files(error) => error.code(),
            Self::Load(error) => error.code(),
            Self::Mount(_) => "bad_tree",
        }
    }
}

impl From<FolderError> for LoadToolkitError {
    fn from(error: FolderError) -> Self {
        Self::Toolkit(error.into())
    }
}

/// Toolkits that are available: their files, to be shown to sessions.
#[derive(Clone, Default)]
pub struct ToolkitFiles(Vec<(String, Arc<dyn Files>)>);

impl ToolkitFiles {
    /// The files of a session with those of its toolkits at `/toolkits/ID`, where nobody can write to them.
    pub fn beside(&self, files: Arc<dyn Files>) -> Result<Arc<dyn Files>, LoadToolkitError> {
        if self.0.is_empty() {
            return Ok(files);
        }
        let mut all = Mounts::over(files);
        for (path, files) in &self.0 {
            all.mount(path, Arc::clone(files))?;
        }
        Ok(Arc::new(all))
    }
}

/// A command that is about to be registered.
struct NewCommand<'s> {
    command: &'s ToolkitCommand,
    bytes: bytes::Bytes,
    sha256: Digest,
}

impl Dock {
    /// Reads one toolkit of the host and judges it, names of its commands included. Nothing is compiled.
    pub fn read_toolkit(&self, folder: Folder, trust: &Trust) -> Result<Toolkit, LoadToolkitError> {
        let is_reserved = |name: &str| {
            matches!(self.registry().may_register(name), Err(RegisterError::ReservedName { .. }))
        };
        let toolkit = Toolkit::read_beside(folder, trust, &is_reserved)?;
        let file = grants_file(&toolkit.asks).to_string();
        let judged = GrantFile::parse(file.as_bytes()).and_then(|it| it.check(crate::judge_terms));
        judged.map_err(LoadToolkitError::Ask)?;
        Ok(toolkit)
    }

    /// The toolkits that an agent names, and those that these require.
    pub fn load_toolkits(
        &self,
        wanted: &[String],
        places: &ToolkitPlaces,
    ) -> Result<ToolkitSet, Box<ResolveError<LoadToolkitError>>> {
        let set = ToolkitSet::resolve(wanted, |id| {
            let named = |it: &&PathBuf| it.file_name().is_some_and(|it| it == id);
            let single = places.folders.iter().find(named).cloned();
            // An id is a plain name wherever it comes from, so that joining it leads nowhere else.
            let is_plain = !id.is_empty() && !id.starts_with('.') && !id.contains(['/', '\\', '\0']);
            let roots = places.roots.iter().filter(|_| is_plain).map(|it| it.join(id));
            match single.into_iter().chain(roots).find(|it| it.is_dir()) {
                // Who names an id means the folder in the root, and not where somebody's link leads.
                Some(path) if path.is_symlink() => {
                    Err(ReadFolderError::Link { shown: path.display().to_string() }.into())
                }
                Some(path) => self.read_toolkit(read_folder(&path)?, &places.trust).map(Some),
                None => Ok(None),
            }
        });
        set.map_err(Box::new)
    }

    /// Makes toolkits available: registers their commands, and keeps their files. All names are judged before the first module
    /// is compiled, and all modules are compiled before the first name is registered.
    pub async fn enable_toolkits(&self, set: &ToolkitSet) -> Result<ToolkitFiles, LoadToolkitError> {
        let mut modules = Vec::new();
        for toolkit in set.toolkits() {
            for command in &toolkit.commands {
                modules.extend(self.to_register(toolkit, command)?);
            }
        }
        for NewCommand { command, bytes, .. } in &modules {
            let name = || command.name.to_string();
            let checked = self.check_as(bytes.clone(), &EntryOptions::default()).await;
            checked.map_err(|cause| LoadToolkitError::Module { name: name(), cause })?;
        }
        for NewCommand { command, bytes, sha256 } in modules {
            let how = Registration { mode: command.mode, expected: Some(sha256), ..Registration::default() };
            self.registry()
                .register(command.name.as_str(), bytes, how)
                .map_err(LoadToolkitError::Register)?;
        }
        set.toolkits().iter().map(|it| self.keep_files(it)).collect::<Result<_, _>>().map(ToolkitFiles)
    }

    /// The module of a command that is not registered yet; nothing if the very same is.
    fn to_register<'s>(
        &self,
        toolkit: &Toolkit,
        command: &'s ToolkitCommand,
    ) -> Result<Option<NewCommand<'s>>, LoadToolkitError> {
        let name = command.name.as_str();
        self.registry().may_register(name).map_err(LoadToolkitError::Register)?;
        let (path, sha256) = match &command.source {
            CommandSource::Module { path, sha256 } => (path, *sha256),
            CommandSource::Source { path, .. } => {
                return Err(LoadToolkitError::NotBuilt { name: name.to_owned(), path: path.clone() });
            }
        };
        // A name that a person registered stays theirs: a toolkit that comes later does not answer in its place.
        match self.registry().lookup(name, None) {
            Some(entry) if entry.digest == sha256 && entry.mode == command.mode => Ok(None),
            Some(_) => Err(LoadToolkitError::NameTaken { name: name.to_owned() }),
            None => {
                let bytes = bytes::Bytes::copy_from_slice(toolkit.folder.get(path)?);
                Ok(Some(NewCommand { command, bytes, sha256 }))
            }
        }
    }

    /// Its files as a tree that nobody writes to, kept by the digest of what is in it: what was judged is what is seen, whatever
    /// becomes of the folder meanwhile.
    fn keep_files(&self, toolkit: &Toolkit) -> Result<(String, Arc<dyn Files>), LoadToolkitError> {
        let trees = self.registry().trees();
        if !trees.contains(toolkit.digest) {
            let mut tree = trees.begin(toolkit.digest, TreeBounds::default())?;
            for (path, bytes) in toolkit.folder.files() {
                let mode = if bytes.starts_with(b"#!") { 0o755 } else { 0o644 };
                tree.file(path, bytes, mode)?;
            }
            tree.finish()?;
        }
        let files = trees.open(toolkit.digest)?;
        Ok((format!("{TOOLKITS_ROOT}/{}", toolkit.id), Arc::new(files)))
    }
}
