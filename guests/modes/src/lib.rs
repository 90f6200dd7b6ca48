//! Permission bits of files, which WASI preview 1 does not carry.
//!
//! A guest asks the host through three imports that come with its files; native tests ask the system.
//! Bits are the twelve of `chmod`: what is above them is dropped. A symbolic link has 777, and its own
//! bits cannot be set.

use std::io;
use std::path::Path;

/// The bits of what a path names, or of the link itself.
pub fn get(path: &Path, follow: bool) -> io::Result<u32> {
    system::get(path, follow)
}

/// Sets the bits of what a path names. A link itself has none to set: that is an error.
pub fn set(path: &Path, follow: bool, mode: u32) -> io::Result<()> {
    system::set(path, follow, mode & 0o7777)
}

/// The bits of an open descriptor.
pub fn get_fd(fd: i32) -> io::Result<u32> {
    system::get_fd(fd)
}

/// Sets the bits of an open file or directory.
pub fn set_fd(fd: i32, mode: u32) -> io::Result<()> {
    system::set_fd(fd, mode & 0o7777)
}

/// What is taken from the bits of new files and directories.
pub fn umask() -> u32 {
    system::umask(None)
}

/// Sets the mask, and answers the one before.
pub fn set_umask(mask: u32) -> u32 {
    system::umask(Some(mask & 0o777))
}

#[cfg(target_os = "wasi")]
mod system {
    use std::io;
    use std::os::wasi::ffi::OsStrExt as _;
    use std::path::Path;

    /// The one directory a guest starts with: the root of its files.
    const ROOT: i32 = 3;

    #[link(wasm_import_module = "env")]
    unsafe extern "C" {
        fn host_mode_get(fd: i32, path: *const u8, path_len: usize, follow: i32, out: *mut u32) -> i32;
        fn host_mode_set(fd: i32, path: *const u8, path_len: usize, follow: i32, mode: u32) -> i32;
        fn host_umask(mask: i32) -> i32;
    }

    pub fn get(path: &Path, follow: bool) -> io::Result<u32> {
        let path = from_root(path)?;
        let mut mode = 0;
        // SAFETY: the bytes and the place for the answer live until after the call, and the length is
        // theirs.
        let errno = unsafe { host_mode_get(ROOT, path.as_ptr(), path.len(), follow.into(), &raw mut mode) };
        answer(errno).map(|()| mode)
    }

    pub fn set(path: &Path, follow: bool, mode: u32) -> io::Result<()> {
        let path = from_root(path)?;
        // SAFETY: the bytes live until after the call, and the length is theirs.
        answer(unsafe { host_mode_set(ROOT, path.as_ptr(), path.len(), follow.into(), mode) })
    }

    pub fn get_fd(fd: i32) -> io::Result<u32> {
        let mut mode = 0;
        // SAFETY: an empty path is not read, and the place for the answer lives until after the call.
        let errno = unsafe { host_mode_get(fd, std::ptr::null(), 0, 1, &raw mut mode) };
        answer(errno).map(|()| mode)
    }

    pub fn set_fd(fd: i32, mode: u32) -> io::Result<()> {
        // SAFETY: an empty path is not read.
        answer(unsafe { host_mode_set(fd, std::ptr::null(), 0, 1, mode) })
    }

    pub fn umask(mask: Option<u32>) -> u32 {
        // SAFETY: it takes a number and gives one.
        let before = unsafe { host_umask(mask.map_or(-1, u32::cast_signed)) };
        before.cast_unsigned()
    }

    /// The path below the root: a relative one starts where the guest is.
    fn from_root(path: &Path) -> io::Result<Vec<u8>> {
        if path.as_os_str().is_empty() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let whole = if path.is_absolute() { path.to_owned() } else { std::env::current_dir()?.join(path) };
        let bytes = whole.as_os_str().as_bytes();
        let start = bytes.iter().position(|byte| *byte != b'/').unwrap_or(bytes.len());
        Ok(if start == bytes.len() { b".".to_vec() } else { bytes[start..].to_vec() })
    }

    fn answer(errno: i32) -> io::Result<()> {
        if errno == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(errno)) }
    }
}

#[cfg(unix)]
mod system {
    use std::fs::{self, Permissions};
    use std::io;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    use std::path::Path;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Kept apart from the test process's own, which the tests of other threads use too.
    static MASK: AtomicU32 = AtomicU32::new(0o022);

    pub fn get(path: &Path, follow: bool) -> io::Result<u32> {
        let facts = if follow { fs::metadata(path) } else { fs::symlink_metadata(path) };
        Ok(facts?.mode() & 0o7777)
    }

    pub fn set(path: &Path, follow: bool, mode: u32) -> io::Result<()> {
        if !follow && fs::symlink_metadata(path)?.is_symlink() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        fs::set_permissions(path, Permissions::from_mode(mode))
    }

    pub fn get_fd(fd: i32) -> io::Result<u32> {
        get(Path::new(&format!("/dev/fd/{fd}")), true)
    }

    pub fn set_fd(fd: i32, mode: u32) -> io::Result<()> {
        set(Path::new(&format!("/dev/fd/{fd}")), true, mode)
    }

    pub fn umask(mask: Option<u32>) -> u32 {
        match mask {
            Some(mask) => MASK.swap(mask, Ordering::Relaxed),
            None => MASK.load(Ordering::Relaxed),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_is_told_and_a_link_is_itself() {
        let dir = std::env::temp_dir().join(format!("modes-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let (file, link) = (dir.join("f"), dir.join("l"));
        std::fs::write(&file, "x").unwrap();
        std::os::unix::fs::symlink("f", &link).unwrap();
        set(&link, true, 0o104_751).unwrap();
        assert_eq!((get(&file, false).unwrap(), get(&link, true).unwrap()), (0o4751, 0o4751));
        assert_eq!(get(&link, false).unwrap(), 0o777);
        assert!(set(&link, false, 0o600).is_err());
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn the_mask_is_answered_and_set() {
        assert_eq!(set_umask(0o1077), 0o022);
        assert_eq!(umask(), 0o077);
        assert_eq!(set_umask(0o022), 0o077);
    }
}
