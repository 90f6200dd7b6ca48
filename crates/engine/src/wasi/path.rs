//! What is named by a path. A path is relative to an open directory of the run's own tree and leads nowhere but beneath
//! it (see [`confine`]); the tree itself cannot be left.

use drydock_contract::{
    PipeName, Timestamp,
    port::{FileError, FileKind, FileResult, Follow, Mode, OpenHow, Stat, TreePath},
};

use super::{Descriptor, Errno, OpenedDirectory, OpenedFile, confine, device, file::now, here, pipe};
use crate::guest::Guest;

/// The path in the tree that a relative `text` means from a directory; `making` where it is about to be made.
pub(crate) fn resolve(
    guest: &mut Guest,
    (base, here): (&TreePath, bool),
    text: &str,
    follow: Follow,
    making: bool,
) -> Result<TreePath, Errno> {
    match here {
        true => here::place(&*guest.files(), base, text, making),
        false => confine::beneath(&*guest.files(), base, text, follow),
    }
}

/// How something is to be opened.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Opening {
    pub(crate) follow: Follow,
    pub(crate) read: bool,
    pub(crate) write: bool,
    pub(crate) create: bool,
    pub(crate) exclusive: bool,
    pub(crate) truncate: bool,
    /// Nothing but a directory will do.
    pub(crate) directory: bool,
}

/// Opens what is at the path: a device, a directory or a file.
pub(crate) fn open(guest: &mut Guest, path: &TreePath, how: Opening) -> Result<Descriptor, Errno> {
    let files = guest.files();
    let now = now(guest);
    if let Some(device) = device::named(guest, path) {
        return device.open(guest, how);
    }
    let found = files.stat(path, how.follow).map(|stat| stat.kind);
    if may_be_pipe(found)
        && let Some((_, name)) = pipe::at(&*files, path, how.follow)
    {
        return pipe::open(guest, name, how);
    }
    match found {
        Ok(_) if how.create && how.exclusive => return Err(Errno::Exist),
        Ok(FileKind::Directory) if how.write || how.truncate => return Err(Errno::Isdir),
        Ok(FileKind::Directory) => {
            let path = confine::plain(&*files, path)?;
            return Ok(Descriptor::Directory(OpenedDirectory::new(path)));
        }
        Ok(_) if how.directory => return Err(Errno::Notdir),
        Ok(FileKind::Symlink) => return Err(Errno::Loop),
        Err(FileError::NotFound) if how.directory => return Err(Errno::Noent),
        _ => {}
    }
    let how = OpenHow {
        read: how.read,
        // Emptying a file is writing to it, whatever the descriptor may do afterwards.
        write: how.write || how.truncate,
        create: how.create,
        exclusive: how.exclusive,
        truncate: how.truncate,
        nofollow: how.follow == Follow::No,
        mode: Mode::new(0o666).masked(guest.file_rules.umask),
    };
    let bytes_max = guest.file_rules.bytes_max;
    Ok(Descriptor::File(OpenedFile { bytes_max, ..OpenedFile::new(files.open(path, how, now)?) }))
}

/// The facts of what is at the path, a device's too.
pub(crate) fn stat(guest: &mut Guest, path: &TreePath, follow: Follow) -> Result<Stat, Errno> {
    match device::named(guest, path) {
        Some(device) => Ok(device.stat()),
        None => {
            let files = guest.files();
            let found = files.stat(path, follow);
            match may_be_pipe(found.map(|it| it.kind)).then(|| pipe::at(&*files, path, follow)).flatten() {
                Some((stat, _)) => Ok(stat),
                None => Ok(found?),
            }
        }
    }
}

/// Whether what was found at a path may be a pipe, which is a link that leads nowhere.
fn may_be_pipe(found: FileResult<FileKind>) -> bool {
    matches!(found, Err(FileError::NotFound) | Ok(FileKind::Symlink))
}

/// What a link says. A pipe is none.
pub(crate) fn read_link(guest: &mut Guest, path: &TreePath) -> Result<String, Errno> {
    let target = guest.files().read_link(path)?;
    if PipeName::of(&target).is_some() { Err(Errno::Inval) } else { Ok(target) }
}

/// Sets permission bits. They are facts about files, and decide nothing here (decision 0028).
pub(crate) fn set_mode(
    guest: &mut Guest,
    path: &TreePath,
    follow: Follow,
    mode: Mode,
    now: Timestamp,
) -> Result<(), Errno> {
    if device::named(guest, path).is_some() {
        return Err(Errno::Acces);
    }
    let files = guest.files();
    match files.set_mode(path, follow, mode, now) {
        Err(FileError::NotFound) if pipe::at(&*files, path, follow).is_some() => Err(Errno::Acces),
        set => Ok(set?),
    }
}

/// Makes a directory, with the run's mask.
pub(crate) fn create_dir(guest: &mut Guest, path: &TreePath) -> Result<(), Errno> {
    let (now, mode) = (now(guest), Mode::new(0o777).masked(guest.file_rules.umask));
    Ok(guest.files().create_dir(path, mode, now)?)
}

/// Makes a link at a path that was resolved from a directory.
pub(crate) fn symlink(
    guest: &mut Guest,
    (base, here): (&TreePath, bool),
    target: &str,
    path: &TreePath,
) -> Result<(), Errno> {
    // It would lead out of the directory at once; relative ones are looked at when followed.
    let below = !here && base.names().next().is_some();
    if below && target.starts_with('/') {
        return Err(Errno::Perm);
    }
    let now = now(guest);
    Ok(guest.files().symlink(target, path, now)?)
}
