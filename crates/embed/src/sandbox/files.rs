//! Files of a sandbox: read, write, edit, list. Behind the gate, as tools of the sandbox's own session.
//!
//! Paths are absolute or start at the working directory; one with `..` is refused. A file that is no text is
//! answered as base64. Whoever edits what somebody else changed meanwhile is told, and nothing is lost.

use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use drydock_contract::{
    BoxFuture, Digest, ToolAnswer, ToolRequest, Tools,
    port::{Clock, FileError, FileKind, Files, Follow, Mode, OpenHow, TreePath},
};
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Base, SandboxError, change, typed};
use crate::tree::read_whole;

/// The longest file that is read, written or edited at once.
pub(crate) const FILE_BYTES_MAX: u64 = 16 << 20;
/// The longest list.
const ENTRIES_MAX: usize = 10_000;

/// The tools behind the gate.
pub(crate) struct Door {
    pub(crate) files: Arc<dyn Files>,
    pub(crate) cwd: String,
    pub(crate) bases: Vec<Base>,
    pub(crate) clock: Arc<dyn Clock>,
    /// Held from the comparison to the write.
    pub(crate) edits: Mutex<()>,
}

/// A file in which a piece of text was replaced.
pub(crate) struct Edited {
    pub(crate) before: String,
    pub(crate) after: String,
    /// In how many places.
    pub(crate) count: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    path: String,
    start_line: Option<u64>,
    line_count: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Write {
    path: String,
    text: Option<String>,
    base64: Option<String>,
    if_sha256: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Edit {
    pub(crate) path: String,
    pub(crate) old_text: String,
    pub(crate) new_text: String,
    #[serde(default)]
    pub(crate) replace_all: bool,
    pub(crate) if_sha256: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    path: Option<String>,
    #[serde(default)]
    recursive: bool,
}

/// The same on threads that may wait: whole files are read and written, and comparing a tree takes up to seconds.
pub(super) struct OffThread(pub(super) Arc<Door>);

impl Tools for OffThread {
    fn call(&self, request: ToolRequest) -> BoxFuture<'_, ToolAnswer> {
        let door = Arc::clone(&self.0);
        let answer = move || {
            let input = serde_json::from_slice(request.input.as_deref().unwrap_or(b"{}"));
            match input {
                Ok(input) => door.answer(&request.name(), input),
                Err(error) => Err(SandboxError::bad_input(error.to_string())),
            }
        };
        Box::pin(async move {
            // What has begun is done wholly, also if whoever asked is gone by then.
            let done = tokio::task::spawn_blocking(answer).await;
            let failed =
                |error: tokio::task::JoinError| SandboxError::new("internal_error", error.to_string());
            Ok(wrap(done.map_err(failed).and_then(|answer| answer)))
        })
    }
}

/// Both ends of an answer on its way through the gate.
fn wrap(answer: Result<Value, SandboxError>) -> Bytes {
    let told = match answer {
        Ok(value) => json!({ "ok": value }),
        Err(error) => json!({ "error": { "code": error.code, "message": error.message } }),
    };
    told.to_string().into()
}

pub(super) fn unwrap(bytes: &[u8]) -> Result<Value, SandboxError> {
    let broken = |why: String| SandboxError::new("internal_error", why);
    let mut told: Value = serde_json::from_slice(bytes).map_err(|error| broken(error.to_string()))?;
    if let Some(value) = told.get_mut("ok") {
        return Ok(value.take());
    }
    let text = |key: &str| told["error"][key].as_str().unwrap_or_default().to_owned();
    Err(SandboxError::new(&text("code"), text("message")))
}

impl Door {
    fn answer(&self, name: &str, input: Value) -> Result<Value, SandboxError> {
        match name {
            "files.read" => self.read(typed(input)?),
            "files.write" => self.write(typed(input)?),
            "files.edit" => self.edit(typed(input)?),
            "files.list" => self.list(typed(input)?),
            "workspace.diff" => change::diff(&self.bases, typed(input)?),
            "workspace.commit" => change::commit(&self.bases, typed(input)?, self.clock.now()),
            other => Err(SandboxError::new("unknown_operation", format!("there is no tool `{other}`"))),
        }
    }

    pub(crate) fn path(&self, text: &str) -> Result<TreePath, SandboxError> {
        tree_path(&self.cwd, text)
    }

    fn read(&self, Read { path, start_line, line_count }: Read) -> Result<Value, SandboxError> {
        let bytes =
            read_whole(&*self.files, &self.path(&path)?, FILE_BYTES_MAX).map_err(|it| failed(&path, it))?;
        let mut answer =
            json!({ "path": path, "bytes": bytes.len(), "sha256": Digest::of(&bytes).to_string() });
        match String::from_utf8(bytes) {
            Ok(text) => {
                let text = match (start_line, line_count) {
                    (None, None) => text,
                    (start, count) => {
                        let skip =
                            usize::try_from(start.unwrap_or(1).saturating_sub(1)).unwrap_or(usize::MAX);
                        let take = count.map_or(usize::MAX, |it| usize::try_from(it).unwrap_or(usize::MAX));
                        text.split_inclusive('\n').skip(skip).take(take).collect()
                    }
                };
                answer["text"] = text.into();
            }
            Err(binary) => answer["base64"] = STANDARD.encode(binary.into_bytes()).into(),
        }
        Ok(answer)
    }

    fn write(&self, Write { path, text, base64, if_sha256 }: Write) -> Result<Value, SandboxError> {
        let at = self.path(&path)?;
        let bytes = match (text, base64) {
            (Some(text), None) => text.into_bytes(),
            (None, Some(coded)) => STANDARD
                .decode(coded)
                .map_err(|error| SandboxError::bad_input(format!("{path}: not base64: {error}")))?,
            _ => return Err(SandboxError::bad_input("give either `text` or `base64`")),
        };
        let sha256 = Digest::of(&bytes).to_string();
        let created = self.write_whole((&path, &at), &bytes, if_sha256)?;
        Ok(json!({ "path": path, "bytes": bytes.len(), "created": created, "sha256": sha256 }))
    }

    /// Writes a file, whole, and answers whether it is a new one.
    pub(crate) fn write_whole(
        &self,
        (path, at): (&str, &TreePath),
        bytes: &[u8],
        if_sha256: Option<String>,
    ) -> Result<bool, SandboxError> {
        if bytes.len() as u64 > FILE_BYTES_MAX {
            return Err(failed(path, FileError::TooBig));
        }
        let _alone = self.edits.lock();
        let created = matches!(self.files.stat(at, Follow::Yes), Err(FileError::NotFound));
        if let Some(wanted) = if_sha256 {
            // What is too long to be read was never read by whoever names its hash.
            let before = read_whole(&*self.files, at, FILE_BYTES_MAX);
            let there = before.map(|it| Digest::of(&it).to_string()).unwrap_or_default();
            unchanged(path, &wanted, &there)?;
        }
        self.make_dirs(at).map_err(|error| failed(path, error))?;
        self.put(at, bytes).map_err(|error| failed(path, error))?;
        Ok(created)
    }

    fn edit(&self, edit: Edit) -> Result<Value, SandboxError> {
        let path = edit.path.clone();
        let Edited { after, count, .. } = self.replace(edit)?;
        let sha256 = Digest::of(after.as_bytes()).to_string();
        Ok(json!({ "path": path, "replaced": count, "bytes": after.len(), "sha256": sha256 }))
    }

    /// Replaces a piece of text that is there once, or wherever it is.
    pub(crate) fn replace(&self, edit: Edit) -> Result<Edited, SandboxError> {
        let Edit { path, old_text, new_text, replace_all, if_sha256 } = edit;
        let at = self.path(&path)?;
        if old_text.is_empty() {
            return Err(SandboxError::bad_input("`old_text` is empty; use write_file for a new file"));
        }
        let _alone = self.edits.lock();
        let before = read_whole(&*self.files, &at, FILE_BYTES_MAX).map_err(|error| failed(&path, error))?;
        if let Some(wanted) = if_sha256 {
            unchanged(&path, &wanted, &Digest::of(&before).to_string())?;
        }
        let text = std::str::from_utf8(&before).map_err(|_| {
            SandboxError::new("not_text", format!("{path}: not UTF-8; read it as base64 and write it whole"))
        })?;
        let count = text.matches(&old_text).count();
        let after = match (count, replace_all) {
            (0, _) => {
                let why =
                    format!("{path}: `old_text` is not in the file; it may have changed: read it again");
                return Err(SandboxError::new("no_match", why));
            }
            (1, _) | (_, true) => text.replace(&old_text, &new_text),
            (many, false) => {
                let why =
                    format!("{path}: `old_text` is there {many} times; give more of it, or `replace_all`");
                return Err(SandboxError::new("ambiguous", why));
            }
        };
        if after.len() as u64 > FILE_BYTES_MAX {
            return Err(failed(&path, FileError::TooBig));
        }
        // A guest does not take our lock: what it wrote since must not be lost.
        let now = read_whole(&*self.files, &at, FILE_BYTES_MAX).map_err(|error| failed(&path, error))?;
        if now != before {
            return Err(conflict(&path));
        }
        self.put(&at, after.as_bytes()).map_err(|error| failed(&path, error))?;
        Ok(Edited { before: text.to_owned(), after, count })
    }

    fn list(&self, List { path, recursive }: List) -> Result<Value, SandboxError> {
        let path = path.unwrap_or_else(|| ".".into());
        let root = self.path(&path)?;
        let mut entries = Vec::new();
        let mut truncated = false;
        let mut next = vec![(root, String::new())];
        while let Some((dir, shown)) = next.pop().filter(|_| !truncated) {
            let found = match self.files.read_dir(&dir) {
                Ok(found) => found,
                Err(error) if shown.is_empty() => return Err(failed(&path, error)),
                // Somebody removed it meanwhile.
                Err(_) => continue,
            };
            for entry in found {
                if entries.len() >= ENTRIES_MAX {
                    truncated = true;
                    break;
                }
                let name =
                    if shown.is_empty() { entry.name.clone() } else { format!("{shown}/{}", entry.name) };
                let Ok(at) = dir.join(&entry.name) else { continue };
                let size = self.files.stat(&at, Follow::No).map_or(0, |it| it.size);
                if recursive && entry.kind == FileKind::Directory {
                    next.push((at, name.clone()));
                }
                entries.push((name, entry.kind, size));
            }
        }
        entries.sort_by(|one, two| one.0.cmp(&two.0));
        let shown = |(name, kind, size): (String, FileKind, u64)| json!({ "path": name, "kind": kind_name(kind), "size": size });
        let entries: Vec<Value> = entries.into_iter().map(shown).collect();
        Ok(json!({ "path": path, "entries": entries, "truncated": truncated }))
    }

    fn make_dirs(&self, path: &TreePath) -> Result<(), FileError> {
        let names: Vec<&str> = path.names().collect();
        let above = names.len().saturating_sub(1);
        for end in 1..=above {
            let dir = TreePath::new(&names.get(..end).unwrap_or_default().join("/"))?;
            match self.files.create_dir(&dir, Mode::DIRECTORY, self.clock.now()) {
                // A directory that is there may also be one that cannot be made: a mount.
                Ok(()) | Err(FileError::Exists) => {}
                Err(error) => match self.files.stat(&dir, Follow::Yes) {
                    Ok(_) => {}
                    Err(_) => return Err(error),
                },
            }
        }
        Ok(())
    }

    fn put(&self, path: &TreePath, bytes: &[u8]) -> Result<(), FileError> {
        let now = self.clock.now();
        let how = OpenHow { write: true, create: true, truncate: true, ..OpenHow::default() };
        self.files.open(path, how, now)?.write_at(0, bytes, now)
    }
}

/// Where in the tree a path of an agent leads.
pub(crate) fn tree_path(cwd: &str, text: &str) -> Result<TreePath, SandboxError> {
    if text.split('/').any(|name| name == "..") {
        return Err(SandboxError::new("bad_path", format!("{text}: `..` is not allowed in a path")));
    }
    let full = if text.starts_with('/') { text.to_owned() } else { format!("{cwd}/{text}") };
    TreePath::new(full.trim_start_matches('/')).map_err(|error| failed(text, error))
}

pub(super) fn kind_name(kind: FileKind) -> &'static str {
    match kind {
        FileKind::File => "file",
        FileKind::Directory => "directory",
        FileKind::Symlink => "symlink",
    }
}

fn unchanged(path: &str, wanted: &str, there: &str) -> Result<(), SandboxError> {
    if wanted.eq_ignore_ascii_case(there) { Ok(()) } else { Err(conflict(path)) }
}

fn conflict(path: &str) -> SandboxError {
    SandboxError::new(
        "conflict",
        format!("{path}: somebody else changed it meanwhile; nothing was written. Read it again"),
    )
}

pub(crate) fn failed(path: &str, error: FileError) -> SandboxError {
    let code = match error {
        FileError::NotFound => "not_found",
        FileError::Exists => "exists",
        FileError::NotADirectory => "not_a_directory",
        FileError::IsADirectory => "is_a_directory",
        FileError::Denied => "permission_denied",
        FileError::ReadOnly => "read_only",
        FileError::TooBig => "too_large",
        FileError::NoSpace | FileError::Quota(_) => "no_space",
        FileError::NameTooLong | FileError::Invalid | FileError::Loop => "bad_path",
        _ => "file_error",
    };
    let more = match error {
        FileError::TooBig => {
            format!("; at most {FILE_BYTES_MAX} bytes at once: use `sh` with head, tail or split")
        }
        _ => String::new(),
    };
    SandboxError::new(code, format!("{path}: {error}{more}"))
}
