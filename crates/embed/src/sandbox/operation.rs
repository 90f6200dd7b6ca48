//! The operations by name: what a model is told of each, and the JSON Schemas of what goes in and comes out.

use std::sync::LazyLock;

use drydock_abi::broker::{self, OperationText};
use serde_json::{Value, json};

use super::process;
pub(super) use super::schema::{count, flag, milliseconds, object, text};

/// What an operation does to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It only looks.
    Reads,
    /// It changes the sandbox's own files, which can be thrown away.
    Changes,
    /// It writes to somebody's directory.
    Destroys,
}

/// One operation.
pub struct Operation {
    /// What it is called by.
    pub name: &'static str,
    /// For a person.
    pub title: &'static str,
    /// For a model.
    pub description: &'static str,
    /// What it does to the world.
    pub effect: Effect,
    input: fn() -> Value,
    output: fn() -> Value,
}

impl Operation {
    /// The JSON Schema of its input.
    pub fn input_schema(&self) -> Value {
        (self.input)()
    }

    /// The JSON Schema of its result.
    pub fn output_schema(&self) -> Value {
        (self.output)()
    }

    /// Every operation of the sandbox itself, granted or not; those of brokers are in their own list (`broker::all`).
    pub fn all() -> impl Iterator<Item = &'static Self> {
        ALL.iter()
    }

    /// The operation of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        ALL.iter().chain(brokers().map(|it| &it.1)).find(|it| it.name == name)
    }

    /// A broker's operation, `kv.get`, by the name `kv_get` that an agent's tools can have.
    fn of_broker(text: &'static OperationText) -> Self {
        Self {
            // There are as many as the list has, for as long as the process lives.
            name: Box::leak(text.name.replace('.', "_").into_boxed_str()),
            title: text.title,
            description: text.description,
            effect: if text.is_read { Effect::Reads } else { Effect::Changes },
            input: text.input,
            output: text.output,
        }
    }
}

/// What brokers answer, by the names that agents know.
pub(super) fn brokers() -> impl Iterator<Item = &'static (&'static OperationText, Operation)> {
    static BROKERS: LazyLock<Vec<(&OperationText, Operation)>> =
        LazyLock::new(|| broker::all().map(|it| (it, Operation::of_broker(it))).collect());
    BROKERS.iter()
}

/// Every operation of the sandbox itself, in the order they are offered.
pub(super) const ALL: &[Operation] = &[
    Operation {
        name: "sh",
        title: "Run a line or a script",
        description: "Runs a script in bash's language. Every command in it is a WebAssembly program in a \
                      sandbox: no network, no processes, only the sandbox's files. Variables and the working \
                      directory do not outlive the call; files do. Answers status, stdout and stderr.",
        effect: Effect::Changes,
        input: sh_input,
        output: ended,
    },
    Operation {
        name: "run",
        title: "Run one command",
        description: "Runs one command with a list of arguments, which no shell looks at. Answers status, \
                      stdout and stderr.",
        effect: Effect::Changes,
        input: run_input,
        output: ended,
    },
    Operation {
        name: "js",
        title: "Run a JavaScript program",
        description: "Runs a JavaScript program in a fresh sandbox. It may await commands.NAME({args, stdin}), \
                      commands.sh({line}), files.read/write/list and the powers that were granted, such as \
                      kv.get({key}), and sees `args`; its last expression, or what it returns, is the result.",
        effect: Effect::Changes,
        input: js_input,
        output: js_output,
    },
    Operation {
        name: "py",
        title: "Run a Python program",
        description: "Runs a Python 3 program in a fresh sandbox, over the sandbox's files. It may call \
                      commands.NAME(*args, stdin=…), sh(line), files.read/write/list, subprocess.run, the powers that were \
                      granted, such as kv.get(key=…), and sees `args`; aio.NAME.TOOL(…) is awaited, also at the top level. Its last expression is the \
                      result; stdout, stderr, files it changed and what it passed to display() come with it.",
        effect: Effect::Changes,
        input: super::python::input,
        output: super::python::output,
    },
    Operation {
        name: "read_file",
        title: "Read a file",
        description: "Reads a file as text, or as base64 if it is no UTF-8. The sha256 can be handed to \
                      write_file or edit_file, so that nobody else's change is overwritten.",
        effect: Effect::Reads,
        input: read_input,
        output: read_output,
    },
    Operation {
        name: "write_file",
        title: "Write a file",
        description: "Writes a whole file, making it and its directories if they are missing.",
        effect: Effect::Changes,
        input: write_input,
        output: write_output,
    },
    Operation {
        name: "edit_file",
        title: "Edit a file",
        description: "Replaces one piece of a text file by another. The old text must be there exactly once, \
                      unless replace_all is set.",
        effect: Effect::Changes,
        input: edit_input,
        output: edit_output,
    },
    Operation {
        name: "list_files",
        title: "List files",
        description: "Lists a directory, or all that is below it.",
        effect: Effect::Reads,
        input: list_input,
        output: list_output,
    },
    Operation {
        name: "search",
        title: "Search files",
        description: "Searches files for a regular expression and answers path, line and text of each match.",
        effect: Effect::Reads,
        input: search_input,
        output: search_output,
    },
    Operation {
        name: "diff",
        title: "Show what changed",
        description: "Shows what was changed in the mounted directories, as a list and as a unified diff. The \
                      directories themselves stay as they are until commit.",
        effect: Effect::Reads,
        input: diff_input,
        output: diff_output,
    },
    Operation {
        name: "commit",
        title: "Write the changes back",
        description: "Writes what was changed into the mounted directories of the host: all of it, or nothing \
                      if somebody else changed one of those files since.",
        effect: Effect::Destroys,
        input: commit_input,
        output: commit_output,
    },
    Operation {
        name: "process_start",
        title: "Start a process",
        description: "Starts a command that goes on after the answer, and answers its id. Its output is kept and read \
                      with read, from any byte and as often as wanted.",
        effect: Effect::Changes,
        input: process::start_input,
        output: process::record,
    },
    Operation {
        name: "process_list",
        title: "List processes",
        description: "Lists processes that go on, and those that have ended and are still kept.",
        effect: Effect::Reads,
        input: process::list_input,
        output: process::list_output,
    },
    Operation {
        name: "process_read",
        title: "Read a process's output",
        description: "Reads what a process wrote to stdout or stderr from a cursor on, and waits for it if that is said.",
        effect: Effect::Reads,
        input: process::read_input,
        output: process::read_output,
    },
    Operation {
        name: "process_write",
        title: "Write to a process",
        description: "Adds to the input of a process that was started with stdin_open, or ends it.",
        effect: Effect::Changes,
        input: process::write_input,
        output: process::write_output,
    },
    Operation {
        name: "process_kill",
        title: "Kill a process",
        description: "Ends a process and answers once it has ended. Its output stays unless remove is set.",
        effect: Effect::Changes,
        input: process::kill_input,
        output: process::record,
    },
];

fn path() -> Value {
    text("Absolute, or from the working directory; without ..")
}

fn sh_input() -> Value {
    let script = text("The text, in bash's language");
    object(
        json!({ "script": script, "stdin": text("What it reads"), "timeout_ms": milliseconds() }),
        &["script"],
    )
}

fn run_input() -> Value {
    let args = json!({ "type": "array", "items": { "type": "string" }, "description": "Its arguments" });
    let properties = json!({
        "name": text("The command, such as jq"),
        "args": args,
        "stdin": text("What it reads"),
        "timeout_ms": milliseconds(),
    });
    object(properties, &["name"])
}

/// The result of `sh` and `run`.
fn ended() -> Value {
    let properties = json!({
        "status": { "type": "integer", "description": "0 is success; 124 out of time, 125 another limit, 126 denied, 127 no such command" },
        "stdout": { "type": "string" },
        "stderr": { "type": "string" },
        "stdout_base64": text("The exact bytes, if they are no UTF-8"),
        "stderr_base64": text("The exact bytes, if they are no UTF-8"),
        "limit": text("The limit that ended it, if one did"),
        "remark": text("What that means"),
        "denials": denials(),
        "duration_ms": { "type": "number" },
    });
    object(properties, &["status", "stdout", "stderr"])
}

/// What was refused on the way.
pub(super) fn denials() -> Value {
    let denial = json!({
        "type": "object",
        "properties": {
            "power": { "type": "string" },
            "code": { "type": "string" },
            "subject": { "type": "string" },
            "why": { "type": "string" },
            "grant": { "type": "object", "description": "The smallest grant that would have allowed it" },
        },
        "required": ["code", "why"],
    });
    json!({ "type": "array", "items": denial, "description": "Calls that were refused" })
}

fn js_input() -> Value {
    let args = json!({ "description": "Any JSON; the program sees it as `args`" });
    object(json!({ "code": text("The program"), "args": args, "timeout_ms": milliseconds() }), &["code"])
}

fn js_output() -> Value {
    let error = json!({
        "type": "object",
        "properties": { "code": { "type": "string" }, "message": { "type": "string" } },
        "required": ["code", "message"],
    });
    json!({
        "type": "object",
        "properties": {
            "ok": { "type": "boolean" },
            "result": { "description": "What it answered, if it did" },
            "error": error,
            "logs": { "type": "array", "items": { "type": "string" } },
            "denials": denials(),
            "durationMs": { "type": "number" },
        },
        "required": ["ok", "logs"],
    })
}

fn read_input() -> Value {
    let properties = json!({
        "path": path(),
        "start_line": count("The first line wanted, counted from 1"),
        "line_count": count("How many lines are wanted"),
    });
    object(properties, &["path"])
}

fn read_output() -> Value {
    let properties = json!({
        "path": { "type": "string" },
        "text": text("The content, if it is UTF-8"),
        "base64": text("The content, if it is not"),
        "bytes": { "type": "integer" },
        "sha256": { "type": "string" },
    });
    object(properties, &["path", "bytes", "sha256"])
}

fn write_input() -> Value {
    let properties = json!({
        "path": path(),
        "text": text("The content, as text"),
        "base64": text("The content, as base64"),
        "if_sha256": text("Write only if the file still has this sha256"),
    });
    object(properties, &["path"])
}

fn write_output() -> Value {
    let properties = json!({
        "path": { "type": "string" },
        "bytes": { "type": "integer" },
        "created": { "type": "boolean" },
        "sha256": { "type": "string" },
    });
    object(properties, &["path", "bytes", "created", "sha256"])
}

fn edit_input() -> Value {
    let properties = json!({
        "path": path(),
        "old_text": text("What is there"),
        "new_text": text("What should be there"),
        "replace_all": flag("Replace every one"),
        "if_sha256": text("Edit only if the file still has this sha256"),
    });
    object(properties, &["path", "old_text", "new_text"])
}

fn edit_output() -> Value {
    let properties = json!({
        "path": { "type": "string" },
        "replaced": { "type": "integer" },
        "bytes": { "type": "integer" },
        "sha256": { "type": "string" },
    });
    object(properties, &["path", "replaced", "bytes", "sha256"])
}

fn list_input() -> Value {
    object(json!({ "path": path(), "recursive": flag("All that is below it") }), &[])
}

fn list_output() -> Value {
    let entry = object(
        json!({
            "path": { "type": "string" },
            "kind": { "enum": ["file", "directory", "symlink"] },
            "size": { "type": "integer" },
        }),
        &["path", "kind", "size"],
    );
    let properties = json!({
        "path": { "type": "string" },
        "entries": { "type": "array", "items": entry },
        "truncated": { "type": "boolean" },
    });
    object(properties, &["path", "entries", "truncated"])
}

fn search_input() -> Value {
    let properties = json!({
        "pattern": text("A regular expression, in ripgrep's language"),
        "path": path(),
        "glob": text("Only files whose names match, such as *.rs"),
        "ignore_case": flag("Upper and lower case are the same"),
        "literal": flag("The pattern is plain text"),
        "max": count("How many matches are wanted; 200 if it is not said"),
    });
    object(properties, &["pattern"])
}

fn search_output() -> Value {
    let found = object(
        json!({ "path": { "type": "string" }, "line": { "type": "integer" }, "text": { "type": "string" } }),
        &["path", "line", "text"],
    );
    let properties =
        json!({ "matches": { "type": "array", "items": found }, "truncated": { "type": "boolean" } });
    object(properties, &["matches", "truncated"])
}

fn change() -> Value {
    object(
        json!({
            "path": { "type": "string" },
            "kind": { "enum": ["added", "modified", "removed"] },
            "size": { "type": "integer" },
        }),
        &["path", "kind", "size"],
    )
}

fn diff_input() -> Value {
    object(json!({ "names_only": flag("Without the lines") }), &[])
}

fn diff_output() -> Value {
    let properties = json!({
        "changes": { "type": "array", "items": change() },
        "diff": { "type": "string" },
        "truncated": { "type": "boolean" },
    });
    object(properties, &["changes", "diff", "truncated"])
}

fn commit_input() -> Value {
    object(json!({ "force": flag("Overwrite what somebody else changed") }), &[])
}

fn commit_output() -> Value {
    let left_out = json!({
        "type": "array",
        "items": { "type": "string" },
        "description": "Links that lead out of their directory, which are not written",
    });
    object(
        json!({ "written": { "type": "array", "items": change() }, "left_out": left_out }),
        &["written", "left_out"],
    )
}
