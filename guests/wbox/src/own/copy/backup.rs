//! Backups of files that are about to be replaced: `-b`, `--backup[=CONTROL]`, `-S SUFFIX`.

use crate::own::arguments::Arguments;
use crate::stream::text;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// How a backup is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Backup {
    None,
    /// With a suffix.
    Simple(String),
    /// `.~1~` and so on.
    Numbered,
    /// Numbered where there are numbered ones already.
    Existing(String),
}

/// The options, for the table of an applet.
pub const TABLE: [&str; 3] = ["b", "backup?", "S,suffix="];

impl Backup {
    /// What the command line asks for.
    pub fn read(line: &Arguments<'_>) -> Result<Self, String> {
        let suffix = line.value("S").map(|it| text(it).into_owned());
        let from_environment = |name| std::env::var(name).ok().filter(|it| !it.is_empty());
        if !line.has("b") && !line.has("backup") && suffix.is_none() {
            return Ok(Self::None);
        }
        let suffix =
            suffix.or_else(|| from_environment("SIMPLE_BACKUP_SUFFIX")).unwrap_or_else(|| "~".to_owned());
        let control = line.value("backup").map(|it| text(it).into_owned());
        match control.or_else(|| from_environment("VERSION_CONTROL")).as_deref() {
            Some("none" | "off") => Ok(Self::None),
            Some("simple" | "never") => Ok(Self::Simple(suffix)),
            Some("numbered" | "t") => Ok(Self::Numbered),
            None | Some("existing" | "nil") => Ok(Self::Existing(suffix)),
            Some(other) => Err(format!("invalid argument '{other}' for 'backup type'")),
        }
    }

    /// Moves the file out of the way; whether it did.
    pub fn make(&self, path: &Path) -> io::Result<bool> {
        let with = |suffix: &str| {
            let mut name = OsString::from(path);
            name.push(suffix);
            PathBuf::from(name)
        };
        let first_free =
            || (1u32..).map(|number| with(&format!(".~{number}~"))).find(|it| it.symlink_metadata().is_err());
        let to = match self {
            Self::None => return Ok(false),
            Self::Simple(suffix) => Some(with(suffix)),
            Self::Existing(suffix) if with(".~1~").symlink_metadata().is_err() => Some(with(suffix)),
            Self::Existing(_) | Self::Numbered => first_free(),
        };
        match to {
            Some(to) => fs::rename(path, to).map(|()| true),
            None => Ok(false),
        }
    }
}
