//! Files of a run: read, written and edited, whole or in lines. A path starts at the top of the run's files, or at the
//! directory where its shell began; `..` is in none.

use std::sync::Arc;

use drydock_agent::tools::{EditFileArguments, ToolOutput, VfsReadArguments, VfsWriteArguments};
use drydock_contract::{
    Digest,
    port::{FileKind, Follow},
};
use drydock_store::{COMPARE_MAX, text_diff};

use super::{AgentTools, ToolError, off_thread};
use crate::{
    SandboxError,
    sandbox::files::{Edit, Edited, FILE_BYTES_MAX, failed},
    tree::read_whole,
};

/// The longest diff that is told.
const DIFF_BYTES_MAX: usize = 64 << 10;

impl AgentTools {
    pub(super) async fn read_file(&self, wanted: VfsReadArguments) -> Result<ToolOutput, ToolError> {
        let door = Arc::clone(&self.files);
        let work = move || {
            let VfsReadArguments { path, from_line, lines } = wanted;
            let at = door.path(&path)?;
            if door.files.stat(&at, Follow::Yes).is_ok_and(|it| it.kind == FileKind::Directory) {
                let why = format!("{path}: is a directory; `shell` lists it (ls)");
                return Err(SandboxError::new("is_a_directory", why));
            }
            let bytes = read_whole(&*door.files, &at, FILE_BYTES_MAX).map_err(|it| failed(&path, it))?;
            Ok(shown(&path, bytes, from_line, lines))
        };
        Ok(ToolOutput::text(off_thread(work).await?))
    }

    pub(super) async fn write_file(&self, wanted: VfsWriteArguments) -> Result<ToolOutput, ToolError> {
        let door = Arc::clone(&self.files);
        let work = move || {
            let VfsWriteArguments { path, content } = wanted;
            let at = door.path(&path)?;
            let is_new = door.write_whole((&path, &at), content.as_bytes(), None)?;
            let what = if is_new { "created" } else { "written" };
            Ok::<_, SandboxError>(format!("{what}: {path}, {} bytes", content.len()))
        };
        let told = off_thread(work).await?;
        Ok(ToolOutput { files_changed: Some(true), ..ToolOutput::text(told) })
    }

    pub(super) async fn edit_file(&self, wanted: EditFileArguments) -> Result<ToolOutput, ToolError> {
        let door = Arc::clone(&self.files);
        let EditFileArguments { path, old, new, all } = wanted;
        if old.is_empty() {
            return Err(ToolError::new("bad_arguments", "`old` is empty; `vfs_write` makes a new file"));
        }
        if old == new {
            return Err(ToolError::new(
                "bad_arguments",
                "`old` and `new` are the same: nothing would change",
            ));
        }
        let work = move || {
            let edit =
                Edit { path: path.clone(), old_text: old, new_text: new, replace_all: all, if_sha256: None };
            // The operation of sandboxes has other names for the same members.
            let ours = |text: String| text.replace("`old_text`", "`old`").replace("`replace_all`", "`all`");
            let named = |error: SandboxError| SandboxError { message: ours(error.message), ..error };
            let Edited { before, after, count } = door.replace(edit).map_err(named)?;
            let mut diff = text_diff(&before, &after, path.trim_start_matches('/'), COMPARE_MAX);
            if diff.len() > DIFF_BYTES_MAX {
                diff.truncate(diff.floor_char_boundary(DIFF_BYTES_MAX));
                diff.push_str("\n[the diff is longer]\n");
            }
            let places = if count == 1 { "1 place".to_owned() } else { format!("{count} places") };
            Ok::<_, SandboxError>(format!("edited {path} in {places}\n{diff}"))
        };
        let told = off_thread(work).await?;
        Ok(ToolOutput { files_changed: Some(true), ..ToolOutput::text(told) })
    }
}

/// What a model reads of a file.
fn shown(path: &str, bytes: Vec<u8>, from_line: Option<u64>, lines: Option<u64>) -> String {
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(binary) => {
            let bytes = binary.into_bytes();
            return format!(
                "{path} is binary: {} bytes, sha256 {}. `shell` looks into it (xxd, strings, jq, …)",
                bytes.len(),
                Digest::of(&bytes)
            );
        }
    };
    if text.is_empty() {
        return format!("{path} is empty");
    }
    if from_line.is_none() && lines.is_none() {
        return text;
    }
    let count = |it: u64| usize::try_from(it).unwrap_or(usize::MAX);
    let skip = count(from_line.unwrap_or(1).saturating_sub(1));
    let part: String = text.split_inclusive('\n').skip(skip).take(lines.map_or(usize::MAX, count)).collect();
    match part.is_empty() {
        true => format!("{path} has {} lines; there is nothing at that place", text.lines().count()),
        false => part,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_shown_whole_in_lines_or_as_what_it_is() {
        let read = |bytes: &[u8], from, lines| shown("f", bytes.to_vec(), from, lines);
        assert_eq!(read(b"a\nb\nc", None, None), "a\nb\nc");
        assert_eq!(read(b"a\nb\nc", Some(2), None), "b\nc");
        assert_eq!(read(b"a\nb\nc", Some(2), Some(1)), "b\n");
        assert_eq!(read(b"a\nb\nc", None, Some(1)), "a\n");
        assert_eq!(read(b"a\nb", Some(0), Some(1)), "a\n", "a line before the first is the first");
        assert_eq!(read(b"a\nb", Some(3), None), "f has 2 lines; there is nothing at that place");
        assert_eq!(read(b"", None, None), "f is empty");
        assert!(read(b"\xff\0", None, None).starts_with("f is binary: 2 bytes, sha256 "));
        assert_eq!(
            read(b"a\nb", Some(u64::MAX), Some(u64::MAX)),
            "f has 2 lines; there is nothing at that place"
        );
    }
}
