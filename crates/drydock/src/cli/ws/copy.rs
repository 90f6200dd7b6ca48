//! Files between a workspace and the host, of any length: nothing is held in memory whole, and a host
//! file is the old one or the new one.

use std::{
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use drydock_embed::{
    contract::Timestamp,
    store::{StreamError, Workspace},
};

/// Puts a host file, or stdin for `-`.
pub(super) fn put(workspace: &Workspace, file: &Path, path: &str, now: Timestamp) -> anyhow::Result<()> {
    let mut source: Box<dyn io::Read> = match is_dash(file) {
        true => Box::new(io::stdin()),
        false => Box::new(File::open(file).with_context(|| format!("could not open `{}`", file.display()))?),
    };
    let done = workspace.put_from(path, &mut *source, now);
    done.map_err(|error| told(error, path, file, "read")).map(drop)
}

/// Takes a file out, into a host file or to stdout for `-`.
pub(super) fn get(workspace: &Workspace, path: &str, file: &Path) -> anyhow::Result<()> {
    if is_dash(file) {
        return to_stdout(workspace, path);
    }
    let there = fs::symlink_metadata(file).ok();
    if there.as_ref().is_some_and(fs::Metadata::is_symlink) {
        anyhow::bail!(
            "`{}` is a symbolic link; name the file that it leads to, or remove it",
            file.display()
        );
    }
    // A device or a pipe is written to; a file is replaced once the new one is whole.
    let plain = there.as_ref().is_none_or(fs::Metadata::is_file);
    let target = if plain { beside(file)? } else { file.to_owned() };
    let could_not = || format!("could not write `{}`", file.display());
    // It may have become a link since it was looked at.
    let nofollow = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    let opened = OpenOptions::new().write(true).create_new(plain).custom_flags(nofollow).open(&target);
    let mut sink = opened.with_context(could_not)?;
    let mode = match &there {
        Some(there) => Some(there.permissions()),
        None => workspace.mode(path).ok().map(|it| fs::Permissions::from_mode(it.plain().bits())),
    };
    let done = workspace.get_into(path, &mut sink).map_err(|error| told(error, path, file, "write"));
    let done = done.and_then(|_| match plain {
        true => {
            let given = mode.map_or(Ok(()), |mode| sink.set_permissions(mode));
            given
                .and_then(|()| sink.sync_all())
                .and_then(|()| fs::rename(&target, file))
                .with_context(could_not)
        }
        false => Ok(()),
    });
    if done.is_err() && plain {
        let _ = fs::remove_file(&target);
    }
    done
}

/// Writes a file to stdout.
pub(super) fn to_stdout(workspace: &Workspace, path: &str) -> anyhow::Result<()> {
    let mut sink = io::stdout().lock();
    let done = workspace.get_into(path, &mut sink);
    done.map_err(|error| told(error, path, Path::new("stdout"), "write")).map(drop)
}

fn is_dash(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// A name beside the file that nobody else chooses.
fn beside(file: &Path) -> anyhow::Result<PathBuf> {
    let name = file.file_name().with_context(|| format!("`{}` is not a file", file.display()))?;
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".drydock-{}", std::process::id()));
    Ok(file.with_file_name(hidden))
}

fn told(error: StreamError, path: &str, file: &Path, act: &str) -> anyhow::Error {
    match error {
        StreamError::Host(cause) => {
            anyhow::Error::new(cause).context(format!("could not {act} `{}`", file.display()))
        }
        StreamError::Files(cause) => anyhow::Error::new(cause).context(path.to_owned()),
    }
}
