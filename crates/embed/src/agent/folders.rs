//! Reading what people wrote about agents from a directory of the host: definitions, toolkits, skills.
//!
//! The path that a person names is trusted and followed; what lies below is neither. Links are refused rather than followed,
//! names that begin with a dot are left out, and a folder is read to its limits and no further.

use std::{
    ffi::OsStr,
    io,
    path::{Path, PathBuf},
};

use drydock_agent::{
    definition::{AgentDefinition, DefinitionError},
    text::TEXT_BYTES_MAX,
    toolkit::{FOLDER_BYTES_MAX, FOLDER_FILES_MAX, Folder, FolderError},
};
use drydock_contract::port::{FileError, FileKind, Files, TreePath};
use drydock_store::{Access, HostDir};

/// Directories of one toolkit, empty ones included.
const DIRS_MAX: usize = FOLDER_FILES_MAX;

/// A folder or a definition cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadFolderError {
    /// It cannot be opened.
    #[error("could not open `{path}`")]
    Open {
        /// As it was named.
        path: PathBuf,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
    /// Its name is not one that could be used.
    #[error("`{path}` has no name that is text")]
    NoName {
        /// As it was named.
        path: PathBuf,
    },
    /// A link lies in it.
    #[error("`{shown}` is a link; put the file itself into the folder")]
    Link {
        /// Which.
        shown: String,
    },
    /// A file of it cannot be read.
    #[error("could not read `{shown}`: {cause}")]
    Read {
        /// Which.
        shown: String,
        /// Why not.
        cause: FileError,
    },
    /// What is in it cannot be taken.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A definition is none.
    #[error(transparent)]
    Definition(#[from] DefinitionError),
}

impl ReadFolderError {
    /// The stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Open { .. } | Self::Read { .. } => "unreadable",
            Self::NoName { .. } => "bad_name",
            Self::Link { .. } => "link_in_folder",
            Self::Folder(error) => error.code(),
            Self::Definition(error) => error.code(),
        }
    }
}

/// Everything in a directory, under its own name.
pub fn read_folder(path: &Path) -> Result<Folder, ReadFolderError> {
    let open = |cause| ReadFolderError::Open { path: path.to_owned(), cause };
    // `.` and `..` have a name too, where they lead.
    let real = path.canonicalize().map_err(open)?;
    let name = real.file_name().and_then(OsStr::to_str);
    let name = name.ok_or_else(|| ReadFolderError::NoName { path: path.to_owned() })?;
    let dir = HostDir::open(&real, Access::ReadOnly).map_err(open)?;
    let mut folder = Folder::new(name);
    let (mut rest, mut seen) = (vec![String::new()], 0);
    while let Some(at) = rest.pop() {
        seen += 1;
        if seen > DIRS_MAX {
            return Err(FolderError::TooMany { max: FOLDER_FILES_MAX }.into());
        }
        let failed = |shown: &str| {
            let shown = shown.to_owned();
            move |cause| ReadFolderError::Read { shown, cause }
        };
        let place = TreePath::new(&at).map_err(failed(&at))?;
        for entry in dir.read_dir(&place).map_err(failed(&at))? {
            if entry.name.starts_with('.') {
                continue;
            }
            let below = match at.is_empty() {
                true => entry.name.clone(),
                false => format!("{at}/{}", entry.name),
            };
            match entry.kind {
                FileKind::Directory => rest.push(below),
                FileKind::Symlink => return Err(ReadFolderError::Link { shown: below }),
                FileKind::File => {
                    let room = FOLDER_BYTES_MAX.saturating_sub(folder.bytes());
                    let place = TreePath::new(&below).map_err(failed(&below))?;
                    let bytes = crate::tree::read_whole(&dir, &place, room).map_err(|cause| match cause {
                        FileError::TooBig => {
                            let what = format!("the folder `{name}`");
                            FolderError::TooLarge { what, max: FOLDER_BYTES_MAX }.into()
                        }
                        cause => failed(&below)(cause),
                    })?;
                    folder.put(&below, bytes)?;
                }
            }
        }
    }
    Ok(folder)
}

/// A definition by the path of its file, which ends in `.org` or `.md`.
pub fn read_definition(path: &Path) -> Result<AgentDefinition, ReadFolderError> {
    let open = |cause| ReadFolderError::Open { path: path.to_owned(), cause };
    let name = path.file_name().and_then(OsStr::to_str);
    let name = name.ok_or_else(|| ReadFolderError::NoName { path: path.to_owned() })?;
    // The directory is opened as it is; the file in it is a name, and no link that leads elsewhere.
    let parent = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let dir = HostDir::open(parent, Access::ReadOnly).map_err(open)?;
    let failed = |cause| ReadFolderError::Read { shown: path.display().to_string(), cause };
    let place = TreePath::new(name).map_err(failed)?;
    let bytes =
        crate::tree::read_whole(&dir, &place, TEXT_BYTES_MAX as u64).map_err(|cause| match cause {
            // How much longer does not matter.
            FileError::TooBig => {
                DefinitionError::TooLarge { bytes: TEXT_BYTES_MAX + 1, max: TEXT_BYTES_MAX }.into()
            }
            cause => failed(cause),
        })?;
    Ok(AgentDefinition::read(name, &bytes)?)
}
