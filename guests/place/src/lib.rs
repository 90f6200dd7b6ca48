//! Where a guest starts, and how it talks: [`stdio`] and [`block`].
//!
//! WASI has no working directory: libc keeps one, it is always `/` at first, and relative paths are
//! made absolute before the host sees them. So whoever starts a command says where it is in `PWD`,
//! and the command goes there before anything else.
//!
//! `chdir` would ask the host for every root and for the directory itself, which costs a short
//! command more than its work. Setting libc's own variable costs nothing; a directory that does not
//! exist then fails when it is used, as a deleted one does elsewhere.

pub mod block;
pub mod stdio;

pub use stdio::reason;

/// Makes `PWD` the working directory. Without it, or if it is not absolute, nothing changes.
pub fn enter() {
    #[cfg(target_os = "wasi")]
    wasi::enter();
}

#[cfg(target_os = "wasi")]
mod wasi {
    use std::ffi::{CString, OsStr, c_char, c_int};
    use std::os::wasi::ffi::OsStrExt as _;

    unsafe extern "C" {
        static mut __wasilibc_cwd: *mut c_char;
        fn chdir(path: *const c_char) -> c_int;
    }

    pub(super) fn enter() {
        let Some(place) = std::env::var_os("PWD") else { return };
        let bytes = OsStr::as_bytes(&place);
        let Ok(path) = CString::new(bytes) else { return };
        // libc resolves relative paths only in a program that has `chdir` in it, so it must stay
        // reachable: it is what handles the spellings this shortcut does not.
        if !bytes.starts_with(b"/") || bytes.split(|it| *it == b'/').any(|part| part == b"..") {
            // SAFETY: `path` is a C string that lives until after the call.
            unsafe { chdir(path.as_ptr()) };
            return;
        }
        // SAFETY: one thread, before any other use of libc's paths; the string is never freed, and
        // libc frees only what it allocated itself.
        unsafe { __wasilibc_cwd = path.into_raw() };
    }
}
