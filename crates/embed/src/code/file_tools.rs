//! The namespace `files`: the tree of a session, to be read, written and listed.

use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use drydock_codemode::provider::{BadProvider, Provider, Tool, ToolError};
use drydock_contract::{
    Timestamp,
    port::{Clock, FileError, FileKind, Files, Follow, OpenHow, TreePath},
};
use serde_json::{Value, json};

/// The longest file that is read or written at once.
const FILE_BYTES_MAX: u64 = 16 << 20;
/// The longest list.
const ENTRIES_MAX: usize = 10_000;

/// A tree as a provider; paths that do not start with `/` start at `cwd`, and what is written is as old as
/// `clock` says (`Setup::one_clock`).
pub fn file_tools(
    files: &Arc<dyn Files>,
    cwd: &str,
    clock: &Arc<dyn Clock>,
) -> Result<Provider, BadProvider> {
    provider("files", files, cwd, clock)
}

/// The same tree by the name that the power has elsewhere.
pub(super) fn vfs_tools(
    files: &Arc<dyn Files>,
    cwd: &str,
    clock: &Arc<dyn Clock>,
) -> Result<Provider, BadProvider> {
    provider("vfs", files, cwd, clock)
}

fn provider(
    name: &str,
    files: &Arc<dyn Files>,
    cwd: &str,
    clock: &Arc<dyn Clock>,
) -> Result<Provider, BadProvider> {
    let place = Place { files: Arc::clone(files), cwd: cwd.into(), clock: Arc::clone(clock) };
    Provider::compiled_late(name, vec![read(&place), write(&place), list(&place)])
}

#[derive(Clone)]
struct Place {
    files: Arc<dyn Files>,
    cwd: Arc<str>,
    clock: Arc<dyn Clock>,
}

impl Place {
    fn path(&self, input: &Value) -> Result<(String, TreePath), ToolError> {
        let text = input["path"].as_str().unwrap_or(".");
        let full = if text.starts_with('/') { text.to_owned() } else { format!("{}/{text}", self.cwd) };
        let path = TreePath::new(full.trim_start_matches('/')).map_err(|error| failed(text, error))?;
        Ok((text.to_owned(), path))
    }
}

fn failed(path: &str, error: FileError) -> ToolError {
    ToolError::from(format!("{path}: {error}"))
}

fn read(place: &Place) -> Tool {
    let place = place.clone();
    Tool::new("read", move |input, _| {
        let place = place.clone();
        async move {
            let (name, path) = place.path(&input)?;
            let how = OpenHow { read: true, ..OpenHow::default() };
            let file = place.files.open(&path, how, Timestamp(0)).map_err(|error| failed(&name, error))?;
            let size = file.stat().map_err(|error| failed(&name, error))?.size;
            if size > FILE_BYTES_MAX {
                return Err(ToolError::from(format!(
                    "{name}: {size} bytes; at most {FILE_BYTES_MAX} are read at once"
                )));
            }
            let mut bytes = vec![0; size as usize];
            let mut at = 0;
            while at < bytes.len() {
                match file.read_at(at as u64, &mut bytes[at..]).map_err(|error| failed(&name, error))? {
                    0 => break,
                    count => at += count,
                }
            }
            bytes.truncate(at);
            if input["encoding"] == "base64" {
                return Ok(STANDARD.encode(&bytes).into());
            }
            let text = String::from_utf8(bytes);
            Ok(text.map_err(|_| format!("{name}: not UTF-8; read it with encoding \"base64\""))?.into())
        }
    })
    .describe("Reads a file as text, or as base64.")
    .input(json!({
        "type": "object",
        "properties": { "path": { "type": "string" }, "encoding": { "enum": ["utf8", "base64"] } },
        "required": ["path"],
        "additionalProperties": false
    }))
    .output(json!({ "type": "string" }))
}

fn write(place: &Place) -> Tool {
    let place = place.clone();
    Tool::new("write", move |input, _| {
        let place = place.clone();
        async move {
            let (name, path) = place.path(&input)?;
            let content = input["content"].as_str().unwrap_or_default();
            let bytes = match &input["encoding"] {
                encoding if encoding == "base64" => {
                    STANDARD.decode(content).map_err(|error| format!("{name}: not base64: {error}"))?
                }
                _ => content.as_bytes().to_vec(),
            };
            let append = input["append"] == true;
            let how = OpenHow { write: true, create: true, truncate: !append, ..OpenHow::default() };
            let now = place.clock.now();
            let file = place.files.open(&path, how, now).map_err(|error| failed(&name, error))?;
            let written =
                if append { file.append(&bytes, now).map(drop) } else { file.write_at(0, &bytes, now) };
            written.map_err(|error| failed(&name, error))?;
            Ok(Value::Null)
        }
    })
    .describe("Writes a file, or appends to it.")
    .input(json!({
        "type": "object",
        "properties": {
            "path": { "type": "string" },
            "content": { "type": "string" },
            "encoding": { "enum": ["utf8", "base64"] },
            "append": { "type": "boolean" }
        },
        "required": ["path", "content"],
        "additionalProperties": false
    }))
}

fn list(place: &Place) -> Tool {
    let place = place.clone();
    Tool::new("list", move |input, _| {
        let place = place.clone();
        async move {
            let (name, path) = place.path(&input)?;
            let entries = place.files.read_dir(&path).map_err(|error| failed(&name, error))?;
            if entries.len() > ENTRIES_MAX {
                return Err(ToolError::from(format!(
                    "{name}: {} entries; at most {ENTRIES_MAX} are listed",
                    entries.len()
                )));
            }
            let mut rows: Vec<Value> = Vec::with_capacity(entries.len());
            for entry in entries {
                let kind = match entry.kind {
                    FileKind::File => "file",
                    FileKind::Directory => "directory",
                    FileKind::Symlink => "symlink",
                };
                let at = path.join(&entry.name).and_then(|it| place.files.stat(&it, Follow::No));
                rows.push(json!({ "name": entry.name, "kind": kind, "size": at.map_or(0, |it| it.size) }));
            }
            rows.sort_by(|one, two| one["name"].as_str().cmp(&two["name"].as_str()));
            Ok(rows.into())
        }
    })
    .describe("Lists a directory.")
    .input(json!({
        "type": ["object", "null"],
        "properties": { "path": { "type": "string" } },
        "additionalProperties": false
    }))
    .output(json!({
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "name": { "type": "string" },
                "kind": { "enum": ["file", "directory", "symlink"] },
                "size": { "type": "integer" }
            },
            "required": ["name", "kind", "size"]
        }
    }))
}
