//! Changes as a unified diff, in git's own words for permissions, links and what is not text. Work is
//! bounded: a file that is too long to compare is said to differ, and no more.

use std::time::Duration;

use drydock_contract::{
    Timestamp,
    port::{FileError, FileKind, FileResult, Files, Follow, Mode, OpenHow, TreePath},
};
use similar::{Algorithm, ChangeTag, TextDiff};

use crate::{Change, ChangeKind};

/// Of a longer file only the length is told.
const TEXT_BYTES_MAX: u64 = 4 << 20;
/// After that long a difference of two files is told less exactly.
pub const COMPARE_MAX: Duration = Duration::from_millis(500);
/// Lines shown around a change.
const CONTEXT_LINES: usize = 3;

/// One path, as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDiff {
    /// Without a leading slash.
    pub path: String,
    /// What happened to it.
    pub kind: ChangeKind,
    /// Headers and hunks; every line ends.
    pub text: String,
    /// Lines that are new.
    pub added: usize,
    /// Lines that are gone.
    pub removed: usize,
    /// It is no text, or too long to be compared.
    pub opaque: bool,
}

/// One change between two trees, as text that calls it `name`. Comparing takes no longer than
/// `compare_max`, whatever the texts are.
pub fn file_diff(
    old: &dyn Files,
    new: &dyn Files,
    change: &Change,
    name: &str,
    compare_max: Duration,
) -> FileResult<FileDiff> {
    let path = TreePath::new(&change.path)?;
    let (was, is) = (side(old, &path, change.was)?, side(new, &path, change.is)?);
    let name = quoted(name);
    let mut diff = FileDiff {
        path: change.path.clone(),
        kind: change.kind,
        text: format!("diff --git a/{name} b/{name}\n"),
        added: 0,
        removed: 0,
        opaque: false,
    };
    let mode = |kind: Option<FileKind>, mode: Option<Mode>| git_mode(kind, mode.unwrap_or(Mode::FILE));
    let (before, after) = (mode(change.was, change.was_mode), mode(change.is, change.is_mode));
    diff.text.push_str(&match (change.was, change.is) {
        (None, _) => format!("new file mode {after}\n"),
        (_, None) => format!("deleted file mode {before}\n"),
        _ if before != after => format!("old mode {before}\nnew mode {after}\n"),
        _ => String::new(),
    });
    let label = |has: bool, side: char| if has { format!("{side}/{name}") } else { "/dev/null".to_owned() };
    let (from, to) = (label(change.was.is_some(), 'a'), label(change.is.is_some(), 'b'));
    match (was, is) {
        _ if change.only_mode => {}
        (Side::Text(was), Side::Text(is)) => {
            let compared = TextDiff::configure()
                .algorithm(Algorithm::Myers)
                .timeout(compare_max)
                .diff_lines(was.as_str(), is.as_str());
            for line in compared.iter_all_changes() {
                match line.tag() {
                    ChangeTag::Insert => diff.added += 1,
                    ChangeTag::Delete => diff.removed += 1,
                    ChangeTag::Equal => {}
                }
            }
            let shown = compared.unified_diff().context_radius(CONTEXT_LINES).header(&from, &to).to_string();
            diff.text.push_str(&shown);
        }
        (Side::Opaque, _) | (_, Side::Opaque) => {
            diff.opaque = true;
            diff.text.push_str(&format!("Binary files {from} and {to} differ\n"));
        }
    }
    Ok(diff)
}

/// The same of two texts, as a reader of patches has it; nothing where they are the same. Comparing takes that long at
/// most, and what is left is told as replaced.
pub fn text_diff(was: &str, is: &str, name: &str, compare_max: Duration) -> String {
    let name = quoted(name);
    let mut how = TextDiff::configure();
    let compared = how.algorithm(Algorithm::Myers).timeout(compare_max).diff_lines(was, is);
    let (from, to) = (format!("a/{name}"), format!("b/{name}"));
    compared.unified_diff().context_radius(CONTEXT_LINES).header(&from, &to).to_string()
}

enum Side {
    Text(String),
    Opaque,
}

fn side(files: &dyn Files, path: &TreePath, kind: Option<FileKind>) -> FileResult<Side> {
    let text = |it: String| Ok(Side::Text(it));
    match kind {
        None | Some(FileKind::Directory) => text(String::new()),
        Some(FileKind::Symlink) => text(files.read_link(path)?),
        Some(FileKind::File) => {
            let size = files.stat(path, Follow::No)?.size;
            if size > TEXT_BYTES_MAX {
                return Ok(Side::Opaque);
            }
            let how = OpenHow { read: true, nofollow: true, ..OpenHow::NONE };
            let file = files.open(path, how, Timestamp::default())?;
            let mut bytes = vec![0; usize::try_from(size).map_err(|_| FileError::TooBig)?];
            let mut done = 0;
            while done < bytes.len() {
                match file.read_at(done as u64, &mut bytes[done..])? {
                    0 => break,
                    more => done += more,
                }
            }
            bytes.truncate(done);
            match String::from_utf8(bytes) {
                Ok(whole) if !whole.contains('\0') => text(whole),
                _ => Ok(Side::Opaque),
            }
        }
    }
}

/// As git writes it: the kind, and of a file's bits all nine.
fn git_mode(kind: Option<FileKind>, mode: Mode) -> String {
    match kind {
        Some(FileKind::Symlink) => "120000".to_owned(),
        Some(FileKind::Directory) => format!("040{:03o}", mode.plain().bits()),
        _ => format!("100{:03o}", mode.plain().bits()),
    }
}

/// A name that cannot end its line or pass for another one.
fn quoted(path: &str) -> String {
    if path.chars().any(|it| it.is_control() || it == '"' || it == '\\') {
        return format!("\"{}\"", path.escape_debug());
    }
    path.to_owned()
}
