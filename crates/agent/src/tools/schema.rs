//! The JSON Schemas of the arguments, as models are shown them. The types beside them are what is read.

use drydock_abi::broker::{count, object, text};
use serde_json::{Value, json};

pub(super) fn shell() -> Value {
    object(
        json!({
            "pipeline": text("The command line, such as `grep -rn main src | head`."),
            "input": text("What it reads as its standard input."),
        }),
        &["pipeline"],
    )
}

pub(super) fn search() -> Value {
    object(json!({ "query": text("Words to look for.") }), &["query"])
}

pub(super) fn wb() -> Value {
    object(json!({ "args": text("The verb and its words, such as `toolkit show csv`.") }), &["args"])
}

pub(super) fn fetch() -> Value {
    object(json!({ "url": text("The address of the page, with http:// or https://.") }), &["url"])
}

pub(super) fn web_search() -> Value {
    object(json!({ "query": text("Words to search for.") }), &["query"])
}

pub(super) fn file_issue() -> Value {
    object(
        json!({
            "title": text("The issue in a few words."),
            "need": text("What you need, and what for."),
            "tried": text("What you tried, and what came of it."),
        }),
        &["title"],
    )
}

pub(super) fn vfs_write() -> Value {
    object(
        json!({
            "path": text("The file, from the top of the workspace."),
            "content": text("All that the file is to hold."),
        }),
        &["path", "content"],
    )
}

pub(super) fn vfs_read() -> Value {
    object(
        json!({
            "path": text("The file, from the top of the workspace."),
            "from_line": count("The first line to read; lines are counted from 1."),
            "lines": count("How many lines to read."),
        }),
        &["path"],
    )
}

pub(super) fn done() -> Value {
    object(json!({ "result": text("What the run came to.") }), &["result"])
}

pub(super) fn run_code() -> Value {
    object(
        json!({
            "language": { "type": "string", "enum": ["javascript", "python"] },
            "code": text("The program. What it prints is the answer."),
        }),
        &["language", "code"],
    )
}

pub(super) fn edit_file() -> Value {
    object(
        json!({
            "path": text("The file, from the top of the workspace."),
            "old": text("The text that is there, exactly, with its blanks and line ends."),
            "new": text("The text that is to be there."),
            "all": { "type": "boolean", "description": "Replace it wherever it is." },
        }),
        &["path", "old", "new"],
    )
}

pub(super) fn agent() -> Value {
    object(
        json!({
            "task": text("What is to be done, with all that it needs to know."),
            "agent": text("The name of a defined agent that does it."),
            "system": text("What it is told before everything else."),
            "model": text("Another model than yours, by its name."),
            "tools": { "type": "array", "items": { "type": "string" }, "description": "The only tools it has." },
            "allow": { "type": "array", "items": { "type": "string" }, "description": "The only commands it may run, of yours." },
            "allow_host": { "type": "array", "items": { "type": "string" }, "description": "The only hosts it may reach, of yours." },
            "max_steps": count("How many turns it may take."),
            "tokens_max": count("How many tokens it may use, of those that are left to you."),
        }),
        &["task"],
    )
}

pub(super) fn git() -> Value {
    object(json!({ "message": text("The message of the commit.") }), &["message"])
}

pub(super) fn publish() -> Value {
    object(json!({}), &[])
}

pub(super) fn image() -> Value {
    object(
        json!({
            "prompt": text("What is to be seen."),
            "path": text("The file that the image is written to."),
            "aspect": { "type": "string", "enum": ["16:9", "1:1", "3:1"], "default": "16:9" },
        }),
        &["prompt", "path"],
    )
}
