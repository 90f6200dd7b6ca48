//! The working directory of programs that know none: the preopened directory `.` beside `/` (decision 0045).
//!
//! WASI's libc takes the slash off an absolute path and looks for the preopened directory whose name fits best. `/` and
//! `.` are both the empty name to it, and of two that fit equally it takes the last. So this directory is asked for
//! `x.txt` and for `/usr/lib/x` alike, as `x.txt` and `usr/lib/x`. It stands for both: what is in the working directory
//! is meant there, and otherwise in the root. It confines nothing; the tree itself does.

use drydock_contract::{
    port::{FileError, Files, Follow, TreePath},
    text,
};

use super::{Errno, device};

/// The working directory, if it is another than the root.
pub(crate) fn directory(pwd: &[u8]) -> Option<TreePath> {
    let path = text::from_bytes(pwd);
    let path = TreePath::new(path.strip_prefix('/')?).ok()?;
    let is_root = path.names().next().is_none();
    (!is_root).then_some(path)
}

/// The place that `text` names, if the working directory is `here`. A single name that is about to be made is
/// made here.
pub(super) fn place(files: &dyn Files, here: &TreePath, text: &str, making: bool) -> Result<TreePath, Errno> {
    let (below, top) = (here.join(text)?, TreePath::new(text)?);
    if device::is_name(&top) {
        return Ok(top);
    }
    let names: Vec<&str> = top.names().take(2).collect();
    let Some(first) = names.first().filter(|it| **it != "..") else { return Ok(below) };
    if making && names.len() == 1 {
        return Ok(below);
    }
    let is_there = |path: TreePath| match files.stat(&path, Follow::No) {
        Err(FileError::Interrupted) => Err(Errno::Intr),
        found => Ok(found.is_ok()),
    };
    let at_the_top = !is_there(here.join(first)?)? && is_there(TreePath::new(first)?)?;
    Ok(if at_the_top { top } else { below })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use drydock_contract::Meter;
    use drydock_store::MemoryFiles;

    use super::*;

    #[test]
    fn a_name_is_meant_here_and_otherwise_at_the_top() {
        let files = MemoryFiles::with(Arc::new(Meter::new(1 << 20)));
        for path in ["work/dir/x", "work/dir/tmp/in", "tmp/out", "usr/lib/c", "work/y"] {
            files.write(path, b"").unwrap();
        }
        let here = TreePath::new("work/dir").unwrap();
        let cases = [
            // text            making  place
            ("x", false, "work/dir/x"),
            ("new", true, "work/dir/new"),
            ("usr/lib/c", false, "usr/lib/c"),
            ("usr/lib/new", true, "usr/lib/new"),
            ("usr", false, "usr"),
            ("usr", true, "work/dir/usr"),
            ("tmp/in", false, "work/dir/tmp/in"),
            ("work/dir/x", false, "work/dir/x"),
            ("./x", false, "work/dir/./x"),
            (".", false, "work/dir/."),
            ("../y", false, "work/dir/../y"),
            ("none/x", false, "work/dir/none/x"),
            ("dev/null", false, "dev/null"),
        ];
        for (text, making, want) in cases {
            let got = place(&files, &here, text, making).unwrap();
            assert_eq!(got.as_str(), want, "{text} {making}");
        }
    }

    #[test]
    fn only_an_absolute_path_below_the_root_is_a_working_directory() {
        for (pwd, want) in
            [("/work/dir", Some("work/dir")), ("/", None), ("", None), ("work", None), ("//", None)]
        {
            assert_eq!(directory(pwd.as_bytes()).as_ref().map(TreePath::as_str), want, "{pwd}");
        }
    }
}
